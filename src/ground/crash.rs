//! Crash points: named places where a test can make the program die as by `kill -9`. Nothing in a release build.

/// The variable that names the point to die at, optionally with the how-manieth pass: `commit-made` or `marker:2`. The
/// path of a file, `/…`, gets the name of each point that is passed, a line each, and nobody dies.
pub const VARIABLE: &str = "SKILLTRAIN_CRASH_AT";

/// Dies here when a test asks for it.
#[cfg(debug_assertions)]
pub fn point(name: &str) {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static PASSES: AtomicUsize = AtomicUsize::new(0);
    #[expect(clippy::disallowed_methods, reason = "a test's knob that no release build has")]
    let Ok(wanted) = std::env::var(VARIABLE) else {
        return;
    };
    if wanted.starts_with('/') {
        return list(&wanted, name);
    }
    let (wanted, pass) =
        wanted.split_once(':').map_or((wanted.as_str(), 1), |(name, n)| (name, n.parse().unwrap_or(1)));
    if wanted == name && PASSES.fetch_add(1, Ordering::SeqCst) + 1 == pass {
        die();
    }
}

/// Dies here when a test asks for it; not in this build.
#[cfg(not(debug_assertions))]
pub fn point(_name: &str) {}

#[cfg(debug_assertions)]
fn list(path: &str, name: &str) {
    use std::io::Write as _;
    let file = std::fs::File::options().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{name}\n").as_bytes())).ok();
}

#[cfg(debug_assertions)]
fn die() -> ! {
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGKILL);
    std::process::abort()
}
