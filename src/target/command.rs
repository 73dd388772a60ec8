//! Any program as a target: a task in as JSON, the pool as a folder, its answer out as plain text.

use std::ffi::OsString;

use serde_json::{Value, json};

use super::{Attempt, Host, Outcome, Ready, Target, View, without_answer};
use crate::agent::CommandLine;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::process::{self, End, Job};
use crate::ground::text::first_line;
use crate::task::Task;
use crate::trajectory::Event;

/// Bytes of standard output that are kept as the answer.
const OUTPUT: usize = 1 << 20;
/// The variable that names the pool's folder.
const POOL_DIR: &str = "SKILLTRAIN_POOL_DIR";
/// Variables that any program needs; no key of a provider is among them unless the user lists it.
const PASSED: [&str; 10] =
    ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "SHELL", "VIRTUAL_ENV", "PYTHONPATH", "NODE_PATH"];
/// Names of further variables that the user hands on, with commas between.
const PASS_ENV: &str = "SKILLTRAIN_PASS_ENV";

pub(super) fn make(program: Option<&str>) -> Result<Box<dyn Target>> {
    Ok(Box::new(Program(CommandLine::parse(program)?)))
}

/// The program is started with the pool's folder as its last argument, reads the task (without reference and checks, with
/// `sample` where this is not the first attempt at it) on standard input and writes its answer.
struct Program(CommandLine);

impl Target for Program {
    fn name(&self) -> String {
        format!("command:{}", self.0.text())
    }

    fn identity(&self) -> String {
        json!({ "command": 2, "line": self.0.text(), "files": self.0.digest() }).to_string()
    }

    fn told(&self, task: &Task) -> Value {
        without_answer(task)
    }

    fn wants_folder(&self) -> bool {
        true
    }

    fn ready<'a>(&'a self, view: &'a View) -> Result<Box<dyn Ready + 'a>> {
        Ok(Box::new(ProgramReady { program: self, view }))
    }
}

/// A program and the pool whose folder it is given.
struct ProgramReady<'a> {
    program: &'a Program,
    view: &'a View,
}

impl Ready for ProgramReady<'_> {
    /// Every file: nobody sees which of them a program opens.
    fn sees(&self) -> String {
        self.view.digest()
    }

    fn attempt(&self, task: &Task, host: &Host<'_>) -> Result<Outcome> {
        let job = self.program.job(task, host)?;
        let mut output = String::new();
        let mut cut = false;
        let finished = process::run(host.env, &job, host.cancel, &mut |line| {
            cut |= output.len() + line.len() >= OUTPUT;
            if !cut {
                output.push_str(line);
                output.push('\n');
            }
        })?;
        let last = finished.stderr.trim().lines().next_back().map(|line| format!(": {}", first_line(line, 300)));
        let last = last.unwrap_or_default();
        let lost = |why: String| Ok(Outcome::Lost(format!("{}: {why}", self.program.name())));
        match finished.end {
            End::Exited(0) if cut => lost(format!("it wrote more than {OUTPUT} bytes")),
            End::Exited(0) => {
                let events = vec![Event::Said { text: output.clone() }];
                Ok(Outcome::Ended(Attempt { answer: output, events, ..Attempt::default() }))
            }
            End::Exited(code) => lost(format!("exit code {code}{last}")),
            End::Signaled(signal) => lost(format!("ended by signal {signal}{last}")),
            End::TimedOut => lost(format!("it did not end within {:?}", host.timeout)),
            End::NotStarted(why) => Err(Error::unreachable(why).context(format!("the target {}", self.program.name()))),
            End::Cancelled => Err(Error::interrupted()),
        }
    }
}

impl Program {
    fn job(&self, task: &Task, host: &Host<'_>) -> Result<Job> {
        let program = self.0.find(host.env)?;
        let folder = host.desk.join("target");
        files::create_dir(&folder)?;
        let stdin = host.desk.join("task.json");
        let mut told = without_answer(task);
        if host.sample > 0 {
            told["sample"] = host.sample.into();
        }
        files::write_json(&stdin, &told)?;
        let listed = host.env.get(PASS_ENV).unwrap_or_default().split(',').map(str::trim);
        let names = PASSED.into_iter().chain(listed.filter(|name| !name.is_empty()));
        let variable = |name: &str| Some((OsString::from(name), host.env.get_os(name)?.to_owned()));
        let mut env: Vec<(OsString, OsString)> = names.filter_map(variable).collect();
        env.push(("TMPDIR".into(), folder.clone().into()));
        env.push((POOL_DIR.into(), host.folder.into()));
        let mut readable = self.0.readable(&program);
        readable.push(host.folder.to_owned());
        let mut args = self.0.args();
        args.push(host.folder.into());
        Ok(Job {
            program,
            args,
            env,
            cwd: folder.clone(),
            stdin: Some(stdin),
            writable: vec![folder],
            readable,
            sandbox: host.sandbox,
            timeout: host.timeout,
            grace: std::time::Duration::from_secs(2).min(host.timeout),
            report: host.desk.join("target_end.json"),
            hold: host.desk.join("target.lock"),
        })
    }
}
