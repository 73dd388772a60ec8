//! Batches that are wrong in every way: exit 2, naming the file, the index and the key, before anything happens.

use serde_json::{Value, json};

use crate::support::World;
use crate::world;

fn sample() -> Value {
    json!({
        "work": "w1", "first": 1, "last": 5,
        "loss_report": "evidence/w1.md", "reads": "evidence/w1.reads", "trajectory": "evidence/w1.trajectory.md",
    })
}

/// Asserts that these bytes are refused with these words.
fn refused(world: &World, text: impl AsRef<[u8]>, words: &[&str]) {
    world.write("batch.json", text);
    for command in ["backward", "reduce"] {
        let mut args = vec![command, "--batch", "batch.json"];
        args.extend(if command == "reduce" { ["--out", "summary.md"] } else { ["--pool", "pool"] });
        let said = world.skilltrain(&args).fails(2);
        for word in [&["batch.json"], words].concat() {
            assert!(said.contains(word), "`{word}` is not said: {said}");
        }
    }
    assert!(!world.path("backward").exists() && world.subjects().len() == 1);
}

#[test]
fn what_is_no_list_of_samples() {
    let world = world();
    refused(&world, "", &["not JSON"]);
    refused(&world, "[{\"work\": NaN}]", &["not JSON"]);
    refused(&world, "[{\"work\": 1,}]", &["not JSON"]);
    refused(&world, format!("\u{feff}{}", json!([sample()])), &["byte order mark"]);
    refused(&world, b"[\"\xff\"]", &["UTF-8"]);
    refused(&world, "[]", &["empty"]);
    refused(&world, "{}", &["list"]);
    refused(&world, "null", &["list"]);
    refused(&world, "[1]", &["sample 0", "not an object"]);
    refused(&world, "[".repeat(100_000), &["not JSON"]);
}

#[test]
fn every_key_missing_or_of_a_wrong_type() {
    let world = world();
    for key in ["work", "first", "last", "loss_report", "reads", "trajectory"] {
        let number = matches!(key, "first" | "last");
        let mut bad: Vec<Value> = vec![Value::Null, json!([]), json!({}), json!(true), json!("")];
        bad.extend(if number {
            vec![json!(-1), json!(1.5), json!("1"), json!(1e30)]
        } else {
            vec![json!(7), json!("  ")]
        });
        let mut missing = sample();
        missing.as_object_mut().unwrap().remove(key);
        refused(&world, json!([sample(), missing]).to_string(), &["sample 1", key, "missing"]);
        for value in bad {
            let mut wrong = sample();
            wrong[key] = value;
            refused(&world, json!([sample(), wrong]).to_string(), &["sample 1", key]);
        }
    }
    let mut backwards = sample();
    backwards["first"] = json!(9);
    refused(&world, json!([backwards]).to_string(), &["sample 0", "last"]);
    let mut lines = sample();
    lines["work"] = json!("two\nlines");
    refused(&world, json!([lines]).to_string(), &["sample 0", "work"]);
}

#[test]
fn files_that_are_missing_or_no_files() {
    let world = world();
    std::fs::create_dir(world.path("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("dangling")).unwrap();
    for key in ["loss_report", "reads", "trajectory"] {
        for place in ["evidence/none.md", "folder", "dangling", "/dev/null", "evidence/w1.md/x", "a\u{0}b"] {
            let mut wrong = sample();
            wrong[key] = json!(place);
            refused(&world, json!([wrong]).to_string(), &["sample 0", key]);
        }
    }
    refused(&world, json!([sample(), sample()]).to_string(), &["sample 1", "same work", "sample 0"]);
}

#[test]
fn the_batch_itself_missing_or_a_folder() {
    let world = world();
    for name in ["none.json", "evidence", "batch.json/x"] {
        let said = world.skilltrain(&["backward", "--batch", name, "--pool", "pool"]).fails(2);
        assert!(said.contains(name.split('/').next().unwrap()), "{said}");
    }
    let said = world.backward("extractive", &["--summary", "none.md"]).fails(2);
    assert!(said.contains("--summary") && said.contains("none.md"), "{said}");
    world.write("empty.md", " \n");
    assert!(world.backward("extractive", &["--summary", "empty.md"]).fails(2).contains("empty"));
}

#[test]
fn unknown_keys_and_both_kinds_of_path() {
    let world = world();
    let mut sample = sample();
    sample["split"] = json!("train");
    sample["nested"] = json!({"deep": [1, null]});
    sample["loss_report"] = json!(world.path("evidence/w1.md"));
    world.write("batch.json", json!([sample]).to_string());
    world.backward("command:./agent.sh", &[]).ok();
    let kept: Value = serde_json::from_str(&world.read("backward/g01/batch.json")).unwrap();
    assert_eq!(kept[0]["split"], "train");
    assert_eq!(kept[0]["nested"], json!({"deep": [1, null]}));
    for key in ["loss_report", "reads", "trajectory"] {
        let path = kept[0][key].as_str().unwrap();
        assert!(path.starts_with('/') && std::path::Path::new(path).is_file(), "{path}");
    }
    // It is a batch itself.
    world.skilltrain(&["reduce", "--batch", "backward/g01/batch.json", "--out", "again.md"]).ok();
}

#[test]
fn a_given_summary_is_one_micro_step() {
    let world = world();
    world.batch(3);
    world.write("summary.md", "# Commonality\n\n- Late replies in w1, w2 and w3.\n");
    world.backward("command:./agent.sh", &["--summary", "summary.md", "--group-size", "1"]).ok();
    assert_eq!(world.subjects()[1..], ["train world-g01"]);
    assert_eq!(world.read("backward/g01/summary.md"), world.read("summary.md"));
    let batch: Value = serde_json::from_str(&world.read("backward/g01/batch.json")).unwrap();
    assert_eq!(batch.as_array().unwrap().len(), 3);
    assert!(world.read("backward/g01/backward_prompt.md").contains("Late replies in w1"));
    // It is evidence: another one is another step.
    world.write("summary.md", "# Commonality\n\n- Something else in w1, w2 and w3.\n");
    assert!(world.backward("command:./agent.sh", &["--summary", "summary.md"]).fails(2).contains("other evidence"));
}

#[test]
fn group_sizes() {
    for (size, steps) in [("0", 1), ("1", 5), ("2", 3), ("4", 2), ("5", 1), ("1000000", 1)] {
        let world = world();
        world.batch(5);
        world.backward("extractive", &["--group-size", size]).ok();
        assert_eq!(world.subjects().len(), steps + 1, "{size}");
        world.assert_clean();
    }
    let said = world().backward("extractive", &["--group-size", "many"]).fails(2);
    assert!(said.contains("group-size"), "{said}");
}

#[test]
fn a_huge_batch() {
    let world = world();
    world.batch(600);
    world.backward("extractive", &["--group-size", "0"]).ok();
    assert_eq!(world.subjects().len(), 2);
    assert_eq!(
        world.git("pool", &["log", "-1", "--format=%b"]).lines().filter(|line| line.starts_with('w')).count(),
        600
    );
    world.assert_clean();
}
