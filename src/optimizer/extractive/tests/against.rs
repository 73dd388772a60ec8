//! Rules that stand against each other, and cards that exclude each other.

use super::*;

const CARD: &str = "01_craft_elements/desk.md";

/// Works that each report one line, having read the card if `read`.
fn planned(lines: &[&str], rules: &str, read: bool) -> (String, String) {
    let reports: Vec<Evidence> = lines
        .iter()
        .enumerate()
        .map(|(n, line)| {
            let mut sample = report(&format!("w-{n}"), &format!("# Report\n\n- {line}\n"));
            sample.reads = if read { vec![format!("pool/{CARD}")] } else { Vec::new() };
            sample
        })
        .collect();
    let body = format!("\n## Rules\n{rules}");
    let cards = [Card { path: CARD.into(), description: "Use at the desk.".into(), body }];
    let plan = plan(&reports, None, if rules.is_empty() { &[] } else { &cards }, &profile(), BOUNDS);
    let after = applied(if rules.is_empty() { &[] } else { &cards }, &plan);
    (
        after.iter().map(|card| card.body.trim().trim_start_matches("## Rules\n")).collect::<Vec<_>>().join("\n"),
        plan.report,
    )
}

#[test]
fn opposite_advice_is_never_both_written() {
    let (one, other) = ("Always add a comment to each function.", "Never add a comment to each function.");
    let (rules, report) = planned(&[one, one, one, other, other, other], "", false);
    assert_eq!(rules, "", "{report}");
    assert!(report.contains("the reports disagree: w-3, w-4, w-5 say otherwise"), "{report}");
    let (rules, report) = planned(&[one, one, one, other], "", false);
    assert_eq!(rules, "- Always add a comment to each function.", "{report}");
    assert!(report.contains("Never add a comment to each function. Why: the reports disagree"), "{report}");
}

#[test]
fn a_card_gives_way_to_two_works_that_read_it_and_say_the_opposite() {
    for (said, line) in [
        ("Do not ask for the receipt.", "Ask for the receipt."),
        ("Stop offering a voucher of 5 euros.", "Offer a voucher of 5 euros."),
    ] {
        let card = format!("- {line}\n- Greet first.\n");
        let (rules, report) = planned(&[said, said], &card, true);
        assert_eq!(rules, format!("- {said}\n- Greet first."), "{report}");
        for (lines, read) in [(&[said][..], true), (&[said, said][..], false)] {
            let (rules, report) = planned(lines, &card, read);
            assert_eq!(rules, card.trim_end(), "{report}");
            assert!(report.contains("says otherwise") && !report.contains("not followed"), "{report}");
        }
    }
}

#[test]
fn a_new_number_takes_the_place_of_the_old_one() {
    let rows = [
        ("Answer in at most 2 sentences.", "Answer in at most 3 sentences."),
        ("Wait 30 seconds before a retry.", "Wait 5 seconds before a retry."),
        ("Use Python 3.12.", "Use Python 3.9."),
    ];
    for (said, line) in rows {
        let (rules, report) = planned(&[said; 5], &format!("- {line}\n"), true);
        assert_eq!(rules, format!("- {said}"), "{report}");
        for (lines, read) in [(&[said][..], true), (&[said; 5][..], false)] {
            let (rules, report) = planned(lines, &format!("- {line}\n"), read);
            assert_eq!(rules, format!("- {line}"), "{report}");
            assert!(report.contains("says otherwise"), "{report}");
        }
    }
    let (rules, report) = planned(&[rows[0].0, rows[0].0, rows[0].1, rows[0].1], "", false);
    assert_eq!(rules, "", "{report}");
}

#[test]
fn cards_that_exclude_each_other_stay_two() {
    let shop = |folder: &str, name: &str, description: &str, last: &str| Card {
        path: format!("{folder}/{name}.md"),
        description: description.into(),
        body: format!(
            "\n## Rules\n- The return window is 30 days.\n- The refund limit is 50 euros.\n- The reply time is 2 hours.\n- {last}\n"
        ),
    };
    let pair = |folder: &str, german: &str, french: &str| {
        [
            shop(folder, "french-shop", french, "Write in French."),
            shop(folder, "german-shop", german, "Write in German."),
        ]
    };
    let text = "# Report\n\n- State it: the return window is 30 days.\n";
    let (german, french) = (
        "Use only for the German shop. Not for the French shop.",
        "Use only for the French shop. Not for the German shop.",
    );
    let (of_german, of_french) = ("Use for the German shop. Not for the French shop.", "Use for the French shop.");
    let (plain, other) = ("Use when asked for a value of a shop.", "Use when asked for shop values.");
    let merged = |cards: &[Card], text: &str| {
        let mut sample = report("w-1", text);
        sample.reads = cards.iter().map(|card| format!("pool/{}", card.path)).collect();
        let plan = plan(&[sample], None, cards, &profile(), BOUNDS);
        plan.changes.iter().any(|change| matches!(change, Change::Remove { .. }))
    };
    assert!(!merged(&pair("02_genre_specifics", german, french), text));
    assert!(!merged(&pair("02_genre_specifics", plain, other), text));
    assert!(!merged(&pair("01_craft_elements", german, french), text));
    assert!(!merged(&pair("01_craft_elements", of_german, of_french), text));
    assert!(!merged(&pair("01_craft_elements", plain, other), "# Report\n\n- Greet the guest by name.\n"));
    assert!(merged(&pair("01_craft_elements", plain, other), text));
}
