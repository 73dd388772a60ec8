//! However an agent ends, nothing of it is left, and what is said about it is true.

use std::time::{Duration, Instant};

use skilltrain::ground::error::Kind;
use skilltrain::ground::process::{End, Job, Sandbox, run, wait_until_free};
use skilltrain::ground::signals::Cancel;

use crate::support::{GENEROUS, Place, env, every, fails, go, nobody_sleeps, processes_with, unique_sleep, until};

/// Runs a job on this thread while another does something about it.
fn run_beside(job: &Job, cancel: &Cancel, beside: impl FnOnce() + Send) -> End {
    std::thread::scope(|scope| {
        scope.spawn(beside);
        run(&env(), job, cancel, &mut |_| {}).unwrap().end
    })
}

#[test]
fn what_an_agent_leaves_running_is_ended_and_counted() {
    for sandbox in every() {
        let place = Place::new();
        let sleep = unique_sleep();
        // A plain child, one in a session of its own, a daemon forked twice, and one that ignores every signal.
        let mut job = place.sh(&format!(
            "sleep {sleep} & setsid sleep {sleep} & (setsid sh -c 'sleep {sleep} & wait' &); \
             (trap '' INT TERM HUP; exec setsid sleep {sleep}) & \
             while [ $(pgrep -c -f 'sleep {sleep}') -lt 5 ]; do sleep 0.02; done; echo done"
        ));
        job.sandbox = sandbox;
        let (finished, lines) = go(&job);
        assert_eq!((finished.end, lines), (End::Exited(0), vec!["done".to_owned()]), "{sandbox:?}");
        assert!((4..=8).contains(&finished.leftovers), "{sandbox:?} {}", finished.leftovers);
        assert!(finished.elapsed < GENEROUS / 2);
        nobody_sleeps(&sleep);
        assert_eq!(place.report().unwrap().leftovers, finished.leftovers);
    }
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    for sandbox in every() {
        let rows = [
            ("exit 0", End::Exited(0)),
            ("exit 137", End::Exited(137)),
            ("exit 255", End::Exited(255)),
            ("kill -KILL $$", End::Signaled(9)),
            ("kill -TERM $$", End::Signaled(15)),
        ];
        for (script, end) in rows {
            let place = Place::new();
            let mut job = place.sh(script);
            job.sandbox = sandbox;
            assert_eq!(go(&job).0.end, end, "{sandbox:?} {script}");
        }
    }
}

#[test]
fn at_its_deadline_an_agent_may_say_a_last_word() {
    for sandbox in every() {
        let place = Place::new();
        let sleep = unique_sleep();
        let mut job = place.sh(&format!("trap 'echo last; exit 0' INT; echo first; sleep {sleep} & wait"));
        job.sandbox = sandbox;
        job.timeout = Duration::from_millis(700);
        job.grace = GENEROUS;
        let (finished, lines) = go(&job);
        assert_eq!((finished.end, lines), (End::TimedOut, vec!["first".to_owned(), "last".to_owned()]), "{sandbox:?}");
        assert!(finished.elapsed < GENEROUS / 2);
        nobody_sleeps(&sleep);
    }
}

#[test]
fn whoever_ignores_or_cannot_hear_the_signal_is_killed_after_the_grace() {
    for sandbox in every() {
        for script in
            ["trap '' INT TERM; while :; do sleep {}; done", "sleep {} & kill -STOP $$", "exec setsid -w sleep {}"]
        {
            let place = Place::new();
            let sleep = unique_sleep();
            let mut job = place.sh(&script.replace("{}", &sleep));
            job.sandbox = sandbox;
            job.timeout = Duration::from_millis(300);
            let (finished, _) = go(&job);
            assert_eq!(finished.end, End::TimedOut, "{sandbox:?} {script}");
            assert!(finished.elapsed < GENEROUS / 2);
            nobody_sleeps(&sleep);
            assert_eq!(place.report().unwrap().end, End::TimedOut);
        }
    }
}

#[test]
fn a_first_ask_is_polite_and_a_second_means_now() {
    for sandbox in every() {
        let place = Place::new();
        let sleep = unique_sleep();
        let mut job = place.sh(&format!("trap 'echo > asked' INT; echo > ready; while :; do sleep {sleep}; done"));
        job.sandbox = sandbox;
        job.grace = GENEROUS * 10;
        let cancel = Cancel::default();
        let begun = Instant::now();
        let end = run_beside(&job, &cancel, || {
            until("the agent runs", || place.checkout().join("ready").exists());
            cancel.ask();
            until("the agent was asked", || place.checkout().join("asked").exists());
            cancel.ask();
        });
        assert_eq!(end, End::Cancelled, "{sandbox:?}");
        assert!(begun.elapsed() < GENEROUS);
        nobody_sleeps(&sleep);
    }
}

#[test]
fn those_who_come_back_when_killed_are_ended_too() {
    for sandbox in every() {
        let place = Place::new();
        // Each of these replaces itself again and again and is gone before it can be looked at. A count bounds them.
        let comet = place.path().join(unique_sleep());
        std::fs::write(&comet, "[ $1 -gt 3000 ] && exit\nsetsid sh $0 $(($1 + 1)) &\n").unwrap();
        let sleep = unique_sleep();
        let mut job = place.sh(&format!(
            "for i in 1 2 3; do sh {0} 0 & done; \
             for i in 1 2 3; do setsid sh -c 'while :; do setsid sleep {sleep}; done' & done; sleep 0.2",
            comet.display()
        ));
        job.sandbox = sandbox;
        job.readable = vec![comet.clone()];
        let (finished, _) = go(&job);
        assert_eq!(finished.end, End::Exited(0), "{sandbox:?}");
        nobody_sleeps(&sleep);
        assert_eq!(processes_with(&comet.display().to_string()), Vec::<i32>::new(), "{sandbox:?}");
    }
}

#[test]
fn a_pipe_held_by_an_outsider_does_not_hold_us() {
    let place = Place::new();
    let job = place.sh("echo hello; echo $$ > pid; while [ ! -e go ]; do sleep 0.02; done");
    let mut held = None;
    let mut lines = Vec::new();
    let finished = std::thread::scope(|scope| {
        scope.spawn(|| {
            until("the agent runs", || place.pid("pid").is_some());
            let pipe = format!("/proc/{}/fd/1", place.pid("pid").unwrap());
            held = Some(std::fs::OpenOptions::new().write(true).open(pipe).unwrap());
            std::fs::write(place.checkout().join("go"), "").unwrap();
        });
        run(&env(), &job, &Cancel::default(), &mut |line| lines.push(line.to_owned())).unwrap()
    });
    assert_eq!((finished.end, lines), (End::Exited(0), vec!["hello".to_owned()]));
    drop(held);
}

#[test]
fn the_hold_is_locked_while_anything_lives_and_the_agent_gets_no_descriptor() {
    for sandbox in every() {
        let place = Place::new();
        let mut job = place.sh(
            "echo > ready; while [ ! -e go ]; do sleep 0.02; done; ls /proc/self/fd | wc -l; ls -l /proc/self/fd >&2",
        );
        job.sandbox = sandbox;
        wait_until_free(&job.hold, Duration::ZERO).unwrap();
        let (mut lines, mut listing) = (Vec::new(), String::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                until("the agent runs", || place.checkout().join("ready").exists());
                let error = wait_until_free(&job.hold, Duration::ZERO).unwrap_err();
                assert_eq!(error.kind(), Kind::Failed);
                std::fs::write(place.checkout().join("go"), "").unwrap();
                wait_until_free(&job.hold, GENEROUS).unwrap();
            });
            let finished = run(&env(), &job, &Cancel::default(), &mut |line| lines.push(line.trim().to_owned()));
            listing = finished.unwrap().stderr;
        });
        // Input, output, error, and the folder that `ls` reads.
        assert_eq!(lines, ["4"], "{sandbox:?} {listing}");
        wait_until_free(&job.hold, Duration::ZERO).unwrap();
    }
}

#[test]
fn a_second_agent_does_not_start_while_the_first_may_live() {
    let place = Place::new();
    let held = std::fs::File::create(place.hold()).unwrap();
    held.lock().unwrap();
    let error = fails(&place.sh("echo > never"));
    assert_eq!(error.kind(), Kind::Failed);
    assert!(error.to_string().contains("earlier agent still runs"), "{error}");
    assert!(!place.checkout().join("never").exists());
}

#[test]
fn an_agent_that_kills_our_processes_gains_nothing() {
    let place = Place::new();
    let sleep = unique_sleep();
    // The one that started it, then, in the second run, the supervisor above that one.
    for sandbox in every() {
        let mut job = place.sh(&format!("sleep {sleep} & kill -KILL $PPID; sleep {sleep}"));
        job.sandbox = sandbox;
        assert_eq!(go(&job).0.end, End::Signaled(9), "{sandbox:?}");
        nobody_sleeps(&sleep);
    }

    let mut job = place.sh(&format!("sleep {sleep} & kill -KILL {SUPERVISOR}; sleep {sleep}"));
    let error = fails(&job);
    assert_eq!(error.kind(), Kind::Failed);
    assert!(error.to_string().contains("supervisor"), "{error}");
    until("all are gone", || processes_with(&sleep).is_empty());
    assert!(place.report().is_none());
    // Where the sandbox keeps signals in, it cannot even try.
    for sandbox in every().into_iter().filter(|sandbox| *sandbox == Sandbox::Landlock) {
        job.sandbox = sandbox;
        job.args[1] = format!("kill -KILL {SUPERVISOR} || echo refused").into();
        assert_eq!(go(&job).1, ["refused"]);
    }
}

#[test]
fn a_reader_that_panics_takes_the_agent_with_it() {
    let place = Place::new();
    let sleep = unique_sleep();
    let job = place.sh(&format!("echo line; sleep {sleep}"));
    let caught = std::panic::catch_unwind(|| run(&env(), &job, &Cancel::default(), &mut |_| panic!("on purpose")));
    assert!(caught.is_err());
    until("all are gone", || processes_with(&sleep).is_empty());
    wait_until_free(&job.hold, GENEROUS).unwrap();
    assert!(place.report().is_none());
}

/// The supervisor's process number, in a script that the inner process of ours started.
const SUPERVISOR: &str = "$(sed 's/.*) . //' /proc/$PPID/stat | cut -d' ' -f1)";

#[test]
fn a_supervisor_that_is_told_to_end_ends_its_agent_politely() {
    let place = Place::new();
    let sleep = unique_sleep();
    let mut job = place.sh(&format!("trap 'echo bye; exit' INT; sleep {sleep} & kill -TERM {SUPERVISOR}; wait"));
    job.grace = GENEROUS;
    let (finished, lines) = go(&job);
    assert_eq!((finished.end, lines), (End::Signaled(15), vec!["bye".to_owned()]));
    nobody_sleeps(&sleep);
}

#[test]
fn a_supervisor_that_hangs_is_ended_with_its_agent() {
    let place = Place::new();
    let sleep = unique_sleep();
    let mut job = place.sh(&format!("(setsid sleep {sleep} &); kill -STOP {SUPERVISOR}; sleep {sleep}"));
    job.timeout = Duration::from_millis(200);
    let error = fails(&job);
    assert_eq!(error.kind(), Kind::Failed);
    assert!(error.to_string().contains("hung"), "{error}");
    nobody_sleeps(&sleep);
    assert!(place.report().is_none());
}

#[test]
fn a_flood_cannot_drown_the_end_of_a_supervisor() {
    // The one hangs; the other is dead, and the process that would clean up is stopped.
    for attack in ["kill -STOP {}", "kill -STOP $PPID; kill -KILL {}"] {
        let place = Place::new();
        let word = unique_sleep();
        let mut job = place.sh(&format!("(setsid yes {word} &); {}; yes {word}", attack.replace("{}", SUPERVISOR)));
        job.timeout = Duration::from_millis(200);
        assert_eq!(fails(&job).kind(), Kind::Failed);
        nobody_sleeps(&word);
    }
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_that_says_so() {
    let place = Place::new();
    let mut job = place.sh("rmdir ../out; echo > ../out");
    std::fs::create_dir(place.path().join("out")).unwrap();
    job.report = place.path().join("out/report.json");
    let error = fails(&job);
    assert!(error.to_string().contains("out"), "{error}");
    assert_eq!(error.kind(), Kind::Failed);
}

#[test]
fn no_time_limit_is_a_time_limit_too() {
    let place = Place::new();
    let mut job = place.sh("exit 3");
    (job.timeout, job.grace) = (Duration::MAX, Duration::MAX);
    assert_eq!(go(&job).0.end, End::Exited(3));
}
