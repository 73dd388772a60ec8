//! What else lies in the checkout: only cards and the profile may, as plain files, all of them committed.

use crate::check::{Row, once, taken, touched, world};

const NEW: &str = "01_craft_elements/new.md";

fn edited_then(rest: &str) -> String {
    format!("card {NEW} 'asked for a name'; {rest}")
}

/// The same, but the repair turn does nothing.
fn after(rest: &str) -> String {
    once(&edited_then(rest))
}

/// A row that leaves something which the lint names, past the hook.
fn linted(rest: &str, says: &[&str]) {
    let rest = format!("{rest}; git add -A -f; git commit -q --no-verify -m past");
    let says: Vec<&str> = says.iter().copied().chain(["(lint)"]).collect();
    Row::of(edited_then(&rest)).says(&says).keeps(NEW, "asked for a name").check();
}

#[test]
fn an_untracked_card_or_note_is_refused() {
    Row::of(after("commit; card 00_general_rules/loose.md 'loose'"))
        .says(&["(not-clean)", "00_general_rules/loose.md", "commit them or take them away"])
        .keeps("00_general_rules/loose.md", "loose")
        .check();
    Row::of(after("commit; echo done > NOTES.md"))
        .says(&["(not-clean)", "(lint)", "NOTES.md: outside-layout"])
        .keeps("NOTES.md", "done")
        .check();
}

#[test]
fn a_note_that_is_committed_is_refused() {
    linted("echo done > NOTES.md", &["NOTES.md: outside-layout", "hint: cards lie in"]);
}

#[test]
fn ignored_cards_are_seen() {
    Row::of(edited_then("echo '*' > .git/info/exclude; git commit -q --allow-empty -m none"))
        .says(&["(not-clean)", NEW])
        .keeps(NEW, "asked for a name")
        .check();
    Row::of(after("commit; printf '*\\n' > .gitignore; card 00_general_rules/hidden.md hidden"))
        .says(&["(not-clean)", "(lint)", ".gitignore: git-file", "00_general_rules/hidden.md"])
        .keeps("00_general_rules/hidden.md", "hidden")
        .keeps(".gitignore", "*")
        .check();
    Row::of(edited_then(
        "git config core.excludesFile \"$PWD/.git/mine\"; echo '*' > .git/mine; git commit -q --allow-empty -m x",
    ))
    .says(&["(not-clean)", NEW])
    .check();
}

#[test]
fn skipped_and_assumed_files_are_seen() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let script = format!(
            "git update-index {flag} 00_general_rules/a.md; card 00_general_rules/a.md 'new a'; {}",
            edited_then("commit")
        );
        Row::of(script).says(&["(not-clean)", "00_general_rules/a.md"]).keeps("00_general_rules/a.md", "new a").check();
    }
}

#[test]
fn files_that_steer_git_or_hold_keys_are_refused() {
    linted("echo '*.md text eol=crlf' > .gitattributes", &[".gitattributes: git-file"]);
    linted("echo secret > .env", &[".env: hidden-file"]);
    linted("echo secret > 00_general_rules/.env", &["00_general_rules/.env: hidden-file"]);
    linted("git config -f .gitmodules submodule.x.url http://x", &[".gitmodules: git-file"]);
}

#[test]
fn attributes_do_not_change_bytes() {
    let world = world();
    let script = edited_then(
        "mkdir -p .git/info; echo '*.md filter=bad ident' > .git/info/attributes; \
         git config filter.bad.clean 'sed s/asked/ASKED/'; commit",
    );
    let err = world.backward(&world.agent(&script), &["--retries", "0"]).fails(1);
    assert!(err.contains("(not-clean)"), "{err}");
}

#[test]
fn a_repository_inside_is_refused() {
    let inner = "mkdir -p 00_general_rules/in && cd 00_general_rules/in && git init -q . && card x.md inner && git add -A \
                 && git commit -q -m inner; cd ../..";
    Row::of(edited_then(&format!("{inner}; git add -A; git commit -q --no-verify -m outer")))
        .says(&["(lint)", "git-folder"])
        .keeps(NEW, "asked for a name")
        .keeps("00_general_rules/in/x.md", "inner")
        .check();
    Row::of(after("commit; git init -q 01_craft_elements"))
        .says(&["(lint)", "git-folder"])
        .keeps(NEW, "asked for a name")
        .check();
}

#[test]
fn a_submodule_in_the_index_is_refused() {
    let link = "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),00_general_rules/sub; \
                git add 01*; git commit -q --no-verify -m link";
    Row::of(edited_then(link)).says(&["(not-clean)", "00_general_rules/sub"]).keeps(NEW, "asked for a name").check();
    let world = Row::of(edited_then("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),00_general_rules/sub; git add 01*; git commit -q -m link; exit 0"))
        .says(&["(no-commit)"])
        .keeps(NEW, "asked for a name")
        .check();
    assert!(world.read("backward/g01/backward_stderr_attempt1.txt").contains("submodule"), "the hook names it");
}

#[test]
fn a_card_that_is_a_link_is_refused() {
    for target in ["/etc/passwd", "nowhere", "../01_craft_elements", "a.md"] {
        let rest = format!("ln -s {target} 00_general_rules/link.md; git add -A; git commit -q --no-verify -m link");
        let world = Row::of(edited_then(&rest))
            .says(&["00_general_rules/link.md: symlink", "(only-cards)", "no link"])
            .keeps(NEW, "asked for a name")
            .keeps("00_general_rules/link.md", target)
            .check();
        assert!(!world.path("pool/00_general_rules/link.md").is_symlink());
        let copy = world.path("backward/g01/memory_after_attempt1/00_general_rules/link.md");
        assert!(!copy.is_symlink(), "a snapshot holds no live link");
    }
}

#[test]
fn a_folder_that_is_a_link_is_refused() {
    let world = world();
    let cards = world.path("elsewhere");
    std::fs::create_dir(&cards).unwrap();
    let rest = "mv 00_general_rules/* \"$ROOT/elsewhere/\"; rmdir 00_general_rules; \
                ln -s \"$ROOT/elsewhere\" 00_general_rules; git add -A; git commit -q --no-verify -m link";
    Row::of(edited_then(rest))
        .says(&["00_general_rules: symlink", "(only-cards)", "no link"])
        .keeps(NEW, "asked for a name")
        .check_in(&world);
}

#[test]
fn an_executable_card_and_odd_files_are_refused() {
    linted("chmod +x 00_general_rules/a.md", &["00_general_rules/a.md: executable", "(only-cards)", "chmod -x"]);
    Row::of(after("commit; mkfifo 00_general_rules/pipe.md"))
        .says(&["(only-cards)", "00_general_rules/pipe.md", "a pipe"])
        .keeps(NEW, "asked for a name")
        .check();
}

#[test]
fn names_that_are_not_utf8_are_refused() {
    let rest = "card \"$(printf '00_general_rules/\\377.md')\" odd; git add -A; git commit -q --no-verify -m odd";
    Row::of(edited_then(rest)).says(&["(only-cards)", "\u{fffd}.md"]).keeps(NEW, "asked for a name").check();
}

#[test]
fn an_empty_folder_is_nothing() {
    let world = world();
    taken(&world, &edited_then("mkdir -p scratch/deep; commit"), &[]);
    assert_eq!(touched(&world), [NEW]);
}
