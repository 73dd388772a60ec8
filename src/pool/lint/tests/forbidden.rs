//! The template's forbidden patterns: what is a post-mortem and what is an instruction.

use super::*;

fn codes_of(rule: &str) -> Vec<String> {
    let card = format!("---\ndescription: Use when testing the lint.\n---\n\n## Rules\n{rule}\n");
    linter().card("00_general_rules/x.md", card.as_bytes()).into_iter().map(|problem| problem.code).collect()
}

#[test]
fn post_mortems_are_problems() {
    for (code, rule) in [
        ("post-mortem", "The model wrote a summary, the human wrote a scene."),
        ("post-mortem", "the model wrote X, the human wrote Y"),
        ("post-mortem", "the model’s version"),
        ("post-mortem", "Fix the model's mistake first."),
        ("post-mortem", "the human's version opens with rain"),
        ("post-mortem", "the **model** wrote a list"),
        ("post-mortem", "Here the model\nwrote too much."),
        ("post-mortem", "The AI often repeated the question."),
        ("post-mortem", "the reply invented a number"),
        ("post-mortem", "The draft failed to name the speaker."),
        ("post-mortem", "The human author never repeated a word."),
        ("post-mortem", "In the previous attempt, names were lost."),
        ("numbered-sample", "episodes 3-5"),
        ("numbered-sample", "episodes 3–5 drag"),
        ("numbered-sample", "episode three"),
        ("numbered-sample", "As in Episode #12, open late."),
        ("numbered-sample", "ep01-05"),
        ("numbered-sample", "eps 3-5 and Ep. 7"),
        ("numbered-sample", "As seen in sample 4."),
        ("numbered-sample", "Samples 3 and 4 were too long."),
        ("numbered-sample", "sample 4: too long"),
        ("numbered-sample", "sample 4"),
        ("sample-outcome", "shift 3 replied with a guess"),
        ("sample-outcome", "Task 12 failed to give the key."),
        ("sample-count", "in 3 of 6 replies"),
        ("sample-count", "Three of the six drafts are late."),
        ("sample-count", "4 out of 6 attempts"),
    ] {
        assert_eq!(codes_of(rule), [code], "{rule}");
    }
}

#[test]
fn instructions_are_fine() {
    for rule in [
        "Handle an insurance agent's error with care.",
        "Stop when the ep ends.",
        "Prefer human drafted text.",
        "The door code of the north gate is 4711.",
        "Sample 4 boxes from each pallet.",
        "Step 3 failed? Go back to step 2.",
        "Keep the model number in the reply.",
        "The model must write one sentence.",
        "Say what the human wants before what the model offers.",
        "If the reply omitted the code, add it.",
        "Check whether the draft repeated a phrase.",
        "When the human wrote in French, answer in French.",
        "Repeat the answer given in the handbook.",
        "Give at least 3 of 5 reasons.",
        "In 9 of 10 cases a restart helps.",
        "An episode ends on a question.",
        "One episode holds one turn of the plot.",
        "Open the episode with rain.",
        "Use EPS files, not PNG.",
        "Use an EP as the lead single.",
        "The stacking limit is 3 layers; the shelf is C9; the fire class is F90.",
        "Write the reply the customer asked for.",
        "The agent confirms the case number, then closes ticket 12.",
        "Answer task 12 before task 13.",
        "Ask for the version of the model.",
        "If test 3 failed to start, run it again.",
        "The model of the forklift is K17.",
        "Round 5 up to 10.",
        "Do not restate the question.",
        "Never make up a code, number or time; use the handbook's value.",
    ] {
        assert_eq!(codes_of(rule), [""; 0], "{rule}");
    }
}
