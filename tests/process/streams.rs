//! What goes in and what comes out.

use std::io::Write as _;

use skilltrain::ground::process::{End, capture};

use crate::support::{GENEROUS, Place, env, every, go, good};

#[test]
fn lines_stderr_and_exit_code_come_back() {
    for sandbox in every() {
        let place = Place::new();
        let mut job = place.sh("echo one; echo; echo oops >&2; printf 'no newline'; exit 7");
        job.sandbox = sandbox;
        let (finished, lines) = go(&job);
        assert_eq!(finished.end, End::Exited(7), "{sandbox:?}: {}", finished.stderr);
        assert_eq!(lines, ["one", "", "no newline"]);
        assert_eq!(finished.stderr, "oops\n");
        assert_eq!(finished.leftovers, 0);
        assert!(finished.warning.is_none());
        let report = place.report().unwrap();
        assert_eq!((report.end, report.sandbox), (End::Exited(7), finished.sandbox));
    }
}

#[test]
fn the_environment_is_exactly_the_one_given() {
    for sandbox in every() {
        let place = Place::new();
        let mut job = place.sh("exec env");
        job.program = "/usr/bin/env".into();
        job.args.clear();
        job.env = vec![("ONLY".into(), "this".into()), ("B".into(), "two words\tand more".into())];
        job.sandbox = sandbox;
        let mut lines = good(&job);
        lines.sort();
        let mark = lines.pop().unwrap();
        assert!(mark.starts_with("SKILLTRAIN_JOB="), "{sandbox:?} {mark}");
        assert_eq!(lines, ["B=two words\tand more", "ONLY=this"], "{sandbox:?}");
    }
}

#[test]
fn standard_input_is_the_file_given_or_empty() {
    for sandbox in every() {
        let place = Place::new();
        let mut job = place.sh("cat; echo end");
        job.sandbox = sandbox;
        assert_eq!(good(&job), ["end"]);
        let prompt = place.path().join("prompt");
        std::fs::write(&prompt, "line\n".repeat(300_000)).unwrap();
        job.stdin = Some(prompt);
        assert_eq!(good(&job).len(), 300_001);
        // Unread input is nobody's error.
        job.args[1] = "exit 3".into();
        assert_eq!(go(&job).0.end, End::Exited(3));
    }
}

#[test]
fn a_flood_on_both_pipes_is_read_to_its_end_in_little_memory() {
    let place = Place::new();
    let job = place.sh("head -c 50000000 /dev/zero | tr '\\0' 'e' >&2 & yes 0123456789 | head -c 220000000; wait");
    let before = peak_memory();
    let mut bytes = 0;
    let finished = skilltrain::ground::process::run(&env(), &job, &Default::default(), &mut |line| {
        bytes += line.len() + 1;
    })
    .unwrap();
    assert_eq!((finished.end, bytes), (End::Exited(0), 220_000_000));
    assert_eq!(finished.stderr.len(), 64 << 10);
    // Other tests of this process run meanwhile: the longest line here is 16 MiB.
    let grown = peak_memory() - before;
    assert!(grown < 150_000, "{grown} KiB");
}

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn one_giant_line_is_cut_and_the_next_is_whole() {
    let place = Place::new();
    let lines = good(&place.sh("head -c 33554432 /dev/zero | tr '\\0' x; echo; echo next"));
    assert_eq!((lines[0].len(), lines[1].as_str(), lines.len()), (16 << 20, "next", 2));
}

#[test]
fn bytes_that_are_not_text_are_replaced() {
    let place = Place::new();
    let job = place.sh("printf 'a\\377b\\n'; printf 'c\\376' >&2");
    let (finished, lines) = go(&job);
    assert_eq!((lines, finished.stderr.as_str()), (vec!["a\u{fffd}b".to_owned()], "c\u{fffd}"));
}

#[test]
fn long_arguments_and_names_that_are_not_text_reach_the_agent() {
    use std::os::unix::ffi::OsStringExt as _;
    let place = Place::new();
    let mut job = place.sh("echo ${#1} ${#2}; printf %s \"$3\" | od -An -tx1");
    let strange = std::ffi::OsString::from_vec(b"\xff $(id)\n".to_vec());
    job.args.extend(["sh".into(), "x".repeat(131_000).into(), "y".repeat(131_000).into(), strange]);
    assert_eq!(good(&job), ["131000 131000", " ff 20 24 28 69 64 29 0a"]);
}

#[test]
fn a_folder_with_a_strange_name_is_fine_in_every_sandbox() {
    for sandbox in every() {
        let place = Place::new();
        let folder = place.path().join("a b'\"$(touch x)\\");
        std::fs::create_dir(&folder).unwrap();
        let mut job = place.sh("pwd; echo yes > file");
        job.cwd = folder.clone();
        job.writable = vec![folder.clone()];
        job.sandbox = sandbox;
        assert_eq!(good(&job), [folder.display().to_string()], "{sandbox:?}");
        assert_eq!(std::fs::read_to_string(folder.join("file")).unwrap(), "yes\n");
    }
}

#[test]
fn capture_gives_both_outputs_and_says_why_a_program_did_not_start() {
    let (end, stdout, stderr) =
        capture(&env(), "/bin/sh".as_ref(), &["-c", "echo out; echo err >&2; exit 4"], GENEROUS).unwrap();
    assert_eq!((end, stdout.as_str(), stderr.as_str()), (End::Exited(4), "out\n", "err\n"));
    let (end, ..) = capture(&env(), "/no/such".as_ref(), &[], GENEROUS).unwrap();
    assert!(matches!(end, End::NotStarted(why) if why.contains("/no/such")));
}

#[test]
fn a_program_that_cannot_start_is_told_from_a_missing_folder() {
    for sandbox in every() {
        let place = Place::new();
        let mut job = place.sh("");
        job.sandbox = sandbox;
        let text = place.path().join("text");
        std::fs::File::create(&text).unwrap().write_all(b"hello").unwrap();
        let script = place.path().join("script");
        std::fs::File::create(&script).unwrap().write_all(b"#!/no/such/shell\n").unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let rows = [("/no/such/agent".into(), "No such file"), (text, "not executable"), (script, "interpreter")];
        for (program, word) in rows {
            job.program = program;
            let end = go(&job).0.end;
            assert!(matches!(&end, End::NotStarted(why) if why.contains(word)), "{sandbox:?} {end:?} {word}");
        }
        job.cwd = place.path().join("gone");
        let error = crate::support::fails(&job);
        assert!(error.to_string().contains("enter the folder") && error.to_string().contains("gone"), "{error}");
    }
}
