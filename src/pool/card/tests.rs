use proptest::prelude::*;

use super::*;

const PATH: &str = "00_general_rules/x.md";

fn parse(text: &str) -> Result<Card, Vec<String>> {
    Card::parse(PATH, text.as_bytes()).map_err(|problems| problems.into_iter().map(|problem| problem.code).collect())
}

fn description(yaml: &str) -> String {
    parse(&format!("---\n{yaml}\n---\n\n## Rules\nx\n")).expect("a card").description
}

#[test]
fn a_description_is_judged_by_its_value() {
    for (yaml, value) in [
        ("description: Use when asked.", "Use when asked."),
        ("description:   Use when asked.  ", "Use when asked."),
        ("description: \"Use when: asked\"", "Use when: asked"),
        ("description: 'it''s # fine'", "it's # fine"),
        ("description: >\n  Use when\n  asked.", "Use when asked."),
        ("description: >-\n  Use when\n\n  asked.", "Use when\nasked."),
        ("description: |\n  Use when: a\n  # asked.", "Use when: a\n# asked."),
        ("description: Use when\n  asked.", "Use when asked."),
        ("description:\n  Use when asked.", "Use when asked."),
        ("description:", ""),
        ("description: ~", ""),
        ("description: one\ndescription: two", "one"),
        ("other: [1, {a: b}]\ndescription: after it", "after it"),
    ] {
        assert_eq!(description(yaml), value, "{yaml}");
    }
}

#[test]
fn the_body_keeps_its_bytes() {
    let card = parse("---\ndescription: Use it.\n---\n\n## Rules\n- a \n\n").expect("a card");
    assert_eq!(card, Card { path: PATH.into(), description: "Use it.".into(), body: "\n## Rules\n- a \n\n".into() });
}

#[test]
fn what_cannot_be_read_is_said() {
    for (text, code) in [
        ("", "front-matter-missing"),
        ("## Rules\n", "front-matter-missing"),
        ("---\ndescription: a\n", "front-matter-unclosed"),
        ("---\nname: a\n---\n", "key-missing"),
        ("---\n---\n", "key-missing"),
        ("---\ndescription: Use when: a\n---\n", "yaml-unquoted-colon"),
        ("---\ndescription: \"a\n---\n", "yaml-invalid"),
        ("---\ndescription: 12\n---\n", "key-not-text"),
        ("---\ndescription: [a]\n---\n", "key-not-text"),
        ("---\ndescription\n---\n", "front-matter-not-a-mapping"),
    ] {
        assert_eq!(parse(text), Err(vec![code.to_string()]), "{text:?}");
    }
    let problems = Card::parse(PATH, b"---\nd\xff").expect_err("not UTF-8");
    assert_eq!((problems[0].code.as_str(), problems[0].line), ("not-utf8", Some(2)));
}

#[test]
fn alias_bombs_cost_nothing() {
    let mut yaml = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = level - 1;
        let list = vec![format!("*a{before}"); 9].join(", ");
        yaml.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    let start = std::time::Instant::now();
    assert!(parse(&format!("---\n{yaml}description: *a11\n---\n")).is_err());
    assert!(start.elapsed() < std::time::Duration::from_secs(2), "{:?}", start.elapsed());
    let deep = format!("---\ndescription: {}\n---\n", "[".repeat(20_000));
    assert!(parse(&deep).is_err());
}

#[test]
fn quotes_exactly_when_yaml_needs_them() {
    for (description, line) in [
        ("Use when asked. Not for letters.", "description: Use when asked. Not for letters."),
        ("Use when: asked", "description: \"Use when: asked\""),
        ("Use C# and #tags", "description: \"Use C# and #tags\""),
        ("Say \"no\": here", "description: 'Say \"no\": here'"),
        ("it's \\ #1", r"description: 'it''s \ #1'"),
        ("yes", "description: \"yes\""),
        ("12", "description: \"12\""),
        ("12:30:00", "description: \"12:30:00\""),
        ("2001-12-14 21:59:43", "description: \"2001-12-14 21:59:43\""),
        ("12 shelves", "description: 12 shelves"),
        ("- a", "description: \"- a\""),
        ("*bold*", "description: \"*bold*\""),
        ("a\nb", "description: \"a\\nb\""),
        ("Größe, naïve", "description: Größe, naïve"),
        ("", "description: \"\""),
        ("ends with:", "description: \"ends with:\""),
        ("a\u{200b}b", "description: \"a\\u200bb\""),
    ] {
        assert_eq!(front_matter_line(description), line);
    }
}

#[test]
fn an_edit_changes_only_the_lines_it_means() {
    let text = "---\nname: a # why\ndescription: >\n  Use when\n\n  asked.\n\n# about the next\nother: 'b'\n---\n\n## Rules\nx\n";
    let edited = replace_description(PATH, text, "Now: this").expect("edited");
    assert_eq!(
        edited,
        "---\nname: a # why\ndescription: \"Now: this\"\n\n# about the next\nother: 'b'\n---\n\n## Rules\nx\n"
    );
    let crlf = "---\r\ndescription: a b\r\n---\r\n\r\n## Rules\r\nx\r\n";
    assert_eq!(replace_description(PATH, crlf, "c d").expect("edited"), crlf.replace("a b", "c d"));
    assert_eq!(replace_body(PATH, text, "\n## Rules\ny").expect("edited"), text.replace("\nx\n", "\ny\n"),);
    assert_eq!(replace_body(PATH, "---\na: b\n---", "y").expect("edited"), "---\na: b\n---\ny\n");
    for text in ["", "---\nname: b\n---\n", "---\n{description: a, name: b}\n---\n", "---\n\"description\": a\n---\n"] {
        assert!(replace_description(PATH, text, "c").is_err(), "{text}");
    }
}

#[test]
fn a_rendered_card_is_canonical() {
    assert_eq!(Card::render("Use it.", "## Rules\nx"), "---\ndescription: Use it.\n---\n\n## Rules\nx\n");
    assert_eq!(Card::render("Use it.", "\n\n## Rules\nx\n\n"), "---\ndescription: Use it.\n---\n\n## Rules\nx\n");
}

/// Text with much of what YAML cares about.
fn yamlish() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z :#'\"\\\\\\-?,\\[\\]{}&*!|>%@`~=<.0-9\\n\\t]{0,24}",
        "[A-Z][a-z]{0,4}[ :#-][ -~]{0,20}",
        "\\PC{0,16}",
        ".{0,16}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_description_survives_quoting(description in yamlish()) {
        let description = description.trim();
        let card = parse(&Card::render(description, "## Rules\nx")).expect("what we write we read");
        prop_assert_eq!(card.description, description);
    }

    #[test]
    fn a_plain_value_means_the_same_to_the_yaml_parser(value in yamlish()) {
        // The quick path, against the parser: a leading empty line keeps the first from being taken.
        let yaml = format!("description: {value}\n");
        if let Some(field) = crate::pool::yaml::plain_line(&yaml) {
            let slow = yaml::fields(&format!("\n{yaml}")).expect("plain text is YAML");
            prop_assert_eq!(slow, vec![Field { line: 2, ..field }]);
        }
    }

    #[test]
    fn a_replaced_description_is_read_back(old in yamlish(), new in yamlish(), body in "\\PC{0,20}") {
        let text = Card::render(old.trim(), &body);
        let edited = replace_description(PATH, &text, new.trim()).expect("our own card");
        let card = parse(&edited).expect("still a card");
        prop_assert_eq!(card.description, new.trim());
        prop_assert_eq!(card.body, parse(&text).expect("a card").body);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "(---\n)?(description: ?)?\\PC{0,40}\n?(---\n)?.{0,20}") {
        let _ = Card::parse(PATH, &bytes);
        let _ = Card::parse(PATH, text.as_bytes());
        let _ = replace_description(PATH, &text, &text);
        let _ = replace_body(PATH, &text, &text);
    }
}
