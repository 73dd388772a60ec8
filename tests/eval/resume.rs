use std::time::{Duration, Instant};

use serde_json::json;

use crate::scene::{args, eval, knows, opens, place, result, scene, target};
use crate::server::Server;
use crate::support::Run;

/// How often each task's first question was asked.
fn asked(server: &Server) -> Vec<usize> {
    let seen = server.seen();
    let first = seen.iter().filter(|seen| !seen.body["messages"].to_string().contains("\"tool\""));
    let places: Vec<String> = first.map(place).collect();
    crate::scene::CODES.iter().map(|(name, _)| places.iter().filter(|place| place == name).count()).collect()
}

#[test]
fn killed_after_any_exchange_no_call_is_made_twice() {
    for (point, mode) in [
        ("exchange-recorded:1", "inline"),
        ("exchange-recorded:3", "routed"),
        ("exchange-recorded:4", "routed"),
        ("round-drafted", "inline"),
        ("file-placed:3", "inline"),
        ("file-placed:6", "routed"),
        ("file-placed:11", "routed"),
    ] {
        let server = Server::by(move |seen, _| Some(if mode == "routed" { opens(seen) } else { knows(seen) }));
        let mut world = scene(6);
        world.set("SKILLTRAIN_CRASH_AT", point);
        let killed = eval(&world, &server, &["--mode", mode, "--workers", "1"]);
        assert_eq!(killed.code, None, "{point}: {}", killed.err);
        world.unset("SKILLTRAIN_CRASH_AT");
        let value = result(eval(&world, &server, &["--mode", mode, "--workers", "1", "--json"]));
        assert_eq!(value["hard"], json!(1.0));
        assert_eq!(asked(&server), [1; 6], "{point}");
        assert_eq!(server.seen().len(), if mode == "routed" { 12 } else { 6 }, "{point}");
    }
}

#[test]
fn ctrl_c_stops_and_the_same_command_goes_on() {
    let world = scene(6);
    let server = Server::by(|seen, _| {
        std::thread::sleep(Duration::from_millis(150));
        Some(knows(seen))
    });
    let name = target(&server);
    let mut command = world.command(&args(&name, &["--workers", "1"]));
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while server.seen().len() < 2 && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let run = Run::of(child.wait_with_output().unwrap());
    assert!(run.fails(130).contains("run the same command again to resume"));
    let before = server.seen().len();
    assert!(before < 6);
    let value = result(eval(&world, &server, &["--json"]));
    assert_eq!(value["hard"], json!(1.0));
    // The one that was under way may be asked again; nothing that was answered is.
    assert!(server.seen().len() <= 7 && value["reused"].as_u64().unwrap() >= 1, "{value}");
}
