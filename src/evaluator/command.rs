//! Any program as an evaluator: task, answer and trajectory in as JSON, a score out as JSON.

use std::ffi::OsString;

use serde_json::{Value, json};

use super::registry::Options;
use super::{Attempt, Evaluator, Host};
use crate::agent::CommandLine;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::process::{self, End, Finished, Job};
use crate::ground::reply;
use crate::ground::text::first_line;
use crate::score::Score;
use crate::task::Task;

/// Bytes of standard output that are read.
const OUTPUT: usize = 1 << 20;
/// Variables that any program needs; no key of a provider is among them.
const PASSED: [&str; 10] =
    ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "SHELL", "VIRTUAL_ENV", "PYTHONPATH", "NODE_PATH"];

pub(super) fn make(program: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    options.none()?;
    Ok(Box::new(Program(CommandLine::parse(program)?)))
}

/// The program reads `{"task": {…}, "answer": "…", "trajectory": "…", "tools": […]}` on standard input and writes
/// `{"hard": 0.5, "soft": 0.5, "feedback": "…"}`; what it writes before that is passed over.
struct Program(CommandLine);

impl Evaluator for Program {
    fn name(&self) -> String {
        format!("command:{}", self.0.text())
    }

    /// Another program under the same name scores otherwise.
    fn identity(&self) -> String {
        format!("{} {}", self.name(), self.0.digest())
    }

    fn starts_programs(&self) -> bool {
        true
    }

    fn check(&self, _: &Task) -> Result<()> {
        Ok(())
    }

    fn evaluate(&self, attempt: &Attempt<'_>, host: &Host<'_>) -> Result<Score> {
        let job = self.job(attempt, host)?;
        let mut output = String::new();
        let finished = process::run(host.env, &job, host.cancel, &mut |line| {
            if output.len() + line.len() < OUTPUT {
                output.push_str(line);
                output.push('\n');
            }
        })?;
        let task = &attempt.task.id;
        let failed =
            |why: String| Error::failed(format!("the evaluator {} gave task `{task}` no score: {why}", self.name()));
        match &finished.end {
            End::Exited(0) => {}
            End::Exited(code) => return Err(failed(format!("exit code {code}{}", last_words(&finished)))),
            End::Signaled(signal) => return Err(failed(format!("ended by signal {signal}{}", last_words(&finished)))),
            End::TimedOut => return Err(failed(format!("it did not end within {:?}", host.timeout))),
            End::NotStarted(why) => {
                return Err(Error::unreachable(why).context(format!("the evaluator {}", self.name())));
            }
            End::Cancelled => return Err(Error::interrupted()),
        }
        let value: Value = reply::last_object(&output).map_err(|fault| {
            let shown = first_line(&output, 80);
            failed(format!("{fault}; it wrote {shown:?}"))
        })?;
        Score::read(&value).map_err(failed)
    }
}

impl Program {
    fn job(&self, attempt: &Attempt<'_>, host: &Host<'_>) -> Result<Job> {
        let program = self.0.find(host.env)?;
        let folder = host.desk.join("work");
        files::create_dir(&folder)?;
        let stdin = host.desk.join("attempt.json");
        let Attempt { task, answer, trajectory, tools } = attempt;
        let raw = Value::Object(task.raw.clone());
        let input = json!({"task": raw, "answer": answer, "trajectory": trajectory, "tools": tools});
        files::write_json(&stdin, &input)?;
        let variable = |name: &str| Some((OsString::from(name), host.env.get_os(name)?.to_owned()));
        let mut env: Vec<(OsString, OsString)> = PASSED.into_iter().filter_map(variable).collect();
        env.push(("TMPDIR".into(), folder.clone().into()));
        Ok(Job {
            readable: self.0.readable(&program),
            args: self.0.args(),
            program,
            env,
            cwd: folder.clone(),
            stdin: Some(stdin),
            writable: vec![folder],
            sandbox: host.sandbox,
            timeout: host.timeout,
            grace: std::time::Duration::from_secs(2).min(host.timeout),
            report: host.desk.join("evaluator_end.json"),
            hold: host.desk.join("evaluator.lock"),
        })
    }
}

/// ": the last line of standard error", when there is one.
fn last_words(finished: &Finished) -> String {
    let line = finished.stderr.trim().lines().next_back().unwrap_or_default();
    if line.is_empty() { String::new() } else { format!(": {}", first_line(line, 300)) }
}
