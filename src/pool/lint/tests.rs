use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::*;

mod cards;
mod forbidden;
mod fuzz;
mod secrets;
mod trees;

const PATH: &str = "00_general_rules/x.md";

/// The linter of the template, compiled once for all tests.
fn linter() -> &'static Linter {
    static LINTER: LazyLock<Linter> =
        LazyLock::new(|| Linter::new(&Profile::default_rules()).expect("the template compiles"));
    &LINTER
}

/// `line:code` of each problem, in order.
fn found(bytes: &[u8]) -> Vec<String> {
    let problems = linter().card(PATH, bytes);
    problems.iter().map(|problem| format!("{}:{}", problem.line.unwrap_or_default(), problem.code)).collect()
}

/// A clean card with these rules.
fn with_rules(rules: &str) -> String {
    format!("---\ndescription: Use when testing the lint.\n---\n\n## Rules\n{rules}\n")
}

/// A clean card with this front matter.
fn with_yaml(yaml: &str) -> String {
    format!("---\n{yaml}\n---\n\n## Rules\nSay it.\n")
}

#[test]
fn every_built_in_code_has_a_test_and_every_tested_code_is_built_in() {
    let tested: BTreeSet<&str> = cards::ROWS
        .iter()
        .flat_map(|(_, _, codes)| codes.iter())
        .map(|code| code.split_once(':').map_or(*code, |(_, code)| code))
        .chain(trees::ROWS.iter().flat_map(|(_, _, codes)| codes.iter().copied()))
        .chain(["secret", "secret-assignment", "not-utf8"])
        .chain(["body-too-long", "description-too-long", "too-many-lines"])
        .collect();
    let built_in: BTreeSet<&str> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(tested, built_in);
}

#[test]
fn every_code_in_the_sources_is_in_the_table() {
    // A code is the first literal after `add(`, or stands in a function that names one.
    let sources = [
        include_str!("body.rs"),
        include_str!("card.rs"),
        include_str!("front_matter.rs"),
        include_str!("hidden.rs"),
        include_str!("secrets.rs"),
        include_str!("text.rs"),
        include_str!("tree.rs"),
        include_str!("../card.rs"),
    ];
    let literal = regex::Regex::new(r#"add\(\s*"([a-z0-9-]+)""#).expect("a regular expression");
    let used: BTreeSet<&str> = sources
        .iter()
        .flat_map(|source| literal.captures_iter(source))
        .filter_map(|hit| hit.get(1))
        .map(|code| code.as_str())
        .collect();
    assert!(used.len() > 30, "{used:?}");
    for code in used {
        assert!(codes::is_built_in(code), "{code} is not in the table");
    }
}

#[test]
fn people_see_path_line_code_message_and_hint() {
    let text = "---\ndescription: Use when: asked\nnote: b\n---\n\nFirst.\n\n## Rule\nThe model wrote this.\n";
    let problems = linter().card(PATH, text.as_bytes());
    let report = Report { problems, cards: 1 };
    insta::assert_snapshot!(report.to_string(), @r#"
    00_general_rules/x.md:2: yaml-unquoted-colon: an unquoted value holds a colon and a space, which YAML takes for a new key
      hint: put the whole value in double quotes
    00_general_rules/x.md:6: text-before-heading: text before `## Rules`
      hint: move it below `## Rules`
    00_general_rules/x.md:8: heading-wrong: the heading is "Rule", not "Rules"
      hint: write `## Rules`
    00_general_rules/x.md:9: post-mortem: tells what went wrong once, as a post-mortem does: "The model wrote"
      hint: turn it into an instruction for the next task: what to do, and when
    "#);
}

#[test]
fn programs_see_json() {
    let entries = [Entry { path: b"NOTES.md", mode: 0o100_644 }, Entry { path: PATH.as_bytes(), mode: 0o100_644 }];
    let text = with_rules("TODO");
    let report = linter().all(&entries, |_| Ok(text.as_bytes()), |_| false).expect("nothing is read");
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).expect("plain data"), @r#"
    {
      "problems": [
        {
          "path": "00_general_rules/x.md",
          "line": 5,
          "code": "rules-empty",
          "message": "nothing is said under `## Rules`",
          "hint": "write the rule in plain language, or delete the card"
        },
        {
          "path": "NOTES.md",
          "line": null,
          "code": "outside-layout",
          "message": "a file at the pool's root",
          "hint": "cards lie in 00_general_rules, 01_craft_elements, 02_genre_specifics; nothing but them and .skilltrain.toml belongs in a pool"
        }
      ],
      "cards": 1
    }
    "#);
}

#[test]
fn all_reads_each_unknown_card_once_and_nothing_else() {
    let paths: Vec<String> = (0..100).map(|index| format!("00_general_rules/{index:03}.md")).collect();
    let mut entries: Vec<Entry<'_>> =
        paths.iter().map(|path| Entry { path: path.as_bytes(), mode: 0o100_644 }).collect();
    entries.push(Entry { path: b"00_general_rules/link.md", mode: 0o120_000 });
    entries.push(Entry { path: b".skilltrain.toml", mode: 0o100_644 });
    let loads: Vec<std::sync::atomic::AtomicUsize> = entries.iter().map(|_| 0.into()).collect();
    let load = |index: usize| {
        loads[index].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(with_rules(if index == 7 { "" } else { "Say it." }))
    };
    let report = linter().all(&entries, load, |index| index % 2 == 0).expect("all load");
    let loads: Vec<usize> = loads.into_iter().map(std::sync::atomic::AtomicUsize::into_inner).collect();
    let wanted: Vec<usize> = (0..102).map(|index| usize::from(index < 100 && index % 2 == 1)).collect();
    assert_eq!((report.cards, loads), (100, wanted));
    let codes: Vec<_> = report.problems.iter().map(|problem| (problem.path.as_str(), problem.code.as_str())).collect();
    assert_eq!(codes, [("00_general_rules/007.md", "rules-empty"), ("00_general_rules/link.md", "symlink")]);
}

#[test]
fn a_card_that_cannot_be_loaded_is_an_error_and_the_first_one_counts() {
    let paths: Vec<String> = (0..64).map(|index| format!("00_general_rules/{index:02}.md")).collect();
    let entries: Vec<Entry<'_>> = paths.iter().map(|path| Entry { path: path.as_bytes(), mode: 0o100_644 }).collect();
    let load =
        |index: usize| -> Result<Vec<u8>> { Err(crate::ground::error::Error::failed(format!("no blob {index}"))) };
    assert_eq!(linter().all(&entries, load, |index| index < 9).expect_err("none loads").to_string(), "no blob 9");
}

#[test]
fn many_problems_of_one_code_are_counted() {
    let problems = linter().card(PATH, with_rules(&"a\u{200b}b\n\n".repeat(20)).as_bytes());
    assert_eq!(problems.len(), 5);
    assert!(problems[4].message.ends_with("(and 15 more like it)"), "{}", problems[4].message);
}

#[test]
fn a_problem_depends_on_the_bytes_alone() {
    let text = with_rules("TODO");
    let strip = |path: &str| -> Vec<_> {
        linter()
            .card(path, text.as_bytes())
            .into_iter()
            .map(|problem| (problem.line, problem.code, problem.message))
            .collect()
    };
    assert_eq!(strip(PATH), strip("02_genre_specifics/other.md"));
}

#[test]
fn one_thing_over_and_over_costs_no_more_than_its_length() {
    let pieces = [
        "## a\n",
        "<!-- a -->\n",
        "[a]: b\n",
        "\0\n",
        "\u{200b}\n",
        "\u{1f3f4}\u{e0067}",
        "](",
        "**a",
        "if the model wrote ",
    ];
    for piece in pieces {
        let text = with_rules(&piece.repeat(100_000 / piece.len()));
        let start = std::time::Instant::now();
        assert!(!linter().card(PATH, text.as_bytes()).is_empty());
        // Quadratic work takes minutes here, linear work a second even when nothing is optimised.
        assert!(start.elapsed() < std::time::Duration::from_secs(15), "{piece:?} took {:?}", start.elapsed());
    }
}

#[test]
fn a_file_too_big_to_be_a_card_is_not_read_on() {
    assert_eq!(found(&vec![0; 64 << 20]), ["0:body-too-long"]);
}
