//! Finding the pool: the flag, then `SKILLTRAIN_POOL`, then the run that the batch lies in, then `./pool`.

use std::path::{Path, PathBuf};

use crate::ground::env::Env;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;
use crate::pool::commit::commit_time;
use crate::pool::profile::{PROFILE_FILE, Profile};
use crate::pool::{init, seed};
use crate::run::event::{Event, Observer};
use crate::run::layout::{MEMORY, SEED, run_of};

/// The flag that names the pool.
#[derive(Debug, Clone, clap::Args)]
pub struct PoolArg {
    /// The pool's folder [default: the run that the batch or this folder lies in, then ./pool]
    #[arg(long, env = "SKILLTRAIN_POOL", value_name = "DIR")]
    pub pool: Option<PathBuf>,
}

impl PoolArg {
    /// The pool's folder for a command that has no batch: this folder's pool or run, or `./pool`.
    pub fn find_here(&self) -> Result<PathBuf> {
        self.find(None)
    }

    /// The pool's folder for a batch. A run whose pool does not exist yet gets it from its seed.
    pub fn find_for(&self, batch: &Path, env: &Env, observer: Observer<'_>) -> Result<PathBuf> {
        let batch = files::canonical(batch)?;
        let place = self.find(Some(&batch))?;
        if let Some(run) = run_of(&batch).filter(|run| run.join(MEMORY) == place && !place.exists()) {
            let source = run.join(SEED);
            let lock = std::fs::File::open(&source).at("open", &source)?;
            lock.lock().at("lock", &source)?;
            if place.exists() {
                return Ok(place);
            }
            // Another call was killed while it made the pool.
            files::sweep_named(run, init::DRAFT)?;
            seed::copy(&source, &place, "pool: begin from the run's seed", commit_time(env)?)?;
            let text = format!("made the pool {} from {}", place.display(), run.join(SEED).display());
            observer(&Event::Note { text });
        }
        Ok(place)
    }

    fn find(&self, batch: Option<&Path>) -> Result<PathBuf> {
        if let Some(pool) = &self.pool {
            return Ok(pool.clone());
        }
        let here = std::env::current_dir().map_err(|error| Error::failed(error).context("cannot tell this folder"))?;
        if let Some(run) = batch.and_then(run_of) {
            return Ok(run.join(MEMORY));
        }
        if batch.is_none() {
            let is_pool = |folder: &&Path| folder.join(PROFILE_FILE).is_file() && folder.join(".git").exists();
            if let Some(pool) = here.ancestors().find(is_pool) {
                return Ok(pool.to_owned());
            }
            if let Some(memory) = run_of(&here).map(|run| run.join(MEMORY)).filter(|memory| memory.is_dir()) {
                return Ok(memory);
            }
        }
        let pool = here.join("pool");
        if pool.is_dir() {
            return Ok(pool);
        }
        Err(Error::usage("no pool found: neither --pool nor SKILLTRAIN_POOL, no run around here, and no ./pool")
            .hint("make one with `skilltrain init pool`, or name one with --pool DIR"))
    }
}

/// The profile of a pool's folder as it stands on disk.
pub fn profile_on_disk(pool: &Path, env: &Env) -> Result<Profile> {
    let path = pool.join(PROFILE_FILE);
    let bytes = files::read_if_there(&path)?.ok_or_else(|| {
        Error::usage(format!("{} is no pool: it has no {PROFILE_FILE}", pool.display()))
            .hint("make a pool with `skilltrain init DIR`, or name one with --pool DIR")
    })?;
    let text = String::from_utf8(bytes).map_err(|_| Error::usage(format!("{} is not UTF-8", path.display())))?;
    Profile::parse(&text, &path)?.with_env(env)
}
