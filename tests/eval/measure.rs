//! Measuring as a training loop does it: one folder of attempts, many measurements.

use std::sync::Arc;
use std::time::Duration;

use skilltrain::evaluator;
use skilltrain::ground::env::Env;
use skilltrain::ground::process::Sandbox;
use skilltrain::ground::prompts::Prompts;
use skilltrain::ground::signals::Cancel;
use skilltrain::llm::{
    Budget, Client, Failure, Limits, Message, Reply, Request, Role, Scripted, Shared, Spent, ToolCall, VirtualClock,
    Why,
};
use skilltrain::pool::repo::Pool;
use skilltrain::stages::rollout::{Ending, Measured};
use skilltrain::target::{self, Mode, Options, Target, View};
use skilltrain::task::{self, Task};
use skilltrain::train::measure::{Attempts, Measure};

use crate::scene::{card, commit, scene};
use crate::support::{World, executable};

/// A scene's pool and tasks, and a scripted model.
struct Scene {
    world: World,
    tasks: Vec<Task>,
    script: Arc<Scripted>,
    mode: Mode,
    env: Env,
    cancel: Cancel,
}

/// One measurement's options.
#[derive(Clone, Copy, Default)]
struct Ask<'a> {
    place: &'a str,
    repeats: u32,
    fresh: bool,
}

fn at(place: &str) -> Ask<'_> {
    Ask { place, repeats: 1, fresh: false }
}

impl Scene {
    fn new(
        mode: Mode,
        play: impl Fn(&Request, usize) -> Option<Result<Reply, Failure>> + Send + Sync + 'static,
    ) -> Scene {
        let world = scene(6);
        let tasks = task::load(&world.path("tasks.jsonl")).unwrap();
        let path = std::env::var("PATH").unwrap();
        let env = Env::of(env!("CARGO_BIN_EXE_skilltrain"), [("PATH", path)]);
        Scene { world, tasks, script: Arc::new(Scripted::by(play)), mode, env, cancel: Cancel::default() }
    }

    fn view(&self, revision: &str) -> View {
        let pool = Pool::open(&self.world.path("pool")).unwrap();
        View::of(&pool, pool.resolve(revision).unwrap()).unwrap()
    }

    fn attempts(&self) -> Attempts {
        Attempts::open(&self.world.path("out")).unwrap()
    }

    fn asked(&self) -> usize {
        self.script.asked().len()
    }

    fn target(&self, name: &str) -> Box<dyn Target> {
        let budget = Budget::new(Limits::default(), Spent::default(), Arc::new(VirtualClock::default()));
        let (ledger, prompts) = (Arc::default(), Prompts::default());
        let shared = Shared { budget: Arc::new(budget), ledger, cancel: self.cancel.clone(), prompts: prompts.clone() };
        let client = Some(Client::new(self.script.clone(), shared, None, Role::Target));
        let (mode, system, max_tokens, budget, max_turns) = (self.mode, String::new(), 64, 9_000, 4);
        let (seed, temperature) = (None, None);
        let options = Options { client, mode, system, seed, temperature, max_tokens, budget, max_turns, prompts };
        target::find(name, options).unwrap()
    }

    fn measure(&self, attempts: &Attempts, view: &View, ask: Ask<'_>) -> Vec<Measured> {
        self.measure_by(self.target("openai:m@http://127.0.0.1:1/v1").as_ref(), attempts, view, ask)
    }

    fn measure_by(&self, target: &dyn Target, attempts: &Attempts, view: &View, ask: Ask<'_>) -> Vec<Measured> {
        let evaluator = evaluator::registry::find("auto", &serde_json::Map::new()).unwrap();
        let measure = Measure {
            what: "rollouts",
            target,
            evaluator: evaluator.as_ref(),
            attempts,
            place: ask.place,
            sample: 0,
            repeats: ask.repeats,
            workers: 3,
            fresh: ask.fresh,
            env: &self.env,
            cancel: &self.cancel,
            sandbox: Sandbox::Off,
            timeout: Duration::from_secs(60),
            observer: &|_| {},
        };
        measure.run(view, &self.tasks).unwrap()
    }
}

fn reused(measured: &[Measured]) -> usize {
    measured.iter().filter(|measured| measured.reused).count()
}

/// The code that a conversation states for the place that its task asks for.
fn stated(request: &Request) -> String {
    let text: String = request.messages.iter().map(|message| message.text().to_owned() + "\n").collect();
    let (_, place) = text.rsplit_once("What is the code of the ").unwrap();
    let place = place.split(' ').next().unwrap();
    let code = text.split_once(&format!("The {place} code is ")).map(|(_, rest)| rest.chars().take(4).collect());
    code.unwrap_or_default()
}

/// Opens the card that its task asks for, then says what it states.
fn opens(request: &Request) -> Reply {
    if matches!(request.messages.last(), Some(Message::Tool { .. })) {
        return Reply::text(stated(request));
    }
    let text = request.messages.last().unwrap().text();
    let place = text.trim_start_matches("What is the code of the ").split(' ').next().unwrap();
    let input = serde_json::json!({"path": format!("01_craft_elements/{place}.md")});
    let call = ToolCall { id: "c".into(), name: "read_card".into(), input, problem: None };
    Reply { calls: vec![call], ..Reply::text("") }
}

#[test]
fn repeats_are_samples_and_their_mean_is_the_tasks_score() {
    let scene = Scene::new(Mode::Inline, |request, _| {
        let is_north = request.messages.last().unwrap().text().contains("north");
        Some(match request.sample {
            1 if is_north => Ok(Reply::text("wrong")),
            2 if is_north => Err(Failure::new(Why::Outage, "down").lost()),
            _ => Ok(Reply::text(stated(request))),
        })
    });
    let (attempts, view) = (scene.attempts(), scene.view("HEAD"));
    let one = scene.measure(&attempts, &view, at("a"));
    let three = scene.measure(&attempts, &view, Ask { repeats: 3, ..at("b") });
    // The first sample is the attempt that stands alone without repeats.
    assert_eq!((scene.asked(), three.len()), (18, 6));
    let north = three[0].score().unwrap();
    assert_eq!((north.hard, three[1].score().unwrap().hard), (0.5, 1.0), "the lost one takes nothing from the mean");
    assert_ne!(one[0].digest, three[0].digest);
    assert_eq!(attempts.kept(three[0].digest.as_ref().unwrap()).unwrap().answer, "wrong", "the one that teaches");
    assert_eq!(reused(&three), 0, "not all of a task's attempts were there");
    let mut samples: Vec<u32> = scene.script.asked().iter().map(|request| request.sample).collect();
    samples.sort_unstable();
    assert_eq!(samples, [[0; 6], [1; 6], [2; 6]].concat());
}

#[test]
fn a_task_is_lost_when_all_its_attempts_are() {
    let scene = Scene::new(Mode::Inline, |request, _| {
        let is_north = request.messages.last().unwrap().text().contains("north");
        let lost = Err(Failure::new(Why::Outage, "down").lost());
        Some(if is_north { lost } else { Ok(Reply::text(stated(request))) })
    });
    let measured = scene.measure(&scene.attempts(), &scene.view("HEAD"), Ask { repeats: 2, ..at("") });
    assert!(matches!(&measured[0].end, Ending::Lost(why) if why.contains("down")), "{measured:?}");
    assert_eq!((measured[0].digest.as_ref(), measured[5].score().unwrap().hard), (None, 1.0));
}

#[test]
fn a_measurement_that_is_made_again_at_its_place_counts_as_the_first() {
    let scene = Scene::new(Mode::Inline, |request, _| Some(Ok(Reply::text(stated(request)))));
    let view = scene.view("HEAD");
    let first = scene.measure(&scene.attempts(), &view, at("step_00"));
    assert_eq!((reused(&first), scene.asked()), (0, 6));
    // As after a kill: another process, the same place.
    let attempts = scene.attempts();
    assert_eq!(scene.measure(&attempts, &view, at("step_00")), first);
    assert_eq!(reused(&scene.measure(&attempts, &view, at("step_01"))), 6);
    assert_eq!(scene.asked(), 6);
    // Fresh is by place too.
    let fresh = Ask { fresh: true, ..at("step_01") };
    assert_eq!((reused(&scene.measure(&attempts, &view, fresh)), scene.asked()), (0, 12));
    assert_eq!((reused(&scene.measure(&attempts, &view, fresh)), scene.asked()), (0, 12));
    drop(attempts);
    assert_eq!((reused(&scene.measure(&scene.attempts(), &view, at(""))), scene.asked()), (6, 12));
    assert!(!scene.world.path("out/desk").exists());
}

#[test]
fn two_pools_side_by_side_share_what_holds_for_both() {
    let scene = Scene::new(Mode::Routed, |request, _| Some(Ok(opens(request))));
    card(&scene.world, "roof", "9999");
    commit(&scene.world, "a wrong rule");
    let (attempts, old, new) = (scene.attempts(), scene.view("HEAD~1"), scene.view("HEAD"));
    let (candidate, current) = std::thread::scope(|scope| {
        let current = scope.spawn(|| scene.measure(&attempts, &old, at("step_00")));
        (scene.measure(&attempts, &new, at("step_00")), current.join().unwrap())
    });
    let hard = |measured: &[Measured]| measured.iter().map(|task| task.score().unwrap().hard).collect::<Vec<_>>();
    assert_eq!(hard(&current), [1.0; 6]);
    assert_eq!(hard(&candidate), [1.0, 1.0, 1.0, 1.0, 0.0, 1.0]);
    assert_eq!(scene.asked(), 2 * 7, "one task alone opened what differs");
    assert_eq!((reused(&current), reused(&candidate)), (0, 0), "whichever came first");
    for (one, two) in current.iter().zip(&candidate) {
        assert_eq!(one.digest == two.digest, one.score() == two.score());
    }
}

#[test]
fn an_attempts_files_are_found_by_its_digest() {
    let scene = Scene::new(Mode::Routed, |request, _| Some(Ok(opens(request))));
    let attempts = scene.attempts();
    let measured = scene.measure(&attempts, &scene.view("HEAD"), at("p"));
    let kept = attempts.kept(measured[0].digest.as_ref().unwrap()).unwrap();
    assert_eq!((kept.answer.as_str(), kept.reads), ("4711", vec!["01_craft_elements/north.md".to_owned()]));
    assert!(kept.trajectory.contains("## Read `01_craft_elements/north.md`") && kept.tools == ["read_card"]);
    let error = attempts.kept(&"0".repeat(64)).unwrap_err();
    assert!(error.to_string().contains("gone or damaged"), "{error}");
}

#[test]
fn a_program_is_told_its_sample_but_for_the_first() {
    let scene = Scene::new(Mode::Inline, |_, _| None);
    executable(&scene.world.write("agent", "#!/bin/sh\nexec cat\n"));
    let name = format!("command:{}", scene.world.path("agent").display());
    let (attempts, view, target) = (scene.attempts(), scene.view("HEAD"), scene.target(&name));
    scene.measure_by(target.as_ref(), &attempts, &view, Ask { repeats: 2, ..at("") });
    let walk = walkdir::WalkDir::new(scene.world.path("out/rollouts")).into_iter().flatten();
    let outputs = walk.filter(|file| file.file_name() == "output.txt");
    let told: Vec<serde_json::Value> =
        outputs.map(|file| serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()).collect();
    assert_eq!(told.len(), 12);
    assert_eq!(told.iter().filter(|task| task.get("sample").is_none()).count(), 6);
    assert_eq!(told.iter().filter(|task| task["sample"] == 1).count(), 6);
}
