//! Turns of agents that behave and that do not, run for real under the supervisor. The stand-ins for the real
//! clients are shell scripts of the same name, first on `PATH`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use skilltrain::agent::{Outcome, Session, Turn, TurnEnd, client, health, recall_turn, run_turn};
use skilltrain::ground::env::Env;
use skilltrain::ground::error::Kind;
use skilltrain::ground::process::Sandbox;
use skilltrain::ground::signals::Cancel;
use skilltrain::trajectory::{Event, Usage};

/// A folder with a checkout, and programs of the test's own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        for name in ["checkout", "bin", "userhome"] {
            std::fs::create_dir(place.path(name)).unwrap();
        }
        place.write("prompt.md", "PROMPT-TEXT\n");
        place.write("checkout/one.md", "a card\n");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        skilltrain::ground::files::write(&self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// A shell script as a program on `PATH`.
    fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let file = format!("bin/{name}");
        let head = if script.starts_with("#!") { "" } else { "#!/bin/sh\n" };
        self.write(&file, &format!("{head}{script}\n"));
        std::fs::set_permissions(self.path(&file), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn env(&self, more: &[(&str, &str)]) -> Env {
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        let home = self.path("userhome").display().to_string();
        let own = [("PATH", path.as_str()), ("HOME", home.as_str()), ("GIT_DIR", "/elsewhere"), ("SECRET", "s3cret")];
        let all = own.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Env::of(env!("CARGO_BIN_EXE_skilltrain"), all)
    }

    fn turn(&self) -> Turn {
        Turn {
            prompt_file: self.path("prompt.md"),
            timeout: Duration::from_secs(60),
            grace: Duration::from_millis(200),
            sandbox: Sandbox::Off,
            ..Turn::in_folder(self.folder.path())
        }
    }

    fn run(&self, name: &str) -> TurnEnd {
        self.run_turn(name, &self.turn(), &[])
    }

    /// Runs a turn, and checks that its files alone tell the same.
    fn run_turn(&self, name: &str, turn: &Turn, more: &[(&str, &str)]) -> TurnEnd {
        let client = client(name).unwrap().unwrap();
        let mut watched = Vec::new();
        let env = self.env(more);
        let mut watch = |event: &Event| watched.push(event.clone());
        let end = run_turn(&env, &*client, turn, &Cancel::default(), &mut watch).unwrap();
        assert!(watched.len() >= end.events.len().min(4_000));
        let recalled = recall_turn(&*client, turn).unwrap().unwrap();
        assert_eq!(recalled, TurnEnd { warning: None, ..end.clone() });
        end
    }
}

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events").join(name).display().to_string()
}

#[test]
fn a_command_gets_its_prompt_on_stdin_and_a_sealed_environment() {
    let place = Place::new();
    place.program("mine", "cat; pwd; env | sort; echo \"$1\" > card.md; echo oops >&2");
    let end =
        place.run_turn("command:mine 'two words'", &place.turn(), &[("SKILLTRAIN_PASS_ENV", "EXTRA"), ("EXTRA", "e")]);
    assert_eq!(end.outcome, Outcome::Done);
    let output = &end.last_message;
    assert!(output.starts_with("PROMPT-TEXT\n"), "{output}");
    assert!(output.contains(&format!("\nHOME={}\n", place.path("home").display())), "{output}");
    assert!(output.contains("\nEXTRA=e\n") && output.contains("\nGIT_CONFIG_NOSYSTEM=1\n"), "{output}");
    assert!(!output.contains("SECRET") && !output.contains("GIT_DIR"), "{output}");
    assert_eq!(place.read("checkout/card.md"), "two words\n");
    assert_eq!(place.read("backward_stderr.txt"), "oops\n");
    assert_eq!(place.read("backward.jsonl"), *output);
}

#[test]
fn the_private_folders_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.program("mine", "true");
    place.run("command:mine");
    for name in ["home", "tmp"] {
        assert_eq!(std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn how_a_command_ends_is_its_outcome() {
    let place = Place::new();
    for (script, wanted) in [
        ("echo fine", Outcome::Done),
        ("echo no >&2; exit 3", Outcome::Failed("exit code 3: no".into())),
        ("kill -9 $$", Outcome::Failed("ended by signal 9".into())),
    ] {
        place.program("mine", script);
        assert_eq!(place.run("command:mine").outcome, wanted, "{script}");
    }
}

#[test]
fn a_missing_program_is_unreachable_with_a_way_to_get_it() {
    let place = Place::new();
    for name in ["claude", "codex", "command:nothing-of-this-name", "command:./gone"] {
        let client = client(name).unwrap().unwrap();
        let error = run_turn(&place.env(&[]), &*client, &place.turn(), &Cancel::default(), &mut |_| {}).unwrap_err();
        assert_eq!(error.kind(), Kind::Unreachable, "{name}: {error}");
        assert!(!error.hints().is_empty(), "{name}");
    }
    place.program("mine", "#!/no/such/interpreter");
    let end = place.run("command:mine");
    assert!(matches!(&end.outcome, Outcome::Unreachable(why) if why.contains("interpreter")), "{:?}", end.outcome);
}

#[test]
fn one_that_hangs_is_ended_with_all_it_started() {
    let place = Place::new();
    place.program("mine", "setsid sleep 300 & echo $! > pid; sleep 300");
    let turn = Turn { timeout: Duration::from_millis(500), ..place.turn() };
    let begun = Instant::now();
    let end = place.run_turn("command:mine", &turn, &[]);
    assert_eq!(end.outcome, Outcome::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(30));
    let stat = format!("/proc/{}/stat", place.read("checkout/pid").trim());
    assert!(!Path::new(&stat).exists(), "the grandchild lives");
}

#[test]
fn a_flood_is_bounded_in_memory_and_whole_on_disk() {
    let place = Place::new();
    place.program("mine", "yes abcdefghijklmnopqrstuvwxyz0123456789 | head -c 40000000");
    let end = place.run("command:mine");
    assert_eq!(end.outcome, Outcome::Done);
    assert!(end.events.len() < 5_000, "{}", end.events.len());
    assert!(end.events.iter().any(|event| matches!(event, Event::Omitted { .. })));
    assert!(end.last_message.len() <= 1024 * 1024);
    assert_eq!(std::fs::metadata(place.path("backward.jsonl")).unwrap().len() / 37, 40_000_000 / 37);
}

#[test]
fn a_client_that_speaks_no_json_is_not_believed_to_have_failed() {
    let place = Place::new();
    place.program("claude", "echo hello; printf '\\377\\376\\n{\"type\":\"new\"}\\n{\"type\":'");
    let end = place.run("claude");
    assert_eq!(end.outcome, Outcome::Done);
    assert_eq!((end.session, end.usage), (None, Usage::default()));
}

#[test]
fn a_real_stream_becomes_events_reads_and_usage() {
    let place = Place::new();
    place.program("claude", &format!("echo \"$@\" > args; cat {}", fixture("claude.jsonl")));
    let turn = Turn { model: Some("opus".into()), ..place.turn() };
    let end = place.run_turn("claude", &turn, &[]);
    assert_eq!(end.outcome, Outcome::Done);
    assert_eq!(end.session.as_ref().unwrap().id, "1542fe85-38a6-4355-852a-fdcc92b967a0");
    assert_eq!(end.usage.input_tokens, 77_397);
    assert_eq!(end.reads, ["/scratch/pool1/rules/one.md"]);
    assert_eq!(end.last_message, "I added one rule card and committed it.");
    let args = place.read("checkout/args");
    assert!(args.contains("--model opus") && args.contains("--permission-mode acceptEdits"), "{args}");
    assert!(!args.contains("dangerously") && !args.contains("PROMPT"), "{args}");
}

#[test]
fn a_resumed_session_is_named_and_its_earlier_tokens_are_not_counted_again() {
    let place = Place::new();
    place.program("codex", &format!("echo \"$@\" > args; cat {}", fixture("codex.jsonl")));
    let counted = Usage { input_tokens: 40_000, output_tokens: 100, ..Usage::default() };
    let turn = Turn { resume: Some(Session { id: "the-session".into(), counted }), ..place.turn() };
    let end = place.run_turn("codex", &turn, &[]);
    assert_eq!((end.usage.input_tokens, end.usage.output_tokens), (1_495, 23));
    assert_eq!(end.session.unwrap().counted.input_tokens, 41_495);
    let args = place.read("checkout/args");
    assert!(args.starts_with("exec resume --json") && args.trim_end().ends_with("the-session -"), "{args}");

    place.program("codex", "echo 'no such session' >&2; exit 1");
    let outcome = place.run_turn("codex", &turn, &[]).outcome;
    assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("could not be resumed")), "{outcome:?}");
}

#[test]
fn a_login_is_lent_for_the_turn_and_taken_back() {
    let place = Place::new();
    place.write("userhome/.claude/.credentials.json", r#"{"x":{"accessToken":"a","refreshToken":"r"}}"#);
    place.program("claude", "cat \"$HOME/.claude/.credentials.json\" > seen");
    place.run("claude");
    assert_eq!(place.read("checkout/seen"), r#"{"x":{"accessToken":"a","refreshToken":null}}"#);
    assert!(!place.path("home/.claude/.credentials.json").exists());
    assert!(place.read("userhome/.claude/.credentials.json").contains("\"refreshToken\":\"r\""));

    place.write("userhome/.codex/config.toml", "model = 'm'\n[mcp_servers.x]\ncommand = 'y'\n");
    place.write("userhome/.codex/auth.json", r#"{"tokens":{"refresh_token":"r"}}"#);
    place.program("codex", "cat \"$CODEX_HOME/config.toml\" \"$CODEX_HOME/auth.json\" > seen");
    place.run_turn("codex", &place.turn(), &[("OPENAI_API_KEY", "k")]);
    let seen = place.read("checkout/seen");
    assert!(seen.contains("model = \"m\"") && !seen.contains("mcp"), "{seen}");
    assert!(seen.contains(r#""refresh_token":"""#), "{seen}");
    assert!(!place.path("home/.codex/auth.json").exists());
}

#[test]
fn what_an_interrupted_turn_left_is_kept_and_never_mixed_in() {
    let place = Place::new();
    place.write("backward.jsonl", "from before\n");
    let turn = place.turn();
    let mine = client("command:mine").unwrap().unwrap();
    assert_eq!(recall_turn(&*mine, &turn).unwrap(), None);
    place.program("mine", "echo now");
    assert_eq!(place.run("command:mine").last_message, "now\n");
    assert_eq!(place.read("backward_interrupted1.jsonl"), "from before\n");
}

#[test]
fn a_user_who_stops_is_obeyed() {
    let place = Place::new();
    place.program("mine", "sleep 300");
    let (client, cancel) = (client("command:mine").unwrap().unwrap(), Cancel::default());
    cancel.ask();
    let end = run_turn(&place.env(&[]), &*client, &place.turn(), &cancel, &mut |_| {}).unwrap();
    assert_eq!(end.outcome, Outcome::Cancelled);
}

#[test]
fn health_says_what_is_missing_and_never_a_secret() {
    let place = Place::new();
    place.program("claude", "echo 2.1.197; exit 0");
    let claude = client("claude").unwrap().unwrap();
    let found = health(&place.env(&[("ANTHROPIC_API_KEY", "sk-secret")]), &*claude);
    assert!(found.is_well());
    assert_eq!(found.version.as_deref(), Some("2.1.197"));
    assert!(!format!("{found:?}").contains("sk-secret"));
    place.program("codex", "echo broken >&2; exit 1");
    let found = health(&place.env(&[]), &*client("codex").unwrap().unwrap());
    assert_eq!(found.fixes.len(), 2, "{found:?}");
    assert!(found.fixes[0].contains("broken") && found.fixes[1].contains("codex login"));
}
