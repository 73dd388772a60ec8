//! A place to run jobs in, and ways to know that a process is gone.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use skilltrain::ground::env::Env;
use skilltrain::ground::error::Error;
use skilltrain::ground::process::{End, Finished, Job, Report, Sandbox, run};
use skilltrain::ground::sandbox;
use skilltrain::ground::signals::Cancel;

/// Longer than anything here takes on a busy machine.
pub(crate) const GENEROUS: Duration = Duration::from_secs(60);

/// A folder that is removed at the end, with the agent's checkout in it.
pub(crate) struct Place {
    path: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { path: folder.path().canonicalize().unwrap(), _folder: Some(folder) };
        std::fs::create_dir(place.checkout()).unwrap();
        place
    }

    /// Someone else's place.
    pub(crate) fn at(path: PathBuf) -> Self {
        Place { path, _folder: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn checkout(&self) -> PathBuf {
        self.path().join("checkout")
    }

    /// A shell script as a job in the checkout, which alone is writable.
    pub(crate) fn sh(&self, script: &str) -> Job {
        Job {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: self.checkout(),
            stdin: None,
            writable: vec![self.checkout()],
            readable: Vec::new(),
            sandbox: Sandbox::Off,
            timeout: GENEROUS,
            grace: Duration::from_millis(300),
            report: self.path().join("report.json"),
            hold: self.path().join("hold"),
        }
    }

    pub(crate) fn report(&self) -> Option<Report> {
        Report::read(&self.path().join("report.json")).unwrap()
    }

    pub(crate) fn hold(&self) -> PathBuf {
        self.path().join("hold")
    }

    /// The process number that a script wrote to this file of the checkout.
    pub(crate) fn pid(&self, name: &str) -> Option<i32> {
        std::fs::read_to_string(self.checkout().join(name)).ok()?.trim().parse().ok()
    }
}

pub(crate) fn env() -> Env {
    Env::of(env!("CARGO_BIN_EXE_skilltrain"), [("PATH", "/usr/sbin:/usr/bin:/bin"), ("HOME", "/root")])
}

/// Runs a job and gives its lines.
pub(crate) fn go(job: &Job) -> (Finished, Vec<String>) {
    let mut lines = Vec::new();
    let finished = run(&env(), job, &Cancel::default(), &mut |line| lines.push(line.to_owned())).unwrap();
    (finished, lines)
}

/// Runs a job that must end by itself with 0; its lines.
pub(crate) fn good(job: &Job) -> Vec<String> {
    let (finished, lines) = go(job);
    assert_eq!(finished.end, End::Exited(0), "{}\n{}", finished.stderr, lines.join("\n"));
    lines
}

pub(crate) fn fails(job: &Job) -> Error {
    run(&env(), job, &Cancel::default(), &mut |_| {}).unwrap_err()
}

/// Waits for a condition, generously.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + GENEROUS;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process runs; one that only waits to be reaped does not.
pub(crate) fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with(['Z', 'X']))
}

/// Processes whose command line holds `word`.
pub(crate) fn processes_with(word: &str) -> Vec<i32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word) && is_alive(*pid)
    })
    .collect()
}

/// A number that no other test's command line holds, as seconds for `sleep`.
pub(crate) fn unique_sleep() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("3{:07}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The sandboxes that limit writes and work here. Missing ones are said, and are a failure where
/// `SKILLTRAIN_REQUIRE_BWRAP` or `SKILLTRAIN_REQUIRE_LANDLOCK` is set.
pub(crate) fn limiting() -> Vec<Sandbox> {
    let all = [("bwrap", Sandbox::Bwrap), ("landlock", Sandbox::Landlock)];
    let survey = sandbox::survey(&env());
    all.into_iter()
        .filter(|(name, _)| {
            let status = survey.iter().find(|status| status.kind == *name).unwrap();
            let needed = std::env::var_os(format!("SKILLTRAIN_REQUIRE_{}", name.to_uppercase())).is_some();
            assert!(status.works || !needed, "{name} is required here but does not work: {}", status.detail);
            if !status.works {
                // Past the capture of passing tests' output: nobody shall take silence for a pass.
                #[expect(clippy::explicit_write, reason = "eprintln! is captured")]
                writeln!(std::io::stderr(), "NOT TESTED: {name} does not work here: {}", status.detail).unwrap();
            }
            status.works
        })
        .map(|(_, sandbox)| sandbox)
        .collect()
}

/// Every containment that works here.
pub(crate) fn every() -> Vec<Sandbox> {
    let mut all = limiting();
    all.push(Sandbox::Off);
    all
}

/// Asserts that no process of that `sleep` runs.
pub(crate) fn nobody_sleeps(sleep: &str) {
    assert_eq!(processes_with(sleep), Vec::<i32>::new(), "someone still sleeps {sleep}");
}
