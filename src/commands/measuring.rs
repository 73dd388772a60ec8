//! Arguments of commands that measure a pool on tasks, and what they come to.

use std::path::{Path, PathBuf};

use super::Call;
use super::args::SandboxArg;
use super::judge::EvaluatorArgs;
use super::locate::PoolArg;
use super::model::{Exchanges, ModelArgs};
use crate::evaluator::Evaluator;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::prompts::Prompts;
use crate::llm::{Role, Shared, Sums};
use crate::pool::repo::Pool;
use crate::run::layout::run_of;
use crate::stages::rollout::{Ending, Measured};
use crate::stages::split::{NAMES, Split};
use crate::target::{self, Mode, Target, View};
use crate::task::{self, Task};
use crate::train::measure::{Attempts, Measure};

/// Where answers are written down while a command runs; removed when all is on disk in its own place.
const JOURNAL: &str = "calls.jsonl";

/// What is measured, by whom, and how.
#[derive(Debug, clap::Args)]
pub struct MeasureArgs {
    /// A file of tasks, one JSON object a line
    #[arg(long, value_name = "FILE", required_unless_present = "split_dir", conflicts_with = "split_dir")]
    tasks: Option<PathBuf>,

    /// A folder with train.jsonl, selection.jsonl and test.jsonl
    #[arg(long, value_name = "DIR", requires = "split")]
    split_dir: Option<PathBuf>,

    /// Which of the splits
    #[arg(long, value_name = "NAME", value_parser = NAMES, requires = "split_dir")]
    split: Option<String>,

    #[command(flatten)]
    pool: PoolArg,

    /// The commit to score: a hash, a branch, a tag, HEAD~2 [default: the pool's branch]
    #[arg(long, value_name = "REV")]
    rev: Option<String>,

    /// Who attempts the tasks: openai:MODEL@URL, anthropic:MODEL, ollama:MODEL, claude[:MODEL],
    /// codex[:MODEL], command:PROGRAM
    #[arg(long, env = "SKILLTRAIN_TARGET", value_name = "NAME")]
    target: String,

    /// How a model sees the pool: every card in its prompt, or headers and a tool that opens cards
    #[arg(long, value_enum, default_value_t = ModeArg::Inline)]
    mode: ModeArg,

    #[command(flatten)]
    evaluator: EvaluatorArgs,

    /// What a model is told besides the pool
    #[arg(long, value_name = "TEXT", default_value = "")]
    system: String,

    /// Tasks attempted at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,

    /// The share of tasks that must get a score
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    min_coverage: f64,

    /// The folder for answers and scores [default: the pool's run, else `eval` beside the pool]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// A seed for servers that take one
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The sampling temperature
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,

    /// The most tokens of one answer
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    answer_tokens: u32,

    /// The most tokens of cards in a prompt
    #[arg(long, value_name = "N", default_value_t = 16_000)]
    pool_tokens: usize,

    /// The most questions to a model for one task, where it opens cards
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    max_turns: u16,

    #[command(flatten)]
    model: ModelArgs,

    /// What contains a program: the best that works here, one insisted on, or none
    #[arg(long, value_enum, default_value_t = SandboxArg::Auto)]
    sandbox: SandboxArg,

    /// A folder with prompts of your own, under the names of the built-in ones
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,

    /// Attempt and score everything anew
    #[arg(long)]
    fresh: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ModeArg {
    Inline,
    Routed,
}

/// All that a measurement needs, made from the arguments.
pub(super) struct Setting {
    /// The pool.
    pub(super) pool: Pool,
    /// The commit of it.
    pub(super) view: View,
    /// The tasks, each of which can be scored.
    pub(super) tasks: Vec<Task>,
    /// The folder for answers and scores.
    pub(super) out: PathBuf,
    /// What was attempted there.
    attempts: Attempts,
    /// What models are asked with.
    pub(super) shared: Shared,
    /// Who attempts.
    target: Box<dyn Target>,
    /// Who scores.
    evaluator: Box<dyn Evaluator>,
}

impl MeasureArgs {
    /// Reads and finds everything; nothing is attempted yet.
    ///
    /// # Errors
    /// Of kind `Usage` for arguments that make no sense, tasks that cannot be read or scored, a pool or a commit that is
    /// not there.
    pub(super) fn setting(&self, call: &Call<'_>) -> Result<Setting> {
        if !(0.0..=1.0).contains(&self.min_coverage) {
            return Err(Error::usage(format!("--min-coverage {} is not a share from 0 to 1", self.min_coverage)));
        }
        if self.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            return Err(Error::usage("--temperature is not a number from 0 to 2"));
        }
        let tasks = self.tasks()?;
        let pool = Pool::open(&self.pool.find_here()?)?;
        let commit = self.rev.as_deref().map_or_else(|| pool.tip(), |revision| pool.resolve(revision))?;
        let view = View::of(&pool, commit)?;
        let asks = target::needs_model(&self.target)?.is_some() || self.evaluator.needs_model()?.is_some();
        let out = self.out(pool.root())?;
        let prompts = Prompts::in_folder(self.prompts.as_deref())?;
        let shared = self.model.shared(call, prompts)?;
        let exchanges = asks.then(|| self.model.exchanges(&out.join(JOURNAL), self.fresh)).transpose()?;
        let evaluator = self.evaluator.find(&self.model, &shared, call, exchanges.as_ref())?;
        tasks.iter().try_for_each(|task| evaluator.check(task))?;
        let target = self.target(call, &shared, exchanges.as_ref())?;
        files::create_dir(&out)?;
        let attempts = Attempts::open(&out)?;
        Ok(Setting { pool, view, tasks, out, attempts, shared, target, evaluator })
    }

    /// The measurement: one attempt at each task, under the usual sample.
    ///
    /// # Errors
    /// Of kind `Usage` for a time that is none.
    pub(super) fn measure<'a>(&self, call: &'a Call<'_>, setting: &'a Setting) -> Result<Measure<'a>> {
        Ok(Measure {
            target: setting.target.as_ref(),
            evaluator: setting.evaluator.as_ref(),
            attempts: &setting.attempts,
            place: "",
            sample: 0,
            repeats: 1,
            workers: usize::from(self.workers),
            fresh: self.fresh,
            env: call.env,
            cancel: call.cancel,
            sandbox: self.sandbox.sandbox(),
            timeout: self.model.timeout()?,
            what: "rollouts",
            observer: call.observer,
        })
    }

    /// Who attempts, and how it sees the pool, in words.
    ///
    /// # Errors
    /// As [`target::needs_model`].
    pub(super) fn described(&self) -> Result<String> {
        let mode = self.mode_name()?.map(|mode| format!(", {mode}")).unwrap_or_default();
        Ok(format!("{}{mode}", self.target))
    }

    /// Who attempts, as the user named it.
    pub(super) fn target_name(&self) -> &str {
        &self.target
    }

    /// How a model sees the pool; none for a program.
    ///
    /// # Errors
    /// As [`target::needs_model`].
    pub(super) fn mode_name(&self) -> Result<Option<&'static str>> {
        Ok(target::needs_model(&self.target)?.map(|_| self.mode().name()))
    }

    /// The split's name, when there is one.
    pub(super) fn split_name(&self) -> Option<&str> {
        self.split.as_deref()
    }

    /// The share of tasks that must get a score.
    pub(super) fn min_coverage(&self) -> f64 {
        self.min_coverage
    }

    /// The tasks asked for.
    fn tasks(&self) -> Result<Vec<Task>> {
        if let Some(file) = &self.tasks {
            return task::load(file);
        }
        let folder = self.split_dir.as_deref().unwrap_or(Path::new("."));
        let split = Split::read(folder)?;
        split.check(false)?;
        let name = self.split.as_deref().unwrap_or_default();
        let tasks = split.all().into_iter().find(|(known, _)| *known == name).map(|(_, tasks)| tasks.to_vec());
        tasks.filter(|tasks| !tasks.is_empty()).ok_or_else(|| {
            Error::usage(format!("there is no task in {}", folder.join(format!("{name}.jsonl")).display()))
                .hint("name another split, or give it tasks")
        })
    }

    /// The folder for answers and scores, with links resolved.
    fn out(&self, pool: &Path) -> Result<PathBuf> {
        let above = pool.parent().unwrap_or(pool);
        let usual = || run_of(pool).map_or_else(|| above.join("eval"), Path::to_owned);
        let out = files::resolved(&self.out.clone().unwrap_or_else(usual))?;
        if out.starts_with(pool) {
            return Err(Error::usage(format!("--out {} lies in the pool", out.display()))
                .hint("choose a folder beside it: a pool holds cards only"));
        }
        Ok(out)
    }

    fn mode(&self) -> Mode {
        match self.mode {
            ModeArg::Inline => Mode::Inline,
            ModeArg::Routed => Mode::Routed,
        }
    }

    /// Who attempts.
    fn target(&self, call: &Call<'_>, shared: &Shared, exchanges: Option<&Exchanges>) -> Result<Box<dyn Target>> {
        let client = match (target::needs_model(&self.target)?, exchanges) {
            (Some(spec), Some(exchanges)) => {
                Some(self.model.target(&spec, shared.clone(), call, exchanges, self.workers)?)
            }
            _ => None,
        };
        let options = target::Options {
            client,
            mode: self.mode(),
            system: self.system.clone(),
            seed: self.seed,
            temperature: self.temperature,
            max_tokens: self.answer_tokens,
            budget: self.pool_tokens,
            max_turns: usize::from(self.max_turns),
            prompts: shared.prompts.clone(),
        };
        target::find(&self.target, options)
    }
}

impl Setting {
    /// The pool in words: its folder, the commit and how many cards it has.
    pub(super) fn described(&self) -> String {
        let View { commit, cards, .. } = &self.view;
        format!("{} at {}, {} cards", self.pool.root().display(), &commit[..9], cards.len())
    }

    /// Removes the journal when every answer lies in its own place. What an evaluator could not use must not be there
    /// when the same command asks it again.
    ///
    /// # Errors
    /// Of I/O.
    pub(super) fn close<'m>(&self, measured: impl IntoIterator<Item = &'m Measured>) -> Result<()> {
        self.attempts.flush()?;
        if !measured.into_iter().any(|measured| matches!(measured.end, Ending::Lost(_))) {
            files::remove(&self.out.join(JOURNAL))?;
        }
        Ok(())
    }

    /// What was paid on behalf of a role; none when it asked nobody.
    pub(super) fn paid(&self, role: Role) -> Option<Sums> {
        // A role has one model here and one stage.
        self.shared.ledger.lines().into_iter().find(|line| line.account.role == role).map(|line| line.sums)
    }
}
