//! `skilltrain completions` and `skilltrain man`: for packagers.

use super::Answer;
use crate::ground::error::{Error, Result};

/// Print a shell's completion script
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  skilltrain completions bash > /etc/bash_completion.d/skilltrain")]
pub struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Print the manual page
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  skilltrain man | man -l -")]
pub struct ManArgs {}

/// The completion script of the command line `C`.
pub fn completions<C: clap::CommandFactory>(args: &CompletionsArgs) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "skilltrain", &mut script);
    Answer::new(String::from_utf8_lossy(&script), serde_json::Value::Null)
}

/// The manual page of the command line `C`.
pub fn man<C: clap::CommandFactory>(_args: &ManArgs) -> Result<Answer> {
    let mut page = Vec::new();
    clap_mangen::Man::new(C::command()).render(&mut page).map_err(Error::failed)?;
    Ok(Answer::new(String::from_utf8_lossy(&page), serde_json::Value::Null))
}
