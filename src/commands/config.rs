//! `skilltrain config`: the schema of a configuration, a new one, and what one comes to.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Answer, Call};
use crate::config::{self, CONFIG_FILE, Config};
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::text::shell_quoted;

/// Write, check and show the configuration of a training
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  skilltrain config init
  skilltrain config show --set train.num_epochs=2
  skilltrain config schema > skilltrain.schema.json")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print the JSON schema of a configuration file
    #[command(after_help = "Example:\n  skilltrain config schema > skilltrain.schema.json")]
    Schema,
    Init(InitArgs),
    Show(ShowArgs),
}

/// Write a new configuration file: every key with its default and what it means
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  skilltrain config init && skilltrain config show --set data.tasks=tasks.jsonl")]
struct InitArgs {
    /// The file to write; it must not be there. `-` is the default
    #[arg(default_value = CONFIG_FILE, value_name = "FILE")]
    file: PathBuf,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Print the resolved configuration: every key with the value that it has
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  skilltrain config show --config skilltrain.toml --set train.num_epochs=2")]
struct ShowArgs {
    #[command(flatten)]
    config: ConfigArgs,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Which configuration, and what is other than in its file.
#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    /// The configuration file; relative paths in it and in --set are relative to its folder
    #[arg(long, value_name = "FILE", default_value = CONFIG_FILE)]
    config: PathBuf,

    /// Set a key: train.num_epochs=2. Text needs no quotes; nothing after the = takes an optional key away
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl ConfigArgs {
    /// The configuration.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load(&self) -> Result<Config> {
        Config::load(&self.config, &self.set)
    }
}

impl Args {
    /// Whether the result is wanted as JSON.
    pub fn json(&self) -> bool {
        match &self.command {
            Command::Schema => true,
            Command::Init(args) => args.json,
            Command::Show(args) => args.json,
        }
    }
}

/// Writes, or says what there is.
pub fn run(args: &Args, _call: &Call<'_>) -> Result<Answer> {
    match &args.command {
        Command::Schema => Ok(Answer::new("", config::schema())),
        Command::Init(args) => init(&args.file),
        Command::Show(args) => {
            let config = args.config.load()?;
            Ok(Answer::new(config.render(), config.to_json()))
        }
    }
}

fn init(file: &Path) -> Result<Answer> {
    let file = if file == Path::new("-") { Path::new(CONFIG_FILE) } else { file };
    if std::fs::symlink_metadata(file).is_ok() {
        return Err(Error::usage(format!("{} is there already, and is not overwritten", file.display()))
            .hint("name another file, or move this one away"));
    }
    files::write(file, config::template())?;
    let text = format!(
        "wrote {}\n\nnext: name the tasks and the target in it, then see what it comes to:\n  \
         skilltrain config show --config {}\n",
        file.display(),
        shell_quoted(file)
    );
    Ok(Answer::new(text, json!({ "file": file.to_string_lossy() })))
}
