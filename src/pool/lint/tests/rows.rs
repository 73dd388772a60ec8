//! The rows of what a card may hold: each bad text has its code and line, each good one none.

use super::*;

fn problems_of(card: &[u8]) -> Vec<(Option<usize>, String)> {
    let linter = Linter::new(&Profile::default_rules()).expect("the template compiles");
    let problems = linter.card("00_general_rules/x.md", card);
    for problem in &problems {
        assert!(!problem.hint.is_empty() && !problem.message.is_empty(), "{problem}");
    }
    problems.into_iter().map(|problem| (problem.line, problem.code)).collect()
}

fn described(description: &str) -> String {
    format!("---\n{description}\n---\n\n## Rules\n- Answer first.\n")
}

fn ruled(body: &str) -> String {
    format!("---\ndescription: Use when asked.\n---\n\n{body}")
}

fn codes(card: &str) -> Vec<String> {
    problems_of(card.as_bytes()).into_iter().map(|(_, code)| code).collect()
}

#[test]
fn a_bad_description_has_one_code_and_its_line() {
    for (description, line, code) in [
        ("description:", 2, "key-empty"),
        ("description: ''", 2, "key-empty"),
        ("description: '   '", 2, "key-empty"),
        ("description: >", 2, "key-empty"),
        ("description: |", 2, "key-empty"),
        ("description: TODO", 2, "key-placeholder"),
        ("description: >\n  TODO", 2, "key-placeholder"),
        ("description: Use when: asked", 2, "yaml-unquoted-colon"),
        ("description: Use when asked.\ndescription: Use twice.", 3, "key-duplicate"),
        ("description: Use when asked.\nname: x", 3, "key-unknown"),
        ("description: [a, b]", 2, "key-not-text"),
        ("description: 12", 2, "key-not-text"),
    ] {
        assert_eq!(problems_of(described(description).as_bytes()), [(Some(line), code.to_owned())], "{description}");
    }
}

#[test]
fn a_good_description_is_judged_by_its_value() {
    for description in [
        "description: Use when asked.",
        "description: \"Use when: asked\"",
        "description: >\n  Use when asked.\n  Not for letters.",
        "description: |-\n  Use when asked.",
        "description: 'It''s for TODO lists'",
    ] {
        assert_eq!(codes(&described(description)), [""; 0], "{description}");
    }
}

#[test]
fn a_body_has_one_heading_and_says_something_below_it() {
    for (body, code) in [
        ("## Rules\n", "rules-empty"),
        ("## Rules\n\n   \n", "rules-empty"),
        ("## Rules\n- TODO\n", "rules-empty"),
        ("Hello.\n\n## Rules\n- Answer.\n", "text-before-heading"),
        ("## Rules\n- Answer.\n\n## More\n- Again.\n", "heading-extra"),
        ("## Rules\n- Answer.\n\n## Rules\n- Again.\n", "heading-extra"),
        ("# Rules\n- Answer.\n", "heading-missing"),
        ("## rules\n- Answer.\n", "heading-wrong"),
    ] {
        assert_eq!(codes(&ruled(body)), [code], "{body}");
    }
}

#[test]
fn a_fence_and_white_space_make_no_heading() {
    for body in [
        "## Rules\n```\n## not a heading\n```\n",
        "## Rules\n~~~text\n## not a heading\n~~~\n- Answer.\n",
        "## Rules  \n- Answer.\n",
        "## Rules\n\n- Answer.\n\n### More\n- Again.\n",
    ] {
        assert_eq!(codes(&ruled(body)), [""; 0], "{body}");
    }
}

#[test]
fn line_ends_and_a_mark_are_problems_with_a_fix() {
    let good = ruled("## Rules\n- Answer.\n");
    assert_eq!(codes(&format!("\u{feff}{good}"))[0], "bom");
    assert_eq!(codes(&good.replace('\n', "\r\n")), ["crlf"]);
    assert_eq!(codes(&good.replacen("Answer.\n", "Answer.\r\n", 1)), ["mixed-line-ends"]);
    assert_eq!(codes(&good.replace("Answer.", "Ans\rwer.")), ["lone-cr"]);
}

#[test]
fn what_a_reader_does_not_see_is_a_problem() {
    for (text, code) in [
        ("an\u{200b}swer", "hidden-zero-width"),
        ("an\u{202e}swer", "hidden-bidi"),
        ("an\u{e0041}swer", "hidden-tag"),
        ("an\u{ad}swer", "hidden-soft-hyphen"),
        ("answer <!-- obey -->", "html-comment"),
        ("an\u{0}swer", "nul-byte"),
        ("an\u{1b}swer", "control-character"),
        ("an\u{2028}swer", "odd-line-separator"),
        ("the key AKIAIOSFODNN7EXAMQLE", "secret"),
        (&format!("ghp_{}", "a1B2c3D4e5F6".repeat(3)), "secret"),
    ] {
        assert_eq!(codes(&ruled(&format!("## Rules\n- Give the {text} first.\n"))), [code], "{text:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_named_by_line_and_byte() {
    let mut card = ruled("## Rules\n- Answer ").into_bytes();
    card.extend(b"\xff first.\n");
    let problems = Linter::new(&Profile::default_rules()).expect("the template").card("00_general_rules/x.md", &card);
    assert_eq!((problems.len(), problems[0].code.as_str(), problems[0].line), (1, "not-utf8", Some(6)));
    assert!(problems[0].message.contains("byte"), "{}", problems[0]);
}

#[test]
fn a_file_of_any_size_is_judged_at_once() {
    let huge = vec![0_u8; 64 << 20];
    assert_eq!(problems_of(&huge), [(None, "body-too-long".to_owned())]);
    assert_eq!(problems_of(b""), [(Some(1), "front-matter-missing".to_owned())]);
}
