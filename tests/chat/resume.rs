use crate::scene::{good, name};
use crate::server::Server;
use crate::support::{Run, World};

/// What training left that must not depend on the way there.
fn left(world: &World) -> (String, Vec<String>) {
    let root = world.root().display().to_string();
    let texts = ["backward_trajectory.md", "report.md", "commit.txt", "backward_reads.txt"].iter().flat_map(|name| {
        ["g01", "g02"].map(|group| world.read(format!("backward/{group}/{name}")).replace(&root, "ROOT"))
    });
    (world.git("pool", &["log", "--format=%H%n%B"]), texts.collect())
}

fn run(world: &World, optimizer: &str, crash: Option<&str>) -> Run {
    let mut command = world.backward_command(optimizer, &["--group-size", "1", "--call-retries", "0"]);
    if let Some(point) = crash {
        command.env("SKILLTRAIN_CRASH_AT", point);
    }
    Run::of(command.output().unwrap())
}

fn world() -> World {
    let world = World::in_memory();
    world.skilltrain(&["init", "pool"]).ok();
    world.batch(2);
    world
}

/// Two micro-steps of four calls each.
#[test]
fn killed_anywhere_the_same_command_repeats_no_call_and_ends_the_same() {
    let server = Server::by(|seen, _| Some(good(seen)));
    let optimizer = name(&server);
    let straight = world();
    run(&straight, &optimizer, None).ok();
    let wanted = left(&straight);
    let mut calls = server.seen().len();
    assert_eq!(calls, 8);
    for point in [
        "exchange-recorded:1",
        "exchange-recorded:2",
        "exchange-recorded:3",
        "exchange-recorded:4",
        "exchange-recorded:6",
        "exchange-recorded:8",
        "checkout-made:1",
        "checkout-made:2",
        "started:1",
        "started:2",
        "optimizer-ended:1",
        "optimizer-ended:2",
        "before-commit:1",
        "commit-made:1",
        "pool-moved:1",
        "before-marker:2",
        "marker:1",
        "marker:2",
        "file-placed:4",
        "file-placed:9",
        "file-placed:14",
    ] {
        let world = world();
        let killed = run(&world, &optimizer, Some(point));
        assert_eq!(killed.code, None, "{point}: {}", killed.err);
        run(&world, &optimizer, None).ok();
        assert_eq!(left(&world), wanted, "{point}");
        assert!(world.kept().is_empty(), "{point}: {:?}", world.kept());
        assert_eq!(server.seen().len() - calls, 8, "{point}: each call is made once");
        calls = server.seen().len();
        world.assert_clean();
    }
}
