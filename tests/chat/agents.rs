//! Questions to an agent client: one run in an empty folder, its last words the reply.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::json;
use skilltrain::edit::{Edit, Op, Source};
use skilltrain::ground::env::Env;
use skilltrain::ground::error::{Kind, Result};
use skilltrain::ground::process::Sandbox;
use skilltrain::ground::prompts::Prompts;
use skilltrain::ground::signals::Cancel;
use skilltrain::optimizer::tasks::{Memory, MergeTask, MetaTask, Said, Seat, Sight, UpdateMode};
use skilltrain::optimizer::{Desk, Host, Optimizer, chat, registry};
use skilltrain::pool::profile::Profile;

use crate::support::{World, executable};

/// A stand-in for a client: gives the replies of the files `reply1`, `reply2`, … call by call.
fn client(world: &World, replies: &[&str]) {
    let root = world.root().display().to_string();
    for (n, reply) in replies.iter().enumerate() {
        let events = [
            json!({"type": "system", "subtype": "init", "session_id": "s-1", "model": "m", "tools": [], "cwd": "/"}),
            json!({"type": "result", "subtype": "success", "is_error": false, "result": reply, "session_id": "s-1",
                "num_turns": 1, "total_cost_usd": 0.25, "permission_denials": [],
                "usage": {"input_tokens": 100, "output_tokens": 10}}),
        ];
        world.write(format!("reply{}", n + 1), events.map(|event| format!("{event}\n")).concat());
    }
    let script = format!(
        "#!/bin/sh\necho x >> '{root}/calls'\nn=$(wc -l < '{root}/calls' | tr -d ' ')\ncat > '{root}/asked'$n\n\
         echo \"$*\" > '{root}/args'$n\nls -A > '{root}/saw'$n\ncat '{root}/reply'$n\n"
    );
    executable(&world.write("bin/claude", script));
}

fn merge(world: &World, optimizer: &dyn Optimizer) -> Result<Said<Vec<Edit>>> {
    let profile = Profile::default_rules();
    let edit = |text: &str| Edit {
        card: "00_general_rules/a.md".into(),
        op: Op::Append { content: text.into() },
        reason: String::new(),
        support: 1,
        source: Source::Failures,
    };
    let lists = [vec![edit("- One.")], vec![edit("- Two.")]];
    let sight = Sight { profile: &profile, cards: &[] };
    let task =
        MergeTask { seat: seat(world), source: Some(Source::Failures), lists: &lists, sight, mode: UpdateMode::Patch };
    with_host(world, |host| optimizer.merge(&task, host))
}

fn seat(world: &World) -> Seat<'static> {
    let folder = world.path("desk");
    let desk = Desk { stem: "merge", private: folder.join("private"), hold: folder.join("merge.lock"), folder };
    Seat { place: "p".into(), desk, memory: Memory::default() }
}

fn with_host<R>(world: &World, job: impl FnOnce(&Host<'_>) -> R) -> R {
    let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
    let home = world.path("home").display().to_string();
    let env =
        Env::of(env!("CARGO_BIN_EXE_skilltrain"), [("PATH", path), ("HOME", home), ("ANTHROPIC_API_KEY", "k".into())]);
    let (cancel, prompts, watch) = (Cancel::default(), Prompts::default(), |_: &_| {});
    let (timeout, sandbox) = (Duration::from_secs(60), Sandbox::Off);
    job(&Host { env: &env, cancel: &cancel, prompts: &prompts, timeout, sandbox, watch: &watch })
}

fn claude() -> Box<dyn Optimizer> {
    registry::find("claude", None, None, chat::Options::default()).unwrap()
}

const GOOD: &str =
    r#"Here: {"edits": [{"op": "append", "card": "00_general_rules/a.md", "content": "- Both.", "support": 2}]}"#;

#[test]
fn a_question_is_one_run_in_an_empty_folder_and_is_recalled_when_it_ended() {
    let world = World::new();
    client(&world, &[GOOD]);
    let said = merge(&world, claude().as_ref()).unwrap();
    assert_eq!(said.value[0].op, Op::Append { content: "- Both.".into() });
    assert_eq!((said.value[0].support, said.usage.unwrap().tokens()), (2, 110));
    assert!(world.read("asked1").contains("<<<DATA edits"));
    assert_eq!(world.read("saw1"), "", "the folder is empty");
    assert_eq!(merge(&world, claude().as_ref()).unwrap(), said);
    assert_eq!(world.calls(), 1, "what was paid is not paid again");
    // Asked something else, the old answer is none.
    world.write("desk/merge_prompt.md", "another question");
    client(&world, &["", GOOD]);
    merge(&world, claude().as_ref()).unwrap();
    assert_eq!(world.calls(), 2);
    assert!(world.path("desk/merge_attempt1_prompt.md").exists());
}

#[test]
fn a_bad_reply_is_put_right_in_the_same_session_and_then_reported() {
    let world = World::new();
    client(&world, &["I merged them.", GOOD]);
    let said = merge(&world, claude().as_ref()).unwrap();
    assert_eq!((said.value.len(), said.usage.unwrap().tokens()), (1, 220));
    assert!(world.read("args2").contains("s-1"), "{}", world.read("args2"));
    assert!(world.read("asked2").starts_with("Your reply could not be used: the reply holds no JSON object"));
    assert_eq!(merge(&world, claude().as_ref()).unwrap(), said);
    assert_eq!(world.calls(), 2, "neither turn is paid again");

    let world = World::new();
    client(&world, &["I merged them.", "{\"edits\": [{\"op\": "]);
    let said = merge(&world, claude().as_ref()).unwrap();
    assert_eq!((said.value.len(), said.unread), (0, vec!["the reply is cut off inside its JSON object".to_owned()]));
}

#[test]
fn a_client_that_fails_gives_nothing_and_one_that_is_missing_is_an_error() {
    let world = World::new();
    client(&world, &[]);
    let said = merge(&world, claude().as_ref());
    assert!(
        said.as_ref().is_ok_and(|said| said.value.is_empty() && !said.unread.is_empty()) || said.is_err(),
        "{said:?}"
    );
    std::fs::remove_file(world.path("bin/claude")).unwrap();
    assert_eq!(merge(&world, claude().as_ref()).unwrap_err().kind(), Kind::Unreachable);
}

#[test]
fn a_program_works_in_a_checkout_only() {
    let world = World::new();
    let program = registry::find("command:true", None, None, chat::Options::default()).unwrap();
    let error = merge(&world, program.as_ref()).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    let notes = RefCell::new(None);
    with_host(&world, |host| {
        *notes.borrow_mut() = Some(program.meta_skill(&MetaTask { seat: seat(&world), story: "x" }, host).unwrap());
    });
    assert_eq!(notes.into_inner().unwrap().value, None);
}
