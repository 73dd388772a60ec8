use serde_json::json;

use crate::scene::{PATH, backward, finish, good, name, turn, world, write};
use crate::server::{Server, answer, completion, json_reply, status};
use crate::support::{CARD, Run};

#[test]
fn a_talk_that_does_not_finish_fails_its_attempt_and_its_edits_are_kept() {
    let world = world(1);
    let server = Server::by(|seen, _| Some(if turn(seen) == 0 { write(PATH, CARD) } else { answer("All done!") }));
    let said = backward(&world, &server, &["--retries", "1"]).fails(1);
    assert!(said.contains("did not call `finish`"), "{said}");
    assert_eq!(world.subjects().len(), 1);
    assert_eq!(world.kept().len(), 2, "each attempt's edits are kept: {:?}", world.kept());
    // No attempt is answered by another's recording.
    assert_eq!(server.seen().len(), 8);
    world.assert_clean();
}

#[test]
fn turns_are_bounded() {
    let world = world(1);
    let server = Server::by(|seen, _| Some(write(PATH, &CARD.replace("first", &format!("first {}", turn(seen))))));
    let said = backward(&world, &server, &["--retries", "0", "--max-turns", "5"]).fails(1);
    assert!(said.contains("within 5 turns"), "{said}");
    assert_eq!(server.seen().len(), 5);
}

#[test]
fn an_answer_that_is_cut_off_is_told_and_one_that_is_declined_fails() {
    let world_one = world(1);
    let server = Server::by(|seen, number| {
        let cut = json!({"role": "assistant", "content": "I will write a very long"});
        Some(match number {
            0 => json_reply(&completion(cut, "length")),
            _ if turn(seen) == 0 => write(PATH, CARD),
            _ => finish(),
        })
    });
    backward(&world_one, &server, &[]).ok();
    assert!(server.seen()[1].last().contains("cut off"));
    let world = world(1);
    let server = Server::by(|_, _| {
        Some(json_reply(&completion(json!({"role": "assistant", "content": null, "refusal": "I won't."}), "stop")))
    });
    let said = backward(&world, &server, &["--retries", "0"]).fails(1);
    assert!(said.contains("refused"), "{said}");
}

#[test]
fn an_outage_ends_with_3_and_the_same_command_repeats_no_paid_call() {
    let world = world(1);
    let server = Server::by(|seen, number| Some(if number == 2 { status(503, "down") } else { good(seen) }));
    let said = backward(&world, &server, &[]).fails(3);
    assert!(said.contains("503"), "{said}");
    assert_eq!(world.subjects().len(), 1);
    backward(&world, &server, &[]).ok();
    assert_eq!(server.seen().len(), 5, "four calls, and the one that failed");
    assert_eq!(world.subjects().len(), 2);
    assert!(world.kept().is_empty(), "{:?}", world.kept());
    let transcript = world.read("backward/g01/backward_trajectory.md");
    assert!(transcript.contains("## Created"), "{transcript}");
}

#[test]
fn a_budget_stops_the_pass_and_a_recording_replays_it() {
    let world = world(1);
    let server = Server::by(|seen, _| Some(good(seen)));
    let said = backward(&world, &server, &["--max-calls", "2"]).fails(1);
    assert!(said.contains("budget") || said.contains("calls"), "{said}");
    assert_eq!(server.seen().len(), 2);
    let run = backward(&world, &server, &["--max-calls", "2", "--price", "1:1"]);
    assert!(run.err.contains("2 calls, 2 reused") || run.err.contains("2 reused"), "{}", run.err);
    run.ok();
    assert_eq!(server.seen().len(), 4);
    let message = world.git("pool", &["log", "-1", "--format=%B"]);
    assert!(message.contains("Skilltrain-Cost: $0.0000") && message.contains("Skilltrain-Tokens: 48"), "{message}");

    let (recorded, replayed) = (self::world(1), self::world(1));
    let server = Server::by(|seen, _| Some(good(seen)));
    backward(&recorded, &server, &["--label", "x", "--record", "calls.rec"]).ok();
    replayed.write("calls.rec", recorded.read("calls.rec"));
    let other = Server::by(|_, _| None);
    let args = ["--group-size", "1", "--label", "x", "--replay", "calls.rec"];
    Run::of(replayed.backward_command(&name(&other), &args).output().unwrap()).ok();
    assert_eq!(replayed.read(format!("pool/{PATH}")), CARD);
    assert!(other.seen().is_empty());
}

#[test]
fn names_and_flags_that_make_no_sense_are_usage() {
    let world = world(1);
    for (optimizer, more, said) in [
        ("openai", vec![], "the name of a model is missing"),
        ("gemini:x", vec![], "there is no optimizer `gemini:x`"),
        ("openai:m@http://127.0.0.1:1/v1", vec!["--temperature", "9"], "--temperature"),
        ("openai:m@http://127.0.0.1:1/v1", vec!["--replay", "none.rec"], "none.rec"),
    ] {
        let run = world.backward(optimizer, &more);
        assert!(run.code != Some(0) && run.err.contains(said), "{optimizer} {more:?}: {run:?}");
    }
    // An output folder in the pool is refused before anything is written there.
    let run = world.backward("openai:m@http://127.0.0.1:1/v1", &["--out", "pool/out"]);
    run.fails(2);
    world.assert_clean();
}
