//! What is done to cards that reports speak of.

use super::*;

fn read(mut sample: Evidence, cards: &[&str]) -> Evidence {
    sample.reads = cards.iter().map(|card| format!("pool/{card}")).collect();
    sample
}

const TONE: &str = "01_craft_elements/tone.md";

fn tone(description: &str, body: &str) -> Card {
    Card { path: TONE.into(), description: description.into(), body: body.into() }
}

fn written(plan: &Plan, at: &str) -> String {
    let found = plan.changes.iter().find_map(|change| match change {
        Change::Write { path, text } if path == at => Some(text.clone()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{at} is not written:\n{}", plan.report))
}

#[test]
fn a_card_read_where_it_does_not_apply_is_narrowed() {
    let text = |n: usize| {
        format!(
            "# Loss\n\n- **Legal notices** (wrong). Attempt {n} was chatty: the card `{TONE}` was read but does not apply.\n"
        )
    };
    let cards = [tone("Use when writing to a customer.", "\n## Rules\n- Open with a joke.\n")];
    let all = [read(report("w-1", &text(1)), &[TONE]), read(report("w-2", &text(2)), &[TONE])];
    let both = plan(&all, None, &cards, &profile(), BOUNDS);
    insta::assert_snapshot!(written(&both, TONE), @"
    ---
    description: Use when writing to a customer. Not for legal notices.
    ---

    ## Rules
    - Open with a joke.
    ");
    // Said again of the narrowed card, it changes nothing; nor does one report that says it once.
    let narrowed = applied(&cards, &both);
    assert!(plan(&all, None, &narrowed, &profile(), BOUNDS).changes.is_empty());
    assert!(plan(&all[..1], None, &cards, &profile(), BOUNDS).changes.is_empty());
    // A card that nobody read misled nobody.
    let unread = [report("w-1", &text(1)), report("w-2", &text(2))];
    assert!(plan(&unread, None, &cards, &profile(), BOUNDS).changes.is_empty());
}

#[test]
fn a_card_that_should_have_been_read_is_widened() {
    let text = format!(
        "# Loss\n\n- **Refund letters** (wrong). The card `{TONE}` was not read although it states how to open.\n"
    );
    let cards = [tone("Use when writing to a customer. Not for reports.", "\n## Rules\n- Open with a thank-you.\n")];
    let all = [report("w-1", &text), report("w-2", &text)];
    let made = plan(&all, None, &cards, &profile(), BOUNDS);
    insta::assert_snapshot!(written(&made, TONE), @"
    ---
    description: Use when writing to a customer, or for refund letters. Not for reports.
    ---

    ## Rules
    - Open with a thank-you.
    ");
    assert!(plan(&all, None, &applied(&cards, &made), &profile(), BOUNDS).changes.is_empty());
}

#[test]
fn a_fact_that_a_card_states_unread_widens_its_description() {
    let text = "# Loss\n\n- **Fee of the west car park** (wrong). State it: the fee of the west car park is 4 euros.\n";
    let cards =
        [tone("Use when asked about opening hours.", "\n## Rules\n- The fee of the west car park is 4 euros.\n")];
    let made = plan(&[report("w-1", text), report("w-2", text)], None, &cards, &profile(), BOUNDS);
    assert!(written(&made, TONE).contains("Use when asked about opening hours, or the fee of the west car park."));
}

#[test]
fn a_misleading_instruction_is_replaced_and_the_rest_kept_to_the_byte() {
    let text = format!(
        "# Loss\n\n- Cards: `{TONE}` was read and its rule is out of date. Sign letters with the team's name, never with a first name.\n"
    );
    let body = "\n## Rules\n\n1.  Sign letters with a first name.\n2.  Open with a thank-you. Then  answer.\n\n```\ncode\n```\n";
    let cards = [tone("Use when writing to a customer.", body)];
    let all = [read(report("w-1", &text), &[TONE]), read(report("w-2", &text), &[TONE])];
    insta::assert_snapshot!(written(&plan(&all, None, &cards, &profile(), BOUNDS), TONE), @"
    ---
    description: Use when writing to a customer.
    ---

    ## Rules

    1.  Sign letters with the team's name, never with a first name.
    2.  Open with a thank-you. Then  answer.

    ```
    code
    ```
    ");
    assert!(plan(&all[..1], None, &cards, &profile(), BOUNDS).changes.is_empty());
}

#[test]
fn works_that_disagree_on_a_value_change_nothing() {
    let says =
        |value: &str| format!("# Loss\n\n- State it: the fee of the west car park is {value}.\n- Never guess a fee.\n");
    let all = [
        report("w-1", &says("4 euros")),
        report("w-2", &says("4 euros")),
        report("w-3", &says("5 euros")),
        report("w-4", &says("5 euros")),
    ];
    let made = plan(&all, None, &[], &profile(), BOUNDS);
    assert!(!shown(&made).contains("- The fee of the west car park is 4 euros.\n"), "{}", made.report);
    assert!(made.report.contains("the reports disagree"), "{}", made.report);
    // Two against one is an answer.
    let made = plan(&all[..3], None, &[], &profile(), BOUNDS);
    assert!(shown(&made).contains("- The fee of the west car park is 4 euros.\n"), "{}", made.report);
}

#[test]
fn what_was_said_and_whose_work_it_was_stay_out() {
    let said = "always greet the passenger by name and offer a window seat before the luggage is weighed";
    let text = "# Loss\n\n- Always greet the passenger by name and offer a window seat before the luggage is weighed.\n\
         - As tour-12 shows, use shorter words.\n- Use the word \"sorry\" less.\n- In 3 of 5 letters, use fewer commas.\n";
    let mut all = [report("tour-12", text), report("tour-13", text)];
    all[0].trajectory = format!("## assistant\n\n{said}\n");
    let made = plan(&all, None, &[], &profile(), BOUNDS);
    let card: String = made
        .changes
        .iter()
        .map(|change| match change {
            Change::Write { text, .. } => text.clone(),
            Change::Remove { .. } => String::new(),
        })
        .collect();
    assert!(card.contains("- Use fewer commas.\n"), "{card}{}", made.report);
    for never in ["window", "tour-1", "sorry", "3 of 5"] {
        assert!(!card.contains(never), "{never}: {card}");
    }
}

#[test]
fn overlapping_cards_that_disagree_stay_two() {
    let card = |name: &str, fee: &str| Card {
        path: format!("01_craft_elements/{name}.md"),
        description: "Use when asked for a fee.".into(),
        body: format!(
            "\n## Rules\n- The fee of the west car park is {fee}.\n- The fee of the pool is 3 euros.\n- The fee of the sauna is 9 euros.\n"
        ),
    };
    let cards = [card("fees", "4 euros"), card("prices", "5 euros")];
    let all = [read(report("w-1", "# Loss\n"), &["01_craft_elements/fees.md", "01_craft_elements/prices.md"])];
    let made = plan(&all, None, &cards, &profile(), BOUNDS);
    assert!(made.changes.is_empty() && made.report.contains("they disagree"), "{}", made.report);
}

#[test]
fn other_layouts_get_what_they_can_hold() {
    let text = "# Loss\n\n- State it: the fee of the west car park is 4 euros.\n- Never guess a fee.\n";
    let all = [report("w-1", text), report("w-2", text)];
    let mut one = profile();
    one.folders.truncate(1);
    let made = plan(&all, None, &[], &one, BOUNDS);
    let paths: Vec<&str> = made.changes.iter().map(path).collect();
    assert_eq!(paths, ["00_general_rules/fee.md", "00_general_rules/no-guess-fee.md"], "{}", made.report);
    // The next step finds its list there.
    let more = text.replace("west", "east");
    let all_more = [report("w-1", &more), report("w-2", &more)];
    let next = plan(&all_more, None, &applied(&[], &made), &one, BOUNDS);
    assert!(written(&next, "00_general_rules/fee.md").contains("east car park"));
    let mut none = profile();
    none.folders.clear();
    let made = plan(&all, None, &[], &none, BOUNDS);
    assert!(made.changes.is_empty() && made.report.contains("no folder for it"), "{}", made.report);
    let mut keys = profile();
    keys.card.front_matter.push("owner".into());
    let made = plan(&all, None, &[], &keys, BOUNDS);
    assert!(made.changes.is_empty() && made.report.contains("front matter"), "{}", made.report);
}
