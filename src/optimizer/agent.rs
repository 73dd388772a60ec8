//! An agent client as optimizer: a prompt in, its own commits in the checkout out; or a question in, a reply out.

mod ask;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::analyst::Analyst;
use super::tasks::{AnalyseTask, MergeTask, MetaTask, RankTask, Ranking, RepairTask, RewriteTask, Said, SlowTask};
use super::{BackwardTask, Desk, Host, Optimizer, ReduceTask, Turn, prompt};
use crate::agent::{self, Client, Session, TurnEnd};
use crate::edit::Edit;
use crate::ground::env::Env;
use crate::ground::error::Result;
use crate::ground::files;
use crate::ground::process::Sandbox;
use crate::trajectory;

/// Time between the polite signal and the end: enough for a client to write its last record.
const GRACE: Duration = Duration::from_secs(8);

/// An agent client as optimizer.
#[derive(Debug)]
pub struct AgentOptimizer {
    client: Box<dyn Client>,
    model: Option<String>,
}

impl AgentOptimizer {
    /// `model` is used where the client's name gives none.
    pub fn new(client: Box<dyn Client>, model: Option<&str>) -> AgentOptimizer {
        AgentOptimizer { client, model: model.map(str::to_owned) }
    }

    fn run(&self, turn: agent::Turn, desk: &Desk, prompt: &str, host: &Host<'_>) -> Result<Turn> {
        self.start(turn, desk, prompt, host).map(finished)
    }

    fn start(&self, mut turn: agent::Turn, desk: &Desk, prompt: &str, host: &Host<'_>) -> Result<TurnEnd> {
        files::write(&desk.prompt(), prompt)?;
        turn.model = self.model.clone();
        turn.timeout = host.timeout;
        turn.sandbox = host.sandbox;
        let mut watch = |event: &trajectory::Event| (host.watch)(event);
        agent::run_turn(host.env, self.client.as_ref(), &turn, host.cancel, &mut watch)
    }

    /// A program promises to work in a checkout, not to write reports or to answer.
    fn is_program(&self) -> bool {
        kind(&self.client.name()) == "command"
    }

    fn analyst(&self) -> Result<Analyst<'_, AgentOptimizer>> {
        if self.is_program() { Err(self.needs_a_checkout()) } else { Ok(Analyst::new(self)) }
    }
}

impl Optimizer for AgentOptimizer {
    fn name(&self) -> String {
        let name = self.client.name();
        match &self.model {
            Some(model) if !name.contains(':') => format!("{name}:{model}"),
            _ => name,
        }
    }

    fn find(&self, env: &Env) -> Result<()> {
        self.client.find(env).map(drop)
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    fn starts_programs(&self) -> bool {
        true
    }

    fn reduce(&self, task: &ReduceTask<'_>, host: &Host<'_>) -> Result<Turn> {
        if self.is_program() {
            return Ok(Turn::done(super::extractive::reduce(task.evidence)));
        }
        // A reduce writes nothing: its working folder is an empty one of its own.
        let workdir = task.desk.private.join("work");
        files::create_dir(&workdir)?;
        let text = prompt::reduce(task, host.prompts)?;
        self.run(turn(&task.desk, &workdir, Vec::new(), None), &task.desk, &text, host)
    }

    fn backward(&self, task: &BackwardTask<'_>, host: &Host<'_>) -> Result<Turn> {
        let session = task.repair.as_ref().and_then(|repair| repair.session);
        let text = match &task.repair {
            None => prompt::backward(task, host.prompts)?,
            Some(repair) => prompt::repair(task, repair.problems, session.is_some(), host.prompts)?,
        };
        let mut readable: Vec<PathBuf> =
            task.samples.iter().flat_map(|sample| sample.files().map(Path::to_owned)).collect();
        readable.extend(task.checkout.borrowed_objects().iter().cloned());
        let turn = turn(&task.desk, task.checkout.folder(), readable, session.cloned());
        self.run(turn, &task.desk, &text, host)
    }

    fn recall(&self, desk: &Desk, checkout: &Path, resumed: Option<&Session>) -> Result<Option<Turn>> {
        let turn = turn(desk, checkout, Vec::new(), resumed.cloned());
        Ok(agent::recall_turn(self.client.as_ref(), &turn)?.map(finished))
    }

    fn returns_edits(&self) -> bool {
        !self.is_program()
    }

    fn analyse(&self, task: &AnalyseTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        self.analyst()?.analyse(task, host)
    }

    fn merge(&self, task: &MergeTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        self.analyst()?.merge(task, host)
    }

    fn rank(&self, task: &RankTask<'_>, host: &Host<'_>) -> Result<Said<Ranking>> {
        self.analyst()?.rank(task, host)
    }

    fn rewrite(&self, task: &RewriteTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        self.analyst()?.rewrite(task, host)
    }

    fn repair(&self, task: &RepairTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        self.analyst()?.repair(task, host)
    }

    fn slow_update(&self, task: &SlowTask<'_>, host: &Host<'_>) -> Result<Said<Option<String>>> {
        if self.is_program() { Ok(Said::free(None)) } else { Analyst::new(self).slow_update(task, host) }
    }

    fn meta_skill(&self, task: &MetaTask<'_>, host: &Host<'_>) -> Result<Said<Option<String>>> {
        if self.is_program() { Ok(Said::free(None)) } else { Analyst::new(self).meta_skill(task, host) }
    }
}

/// `command` of `command:./optimizer.sh`.
fn kind(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

fn turn(desk: &Desk, workdir: &Path, readable: Vec<PathBuf>, resume: Option<Session>) -> agent::Turn {
    agent::Turn {
        workdir: workdir.to_owned(),
        prompt_file: desk.prompt(),
        home: desk.private.join("home"),
        tmp: desk.private.join("tmp"),
        events_file: desk.events(),
        stderr_file: desk.stderr(),
        report: desk.end(),
        hold: desk.hold.clone(),
        readable,
        model: None,
        resume,
        skills: false,
        timeout: GRACE,
        grace: GRACE,
        sandbox: Sandbox::Auto,
    }
}

fn finished(end: TurnEnd) -> Turn {
    Turn {
        trajectory: trajectory::markdown(&end.events),
        outcome: end.outcome,
        session: end.session,
        usage: (end.usage != trajectory::Usage::default()).then_some(end.usage),
        reads: end.reads,
        report: end.last_message,
        sandbox: end.sandbox,
        warning: end.warning,
        denied: end.denied,
    }
}
