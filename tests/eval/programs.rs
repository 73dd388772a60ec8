use std::time::{Duration, Instant};

use serde_json::json;

use crate::scene::{args, result, scene};
use crate::support::executable;

/// Answers from the pool's folder, which it gets as its argument and by a variable.
const READER: &str = r#"#!/bin/sh
input=$(cat)
case "$input" in *reference*) echo "it sees the answer" >&2; exit 1;; esac
[ "$1" = "$SKILLTRAIN_POOL_DIR" ] || exit 2
echo x >> "$(dirname "$0")/calls"
for place in north south east west roof cellar; do
  case "$input" in *"the $place door"*)
    sed -n "s/.*The $place code is \([0-9]*\)\..*/\1/p" "$1/01_craft_elements/$place.md" 2>/dev/null;;
  esac
done
exit 0
"#;

#[test]
fn a_program_answers_from_the_pools_folder_and_is_not_asked_twice() {
    let world = scene(4);
    executable(&world.write("agent", READER));
    let value = result(world.skilltrain(&args("command:./agent", &["--json"])));
    assert_eq!((&value["hard"], &value["mode"]), (&json!(4.0 / 6.0), &json!(null)));
    let again = result(world.skilltrain(&args("command:./agent", &["--json"])));
    assert_eq!((&again["reused"], &again["hard"], world.calls()), (&json!(6), &value["hard"], 6));
}

#[test]
fn a_program_that_fails_or_hangs_gives_no_answer_and_the_others_are_kept() {
    let world = scene(6);
    let script = "#!/bin/sh\ninput=$(cat)\ncase \"$input\" in\n*north*) echo broken >&2; exit 3;;\n*south*) (sleep 300) & sleep 300;;\n*) echo 4713;;\nesac\n";
    executable(&world.write("agent", script));
    let began = Instant::now();
    let run = world.skilltrain(&args("command:./agent", &["--json", "--timeout", "1", "--min-coverage", "0.5"]));
    let value = result(run);
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!((&value["measured"], &value["lost"], &value["hard"]), (&json!(4), &json!(2), &json!(0.25)));
    assert!(value["results"][0]["lost"].as_str().unwrap().ends_with("exit code 3: broken"), "{value}");
    assert!(value["results"][1]["lost"].as_str().unwrap().contains("did not end within 1s"), "{value}");
    let error = world.skilltrain(&args("command:no-such-program-here", &[])).fails(3);
    assert!(error.contains("not on PATH"), "{error}");
}
