//! Programs that attempt, score and edit are recorded as models are; in a replay none of them is started.

use crate::scene::{Outcome, Scene, Who};
use crate::support::{Run, executable};

const REPLAY: [&str; 6] = ["--replay", "tape.jsonl", "--out", "again", "--set", "train.name=run"];

/// Follows what the pool's cards say.
const TARGET: &str = r#"#!/bin/sh
echo target >> ROOT/started
cat > /dev/null
grep -rq 'long apology' "$SKILLTRAIN_POOL_DIR" && { echo sorry; exit 0; }
grep -rq 'name Depot North' "$SKILLTRAIN_POOL_DIR" && echo Depot North
echo crates
"#;

/// Half for crates, half for the signature.
const EVALUATOR: &str = r#"#!/bin/sh
echo evaluator >> ROOT/started
case $(tr -d '\n' | grep -Eo '"answer": *"[a-zA-Z ]*') in
*Depot\ North*) echo '{"hard": 1, "soft": 1, "feedback": ""}' ;;
*sorry*) echo '{"hard": 0, "soft": 0, "feedback": "Do not say sorry."}' ;;
*) echo '{"hard": 0, "soft": 0.5, "feedback": "Sign every reply with the name Depot North."}' ;;
esac
"#;

/// Its first card is mended in a repair turn; the second is bad advice, and it says so again and again.
const OPTIMIZER: &str = r#"
echo optimizer >> "$ROOT/started"
if [ -e 00_general_rules/sign.md ] && ! [ -e ../repair_prompt.md ]; then
  card 00_general_rules/close.md "closing with a long apology"; commit
elif [ -e ../repair_prompt.md ]; then
  card 00_general_rules/sign.md "signing with the name Depot North"; rm -f 00_general_rules/odd.md
  git add -A; git commit -q --no-verify -m mended
else
  mkdir -p 00_general_rules; echo 'no card' > 00_general_rules/odd.md
  git add -A; git commit -q --no-verify -m odd
fi
"#;

/// A scene in which nobody is a model, and the arguments that say so.
fn scene() -> (Scene, Vec<String>) {
    let scene = Scene::new(Who::Backward);
    let root = scene.world.root().display().to_string();
    for (name, text) in [("target.sh", TARGET), ("evaluator.sh", EVALUATOR)] {
        executable(&scene.world.write(name, text.replace("ROOT", &root)));
    }
    scene.world.agent(OPTIMIZER);
    let sets = [
        "target.name=command:./target.sh",
        "evaluation.evaluator=command:./evaluator.sh",
        "optimizer.name=command:./agent.sh",
    ];
    (scene, sets.into_iter().flat_map(|set| ["--set".to_owned(), set.to_owned()]).collect())
}

fn with<'a>(sets: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    sets.iter().map(String::as_str).chain(more.iter().copied()).collect()
}

fn started(scene: &Scene, who: &str) -> usize {
    scene.world.read("started").lines().filter(|line| *line == who).count()
}

/// Plays the tape where no program is left that could be started.
fn replays(scene: &Scene, sets: &[String], wanted: &Outcome) {
    for name in ["target.sh", "evaluator.sh", "agent.sh"] {
        let _ = std::fs::remove_file(scene.world.path(name));
    }
    let before = scene.world.read("started");
    scene.run(&with(sets, &REPLAY)).ok();
    assert_eq!(scene.world.read("started"), before);
    let again = scene.outcome_of("again");
    assert_eq!(again.history, wanted.history);
    // What an agent leaves of itself (prompts with paths, events, its end) is not in a recording.
    let told = ["step.json", "gate.json", "usage.json", "summary.json", "final.json", "memory.patch", "commit.txt"];
    for (path, text) in wanted.files.iter().filter(|(path, _)| told.iter().any(|name| path.ends_with(name))) {
        assert_eq!(again.files.get(path), Some(text), "{path}");
    }
}

const RECORD: [&str; 2] = ["--record", "tape.jsonl"];

#[test]
fn programs_are_played_and_not_started() {
    let (scene, sets) = scene();
    scene.run(&with(&sets, &RECORD)).ok();
    let wanted = scene.outcome();
    let steps: Vec<&String> = wanted.files.iter().filter(|(p, _)| p.ends_with("step.json")).map(|(_, t)| t).collect();
    assert!(steps[0].contains("\"accepted\"") && steps[1].contains("\"rejected\""), "{steps:#?}");
    assert!(wanted.files.keys().any(|path| path.ends_with("repair_prompt.md")));
    replays(&scene, &sets, &wanted);
    // A replay that is killed goes on as one.
    std::fs::remove_dir_all(scene.world.path("again")).unwrap();
    for (point, pass) in [("optimizer-ended", 1), ("round-drafted", 1), ("before-marker", 2)] {
        assert!(scene.dies_with(point, pass, &with(&sets, &REPLAY)), "{point}");
    }
    replays(&scene, &sets, &wanted);
}

#[test]
fn a_tape_of_a_run_that_died_holds_all_and_nothing_twice() {
    let (straight, sets) = scene();
    straight.run(&with(&sets, &RECORD)).ok();
    let wanted = straight.outcome();
    for pass in [2, 9, 15] {
        let (scene, sets) = scene();
        assert!(scene.dies_with("call-taped", pass, &with(&sets, &RECORD)));
        scene.run(&with(&sets, &RECORD)).ok();
        assert_eq!(scene.outcome().history, wanted.history, "call-taped:{pass}");
        // Four work side by side: what was under way may have been started twice.
        for (who, most) in [("target", 4), ("evaluator", 4), ("optimizer", 0)] {
            let (once, now) = (started(&straight, who), started(&scene, who));
            assert!((once..=once + most).contains(&now), "{who}: {now} of {once}");
        }
        let outcome = scene.outcome();
        replays(&scene, &sets, &outcome);
    }
}

#[test]
fn an_agent_that_ended_before_its_line_was_written_is_not_started_again() {
    let (scene, sets) = scene();
    // The end of the agent is on disk, and the line is not: it is made up for when the turn is recalled.
    let tape = scene.world.path("tape.jsonl");
    assert!(scene.dies_with("optimizer-ended", 1, &with(&sets, &RECORD)));
    let text = std::fs::read_to_string(&tape).unwrap();
    let (gone, kept): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains("\"backward\""));
    assert_eq!(gone.len(), 1);
    let line: serde_json::Value = serde_json::from_str(gone[0]).unwrap();
    let note = serde_json::json!({
        "call": {"what": line["what"], "place": line["place"], "digest": line["digest"]},
        "number": line["number"],
        "before": scene.world.git("run/memory", &["rev-parse", "HEAD"]),
    });
    scene.world.write("run/epoch_00/step_00/backward/g01/backward_taping.json", note.to_string());
    std::fs::write(&tape, kept.join("\n") + "\n").unwrap();
    scene.run(&with(&sets, &RECORD)).ok();
    let wanted = scene.outcome();
    replays(&scene, &sets, &wanted);
}

#[test]
fn a_call_of_a_program_that_the_tape_does_not_hold_is_refused() {
    for what in ["target", "evaluator", "backward"] {
        let (scene, sets) = scene();
        scene.run(&with(&sets, &RECORD)).ok();
        let mark = format!("\"what\":\"{what}\"");
        let kept: String = scene
            .world
            .read("tape.jsonl")
            .lines()
            .filter(|line| !line.contains(&mark))
            .map(|line| format!("{line}\n"))
            .collect();
        scene.world.write("tape.jsonl", kept);
        let before = scene.world.read("started");
        let run: Run = scene.run(&with(&sets, &REPLAY));
        let said = run.fails(1);
        assert!(said.contains("holds no answer") && said.contains("replay with the configuration"), "{what}: {said}");
        assert_eq!(scene.world.read("started"), before, "{what}");
    }
}
