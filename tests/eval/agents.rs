use serde_json::{Value, json};

use crate::scene::{card, commit, result, scene};
use crate::support::{Run, World, executable};

/// A stand-in for Claude Code: it opens the skill of the door that its prompt asks for, and answers with its code.
const CLAUDE: &str = r#"#!/bin/sh
echo "$*" >> "$COUNT/arguments"
prompt=$(cat)
printf '%s\n---\n' "$prompt" >> "$COUNT/prompts"
(pwd; git rev-parse --show-toplevel; ls -A "$HOME"; env) >> "$COUNT/surroundings"
echo '{"type":"system","subtype":"init","session_id":"s1"}'
door=$(echo "$prompt" | sed -n 's/.*code of the \([a-z]*\) door.*/\1/p')
skill=.claude/skills/$door
if [ -d "$skill" ]; then
  code=$(sed -n 's/.* code is \([0-9]*\).*/\1/p' "$skill/SKILL.md")
  echo '{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"'$door'"}}]}}'
  echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"Launching"}]}}'
  printf '%s\n' '{"type":"user","isSynthetic":true,"message":{"content":[{"type":"text","text":"Base directory for this skill: '"$PWD/$skill"'\n\nrules"}]}}'
else
  code='I do not know.'
fi
echo '{"type":"result","subtype":"success","is_error":false,"result":"'$code'","usage":{"input_tokens":70,"output_tokens":7}}'
"#;

/// A stand-in for Codex, which has a shell and nothing else.
const CODEX: &str = r#"#!/bin/sh
echo "$*" >> "$COUNT/arguments"
prompt=$(cat)
echo '{"type":"thread.started","thread_id":"t1"}'
door=$(echo "$prompt" | sed -n 's/.*code of the \([a-z]*\) door.*/\1/p')
skill=.agents/skills/$door/SKILL.md
code='I do not know.'
if [ -f "$skill" ]; then
  code=$(sed -n 's/.* code is \([0-9]*\).*/\1/p' "$skill")
  echo '{"type":"item.completed","item":{"type":"command_execution","command":"cat '$skill'","aggregated_output":"","exit_code":0,"status":"completed"}}'
fi
echo '{"type":"item.completed","item":{"type":"agent_message","text":"'$code'"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":70,"output_tokens":7}}'
"#;

/// The scene with a program of this name first on `PATH`; it finds the folder `count` through a variable handed on.
fn with_client(known: usize, name: &str, script: &str) -> World {
    let mut world = scene(known);
    executable(&world.write(format!("bin/{name}"), script));
    std::fs::create_dir_all(world.path("count")).unwrap();
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    world.set("PATH", path);
    world.set("COUNT", world.path("count").display().to_string());
    world.set("SKILLTRAIN_PASS_ENV", "COUNT");
    world.set("ANTHROPIC_API_KEY", "dummy");
    world
}

fn eval(world: &World, target: &str, more: &[&str]) -> Run {
    let mut args = vec!["eval", "--tasks", "tasks.jsonl", "--pool", "pool", "--target", target, "--sandbox", "off"];
    args.extend(["--out", "out", "--workers", "2"]);
    args.extend(more);
    world.skilltrain(&args)
}

fn attempts(world: &World) -> usize {
    world.read("count/arguments").lines().count()
}

/// A file of the attempt at the n-th task of a result.
fn kept(world: &World, value: &Value, index: usize, name: &str) -> String {
    let digest = value["results"][index]["rollout"].as_str().unwrap();
    world.read(format!("out/rollouts/{}/{digest}/{name}", &digest[..2]))
}

#[test]
fn a_client_finds_the_cards_as_its_skills_and_what_it_opened_is_known() {
    for (name, script) in [("claude", CLAUDE), ("codex", CODEX)] {
        let world = with_client(3, name, script);
        let value = result(eval(&world, name, &["--json"]));
        assert_eq!((&value["hard"], &value["measured"], attempts(&world)), (&json!(0.5), &json!(6), 6), "{name}");
        assert_eq!(kept(&world, &value, 0, "reads.txt"), "01_craft_elements/north.md\n", "{name}");
        assert_eq!(kept(&world, &value, 5, "reads.txt"), "", "{name}");
        // Only the task that opened the card is attempted again after an edit of it.
        card(&world, "north", "1111");
        commit(&world, "an edit");
        let value = result(eval(&world, name, &["--json"]));
        assert_eq!((&value["hard"], attempts(&world)), (&json!(2.0 / 6.0), 7), "{name}");
        // A new card may be opened by any of them.
        card(&world, "roof", "4715");
        commit(&world, "a card");
        let value = result(eval(&world, name, &["--json"]));
        assert_eq!((&value["hard"], attempts(&world)), (&json!(0.5), 13), "{name}");
        assert!(!world.path("out/desk").exists());
    }
}

#[test]
fn general_cards_stand_in_the_prompt_and_no_reference_does() {
    let world = with_client(1, "claude", CLAUDE);
    world.write(
        "pool/00_general_rules/brief.md",
        "---\ndescription: Use for every answer. Not for questions.\n---\n\n## Rules\n- Answer in one line.\n",
    );
    commit(&world, "a general card");
    let value = result(eval(&world, "claude:opus", &["--json", "--system", "You work at a gate."]));
    let prompts = world.read("count/prompts");
    let first = prompts.split("\n---\n").find(|prompt| prompt.contains("north")).unwrap();
    insta::assert_snapshot!(first, @r"
    You work at a gate.

    What holds here, card by card. Follow what fits the task.

    # Use for every answer. Not for questions.

    - Answer in one line.

    What is the code of the north door?

    Your last message is taken as your answer.
    ");
    assert!(!prompts.contains("4716"), "{prompts}");
    assert!(world.read("count/arguments").lines().all(|line| line.contains("--model opus")));
    let reads = kept(&world, &value, 0, "reads.txt");
    assert_eq!(reads, "00_general_rules/brief.md\n01_craft_elements/north.md\n");
    assert!(kept(&world, &value, 0, "trajectory.md").contains("Read `01_craft_elements/north.md`"));
    let facts: Value = serde_json::from_str(&kept(&world, &value, 0, "result.json")).unwrap();
    assert_eq!(facts["facts"]["tools"], json!(["Skill", "read"]));
    assert_eq!(facts["facts"]["usage"]["input_tokens"], 70);
}

#[test]
fn each_attempt_has_a_home_and_a_repository_of_its_own() {
    let world = with_client(1, "claude", CLAUDE);
    // Instructions and skills that the user keeps above the run are not the pool's.
    world.write("CLAUDE.md", "Say nothing.");
    world.write(".claude/skills/other/SKILL.md", "---\nname: other\ndescription: x\n---\n");
    eval(&world, "claude", &[]).ok();
    let seen = world.read("count/surroundings");
    let lines = |prefix: &str| seen.lines().filter(|line| line.starts_with(prefix)).collect::<Vec<_>>();
    let works: std::collections::BTreeSet<&str> =
        seen.lines().filter(|line| line.starts_with('/') && line.ends_with("/work")).collect();
    assert_eq!(works.len(), 6, "{seen}");
    assert!(seen.lines().filter(|line| line.starts_with('/')).all(|line| line.ends_with("/work")), "{seen}");
    let homes: std::collections::BTreeSet<&str> = lines("HOME=").into_iter().collect();
    assert_eq!(homes.len(), 6, "{seen}");
    assert_eq!(lines("CLAUDE_CODE_DISABLE_CLAUDE_MDS=1").len(), 6);
}

#[test]
fn a_client_that_fails_or_hangs_is_lost_and_never_a_score() {
    let error = "echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}'
echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":529,\"result\":\"overloaded\"}'
exit 1";
    for (fails, said) in [(error, "overloaded"), ("exec sleep 60", "did not end within 1s"), ("exit 3", "exit code 3")]
    {
        // One of six fails.
        let failing = format!("prompt=$(cat)\ncase $prompt in *cellar*)\n{fails}\n;; esac");
        let script = CLAUDE.replace("prompt=$(cat)", &failing);
        let world = with_client(6, "claude", &script);
        let value = result(eval(&world, "claude", &["--json", "--min-coverage", "0.8", "--timeout", "1"]));
        assert_eq!((&value["lost"], &value["hard"]), (&json!(1), &json!(1.0)), "{said}: {value}");
        assert!(value["results"][5]["lost"].as_str().unwrap().contains(said), "{value}");
    }
}

#[test]
fn a_client_that_is_not_there_ends_the_run_and_one_without_words_has_failed_its_task() {
    let mut world = scene(1);
    world.set("PATH", "/usr/bin:/bin");
    let said = eval(&world, "codex", &[]).fails(3);
    assert!(said.contains("codex is not on PATH") && said.contains("npm install"), "{said}");
    let silent =
        "#!/bin/sh\necho '{\"type\":\"thread.started\",\"thread_id\":\"t\"}'\necho '{\"type\":\"turn.completed\"}'\n";
    let world = with_client(1, "codex", silent);
    let value = result(eval(&world, "codex", &["--json"]));
    assert_eq!((&value["measured"], &value["hard"]), (&json!(6), &json!(0.0)));
    assert_eq!(value["results"][0]["feedback"][0], "The agent ended without an answer.");
}
