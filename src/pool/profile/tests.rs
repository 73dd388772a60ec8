use super::*;
use crate::ground::error::Kind;

fn error(text: &str) -> String {
    let error = Profile::parse(text, "pool/.skilltrain.toml").expect_err("a bad profile");
    assert_eq!(error.kind(), Kind::Usage);
    std::iter::once(error.to_string())
        .chain(error.hints().iter().map(|hint| format!("  hint: {hint}")))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The template with one text in it replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(RULES_TEMPLATE.contains(from), "{from}");
    RULES_TEMPLATE.replacen(from, to, 1)
}

#[test]
fn the_template_has_the_documented_defaults() {
    let profile = Profile::default_rules();
    let limits = &profile.limits;
    assert_eq!((limits.max_lines, limits.max_body_chars, limits.max_description_chars), (50, 4_800, 800));
    assert_eq!(
        (profile.card.heading.as_str(), profile.card.front_matter.as_slice()),
        ("Rules", &["description".to_string()][..])
    );
    let folders: Vec<_> = profile.folders.iter().map(|folder| (folder.path.as_str(), folder.role)).collect();
    assert_eq!(
        folders,
        [
            ("00_general_rules", Role::General),
            ("01_craft_elements", Role::Craft),
            ("02_genre_specifics", Role::Specific)
        ]
    );
}

#[test]
fn errors_name_file_line_key_and_the_nearest_key() {
    insta::assert_snapshot!(error(&changed("max_lines = 50", "max_line = 50")), @r"
    pool/.skilltrain.toml:14: key `limits.max_line`: unknown key
      hint: did you mean `max_lines`?
    ");
    insta::assert_snapshot!(error(&changed("max_lines = 50", "max_lines = \"fifty\"")), @r#"pool/.skilltrain.toml:14: key `limits.max_lines`: invalid type: string "fifty", expected a whole number"#);
    insta::assert_snapshot!(error(&changed("[limits]", "[limit]")), @r"
    pool/.skilltrain.toml:12: key `limit`: unknown key
      hint: did you mean `limits`?
    ");
    insta::assert_snapshot!(error(&changed("heading = \"Rules\"", "")), @"pool/.skilltrain.toml:28: key `card`: missing field `heading`");
    insta::assert_snapshot!(error(&changed("version = 1", "version = ")), @"pool/.skilltrain.toml:5: string values must be quoted, expected literal string");
    insta::assert_snapshot!(error(&changed("role = \"craft\"", "role = \"crafts\"")), @r"
    pool/.skilltrain.toml:48: key `folders[1].role`: unknown variant `crafts`, expected one of `general`, `craft`, `specific`
      hint: did you mean `craft`?
    ");
    insta::assert_snapshot!(error("nonsense"), @"pool/.skilltrain.toml:1: key with no value, expected `=`");
    insta::assert_snapshot!(error(""), @"pool/.skilltrain.toml:1: missing field `version`");
}

#[test]
fn values_are_checked() {
    insta::assert_snapshot!(error(&changed("version = 1", "version = 2")), @r"
    pool/.skilltrain.toml:5: key `version`: version 2 is not known here
      hint: this skilltrain reads version 1
    ");
    insta::assert_snapshot!(error(&changed("profile = \"rules\"", "profile = \"rule\"")), @r"
    pool/.skilltrain.toml:8: key `profile`: `rule` is not a layout
      hint: did you mean `rules`?
    ");
    insta::assert_snapshot!(error(&changed("max_lines = 50", "max_lines = 0")), @r"
    pool/.skilltrain.toml:14: key `limits.max_lines`: a limit of 0 refuses every card
      hint: set it to 1 or more
    ");
    insta::assert_snapshot!(error(&changed("\"01_craft_elements\"", "\"../elsewhere\"")), @r"
    pool/.skilltrain.toml:46: key `folders[1].path`: `../elsewhere` is not a plain name: it holds a slash
      hint: a folder is a plain name at the pool's root
    ");
    insta::assert_snapshot!(error(&changed("\"01_craft_elements\"", "\".git\"")), @r"
    pool/.skilltrain.toml:46: key `folders[1].path`: `.git` is hidden or leads out of the pool
      hint: a folder is a plain name at the pool's root
    ");
    insta::assert_snapshot!(error(&changed("\"01_craft_elements\"", "\"00_General_Rules\"")), @r"
    pool/.skilltrain.toml:46: key `folders[1].path`: the folders `00_general_rules` and `00_General_Rules` differ only by case
      hint: they are one folder on some systems: rename one
    ");
    insta::assert_snapshot!(error(&changed("\"01_craft_elements\"", "\"00_general_rules\"")), @r"
    pool/.skilltrain.toml:46: key `folders[1].path`: the folder `00_general_rules` is there twice
      hint: remove one of them
    ");
    insta::assert_snapshot!(error(&changed("\"01_craft_elements\"", "\"con\"")), @r"
    pool/.skilltrain.toml:46: key `folders[1].path`: `con` cannot be a name on every system
      hint: a folder is a plain name at the pool's root
    ");
    insta::assert_snapshot!(error(&changed("front_matter = [\"description\"]", "front_matter = [\"name\"]")), @r"
    pool/.skilltrain.toml:32: key `card.front_matter`: `description` is not among the keys
      hint: every card has a `description`
    ");
    insta::assert_snapshot!(error(&changed("code = \"post-mortem\"", "code = \"Post Mortem\"")), @r"
    pool/.skilltrain.toml:103: key `forbidden[3].code`: `Post Mortem` is not in kebab case
      hint: use lower-case letters, digits and single dashes
    ");
    insta::assert_snapshot!(error(&changed("code = \"post-mortem\"", "code = \"symlink\"")), @r"
    pool/.skilltrain.toml:103: key `forbidden[3].code`: `symlink` is a built-in code
      hint: choose another code: `skilltrain lint` uses this one itself
    ");
    insta::assert_snapshot!(error(&changed("pattern = '''(?ix-u)", "pattern = '''(?ixq)")), @r"
    pool/.skilltrain.toml:70: key `forbidden[0].pattern`: not a regular expression: unrecognized flag
      hint: see https://docs.rs/regex for the syntax; it has no look-around
    ");
    let pattern = "[[forbidden]]\ncode = \"x\"\npattern = \"a*\"\nmessage = \"m\"\nhint = \"h\"\n";
    insta::assert_snapshot!(error(&format!("{RULES_TEMPLATE}\n{pattern}")), @r"
    pool/.skilltrain.toml:127: key `forbidden[4].pattern`: it matches the empty text, so every card
      hint: make it match some text
    ");
}

#[test]
fn the_environment_overrides_limits() {
    let env = |name: &str, value: &str| Env::of("skilltrain", [(name, value)]);
    let set = |name: &str, value: &str| Profile::default_rules().with_env(&env(name, value));
    assert_eq!(set("SKILLTRAIN_MAX_LINES", "7").expect("valid").limits.max_lines, 7);
    assert_eq!(set("SKILLTRAIN_MAX_BODY_CHARS", " 8 ").expect("valid").limits.max_body_chars, 8);
    assert_eq!(set("SKILLTRAIN_MAX_DESCRIPTION_CHARS", "9").expect("valid").limits.max_description_chars, 9);
    assert_eq!(set("SKILLTRAIN_MAX_LINES", "").expect("empty is unset"), Profile::default_rules());
    for value in ["0", "-1", "fifty", "1.5", "99999999999999999999999"] {
        let error = set("SKILLTRAIN_MAX_LINES", value).expect_err("bad value");
        assert_eq!(error.kind(), Kind::Usage);
        assert_eq!(error.to_string(), format!("SKILLTRAIN_MAX_LINES is `{value}`, not a whole number of 1 or more"));
    }
}

#[test]
fn the_digest_changes_with_the_profile_and_only_then() {
    let profile = Profile::default_rules();
    assert_eq!(
        profile.digest(),
        Profile::parse(&format!("# a comment\n{RULES_TEMPLATE}"), "x").expect("same").digest()
    );
    let env = Env::of("skilltrain", [("SKILLTRAIN_MAX_LINES", "51")]);
    assert_ne!(profile.digest(), profile.clone().with_env(&env).expect("valid").digest());
}

#[test]
fn a_card_path_is_a_folder_and_a_name() {
    let profile = Profile::default_rules();
    for path in ["00_general_rules/a.md", "02_genre_specifics/a b.md"] {
        assert!(profile.is_card_path(path), "{path}");
    }
    for path in [
        "a.md",
        "x/a.md",
        "00_general_rules/a.txt",
        "00_general_rules/a/b.md",
        "00_general_rules/.md",
        "00_general_rules/.a.md",
    ] {
        assert!(!profile.is_card_path(path), "{path}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..proptest::prelude::ProptestConfig::with_cases(32) })]
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*", cut in 0_usize..9_000, insert in "[\\x00-\\x7f]{0,8}") {
        let _ = Profile::parse(&text, "x");
        let cut = (0..=cut.min(RULES_TEMPLATE.len())).rev().find(|at| RULES_TEMPLATE.is_char_boundary(*at)).unwrap_or(0);
        let _ = Profile::parse(&format!("{}{insert}{}", &RULES_TEMPLATE[..cut], &RULES_TEMPLATE[cut..]), "x");
    }
}
