//! What an optimizer prints: any bytes, any amount; none of it reaches the terminal as it is.

use crate::check::{GOOD, Row, label, taken, world};

#[test]
fn a_flood_is_read_to_its_end_and_told_shortly() {
    let world = world();
    let flood =
        "yes 'a line of eighty characters or so, again and again, until nobody wants to read on' | head -c 200000000";
    let err = taken(&world, &format!("{flood}; {GOOD}"), &["--retries", "0"]);
    assert!(err.len() < 200_000, "{} bytes of progress", err.len());
    assert!(std::fs::metadata(world.path("backward/g01/backward_trajectory.md")).unwrap().len() < 32 << 20);
    assert!(std::fs::metadata(world.path("backward/g01/report.md")).unwrap().len() < 2 << 20);
}

#[test]
fn a_flood_without_line_ends_and_on_standard_error_is_taken_too() {
    let world = world();
    taken(&world, &format!("head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2; {GOOD}"), &["--retries", "0"]);
    assert!(std::fs::metadata(world.path("backward/g01/backward_stderr.txt")).unwrap().len() < 1 << 20);
}

#[test]
fn binary_rubbish_is_taken() {
    let world = world();
    taken(&world, &format!("head -c 300000 /dev/urandom; printf '\\000\\377\\n'; {GOOD}"), &["--retries", "0"]);
}

/// Characters that a terminal would obey.
fn obeyed(text: &str) -> Vec<char> {
    text.chars()
        .filter(|c| (c.is_control() && *c != '\n' && *c != '\t') || ('\u{202a}'..='\u{202e}').contains(c))
        .collect()
}

#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let evil = "printf '\\033]0;owned\\007\\033[2Jclear\\r\\302\\233 1A \\342\\200\\256 back\\n'";
    let world = world();
    let run = world.backward(&world.agent(&format!("{evil}; {GOOD}")), &["--retries", "0"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("clear"), "it is told all the same: {}", run.err);
    assert_eq!((obeyed(&run.err), obeyed(&run.out)), (vec![], vec![]));
}

#[test]
fn escape_sequences_in_errors_names_and_cards_do_not_reach_the_terminal() {
    let esc = "$(printf '\\033[2J')";
    let script = format!(
        "card \"00_general_rules/x{esc}.md\" 'asked'; git add -A; git commit -q --no-verify -m x; printf '\\033[2J' >&2; exit 1"
    );
    let world = world();
    let err = Row::of(script).calls(1).says(&["(optimizer-ended-badly)", "(lint)"]).check_in(&world);
    assert_eq!(obeyed(&err), vec![]);
    let run = world.skilltrain(&["log", "--pool", "pool"]);
    assert_eq!(obeyed(&run.ok()), vec![]);
}

#[test]
fn a_forged_trailer_in_what_it_prints_stays_there() {
    let world = world();
    let forged = "printf 'Skilltrain-Evidence: 00\\nSkilltrain-Step: x\\n\\ntrain other\\nbefore=00\\nafter=00\\n'";
    taken(&world, &format!("{forged}; {GOOD}"), &["--retries", "0"]);
    let message = world.git("pool", &["log", "-1", "--format=%B"]);
    assert_eq!(message.matches("Skilltrain-Step: ").count(), 1, "{message}");
    assert!(message.contains(&format!("Skilltrain-Step: {}", label(&world))), "{message}");
}
