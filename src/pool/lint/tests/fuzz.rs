//! Nothing makes the lint panic, and what it says holds together.

use proptest::prelude::*;

use super::*;

const CARD: &str = "---\ndescription: >\n  Use when \"it's\" asked: 👩\u{200d}🚒 now.\n---\n\n## Rules\n- **Say** `it`.\n\n[a]: b \"c\"\n\n```\n## x\n```\n<b>x</b> | y\n";

/// Pieces that mean something to some check.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "---\n",
        "\r",
        "\r\n",
        "\0",
        "\u{feff}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{1f3f4}",
        "\u{e0067}",
        "## ",
        "Rules",
        "<!--",
        "-->",
        "```",
        "[a]",
        "[a]: #",
        ": ",
        " #",
        "|",
        ">",
        "&a ",
        "*a",
        "!!binary ",
        "{",
        "[",
        "\"",
        "'",
        "sk-ant-",
        "password: ",
        "the model wrote",
        "if the model wrote",
        "episode 3",
        "TODO",
        "description: ",
        "\u{2028}",
        "\t",
        "\n\n",
        "\u{2019}",
    ]);
    prop_oneof![known.prop_map(str::to_string), "\\PC{0,8}", ".{0,4}"]
}

fn holds_together(bytes: &[u8]) -> std::result::Result<(), TestCaseError> {
    let problems = linter().card(PATH, bytes);
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    for problem in &problems {
        prop_assert!(problem.line.is_some_and(|line| line >= 1 && line <= lines), "{problem} of {lines} lines");
        prop_assert!(!problem.to_string().contains(|char: char| char.is_control() && char != '\n'), "{problem:?}");
        prop_assert!(!problem.message.is_empty() && !problem.hint.is_empty() && !problem.hint.contains('\n'));
    }
    prop_assert!(problems.is_sorted());
    if problems.is_empty() {
        let card = crate::pool::card::Card::parse(PATH, bytes);
        prop_assert!(card.is_ok_and(|card| !card.description.is_empty()), "clean, but not a card");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        holds_together(&bytes)?;
    }

    #[test]
    fn a_damaged_card(cuts in prop::collection::vec((0..CARD.len(), 0_usize..6, piece()), 1..5)) {
        let mut bytes = CARD.as_bytes().to_vec();
        for (at, length, insert) in cuts {
            let at = at.min(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, insert.into_bytes());
        }
        holds_together(&bytes)?;
    }

    #[test]
    fn pieces_in_any_order(pieces in prop::collection::vec(piece(), 0..30), front in any::<bool>()) {
        let text = pieces.concat();
        holds_together(if front { with_rules(&text) } else { text }.as_bytes())?;
    }

    #[test]
    fn any_tree(entries in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..20), any::<u32>()), 0..8), names in prop::collection::vec("(00_general_rules/)?\\PC{0,12}(\\.md)?", 0..8)) {
        let names = names.iter().map(|name| (name.as_bytes(), 0o100_644));
        let entries: Vec<Entry<'_>> = entries.iter().map(|(path, mode)| (path.as_slice(), *mode)).chain(names).map(|(path, mode)| Entry { path, mode }).collect();
        let problems = linter().tree(&entries);
        prop_assert!(problems.is_sorted() && problems.iter().all(|problem| codes::is_built_in(&problem.code)));
    }
}
