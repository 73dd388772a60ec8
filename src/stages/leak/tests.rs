use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::task;

fn tasks(file: &str, lines: &[Value]) -> Vec<Task> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    task::parse(Path::new(file), &text.join("\n")).unwrap()
}

const LONG: &str = "the blue pallets go behind the second door on the left";

fn split() -> Split {
    Split {
        train: tasks(
            "train.jsonl",
            &[
                json!({"id": "gate-0", "input": "What is the door code of the north gate, please?", "reference": "4711",
                    "checks": [{"contains": "4711", "message": "State it: the door code of the north gate is 4711."}]}),
                json!({"id": "pallets-0", "input": "Where do the blue ones go?", "reference": LONG}),
                json!({"id": "pallets-1", "input": "Where do red ones go?", "reference": "straight to the yard in front of the old main hall"}),
                json!({"id": "pallets-2", "input": "Where do green ones go?", "reference": "up to the top shelf of the long row near it"}),
            ],
        ),
        selection: tasks(
            "selection.jsonl",
            &[
                json!({"id": "gate-3", "input": "Which code opens the north gate in the early morning?", "reference": "4711"}),
                json!({"id": "shop-3", "input": "Who?", "reference": "Petra Lindqvist"}),
            ],
        ),
        test: tasks(
            "test.jsonl",
            &[
                json!({"id": "9", "input": "How many?", "reference": 25}),
                json!({"id": "dock", "input": "Which key?", "reference": ["K17", "yes"]}),
            ],
        ),
    }
}

fn found(text: &str) -> Vec<String> {
    found_after(text, &[], &[])
}

fn found_after(text: &str, old: &[&str], taught: &[&str]) -> Vec<String> {
    Leaks::of(&split()).find("a.md", text, old, taught).iter().map(Leak::to_string).collect()
}

#[test]
fn pasted_train_answers_are_refused_naming_task_and_line() {
    let card = format!(
        "## Rules\n\n- {}.\n- Straight to the yard in front of the old main hall!\n- up to the top shelf of the long row near it",
        LONG.to_uppercase()
    );
    assert_eq!(
        found(&card),
        [
            "a.md:3: repeats the reference of train task `pallets-0` (train.jsonl:2): \"THE BLUE PALLETS GO BEHIND THE SECOND DOOR\"",
            "a.md:4: repeats the reference of train task `pallets-1` (train.jsonl:3): \"Straight to the yard in front of the\"",
            "a.md:5: repeats the reference of train task `pallets-2` (train.jsonl:4): \"up to the top shelf of the long\"",
        ]
    );
}

#[test]
fn inputs_ids_and_answers_that_were_never_taught_are_refused() {
    let one = |text: &str| found(text).join("; ");
    assert!(
        one("Which code opens the north gate in the early hours")
            .starts_with("a.md:1: repeats the input of selection task `gate-3` (selection.jsonl:1)")
    );
    assert_eq!(one("As in gate-3 say it."), "a.md:1: names selection task `gate-3` (selection.jsonl:1): \"gate-3\"");
    assert!(
        one("Ask petra LINDQVIST.")
            .starts_with("a.md:1: holds an answer that was never taught, of selection task `shop-3`")
    );
    assert!(one("Take key K17.").contains("of test task `dock` (test.jsonl:2): \"K17.\""));
}

#[test]
fn what_train_teaches_and_what_means_nothing_is_allowed() {
    for text in [
        "State it: the door code of the north gate is 4711.",
        "The answer is 4711. Say yes or no in at most 25 words, 9 at best.",
        "The blue pallets go behind the second.",
        "Say Petra; the dock is open; see gate-30, my-gate-3.",
        "Give the K 17 and the Lindqvist Petra.",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_the_pool_said_already_or_a_report_advises_is_not_at_issue() {
    let card = format!("- {LONG}. See shop-3.");
    assert_eq!(found(&card).len(), 2);
    assert_eq!(found_after(&card, &[&card], &[]).len(), 0);
    let report = format!("# Loss report: shop-3\n\n- Say that {LONG}.");
    assert_eq!(found_after(&card, &[], &[&report]).len(), 1, "the advice is taught, the title is not");
    let quoting = format!("- It should have said: \"{LONG}\"");
    assert_eq!(found_after(&card, &[], &[&quoting]).len(), 2, "a quoted reference is not advice");
}
