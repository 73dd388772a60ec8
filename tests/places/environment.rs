//! `GIT_*` variables and the user's git configuration: none of it changes what a step does.

use crate::support::{World, executable};
use crate::{both_train, bytes, world};

/// Another project, to which every variable of git's points.
fn other(world: &World) -> std::path::PathBuf {
    std::fs::create_dir_all(world.path("other")).unwrap();
    world.git("other", &["init", "-q", "-b", "main"]);
    world.write("other/precious.txt", "precious\n");
    world.git("other", &["add", "-A"]);
    world.git("other", &["commit", "-q", "-m", "other"]);
    world.write("other/untracked.txt", "mine\n");
    world.path("other")
}

#[test]
fn variables_of_git_that_name_another_project() {
    let mut world = world();
    let other = other(&world);
    let before = bytes(&other);
    let at = |name: &str| other.join(name).display().to_string();
    for (key, value) in [
        ("GIT_DIR", at(".git")),
        ("GIT_WORK_TREE", at("")),
        ("GIT_INDEX_FILE", at(".git/index")),
        ("GIT_OBJECT_DIRECTORY", at(".git/objects")),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", at(".git/objects")),
        ("GIT_COMMON_DIR", at(".git")),
        ("GIT_NAMESPACE", "elsewhere".into()),
        ("GIT_CEILING_DIRECTORIES", "/".into()),
        ("GIT_PREFIX", "sub/".into()),
        ("GIT_QUARANTINE_PATH", at(".git/objects")),
        ("GIT_EXTERNAL_DIFF", "/bin/false".into()),
        ("GIT_TEMPLATE_DIR", at("")),
        ("GIT_CONFIG_COUNT", "1".into()),
        ("GIT_CONFIG_KEY_0", "core.hooksPath".into()),
        ("GIT_CONFIG_VALUE_0", "/nowhere".into()),
        ("GIT_CONFIG_PARAMETERS", "'commit.gpgsign=true'".into()),
        ("GIT_AUTHOR_NAME", "Someone Else".into()),
        ("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z".into()),
        ("GIT_COMMITTER_EMAIL", "else@where".into()),
        ("GIT_LITERAL_PATHSPECS", "1".into()),
        ("GIT_DEFAULT_HASH", "sha256".into()),
        ("GIT_DEFAULT_REF_FORMAT", "reftable".into()),
    ] {
        world.set(key, value);
    }
    both_train(&world);
    world.skilltrain(&["init", "second"]).ok();
    assert_eq!(world.git("second", &["log", "--format=%an", "main"]), "skilltrain");
    assert_eq!(bytes(&other), before, "the other project was touched");
    let people = world.git("pool", &["log", "--format=%an %ae %cn %ce %ad", "--date=unix"]);
    assert!(
        people.lines().all(|line| line == "skilltrain skilltrain@localhost skilltrain skilltrain@localhost 1790000000"),
        "{people}"
    );
}

/// The same steps in a plain world and in one whose user's configuration is hostile.
#[test]
fn the_users_configuration_changes_nothing() {
    let plain = world();
    both_train(&plain);
    let mut hostile = world();
    let hook = "#!/bin/sh\necho ran >> \"$(dirname \"$0\")/../ran\"\nexit 1\n";
    for name in
        ["pre-commit", "commit-msg", "prepare-commit-msg", "reference-transaction", "post-commit", "post-index-change"]
    {
        executable(&hostile.write(format!("home/template/hooks/{name}"), hook));
        executable(&hostile.write(format!("home/hooks/{name}"), hook));
    }
    hostile.write("home/template/info/exclude", "*.md\n");
    hostile.write("home/ignored", "*.md\n*.toml\n");
    hostile.write("home/attributes", "*.md -diff text eol=crlf filter=shout ident\n");
    hostile.write("home/.config/git/attributes", "*.md -diff\n");
    hostile.write("home/.config/git/ignore", "*\n");
    let home = hostile.path("home").display().to_string();
    let config = CONFIG.replace("HOME", &home);
    hostile.write("home/.gitconfig", &config);
    // The system's own configuration is as good a place for it.
    hostile.unset("GIT_CONFIG_NOSYSTEM");
    hostile.backward("command:./agent.sh", &["--label", "agent", "--out", "out-agent"]).ok();
    hostile.backward("extractive", &["--label", "own", "--out", "out-own"]).ok();
    hostile.skilltrain(&["init", "second"]).ok();
    // What is there now is looked at with eyes of our own: the user's git would see filters everywhere.
    hostile.set("HOME", hostile.path("another-home").display().to_string());
    hostile.assert_clean();
    assert_eq!(hostile.tip(), plain.tip(), "the same evidence makes the same commits");
    for out in ["out-agent", "out-own"] {
        let patch = format!("{out}/g01/memory.patch");
        assert_eq!(hostile.read(&patch), plain.read(&patch));
    }
    assert!(hostile.read("out-agent/g01/memory.patch").contains("\n+++ b/"));
    assert_eq!(hostile.git("second", &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert!(!hostile.path("second/.git/hooks/pre-commit").exists());
    assert!(
        !hostile.path("home/ran").exists() && !hostile.path("home/template/ran").exists(),
        "a hook of the user's ran"
    );
}

const CONFIG: &str = r#"
[init]
	templateDir = HOME/template
	defaultBranch = trunk
	defaultObjectFormat = sha256
	defaultRefFormat = reftable
[core]
	excludesFile = HOME/ignored
	attributesFile = HOME/attributes
	autocrlf = true
	safecrlf = true
	eol = crlf
	hooksPath = HOME/hooks
	fsmonitor = /bin/false
	fileMode = false
	ignoreCase = true
	symlinks = false
	quotePath = false
	abbrev = 4
	logAllRefUpdates = false
	editor = /bin/false
	pager = /bin/false
	splitIndex = true
	untrackedCache = true
[commit]
	gpgSign = true
	template = HOME/none
	cleanup = verbatim
[gpg]
	program = /bin/false
[user]
	useConfigOnly = true
[filter "shout"]
	clean = tr a-z A-Z
	smudge = tr a-z A-Z
	required = true
[diff]
	external = /bin/false
	noprefix = true
	mnemonicPrefix = true
	context = 0
	algorithm = patience
	ignoreSubmodules = all
	renames = copies
[transfer]
	fsckObjects = true
[index]
	version = 4
[feature]
	manyFiles = true
"#;

#[test]
fn without_any_home() {
    let mut world = world();
    world.unset("HOME");
    both_train(&world);
    let mut world = self::world();
    world.set("HOME", "/nowhere/at/all");
    both_train(&world);
}

#[test]
fn the_pools_own_configuration_names_the_author_and_nothing_else() {
    let world = world();
    for (key, value) in [
        ("user.name", "Pool Owner"),
        ("user.email", "owner@pool"),
        ("commit.gpgsign", "true"),
        ("core.autocrlf", "true"),
        ("core.hooksPath", "/nowhere"),
    ] {
        world.git("pool", &["config", key, value]);
    }
    executable(&world.write("pool/.git/hooks/pre-commit", "#!/bin/sh\nexit 1\n"));
    executable(&world.write("pool/.git/hooks/reference-transaction", "#!/bin/sh\nexit 1\n"));
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.git("pool", &["log", "-1", "--format=%an %ae %G?"]), "Pool Owner owner@pool N");
}
