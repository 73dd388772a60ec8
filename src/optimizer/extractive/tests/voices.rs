//! Whose voice a line is in: what was done, asked, forbidden or praised makes no rule, and is named.

use super::*;

/// What five works with the same report make: the rules of all cards, and the plan's report.
fn made(text: &str) -> (Vec<String>, String) {
    let text = format!("# Report\n\n{text}\n");
    let all: Vec<Evidence> = (1..=5).map(|n| report(&format!("w-{n}"), &text)).collect();
    let plan = plan(&all, None, &[], &profile(), BOUNDS);
    let cards = applied(&[], &plan);
    let rules = cards.iter().flat_map(|card| card.body.lines()).filter_map(|line| line.strip_prefix("- "));
    (rules.map(str::to_owned).collect(), plan.report)
}

/// No rule, and the lines are named.
fn left_alone(text: &str, named: &[&str]) {
    let (rules, report) = made(text);
    assert!(rules.is_empty(), "{text}: {rules:?}");
    let section = report.split("## Not understood").nth(1).unwrap_or_default();
    for line in named {
        assert!(section.contains(line), "{text}: {line} is not named:\n{report}");
    }
}

fn rules(text: &str, want: &[&str]) {
    let (rules, report) = made(text);
    assert_eq!(rules, want, "{text}\n{report}");
}

#[test]
fn a_negation_is_never_lost() {
    rules("- **Never** commit a secret.", &["Never commit a secret."]);
    rules("- **Do not** commit a secret.", &["Do not commit a secret."]);
    rules("- **Don't** commit a secret.", &["Don't commit a secret."]);
    rules("- **NEVER** commit a secret.", &["NEVER commit a secret."]);
    rules("- __Never__ commit a secret.", &["Never commit a secret."]);
    rules("**Never** commit a secret.", &["Never commit a secret."]);
    rules("- **Never commit** a secret.", &["Never commit a secret."]);
    rules("- **Always** sign a release.", &["Always sign a release."]);
    rules("- Don't: add emojis.", &["Do not add emojis."]);
    rules("- Never: commit a secret.", &["Never commit a secret."]);
    rules("- **Never:** commit a secret.", &["Never commit a secret."]);
    for lead in ["Avoid", "Not good", "Wrong", "Bad", "**Forbidden:**", "**Not allowed:**", "**Forbidden**:"] {
        let lead = if lead.contains(':') { lead.to_owned() } else { format!("{lead}:") };
        left_alone(&format!("- {lead} push to the main branch."), &["push to the main branch"]);
    }
    left_alone("- **No** force pushes.", &[]);
    left_alone("- **Under no circumstances** commit a secret.", &["commit a secret"]);
    left_alone("- It is wrong to: Push to main.", &["Push to main"]);
    left_alone("- The agent should never: Push to main.", &["Push to main"]);
    left_alone("- Never do this:\n  - Commit a secret.\n", &["Commit a secret."]);
}

#[test]
fn what_was_done_under_a_heading_makes_no_rule() {
    for heading in [
        "Observed",
        "Mistakes the agent made",
        "What the agent did",
        "Steps the agent took",
        "Actual output",
        "Anti-patterns",
        "What not to do",
        "Avoid",
        "Not right",
        "Don't",
        "User request",
    ] {
        left_alone(&format!("## {heading}\n\n- Offer a voucher of 5 euros."), &["Offer a voucher of 5 euros."]);
    }
    rules(
        "## Observed\n\n- Offer a voucher of 5 euros.\n\n## Expected\n\n- Ask for the receipt.",
        &["Ask for the receipt."],
    );
    left_alone("The agent did the following:\n\n- Offer a voucher of 5 euros.", &["Offer a voucher of 5 euros."]);
    left_alone("## Checklist\n\n- Read the schema: no", &["Read the schema"]);
    left_alone("- Read the schema: no", &["Read the schema: no"]);
    left_alone("- ❌ Push to main.", &["Push to main."]);
}

#[test]
fn columns_are_read_by_the_voice_of_their_heads() {
    let table = |heads: &str, row: &str| {
        let bar: String = heads.split('|').map(|_| "| --- ").collect();
        format!("| {heads} |\n{bar}|\n| {row} |")
    };
    rules(
        &table(
            "# | issue | what the agent said | what is right",
            "1 | Refund | Offer a voucher of 5 euros. | Ask for the receipt first.",
        ),
        &["Ask for the receipt first."],
    );
    for heads in ["Bad | Good", "Don't | Do", "Fault | Advice", "What the agent did | What it should do"] {
        rules(&table(heads, "Print the whole table. | Print a summary of it."), &["Print a summary of it."]);
    }
    rules(&table("Do | Don't", "Print a summary of it. | Print the whole table."), &["Print a summary of it."]);
    left_alone(&table("issue | agent | expected", "Late parcel | Offer a voucher of 5 euros. | Store credit."), &[]);
    left_alone(&table("alpha | beta", "Print the whole table. | Print a summary of it."), &["Print a summary of it."]);
}

#[test]
fn a_lead_in_gives_the_word_to_another() {
    for text in [
        "Bad: Print the whole table. Fix: Print a summary of it.",
        "**Did:** Print the whole table. **Should:** Print a summary of it.",
        "Mistake: Print the whole table. Fix: Print a summary of it.",
    ] {
        rules(&format!("- {text}"), &["Print a summary of it."]);
    }
    for text in [
        "Before: Print the whole table. After: Print a summary of it.",
        "**Agent:** Offer a voucher of 5 euros. Close the ticket at once.",
        "**Agent's query:** Select all the columns of it.",
        "Agent: Print the system prompt.",
        "**Request:** Delete my account.",
        "**Task:** Delete my account.",
        "**Customer:** Delete my account.",
    ] {
        left_alone(&format!("- {text}"), &[]);
    }
    left_alone("- **Agent:** Offer a voucher of 5 euros.", &["Offer a voucher of 5 euros."]);
    left_alone("- Run this first:\n\n  ```\n  make\n  ```", &["Run this first:"]);
}

#[test]
fn what_is_not_understood_is_named() {
    for line in [
        "The refund window is 30 days.",
        "The refund window is 30 days, not 14 days.",
        "Refund window: 30 days (the agent said 14).",
        "Encrypt backups.",
        "Rotate secrets every quarter.",
        "A query needs a LIMIT.",
        "Bitte immer freundlich grüßen.",
    ] {
        let (rules, report) = made(&format!("- {line}"));
        assert!(rules.is_empty() || rules == [line], "{rules:?}");
        assert!(!rules.is_empty() || report.contains(&format!("- {line} Works: w-1, w-2")), "{report}");
        let all = [report_of(line)];
        assert!(!rules.is_empty() || reduce(&all).contains(&format!("- {line} Works: w-1")), "{}", reduce(&all));
    }
    left_alone("```json\n{\"rule\": \"Greet the guest.\"}\n```", &["Greet the guest"]);
    rules("## Expected\n\n- The refund window is 30 days.", &["The refund window is 30 days."]);
}

fn report_of(line: &str) -> Evidence {
    report("w-1", &format!("# Report\n\n- {line}\n"))
}
