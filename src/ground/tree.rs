//! The processes below this one: found, ended, and proven to be gone.
//!
//! A process group is not enough: agent clients start each shell command in a session of its own. On Linux a
//! process that adopts orphans sees every descendant sooner or later as its child, so that "no child left" is
//! the proof that nobody is. Elsewhere only the agent's process group can be ended.

use std::collections::BTreeSet;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

/// The variable that marks every process of a job, for the sweep after its supervisor was killed.
pub(super) const MARK: &str = "SKILLTRAIN_JOB";

/// News of the processes below this one.
#[derive(Debug)]
pub(super) enum News {
    /// A child ended, one of our own or an orphan that came to us.
    Ended(Pid, WaitStatus),
    /// No child is left, and none can come any more.
    NoneLeft,
}

/// Makes orphans of this process's descendants its children (Linux; elsewhere nothing happens).
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).ok();
}

/// Shows a name of its own in process lists, so that `killall -9 skilltrain` leaves the one alive who cleans up.
pub(super) fn take_name() {
    #[cfg(target_os = "linux")]
    rustix::thread::set_name(c"skill-keeper").ok();
}

/// Reaps every child on a thread of its own until none is left. Call it after the first child was started, and
/// never wait for a child elsewhere.
pub(super) fn watch(tell: impl Fn(News) + Send + 'static) {
    std::thread::spawn(move || {
        loop {
            match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) => tell(News::Ended(pid, status)),
                Ok(None) | Err(Errno::INTR) => {}
                Err(_) => return tell(News::NoneLeft),
            }
        }
    });
}

/// Kills every descendant that is alive now, once, and `group` as well; adds those it found to `seen`.
/// Call it again until [`News::NoneLeft`]: a process may fork while the others are killed.
pub(super) fn kill_all(group: Option<Pid>, seen: &mut BTreeSet<i32>) {
    if let Some(group) = group {
        rustix::process::kill_process_group(group, Signal::KILL).ok();
    }
    for pid in descendants(std::path::Path::new("/proc/thread-self/children").exists()) {
        if is_alive(pid) {
            seen.insert(pid);
            kill(pid);
        }
    }
}

/// Asks a process group to stop as Ctrl-C in a terminal would, a stopped one too.
pub(super) fn interrupt(group: Pid) {
    rustix::process::kill_process_group(group, Signal::INT).ok();
    rustix::process::kill_process_group(group, Signal::CONT).ok();
}

/// Kills every process marked with `token`, once, except this one; the number found.
pub(super) fn kill_marked(token: &str) -> usize {
    let mark = format!("{MARK}={token}").into_bytes();
    let me = std::process::id().cast_signed();
    let marked = |pid: &i32| {
        *pid != me
            && std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|all| all.split(|byte| *byte == 0).any(|variable| variable == mark))
    };
    let found: Vec<i32> = all_processes().into_iter().filter(marked).collect();
    found.iter().for_each(|pid| kill(*pid));
    found.len()
}

fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        rustix::process::kill_process(pid, Signal::KILL).ok();
    }
}

/// Every process below this one, parents first; `by_kernel` when the kernel lists children.
fn descendants(by_kernel: bool) -> Vec<i32> {
    let me = std::process::id().cast_signed();
    let parents = if by_kernel { Vec::new() } else { all_parents() };
    let mut found = vec![me];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        next += 1;
        if by_kernel {
            found.extend(children_of(parent));
        } else {
            found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        }
    }
    found.remove(0);
    found
}

/// A process's children as the kernel lists them, thread by thread: cheap, however many others there are.
fn children_of(pid: i32) -> Vec<i32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

/// Every process with its parent, for kernels that do not list children.
fn all_parents() -> Vec<(i32, i32)> {
    let parent = |pid: i32| stat(pid).and_then(|(_, parent)| Some((pid, parent.parse().ok()?)));
    all_processes().into_iter().filter_map(parent).collect()
}

fn all_processes() -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn is_alive(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state.as_str(), "Z" | "X"))
}

/// A process's state letter and its parent's number. The name before them may hold spaces and brackets.
fn stat(pid: i32) -> Option<(String, String)> {
    let bytes = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn both_ways_find_children_and_grandchildren() {
        let mut child = super::super::supervise::command("/bin/sh")
            .args(["-c", "sleep 100 & echo; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let first = child.id().cast_signed();
        for by_kernel in [false, true] {
            let found = descendants(by_kernel);
            assert!(found.contains(&first), "{by_kernel}");
            assert_eq!(children_of(first).len(), 1);
            assert!(found.contains(&children_of(first)[0]), "{by_kernel}");
        }
        children_of(first).into_iter().for_each(kill);
        child.wait().unwrap();
        assert!(!is_alive(first));
    }
}
