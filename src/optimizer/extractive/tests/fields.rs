//! Reports of other fields and in other shapes, and the cards that they make.

use super::*;

fn cards(reports: &[(&str, &str)]) -> Plan {
    let all: Vec<Evidence> = reports.iter().map(|(work, text)| report(work, text)).collect();
    plan(&all, None, &[], &profile(), BOUNDS)
}

#[test]
fn code_review_in_bullets() {
    let one = "\
# Review of pr-101

## What went wrong

- **Formatting.** The diff mixes tabs and spaces. Always run the formatter before committing.
- **SQL queries**: The user id is pasted into the statement. Use parameterised queries instead of string concatenation.
- Tests: none were added. Add a regression test for every bug that you fix.
- Commit message said \"stuff\". Write the commit subject in the imperative, under 60 characters.

## What went well

- Use of small functions. Keep functions small.
";
    let two = "\
# Review of pr-102

## Problems

1. **Formatting.** Run the formatter before you commit.
2. **SQL queries**: 2 of 3 statements are concatenated. Use parameterized queries, not string concatenation.
3. No test covers the fix; add a regression test for every bug you fix.
4. Error handling: the error is swallowed with `let _ =`. Return errors to the caller; do not discard them.
";
    let three = "\
# Review of pr-103

## Problems

- **SQL queries**: Add an index on each foreign key before the backfill.
- Return errors to the caller and do not discard them.
- Write commit subjects in the imperative, under 60 characters.
";
    insta::assert_snapshot!(shown(&cards(&[("pr-101", one), ("pr-102", two), ("pr-103", three)])));
}

#[test]
fn stories_in_free_paragraphs() {
    let one = "\
# Loss: the-lighthouse

The opening spends two pages on weather before anybody acts. Begin each scene with an action. The critic noted that \
\"the fog rolled in, thick as wool\" appears three times.

## Dialogue

Every line carries a tag with an adverb. When two people speak in turns, drop the tags. Cut adverbs from dialogue tags.

> \"I am leaving,\" she said sadly, quietly, regretfully, in a low and unhappy voice.
";
    let two = "\
# Loss: winter-tram

We never learn what the driver wants. Give every main character a want in the first scene. The draft should begin each \
scene with an action.

## Dialogue

Cut the adverbs in every dialogue tag. When two people speak in turns, drop the tags.
";
    let three = "\
# Loss: salt

The ending explains the metaphor. Never explain a metaphor. Give each main character a want in the first scene.
";
    insta::assert_snapshot!(shown(&cards(&[("the-lighthouse", one), ("winter-tram", two), ("salt", three)])));
}

#[test]
fn a_travel_desk_in_tables() {
    let one = "\
# Trip 7

| Question | Reply | Expected |
| --- | --- | --- |
| Baggage limit of the night train | \"Two suitcases, I think\" | 30 kg |
| Check-in time of the ferry | \"Any time\" | 45 minutes before departure |

| Problem | Fix |
| --- | --- |
| Times without zone | State departure times in local time. |
| Price without currency | State the fare with its currency. |
";
    let two = "\
# Trip 9

| Question | Reply | Expected |
| --- | --- | --- |
| Baggage limit of the night train | \"No limit\" | 30 kg |
| Check-in time of the ferry | \"One hour\" | 45 minutes before departure |

| Problem | Fix |
| --- | --- |
| Local times | State the departure time in local time. |
| Fares | State fares with their currency. |
";
    insta::assert_snapshot!(shown(&cards(&[("trip-7", one), ("trip-9", two)])));
}

#[test]
fn a_single_report_that_counts_makes_general_rules() {
    let text = "\
# Tickets of one day

- 5 of 9 answers promise a date. Never promise a delivery date.
- One answer used a nickname. Use the customer's full name.
- The tone was cold twice. Open with a thank-you in one sentence.
";
    insta::assert_snapshot!(shown(&cards(&[("monday", text)])));
}
