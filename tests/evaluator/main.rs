//! Evaluators that are programs: what they may answer, and how they may misbehave.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, json};

use skilltrain::evaluator::{Attempt, Host, registry};
use skilltrain::ground::env::Env;
use skilltrain::ground::error::{Kind, Result};
use skilltrain::ground::process::Sandbox;
use skilltrain::ground::signals::Cancel;
use skilltrain::score::Score;
use skilltrain::task;

/// Scores an attempt by a shell script.
fn score(script: &str, timeout: Duration) -> Result<Score> {
    let desk = tempfile::tempdir().unwrap();
    let path = desk.path().join("score.sh");
    std::fs::write(&path, format!("{script}\n")).unwrap();
    let evaluator = registry::find(&format!("command:sh {}", path.display()), &Map::new())?;
    let line = json!({"id": "t1", "input": "q", "reference": "r", "level": 3}).to_string();
    let task = task::parse(Path::new("t.jsonl"), &line)?.remove(0);
    evaluator.check(&task)?;
    let env = Env::of(env!("CARGO_BIN_EXE_skilltrain"), [("PATH", "/usr/bin:/bin"), ("SECRET_KEY", "k")]);
    let tools = ["read_card".to_owned()];
    let attempt = Attempt { task: &task, answer: "the \"answer\"\n", trajectory: "# T", tools: &tools };
    let host =
        Host { env: &env, cancel: &Cancel::default(), sandbox: Sandbox::Off, timeout, desk: desk.path(), again: 0 };
    evaluator.evaluate(&attempt, &host)
}

fn good(script: &str) -> Score {
    score(script, Duration::from_secs(30)).unwrap()
}

#[test]
fn a_program_gets_the_whole_attempt_and_gives_a_score() {
    let script = r##"input=$(cat)
for part in '"level": 3' '"reference": "r"' '"answer": "the \"answer\"\n"' '"trajectory": "# T"' '"read_card"'; do
  case "$input" in *"$part"*) ;; *) echo "no $part" >&2; exit 1;; esac
done
[ -z "$SECRET_KEY" ] || exit 2
echo "loading {model}"
echo '{"hard": 0, "soft": 0.5, "feedback": "Say it."}'"##;
    assert_eq!(good(script), Score { hard: 0.0, soft: 0.5, feedback: vec!["Say it.".into()] });
}

#[test]
fn what_is_no_score_is_an_error_with_the_evaluators_name_never_a_0() {
    let rows = [
        ("echo '{\"hard\": NaN, \"soft\": 1}'", "the reply's JSON is not valid"),
        ("echo '{\"hard\": 7.0, \"soft\": 1}'", "`hard` is 7, not a number from 0 to 1"),
        ("echo '{\"hard\": \"0.9\", \"soft\": 1}'", "`hard` is \"0.9\", not a number from 0 to 1"),
        ("echo '{\"soft\": 1}'", "`hard` is missing"),
        ("echo 0.5", "the reply holds no JSON object; it wrote \"0.5\""),
        ("true", "the reply holds no JSON object"),
        ("echo '{\"hard\": 1, \"so'", "cut off"),
        ("echo '{\"hard\": 1, \"soft\": 1}'; echo broken >&2; exit 3", "exit code 3: broken"),
        ("kill -9 $$", "ended by signal 9"),
    ];
    for (script, said) in rows {
        let error = score(script, Duration::from_secs(30)).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the evaluator command:sh ") && text.contains("gave task `t1` no score"), "{text}");
        assert!(text.contains(said), "{script}: {text}");
        assert_eq!(error.kind(), Kind::Failed);
    }
}

#[test]
fn a_program_that_hangs_with_a_child_is_ended_at_its_deadline() {
    let began = Instant::now();
    let error =
        score("(trap '' TERM INT; sleep 300) & trap '' TERM INT; sleep 300", Duration::from_millis(300)).unwrap_err();
    assert!(error.to_string().contains("it did not end within 300ms"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_program_that_is_not_there_is_said() {
    let evaluator = registry::find("command:no-such-program-here", &Map::new()).unwrap();
    let task = task::parse(Path::new("t.jsonl"), "{\"id\": \"a\", \"input\": \"b\"}").unwrap().remove(0);
    let env = Env::of("skilltrain", [("PATH", "/usr/bin:/bin")]);
    let attempt = Attempt { task: &task, answer: "", trajectory: "", tools: &[] };
    let desk = tempfile::tempdir().unwrap();
    let (cancel, timeout) = (Cancel::default(), Duration::from_secs(1));
    let host = Host { env: &env, cancel: &cancel, sandbox: Sandbox::Off, timeout, desk: desk.path(), again: 0 };
    let error = evaluator.evaluate(&attempt, &host).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().contains("not on PATH: no-such-program-here")),
        (Kind::Unreachable, true)
    );
}
