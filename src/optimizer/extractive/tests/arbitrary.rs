//! Reports are untrusted: whatever they hold, a plan is made, in bounded time, and its cards keep the rules.

use proptest::prelude::*;

use super::*;

/// Text of the kinds that break readers: Markdown pieces, marks of all sorts, and any characters at all.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[-*+#>|`~\"'“”‘’«»()\\[\\]:;,.!? \n\t]{0,12}",
        Just("```\n".to_owned()),
        Just("- **Topic** (wrong). Use the tool: it is 5.\n".to_owned()),
        Just(
            "- State it: the code of the door is 7. The card `01_craft_elements/site-facts.md` is out of date.\n"
                .to_owned()
        ),
        Just("| a | Fix |\n| --- | --- |\n| \"x | Do not go. |\n".to_owned()),
        Just("\n## What went right\n\n".to_owned()),
        Just("3 of 6 replies stop. Never stop: \"early\".\n\n".to_owned()),
        Just("The phone extension of the paint shop is 9.\u{200b}\u{202e} Say “so”.\n".to_owned()),
        "[A-Za-z]{1,9}( [a-z]{1,9}){0,30}\\.\n?",
        Just("日本語の文。Ünïcödé ist gut. ".to_owned()),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn sample() -> impl Strategy<Value = Evidence> {
    let reads = proptest::collection::vec(
        prop_oneof![Just("pool/01_craft_elements/site-facts.md".to_owned()), any::<String>()],
        0..4,
    );
    (text(), reads, text(), "[a-z-]{0,8}").prop_map(|(loss_report, reads, trajectory, work)| Evidence {
        title: format!("{work} 01-02"),
        work,
        loss_report,
        reads,
        trajectory,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_report_makes_a_plan_that_keeps_the_rules(
        samples in proptest::collection::vec(sample(), 0..5),
        summary in proptest::option::of(text()),
        body in text(),
    ) {
        let mut cards = seed();
        cards.push(Card { path: "00_general_rules/odd.md".into(), description: "Use x.".into(), body });
        let made = plan(&samples, summary.as_deref(), &cards, &profile(), BOUNDS);
        let again = plan(&samples, summary.as_deref(), &cards, &profile(), BOUNDS);
        prop_assert_eq!(&made, &again);
        prop_assert!(made.changes.len() <= 4);
        for change in &made.changes {
            if let Change::Write { path, text } = change {
                let problems = problems(path, text);
                prop_assert!(problems.is_empty(), "{:?}\n{}", problems, text);
                prop_assert!(profile().is_card_path(path), "{}", path);
            }
        }
        prop_assert!(reduce(&samples).starts_with("# "));
    }
}

#[test]
fn huge_reports_stay_cheap() {
    let start = std::time::Instant::now();
    let reports = [
        "\"'".repeat(200_000),
        "(".repeat(300_000),
        "`".repeat(300_000),
        "- a: b; c, d.\n".repeat(60_000),
        (0..20_000).map(|n| format!("- Use tool number {n} for the task of kind {}.\n", n % 97)).collect(),
        "word ".repeat(200_000),
        "a".repeat(1_000_000),
        "> ".repeat(5_000),
        "- ".repeat(5_000),
        "| x ".repeat(100_000),
        format!("| a | b |\n| - | - |\n{}", "| x | Use it. |\n".repeat(40_000)),
    ];
    let all: Vec<Evidence> = reports.iter().enumerate().map(|(n, text)| report(&format!("w-{n}"), text)).collect();
    let made = plan(&all, None, &seed(), &profile(), BOUNDS);
    assert!(made.report.len() < 200_000);
    // Seconds where it takes tenths in a release build: only a quadratic step would reach this.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
