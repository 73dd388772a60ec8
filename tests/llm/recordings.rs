//! Recordings: what is written, what a replay makes of it, and what a torn or foreign file does.

use std::path::Path;
use std::sync::Arc;

use skilltrain::ground::env::Env;
use skilltrain::ground::error::Kind;
use skilltrain::llm::{
    Client, Journal, Limits, Recorder, Recording, Replay, Replayer, Reply, Scripted, Shared, Sums, Used, Why,
};

use crate::server::{Server, answer, status};
use crate::world::{World, ask};

fn recorder(world: &World, server: &Server, path: &Path) -> Client {
    let http = world.http(&format!("openai:m@{}", server.url()));
    let secrets = http.key().cloned().into_iter().collect();
    let recording = Recording::open(path).unwrap();
    world.client_of(Arc::new(Recorder::new(Arc::new(http), recording, secrets)))
}

fn replayer(world: &World, path: &Path) -> Client {
    world.client_of(Arc::new(Replayer::new("m", Replay::open(path).unwrap())))
}

fn replayer_of(model: &str, path: &Path) -> Client {
    World::new().client_of(Arc::new(Replayer::new(model, Replay::open(path).unwrap())))
}

/// The texts of 24 questions asked three times each, from so many threads; in the order of the questions.
fn all(client: &Client, threads: usize) -> Vec<String> {
    let questions: Vec<usize> = (0..24).collect();
    let share = questions.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let parts: Vec<_> = questions
            .chunks(share)
            .map(|part| {
                scope.spawn(move || {
                    let again = part.iter().flat_map(|question| [*question; 3]);
                    let ask = |question: usize| client.chat(&ask(&format!("question {question}"))).unwrap().text;
                    again.map(ask).collect::<Vec<_>>()
                })
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

#[test]
fn a_replay_gives_the_same_answers_and_sums_at_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/calls.jsonl");
    // No two answers are the same, and some take a second attempt.
    let server = Server::by(|seen, number| {
        Some(if number % 7 == 3 { status(503, "") } else { answer(&format!("{} #{number}", seen.last())) })
    });
    let world = World::new();
    let answers = all(&recorder(&world, &server, &path), 16);
    for threads in [1, 4, 24] {
        let again = World::new();
        assert_eq!(all(&replayer(&again, &path), threads), answers);
        assert_eq!(again.total(), world.total());
        assert_eq!(again.shared.budget.spent().tokens, world.shared.budget.spent().tokens);
        assert!(again.slept().is_empty());
    }
}

#[test]
fn a_replay_refuses_a_call_that_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let server = Server::script([answer("one")]);
    let world = World::new();
    recorder(&world, &server, &path).at("rollout", "step_00").chat(&ask("known")).unwrap();
    let client = replayer(&world, &path);
    let other = client.at("rollout", "step_00").chat(&ask("unknown")).unwrap_err();
    assert_eq!(other.why, Why::Unrecorded);
    assert!(other.message.contains("at step_00") && other.message.contains("unknown"), "{other}");
    assert_eq!(client.at("rollout", "step_01").chat(&ask("known")).unwrap_err().why, Why::Unrecorded);
    assert_eq!(client.at("rollout", "step_00").chat(&ask("known")).unwrap().text, "one");
    let twice = client.at("rollout", "step_00").chat(&ask("known")).unwrap_err();
    assert!(twice.message.contains("2th time"), "{twice}");
}

#[test]
fn failures_are_replayed_until_an_answer_replaced_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let server = Server::script([status(401, "no"), answer("later")]);
    let world = World::new();
    assert_eq!(recorder(&world, &server, &path).chat(&ask("hi")).unwrap_err().why, Why::Rejected);
    let replayed = replayer(&World::new(), &path).chat(&ask("hi")).unwrap_err();
    assert_eq!((replayed.why, replayed.status), (Why::Rejected, Some(401)));
    assert_eq!(recorder(&world, &server, &path).chat(&ask("hi")).unwrap().text, "later");
    assert_eq!(replayer(&World::new(), &path).chat(&ask("hi")).unwrap().text, "later");
}

#[test]
fn an_answer_that_is_on_disk_is_not_paid_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let server = Server::script([answer("one"), answer("two"), answer("three")]);
    let first = World::new();
    let client = recorder(&first, &server, &path);
    assert_eq!(client.chat(&ask("a")).unwrap().text, "one");
    assert_eq!(client.chat(&ask("a")).unwrap().text, "two");
    // Killed here; the line of a third call was being written.
    let mut bytes = std::fs::read(&path).unwrap();
    let whole = bytes.len();
    bytes.extend_from_slice(b"{\"kind\":\"chat\",\"version\":1,\"dig");
    std::fs::write(&path, &bytes).unwrap();
    let second = World::new();
    let client = recorder(&second, &server, &path);
    let texts: Vec<String> = (0..3).map(|_| client.chat(&ask("a")).unwrap().text).collect();
    assert_eq!(texts, ["one", "two", "three"]);
    let Sums { calls, cached, saved_tokens, .. } = second.total();
    assert_eq!((calls, cached, saved_tokens), (1, 2, 24));
    assert_eq!(second.shared.budget.spent().calls, 1);
    assert!(std::fs::read(&path).unwrap()[..whole] == bytes[..whole], "what was there stays");
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
}

#[test]
fn a_runs_journal_counts_what_an_earlier_process_paid_and_holds_no_questions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let server = Server::script([status(500, "{}"), answer("one"), answer("two")]);
    let journaled = |world: &World| {
        let journal = Arc::<Journal>::default();
        let Shared { ledger, budget, .. } = &world.shared;
        journal.turn_to(&path, ledger, budget, &|_| None).unwrap();
        let http = Arc::new(world.http(&format!("openai:m@{}", server.url())));
        world.client_of(Arc::new(Recorder::of_run(http, journal, Vec::new())))
    };
    let first = World::new();
    let client = journaled(&first);
    let texts = ["a long question", "another one"].map(|text| client.chat(&ask(text)).unwrap().text);
    assert_eq!(texts, ["one", "two"]);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("a long question"));
    // Killed here: the second process pays nothing and ends with the same sums.
    let second = World::new();
    assert_eq!(journaled(&second).chat(&ask("a long question")).unwrap().text, "one");
    assert_eq!(second.shared.ledger.lines(), first.shared.ledger.lines());
    assert_eq!(second.shared.budget.spent().calls, first.shared.budget.spent().calls);
    assert_eq!(replayer(&World::new(), &path).chat(&ask("another one")).unwrap().text, "two");
}

#[test]
fn what_is_used_is_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let world = World::new();
    // A number that JSON cannot hold is none after it was written.
    let script = Scripted::by(|_, _| {
        let mut used = Used::default();
        used.usage.cost_usd = Some(f64::NAN);
        used.usage.input_tokens = 1;
        Some(Ok(Reply { usage: Some(used), ..Reply::text("x") }))
    });
    let recording = Recording::open(&path).unwrap();
    let client = world.client_of(Arc::new(Recorder::new(Arc::new(script), recording, Vec::new())));
    let reply = client.chat(&ask("hi")).unwrap();
    assert_eq!(reply.usage.unwrap().usage.cost_usd, None);
    assert_eq!(replayer_of("scripted", &path).chat(&ask("hi")).unwrap(), reply);
}

#[test]
fn what_was_never_asked_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let server = Server::script([]);
    let world = World::with_budget(Limits { max_calls: Some(0), ..Limits::default() });
    assert_eq!(recorder(&world, &server, &path).chat(&ask("hi")).unwrap_err().why, Why::Budget);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
}

#[test]
fn keys_are_kept_out_even_when_a_model_says_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let key = "sk-secret-0123456789";
    let server = Server::script([answer(&format!("your key is {key}"))]);
    let mut world = World::new();
    world.env = Env::of("skilltrain", [("OPENAI_API_KEY", key)]);
    let now = recorder(&world, &server, &path).chat(&ask("say it")).unwrap();
    assert_eq!(now.text, "your key is [key]");
    assert!(!std::fs::read_to_string(&path).unwrap().contains(key));
    assert_eq!(replayer(&World::new(), &path).chat(&ask("say it")).unwrap(), now);
}

#[test]
fn a_file_that_is_no_recording_is_refused_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let agent = "{\"kind\":\"agent\",\"anything\":1}\n\n";
    for (text, what) in [
        ("not json\n", "line 1"),
        (&*format!("{agent}{{\"kind\":\"chat\",\"version\":1}}\n"), "line 3"),
        ("{\"kind\":\"chat\",\"version\":99}\n", "newer skilltrain"),
    ] {
        std::fs::write(&path, text).unwrap();
        for error in [Recording::open(&path).unwrap_err(), Replay::open(&path).unwrap_err()] {
            assert_eq!(error.kind(), Kind::Usage);
            assert!(error.to_string().contains(what), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it keeps its bytes");
    }
    std::fs::write(&path, agent).unwrap();
    assert!(Replay::open(&path).unwrap().models().is_empty());
}
