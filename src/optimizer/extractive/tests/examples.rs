//! The example evidence, in micro-steps as a backward pass makes them.

use super::*;

#[test]
fn eight_shifts_in_two_steps_make_a_list_and_a_general_card() {
    let all = evidence("example");
    insta::assert_snapshot!("example_reduce_1", reduce(&all[..4]));
    let first = plan(&all[..4], None, &[], &profile(), BOUNDS);
    insta::assert_snapshot!("example_step_1", shown(&first));
    let pool = applied(&[], &first);
    let second = plan(&all[4..], None, &pool, &profile(), BOUNDS);
    insta::assert_snapshot!("example_step_2", shown(&second));
    keeps_the_rules(&pool, &second, &all);
    // The second step only adds lines to the list.
    let paths: Vec<&str> = second.changes.iter().map(path).collect();
    assert_eq!(paths, ["01_craft_elements/door-code-phone-extension-and-other-facts.md"]);
}

#[test]
fn four_rounds_correct_merge_create_and_leave_alone() {
    let all = evidence("example-second");
    let plan = plan(&all, None, &seed(), &profile(), BOUNDS);
    insta::assert_snapshot!("second_reduce", reduce(&all));
    insta::assert_snapshot!("second_step", shown(&plan));
    keeps_the_rules(&seed(), &plan, &all);
    let paths: Vec<&str> = plan.changes.iter().map(path).collect();
    assert_eq!(paths, ["01_craft_elements/handbook-values.md", "01_craft_elements/site-facts.md"]);
}

#[test]
fn small_groups_correct_what_one_report_proves() {
    let all = evidence("example-second");
    for size in [1, 2] {
        let mut pool = seed();
        for group in all.chunks(size) {
            let plan = plan(group, None, &pool, &profile(), BOUNDS);
            keeps_the_rules(&pool, &plan, group);
            pool = applied(&pool, &plan);
        }
        let paths: Vec<&str> = pool.iter().map(|card| card.path.as_str()).collect();
        let site = &pool[1].body;
        assert_eq!(
            paths,
            ["00_general_rules/answering.md", "01_craft_elements/site-facts.md", "02_genre_specifics/night-shift.md"]
        );
        for right in ["shop is 328.", "dock is 6 am.", "badge is orange.", "desk is R22."] {
            assert!(site.contains(right), "{size}: {right}");
        }
        // What a group's only report says once is not enough for a new rule.
        assert_eq!(site.contains("Friday"), size == 2);
    }
}

#[test]
fn a_commonality_report_read_back_gives_the_same_changes() {
    let (shifts, rounds) = (evidence("example"), evidence("example-second"));
    for (group, cards) in
        [(&shifts[..4], Vec::new()), (&shifts[4..], Vec::new()), (&rounds[..], seed()), (&rounds[..2], seed())]
    {
        let straight = plan(group, None, &cards, &profile(), BOUNDS);
        let through = plan(group, Some(&reduce(group)), &cards, &profile(), BOUNDS);
        assert_eq!(straight.changes, through.changes, "{}", reduce(group));
    }
}

#[test]
fn bounds_put_off_what_is_least_supported() {
    let all = evidence("example-second");
    let bounded = |learning_rate, max_deletions| {
        let plan = plan(&all, None, &seed(), &profile(), Bounds { learning_rate, max_deletions });
        let later = plan.report.split("## Left for a later step").nth(1).unwrap_or_default();
        let later = later.split("\n## ").next().unwrap_or_default().trim().to_owned();
        (plan.changes.iter().map(|change| path(change).to_owned()).collect::<Vec<_>>(), later)
    };
    let (paths, later) = bounded(None, 0);
    assert_eq!(paths, ["01_craft_elements/site-facts.md"]);
    assert!(later.contains("the step may delete 0"), "{later}");
    let (paths, later) = bounded(Some(1), 5);
    assert_eq!(paths, ["01_craft_elements/site-facts.md"]);
    assert!(later.contains("merge `01_craft_elements/handbook-values.md`"), "{later}");
    let (paths, later) = bounded(Some(0), 5);
    assert!(paths.is_empty() && later.lines().count() >= 3, "{later}");
}

#[test]
fn limits_make_a_second_list_rather_than_a_card_that_is_too_long() {
    let mut profile = profile();
    profile.limits.max_lines = 10;
    profile.limits.max_description_chars = 160;
    let all = evidence("example");
    let first = plan(&all, None, &[], &profile, Bounds { learning_rate: None, max_deletions: 0 });
    insta::assert_snapshot!("example_tight", shown(&first));
    for change in &first.changes {
        let Change::Write { path, text } = change else { panic!() };
        assert!(text.lines().count() <= 10, "{path}");
        assert!(card(path, text).description.chars().count() <= 160, "{path}");
    }
}

#[test]
fn a_users_own_commonality_report_stands_for_the_loss_reports() {
    let summary = "# Commonality\n\nAll four shifts fail the same way.\n\n## Facts\n\n- The door code of the north gate is 4711 (all shifts).\n- The phone extension of the paint shop is 328 (shift-mon, shift-tue).\n- Only shift-thu asked for the pickup day of the scrap yard, which is Friday.\n\n## Behaviour\n\nReplies restate the question and never give a value. Lead with the value; do not restate the question. Agents should stop after one sentence.\n";
    let made = plan(&evidence("example")[..4], Some(summary), &[], &profile(), BOUNDS);
    keeps_the_rules(&[], &made, &evidence("example"));
    insta::assert_snapshot!("example_summary", shown(&made));
}
