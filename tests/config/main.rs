//! `skilltrain config`: the program as a user starts it.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on fails")]

#[path = "../support/mod.rs"]
mod support;

use serde_json::Value;
use support::World;

/// What a run says, with the world's folder left out.
fn scrubbed(world: &World, text: &str) -> String {
    text.replace(&world.root().display().to_string(), "WORLD")
}

#[test]
fn a_new_configuration_says_what_every_key_is() {
    let world = World::new();
    insta::assert_snapshot!(world.skilltrain(&["config", "init"]).ok(), @"
    wrote skilltrain.toml

    next: name the tasks and the target in it, then see what it comes to:
      skilltrain config show --config skilltrain.toml
    ");
    insta::assert_snapshot!("template", world.read("skilltrain.toml"));
}

#[test]
fn a_new_configuration_overwrites_nothing() {
    let world = World::new();
    world.write("skilltrain.toml", "mine");
    std::os::unix::fs::symlink("gone", world.path("link.toml")).unwrap();
    for args in [&["config", "init"][..], &["config", "init", "-"], &["config", "init", "skilltrain.toml"]] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.skilltrain(args).fails(2), @"
            error: skilltrain.toml is there already, and is not overwritten
            hint: name another file, or move this one away
            ");
        }
    }
    world.skilltrain(&["config", "init", "link.toml"]).fails(2);
    assert_eq!(world.read("skilltrain.toml"), "mine");
    assert!(!world.path("gone").exists());
    let made: Value = serde_json::from_str(&world.skilltrain(&["config", "init", "a/b.toml", "--json"]).ok()).unwrap();
    assert_eq!(made["file"], "a/b.toml");
    assert!(world.read("a/b.toml").contains("[train]"));
}

#[test]
fn a_new_configuration_wants_tasks_and_then_shows_what_it_comes_to() {
    let world = World::new();
    world.skilltrain(&["config", "init"]).ok();
    insta::assert_snapshot!(world.skilltrain(&["config", "show"]).fails(2), @"
    error: skilltrain.toml:151: key `data.tasks`: is missing: there is nothing to train on
    hint: name a file of tasks (tasks), or a folder with train.jsonl, selection.jsonl and test.jsonl (split_dir)
    ");
    let args = [
        "config",
        "show",
        "--config",
        "skilltrain.toml",
        "--set",
        "data.tasks=tasks.jsonl",
        "--set",
        "target.name=openai:m@http://user:hunter2@127.0.0.1:1/v1",
        "--set",
        "evaluation.options.tolerance=0.5",
        "--set",
        "prices.gpt-4.1.input=2",
        "--set",
        "prices.gpt-4.1.output=8",
    ];
    let shown = world.skilltrain(&args).ok();
    insta::assert_snapshot!("resolved", scrubbed(&world, &shown));

    world.write("elsewhere/again.toml", &shown);
    let again = ["config", "show", "--config", "elsewhere/again.toml"];
    assert_eq!(world.skilltrain(&again).ok(), shown, "what is shown is a configuration that comes to the same");

    let json: Value = serde_json::from_str(&world.skilltrain(&[&args[..], &["--json"]].concat()).ok()).unwrap();
    assert_eq!(json["data"]["tasks"], world.path("tasks.jsonl").display().to_string());
    assert_eq!(json["target"]["name"], "openai:m@http://…@127.0.0.1:1/v1");
    assert_eq!(json["optimizer"]["model"], Value::Null);
    assert_eq!(json["prices"]["gpt-4.1"]["output"], 8.0);
}

#[test]
fn what_is_wrong_is_told_at_once_with_its_place() {
    let world = World::new();
    world.write("c.toml", "[train]\nlearning_rate = 4\nworkers = 0\n\n[data]\ntasks = 'a'\nsplit_dir = 'b'\n");
    let run = world.skilltrain(&["config", "show", "--config", "c.toml", "--set", "target.mode=inlined"]);
    insta::assert_snapshot!(run.fails(2), @r#"
    error: c.toml:2: key `train.learning_rate`: unknown key
    hint: did you mean `optimizer.learning_rate`? it belongs below [optimizer]
    hint: also wrong: c.toml:3: key `train.workers`: 0 is not a whole number from 1 to 1024
    hint: also wrong: --set target.mode=inlined: key `target.mode`: "inlined" is not one of "inline", "routed"
    "#);
    let run = world.skilltrain(&["config", "show", "--config", "c.toml", "--json"]);
    let told: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((told["exit"].as_u64(), run.code), (Some(2), Some(2)));
    insta::assert_snapshot!(world.skilltrain(&["config", "show"]).fails(2), @"
    error: cannot read skilltrain.toml: No such file or directory (os error 2)
    hint: `skilltrain config init` writes a skilltrain.toml
    ");
    world.write("c.toml", b"[train]\nout = \"\xff\"\n");
    insta::assert_snapshot!(world.skilltrain(&["config", "show", "--config", "c.toml"]).fails(2), @"
    error: c.toml is not UTF-8 (byte 15)
    hint: save the file as UTF-8
    ");
    world.skilltrain(&["config", "show", "--config", "."]).fails(2);
}

#[test]
fn the_schema_is_json_and_describes_every_key() {
    let schema: Value = serde_json::from_str(&World::new().skilltrain(&["config", "schema"]).ok()).unwrap();
    let sections = schema["properties"].as_object().unwrap();
    let mut keys = 0;
    for (name, section) in sections {
        let table = if name == "prices" || name == "rates" { &section["additionalProperties"] } else { section };
        assert_eq!(table["additionalProperties"], false, "{name}");
        for (key, schema) in table["properties"].as_object().unwrap() {
            assert!(schema["description"].as_str().is_some_and(|text| text.ends_with('.')), "{name}.{key}");
            keys += 1;
        }
    }
    assert_eq!((sections.len(), keys), (9, 75));
}
