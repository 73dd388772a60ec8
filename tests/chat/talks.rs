use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::scene::{PATH, backward, call, calls, finish, good, name, results, turn, world, write};
use crate::server::{Server, answer};
use crate::support::{CARD, Run};

#[test]
fn a_good_step_is_one_commit_and_leaves_its_transcript() {
    let world = world(1);
    let server = Server::by(|seen, _| Some(good(seen)));
    let run = backward(&world, &server, &[]);
    assert!(run.err.contains("the model: 4 calls"), "{}", run.err);
    run.ok();
    assert_eq!(world.subjects().len(), 2);
    assert_eq!(world.read(format!("pool/{PATH}")), CARD);
    world.assert_clean();
    let message = world.git("pool", &["log", "-1", "--format=%B"]);
    assert!(
        message.contains("Skilltrain-Tokens: 48") && message.contains("Skilltrain-Optimizer: openai:m\n"),
        "{message}"
    );
    let transcript = world.read("backward/g01/backward_trajectory.md");
    assert!(transcript.contains(&format!("## Created `{PATH}`")), "{transcript}");
    let prompt = world.read("backward/g01/backward_prompt.md");
    assert!(prompt.contains("<<<DATA loss report of") && prompt.contains("`finish`"));
    assert!(!world.path("backward/calls.jsonl").exists(), "the answers' work is in the pool");
    // What the tools said.
    let seen = server.seen();
    assert!(
        results(&seen[1])[0].contains("There is no card") && results(&seen[1])[1].contains("pool: begin"),
        "{:?}",
        results(&seen[1])
    );
    assert!(results(&seen[2])[0].contains("The reply came late."));
    assert_eq!(results(&seen[3]), ["written"]);
    assert_eq!(seen[0].body["tools"].as_array().unwrap().len(), 8);
    // Done is done.
    backward(&world, &server, &[]).ok();
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn reads_are_the_cards_that_were_opened() {
    let world = world(1);
    world.write(format!("pool/{PATH}"), CARD);
    world.git("pool", &["add", "-A"]);
    world.git("pool", &["commit", "-q", "-m", "a card"]);
    let server = Server::by(|seen, _| {
        Some(match turn(seen) {
            0 => call("read_card", json!({"path": format!("./{PATH}")})),
            1 => call("replace_in_card", json!({"path": PATH, "old": "- Answer first.", "new": "- Answer at once."})),
            _ => finish(),
        })
    });
    backward(&world, &server, &[]).ok();
    assert_eq!(world.read("backward/g01/backward_reads.txt"), format!("{PATH}\n"));
    assert!(world.read(format!("pool/{PATH}")).contains("- Answer at once."));
    assert_eq!(results(&server.seen()[1])[0], CARD);
}

#[test]
fn a_problem_of_form_comes_back_as_the_tools_result_and_is_mended() {
    let world = world(1);
    let server = Server::by(|seen, _| {
        Some(match turn(seen) {
            0 => write(PATH, "# no front matter\n"),
            1 => finish(),
            2 => write(PATH, CARD),
            _ => finish(),
        })
    });
    backward(&world, &server, &[]).ok();
    let seen = server.seen();
    assert!(results(&seen[1])[0].contains("front matter"), "{:?}", results(&seen[1]));
    assert!(results(&seen[2])[0].starts_with("It is not finished: mend this"), "{:?}", results(&seen[2]));
    assert_eq!((seen.len(), world.subjects().len()), (4, 2));
}

#[test]
fn no_path_leads_out_of_the_cards() {
    let world = world(1);
    let outside = world.path("outside.md");
    let absolute = outside.display().to_string();
    let paths = [
        "../outside.md",
        "00_general_rules/../../outside.md",
        "00_general_rules/../x.md",
        &absolute,
        ".git/config",
        ".skilltrain.toml",
        "notes.md",
        "00_general_rules/a.txt",
        "00_general_rules/.hidden.md",
        "00_general_rules\\..\\x.md",
        "00_general_rules/sub/a.md",
        "00_general_rules//a.md",
        "",
        "a\nb.md",
    ]
    .map(str::to_owned);
    let tried = paths.clone();
    let server = Server::by(move |seen, _| {
        Some(match turn(seen) {
            0 => {
                calls(&tried.iter().map(|path| ("write_card", json!({"path": path, "text": CARD}))).collect::<Vec<_>>())
            }
            1 => calls(&tried.iter().map(|path| ("read_card", json!({"path": path}))).collect::<Vec<_>>()),
            2 => calls(&tried.iter().map(|path| ("delete_card", json!({"path": path}))).collect::<Vec<_>>()),
            _ => finish(),
        })
    });
    backward(&world, &server, &[]).ok();
    let seen = server.seen();
    for seen in &seen[1..] {
        let said = results(seen);
        assert_eq!(said.len(), paths.len());
        assert!(
            said.iter().all(|said| said.contains("no card's path") || said.contains("no path of a card")),
            "{said:#?}"
        );
    }
    assert!(!outside.exists());
    world.assert_clean();
    // Nothing was worth a change then: an empty step.
    assert_eq!(world.git("pool", &["diff", "HEAD~1", "--stat"]), "");
}

#[test]
fn calls_that_make_no_sense_are_told_so_and_nothing_breaks() {
    let world = world(1);
    let server = Server::by(|seen, _| {
        Some(match turn(seen) {
            0 => calls(&[
                ("bash", json!({"command": "rm -rf /"})),
                ("write_card", json!({"path": 7, "text": CARD})),
                ("write_card", json!([])),
                ("read_evidence", json!({"work": 9, "part": "loss_report"})),
                ("read_evidence", json!({"work": 1, "part": "soul"})),
                ("read_evidence", json!({"work": "1", "part": "transcript", "offset": 999_999})),
                ("replace_in_card", json!({"path": PATH, "old": "", "new": "x"})),
                ("write_card", json!({"path": PATH, "text": "x".repeat(2_000_000)})),
                ("list_cards", json!({"folder": null})),
            ]),
            1 => calls(&vec![("history", json!({})); 30]),
            2 => answer("I think that I am done."),
            3 => {
                calls(&[("finish", json!({"message": "nothing"})), ("write_card", json!({"path": PATH, "text": CARD}))])
            }
            _ => return None,
        })
    });
    backward(&world, &server, &[]).ok();
    let seen = server.seen();
    let said = results(&seen[1]);
    let want = [
        "there is no tool `bash`",
        "`path` is not a text",
        "not a JSON object",
        "numbered from 1 to 1",
        "no part `soul`",
        "nothing more",
        "There is no card",
        "far too long",
        "There is no card",
    ];
    assert!(said.iter().zip(want).all(|(said, want)| said.contains(want)), "{said:#?}");
    assert!(results(&seen[2])[29].contains("not more than 24 calls"));
    assert!(seen[3].last().contains("Nothing is taken before you call `finish`"));
    assert!(!world.path(format!("pool/{PATH}")).exists(), "what comes after finish is not done");
}

#[test]
fn bounds_are_told_before_the_guards_see_them() {
    let world = world(1);
    let cards = ["a", "b", "c"].map(|name| format!("00_general_rules/{name}.md"));
    for (n, path) in cards.iter().enumerate() {
        world.write(format!("pool/{path}"), CARD.replace("Answer first", &format!("Answer {n}")));
    }
    world.git("pool", &["add", "-A"]);
    world.git("pool", &["commit", "-q", "-m", "cards"]);
    let server = Server::by(move |seen, _| {
        Some(match turn(seen) {
            0 => calls(&cards.iter().map(|path| ("delete_card", json!({"path": path}))).collect::<Vec<_>>()),
            1 => finish(),
            2 => calls(
                &cards[1..]
                    .iter()
                    .enumerate()
                    .map(|(n, path)| {
                        let text = CARD.replace("Answer first", &format!("Answer {}", n + 1));
                        ("write_card", json!({"path": path, "text": text}))
                    })
                    .collect::<Vec<_>>(),
            ),
            _ => finish(),
        })
    });
    backward(&world, &server, &["--learning-rate", "1"]).ok();
    let said = results(&server.seen()[2])[0].clone();
    assert!(
        said.contains("3 cards are changed, and this step may change 1") && said.contains("may delete 2"),
        "{said}"
    );
    assert_eq!(world.git("pool", &["diff", "HEAD~1", "--name-status"]), "D\t00_general_rules/a.md");
}

#[test]
fn a_guard_that_refuses_is_told_in_a_repair_turn() {
    let world = world(1);
    let passage = "One two three four five six seven eight nine ten eleven twelve thirteen.";
    world.write("evidence/w1.trajectory.md", format!("# Trajectory\n\n{passage}\n"));
    let copied = CARD.replace("Answer first.", passage);
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&prompts);
    let server = Server::by(move |seen, _| {
        let prompt = seen.body["messages"][0]["content"].as_str().unwrap().to_owned();
        let is_repair = prompt.contains("What has to be mended");
        kept.lock().unwrap().push(prompt);
        Some(match (turn(seen), is_repair) {
            (0, false) => write(PATH, &copied),
            (0, true) => write(PATH, CARD),
            _ => finish(),
        })
    });
    backward(&world, &server, &[]).ok();
    let prompts = prompts.lock().unwrap();
    assert!(prompts[2].contains("word for word"), "{}", prompts[2]);
    assert_eq!((prompts.len(), world.subjects().len()), (4, 2));
    assert_eq!(world.read(format!("pool/{PATH}")), CARD);
}

#[test]
fn several_works_are_reduced_by_one_question() {
    let world = world(2);
    let server = Server::by(|seen, _| {
        Some(match seen.body["tools"].is_array() {
            true => good(seen),
            false => answer("# 2 works: w1, w2\n\n## Shared\n\n- Answer first (w1, w2)."),
        })
    });
    Run::of(world.backward_command(&name(&server), &["--group-size", "2"]).output().unwrap()).ok();
    assert!(world.read("backward/g01/summary.md").contains("Answer first (w1, w2)"));
    assert!(server.seen()[1].body["messages"][0]["content"].as_str().unwrap().contains("<<<DATA commonality report"));
    // And alone, as a command.
    let name = name(&server);
    let args = ["reduce", "--batch", "batch.json", "--out", "summary.md", "--optimizer", name.as_str()];
    world.skilltrain(&args).ok();
    world.skilltrain(&args).ok();
    assert_eq!(server.seen().len(), 6, "a report that was paid is not asked for again");
}
