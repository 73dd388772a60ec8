//! What a rule, a file's name and a description are worded as.

use super::*;

fn made(texts: &[&str]) -> (String, String) {
    let all: Vec<Evidence> =
        texts.iter().enumerate().map(|(n, text)| report(&format!("w-{n}"), &format!("# Report\n\n{text}\n"))).collect();
    let plan = plan(&all, None, &[], &profile(), BOUNDS);
    let cards: Vec<String> = plan
        .changes
        .iter()
        .map(|change| match change {
            Change::Write { path, text } => format!("{path}\n{text}"),
            Change::Remove { path } => path.clone(),
        })
        .collect();
    (cards.concat(), plan.report)
}

#[test]
fn advice_on_the_cards_is_no_rule() {
    for line in [
        "Add a card about exchanges.",
        "Delete the card about vouchers.",
        "Update the description of the refunds card.",
        "Remove the rule about dropping columns.",
        "The optimizer should add a card about exchanges.",
    ] {
        let line = format!("- {line}");
        let (cards, report) = made(&[&line, &line]);
        assert!(cards.is_empty(), "{cards}");
        assert!(report.contains("## Not understood") && report.contains(&line), "{report}");
    }
}

#[test]
fn sentences_keep_what_they_need() {
    let rows = [
        ("- Instead of adding emojis, keep a sober tone.", "- Instead of adding emojis, keep a sober tone.\n"),
        ("- Use [this link](http://example.org/form) for refunds.", "(http://example.org/form)"),
        ("- Install version v1.2 of the client first.", "install version v1.2 of the client"),
        ("- Never log a password.", "/no-log-password.md\n"),
        ("- **Severity:** high. Name the year of it.", "00_general_rules/"),
    ];
    for (line, want) in rows {
        let (cards, report) = made(&[line, line]);
        assert!(cards.contains(want), "{want}\n{cards}\n{report}");
    }
}

#[test]
fn advice_that_another_report_quotes_is_still_advice() {
    let advice = "Answer in one short sentence that gives the value and then stop without another word.";
    let own = format!("- {advice}");
    let fenced = format!("```json\n{{\"advice\": \"{advice}\"}}\n```");
    let (cards, report) = made(&[&own, &own, &fenced]);
    assert!(cards.contains(&own), "{report}");
}
