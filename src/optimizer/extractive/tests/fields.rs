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

const TICKET_482: &str = r#"# Loss report — ticket-482 (customer support)

**Score:** 2/5

## Summary

The agent resolved the refund but took four turns to do so. It asked for the order number twice, even though the customer had supplied it in the first message. It should read the whole first message before asking anything.

## Issues

### 1. Asked for information already given

- **What happened:** The agent wrote "Could you please share your order number?" after the customer had given it.
- **Why it matters:** Customers feel ignored.
- **What should have been done:** Read the whole first message before asking a question.

### 2. Refund policy misquoted

- **What happened:** It told the customer that refunds take "3-5 business days".
- **Expected:** Refunds to cards take 10 business days.
- **Fix:** The refund time for cards is 10 business days. State it whenever a refund is promised.

### 3. Tone

- The greeting was fine, but the closing was abrupt.
- Close with an offer of further help.

## What worked

- It verified the customer's identity before discussing the order.
"#;

const TICKET_511: &str = r#"# Loss report — ticket-511 (customer support)

**Score:** 3/5

## Summary

Right outcome, but slow: 2 of 5 messages repeated a question. The agent must read the whole first message before it asks a question.

## Issues

### 1. Refund time

- **What happened:** promised "by tomorrow".
- **Fix:** The refund time for cards is 10 business days.

### 2. Tone

- Close every conversation with an offer of further help.
- Avoid exclamation marks in apologies.

### 3. Escalation

- Escalate to a human when the customer mentions a lawyer; the agent kept arguing.

## What worked

- Identity check first.
"#;

const TICKET_530: &str = r#"# Loss report — ticket-530 (customer support)

| # | Issue | Severity | Recommendation |
|---|-------|----------|----------------|
| 1 | Asked twice for the e-mail address | high | Read the entire first message before asking anything. |
| 2 | Legal threat | high | Escalate to a human as soon as a customer mentions a lawyer. |
| 3 | Exclamation marks | low | Do not use exclamation marks in an apology. |

Overall the agent was friendly. In future, make sure to close with an offer of further help.
"#;

const Q17: &str = r#"# Task q17 — failed

The query returned 1,204 rows; the reference has 1,187. Cause: the join to `orders` duplicates customers with several orders.

* Use `COUNT(DISTINCT customer_id)` when joining one-to-many tables.
* `created_at` is in UTC; convert to local time with `AT TIME ZONE` before truncating to a day.
* NULL handling — `status <> 'closed'` drops NULLs. Write `status IS DISTINCT FROM 'closed'` instead.
* Always qualify column names with the table alias.
"#;

const Q21: &str = r#"# Task q21 — failed

* Wrong totals (again a fan-out). When joining one-to-many tables, use `COUNT(DISTINCT customer_id)`.
* Always qualify columns with their table alias.
* Don't filter with `status <> 'closed'`: it drops NULLs. Write `status IS DISTINCT FROM 'closed'`.
* The fiscal year starts on 1 April. Expected: fiscal year starts on 1 April.
"#;

const Q22: &str = r#"# Task q22 — passed partially

The `created_at` column is in UTC: convert it to local time with `AT TIME ZONE` before truncating to a day.
The answer should qualify column names with the table alias. Also, the query must not use `SELECT *`.
Rule: the fiscal year starts on 1 April.
"#;

#[test]
fn a_support_desk_as_models_write_reports() {
    insta::assert_snapshot!(shown(&cards(&[
        ("ticket-482", TICKET_482),
        ("ticket-511", TICKET_511),
        ("ticket-530", TICKET_530)
    ])));
}

#[test]
fn queries_with_code_in_the_advice() {
    insta::assert_snapshot!(shown(&cards(&[("q17", Q17), ("q21", Q21), ("q22", Q22)])));
}

#[test]
fn what_one_work_of_several_repeats_is_specific_to_its_kind() {
    let sonnet = "# Loss: sonnet-3\n\n## Verse\n\n- Count the syllables of each line. 4 of 14 lines are short.\n";
    let essay = "# Loss: essay-1\n\n## Argument\n\n- Name the counter-argument early.\n";
    insta::assert_snapshot!(shown(&cards(&[("sonnet-3", sonnet), ("essay-1", essay)])));
}
