//! A trainer that is killed takes everything along, and what outlives even that is found.

use std::io::Write as _;
use std::time::Duration;

use skilltrain::ground::process::{Sandbox, run, wait_until_free};
use skilltrain::ground::signals::Cancel;

use crate::support::{GENEROUS, Place, env, every, is_alive, nobody_sleeps, processes_with, unique_sleep, until};

/// Not a test of its own: the trainer that other tests kill. It runs the script named in its environment.
#[test]
fn a_trainer_to_be_killed() {
    let Some(folder) = std::env::var_os("TEST_TRAINER_PLACE") else { return };
    let place = Place::at(folder.into());
    let mut job = place.sh(&std::env::var("TEST_TRAINER_SCRIPT").unwrap());
    job.sandbox = match std::env::var("TEST_TRAINER_SANDBOX").unwrap().as_str() {
        "Bwrap" => Sandbox::Bwrap,
        "Landlock" => Sandbox::Landlock,
        _ => Sandbox::Off,
    };
    run(&env(), &job, &Cancel::default(), &mut |_| {}).unwrap();
}

/// Starts that trainer and waits until its agent runs.
fn trainer(place: &Place, sandbox: Sandbox, script: &str) -> std::process::Child {
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "deaths::a_trainer_to_be_killed"])
        .env("TEST_TRAINER_PLACE", place.path())
        .env("TEST_TRAINER_SCRIPT", script)
        .env("TEST_TRAINER_SANDBOX", format!("{sandbox:?}"))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the agent runs", || place.checkout().join("ready").exists());
    child
}

#[test]
fn a_killed_trainer_takes_everything_along_and_leaves_no_report() {
    for sandbox in every() {
        let place = Place::new();
        let sleep = unique_sleep();
        std::fs::File::create(place.path().join("report.json")).unwrap().write_all(b"stale").unwrap();
        let script = format!(
            "trap '' INT TERM HUP; (setsid sh -c 'sleep {sleep} & while :; do echo x >> late; done' &); \
             echo > ready; while :; do echo x >> log; done"
        );
        let mut child = trainer(&place, sandbox, &script);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until_free(&place.hold(), GENEROUS).unwrap();
        nobody_sleeps(&sleep);
        let sizes = || ["late", "log"].map(|name| place.checkout().join(name).metadata().map(|data| data.len()).ok());
        let before = sizes();
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(sizes(), before, "{sandbox:?}: someone still writes");
        assert!(place.report().is_none(), "{sandbox:?}");
    }
}

#[test]
fn what_outlives_even_the_supervisor_is_found_by_its_mark() {
    for sandbox in every() {
        let place = Place::new();
        let sleep = unique_sleep();
        let mut child = trainer(&place, sandbox, &format!("(setsid sleep {sleep} &); echo > ready; sleep {sleep}"));
        // Stopped first, so that none of them can act when the others die.
        let mut ours = vec![child.id().cast_signed()];
        ours.extend(descendants(ours[0]).into_iter().filter(|pid| name(*pid) == "skill-keeper"));
        assert_eq!(ours.len(), 3, "{sandbox:?}");
        ours.reverse();
        for signal in ["-STOP", "-KILL"] {
            // By the second one, bubblewrap may have ended the last of them itself.
            let pids = ours.iter().map(i32::to_string);
            std::process::Command::new("kill").arg(signal).args(pids).output().unwrap();
        }
        child.wait().unwrap();
        until("our processes are gone", || !ours.iter().any(|pid| is_alive(*pid)));
        if sandbox != Sandbox::Bwrap {
            assert!(!processes_with(&sleep).is_empty(), "{sandbox:?}: the agent was to outlive them");
        }
        wait_until_free(&place.hold(), GENEROUS).unwrap();
        until("all are gone", || processes_with(&sleep).is_empty());
    }
}

fn name(pid: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

fn descendants(of: i32) -> Vec<i32> {
    let parent = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<i32>().ok()
    };
    let mut found = vec![of];
    let mut next = 0;
    while next < found.len() {
        let at = found[next];
        next += 1;
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        found.extend(pids.filter(|pid| parent(pid) == Some(at)));
    }
    found.split_off(1)
}
