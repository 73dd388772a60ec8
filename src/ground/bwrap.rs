//! The arguments of bubblewrap: everything read-only, a few folders writable, and nobody else's sockets.
//!
//! Temporary folders are private, but whatever of them a job needs is put back read-only. `/run` is empty but for
//! what name look-up needs, since through a socket there (Docker, systemd, the session bus) an agent could have
//! others write for it. The network stays: agents call their models. Not covered: services on loopback ports,
//! and sockets in places that nobody lists here.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use super::env::Env;
use super::process::Job;

/// Folders whose content is hidden, of which a needed top-level entry comes back whole.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Folders whose content is hidden, of which only exactly what is needed comes back.
const RUNTIME: [&str; 2] = ["/run", "/var/run"];
/// What name look-up and some distributions' programs need of them.
const RUNTIME_KEPT: [&str; 8] = [
    "/etc/resolv.conf",
    "/run/systemd/resolve",
    "/run/nscd",
    "/var/run/nscd",
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/run/wrappers",
];
/// Links followed when looking for the places that a path leads through.
const HOPS: usize = 16;

/// What one sandbox shows.
#[derive(Debug, Default)]
pub(super) struct View {
    cwd: PathBuf,
    writable: Vec<PathBuf>,
    needed: Vec<PathBuf>,
    /// Sockets outside the hidden folders by which an agent could have others act for it.
    masked: Vec<PathBuf>,
}

impl View {
    /// The view of a job; `cwd` and `writable` have their links resolved.
    pub(super) fn of_job(env: &Env, job: &Job, cwd: &Path, writable: &[PathBuf]) -> Self {
        let mut view = View::of_probe(env);
        cwd.clone_into(&mut view.cwd);
        writable.clone_into(&mut view.writable);
        view.needed.extend([job.program.clone(), job.cwd.clone(), cwd.to_owned()]);
        view.needed.extend(job.stdin.iter().chain(&job.readable).chain(&job.writable).chain(writable).cloned());
        let path = job.env.iter().find(|(name, _)| name == "PATH");
        view.needed.extend(path.iter().flat_map(|(_, value)| std::env::split_paths(value)));
        view
    }

    /// The view of a trial: only our own program is needed.
    pub(super) fn of_probe(env: &Env) -> Self {
        let mut needed = vec![env.program().to_owned()];
        needed.extend(RUNTIME_KEPT.map(PathBuf::from));
        View { cwd: "/".into(), writable: Vec::new(), needed, masked: sockets(env) }
    }
}

/// The program and its arguments, up to where the command begins.
pub(super) fn wrapper(bwrap: &Path, view: &View) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![bwrap.into()];
    words.extend(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"].map(Into::into));
    words.extend(["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"].map(Into::into));
    // Root would keep the right to make it all writable again.
    words.extend(["--cap-drop", "ALL"].map(Into::into));
    let needed = with_hops(&view.needed);
    let (hidden, shown) = hide(&needed);
    for folder in hidden {
        words.extend(["--tmpfs".into(), folder.into()]);
    }
    let mut bind = |how: &str, path: &Path| words.extend([how.into(), path.into(), path.into()]);
    shown.iter().for_each(|path| bind("--ro-bind", path));
    let mut writable = view.writable.clone();
    writable.sort();
    writable.iter().for_each(|path| bind("--bind", path));
    for socket in &view.masked {
        words.extend(["--ro-bind".into(), "/dev/null".into(), socket.into()]);
    }
    words.extend(["--chdir".into(), view.cwd.clone().into(), "--".into()]);
    words
}

/// Which folders are hidden, and what of them comes back, outer before inner.
fn hide(needed: &BTreeSet<PathBuf>) -> (Vec<PathBuf>, BTreeSet<PathBuf>) {
    let real = |paths: &[&str]| -> BTreeSet<PathBuf> {
        paths.iter().filter_map(|path| std::fs::canonicalize(path).ok()).filter(|path| path.is_dir()).collect()
    };
    let (temporary, runtime) = (real(&TEMPORARY), real(&RUNTIME));
    let mut hidden: Vec<PathBuf> = temporary.union(&runtime).cloned().collect();
    // A job that works in such a folder itself sees it as it is.
    hidden.retain(|folder| folder != Path::new("/") && !needed.contains(folder));
    let mut shown = BTreeSet::new();
    for path in needed {
        let Some(folder) = hidden.iter().find(|folder| path.starts_with(folder)) else { continue };
        let below = path.strip_prefix(folder).unwrap_or(path);
        let back = match below.components().next() {
            Some(Component::Normal(first)) if temporary.contains(folder) => folder.join(first),
            _ => path.clone(),
        };
        if back.exists() {
            shown.insert(back);
        }
    }
    (hidden, shown)
}

/// Each path, every place that it leads through by links, and where it ends.
fn with_hops(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for path in paths.iter().filter(|path| path.is_absolute()) {
        all.extend(std::fs::canonicalize(path));
        let mut at = path.clone();
        for _ in 0..HOPS {
            // Its folder's links are resolved, so that it is seen where it will be looked up.
            if let (Some(parent), Some(name)) = (at.parent().and_then(|dir| dir.canonicalize().ok()), at.file_name()) {
                all.insert(parent.join(name));
            }
            match std::fs::read_link(&at) {
                Ok(to) => at = at.parent().map(|parent| parent.join(&to)).unwrap_or(to),
                Err(_) => break,
            }
        }
    }
    all
}

/// Sockets of the user's outside the hidden folders that act for whoever connects.
fn sockets(env: &Env) -> Vec<PathBuf> {
    let home = env.get_os("HOME").map(PathBuf::from).unwrap_or_default();
    let below_home = [".docker/run/docker.sock", ".docker/desktop/docker.sock", ".gnupg/S.gpg-agent"];
    let mut places: Vec<PathBuf> = below_home.iter().map(|path| home.join(path)).collect();
    places.extend(env.get_os("SSH_AUTH_SOCK").map(PathBuf::from));
    places.extend(env.get("DOCKER_HOST").and_then(|host| host.strip_prefix("unix://")).map(PathBuf::from));
    let hidden = |path: &Path| TEMPORARY.iter().chain(&RUNTIME).any(|folder| path.starts_with(folder));
    places
        .into_iter()
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| !hidden(path))
        .filter(|path| path.metadata().is_ok_and(|data| data.file_type().is_socket()))
        .collect()
}
