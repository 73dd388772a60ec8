//! Any program as an agent: the prompt on its standard input, the checkout as its folder, plain text out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::credentials::Credentials;
use super::outcome::last_words;
use super::variables::{Variables, passed_by_user};
use super::{Client, Conclusion, Launch, Outcome, Reader, Turn, shell};
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::process::{End, Finished};
use crate::trajectory::Event;

/// Bytes of output that are kept as the agent's last message.
const OUTPUT: usize = 1024 * 1024;

pub(super) fn make(text: Option<&str>) -> Result<Box<dyn Client>> {
    let text = text.ok_or_else(|| {
        Error::usage("which program?").hint("name it behind a colon: command:./my-agent or command:\"my-agent --flag\"")
    })?;
    // A path with spaces in it is a program too.
    if Path::new(text).is_file() {
        return Ok(Box::new(Program { text: text.to_owned(), words: vec![text.to_owned()] }));
    }
    let words = shell::split(text).ok_or_else(|| {
        Error::usage(format!("{text:?} is not a program and its arguments"))
            .hint("no shell is started: put pipes, variables and redirections into a script of your own")
    })?;
    Ok(Box::new(Program { text: text.to_owned(), words }))
}

#[derive(Debug)]
struct Program {
    text: String,
    /// The program and its arguments; never empty.
    words: Vec<String>,
}

impl Client for Program {
    fn name(&self) -> String {
        format!("command:{}", self.text)
    }

    fn find(&self, env: &Env) -> Result<PathBuf> {
        let name = self.words.first().map(String::as_str).unwrap_or_default();
        env.which(name).ok_or_else(|| {
            let place = if name.contains('/') { "there is no program at" } else { "not on PATH:" };
            Error::unreachable(format!("{place} {name}")).hint("check the path, and that the file is executable")
        })
    }

    fn launch(&self, env: &Env, turn: &Turn, _inside: bool) -> Result<Launch> {
        let program = self.find(env)?;
        let mut variables = Variables::of_turn(env, turn, "command");
        variables.pass(env, passed_by_user(env));
        let arguments = self.words.iter().skip(1);
        // Files among the arguments, a script for an interpreter for instance, may lie where a sandbox hides them.
        let files = arguments.clone().filter_map(|word| std::path::absolute(word).ok()).filter(|path| path.is_file());
        let mut readable = super::program_folders(&program);
        readable.extend(files);
        let args = arguments.map(|word| absolute(word)).collect();
        Ok(Launch { program, args, variables, readable, secrets: Vec::new() })
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Plain::default())
    }

    fn credentials(&self, _env: &Env) -> Credentials {
        Credentials::NotNeeded
    }
}

/// An argument with a slash that names a file here, made absolute: the program starts in another folder.
fn absolute(word: &str) -> OsString {
    let path = Path::new(word);
    if word.contains('/') && path.is_relative() && path.exists() {
        return std::path::absolute(path).map_or_else(|_| word.into(), PathBuf::into_os_string);
    }
    word.into()
}

/// Plain text, line by line.
#[derive(Debug, Default)]
struct Plain {
    output: String,
}

impl Reader for Plain {
    fn line(&mut self, line: &str, emit: &mut dyn FnMut(Event)) {
        if self.output.len() + line.len() < OUTPUT {
            self.output.push_str(line);
            self.output.push('\n');
        }
        emit(Event::Said { text: line.to_owned() });
    }

    fn conclude(&mut self, finished: &Finished) -> Conclusion {
        let outcome = Outcome::of_end(finished).unwrap_or_else(|| match finished.end {
            End::Exited(0) => Outcome::Done,
            _ => Outcome::Failed(last_words(finished)),
        });
        Conclusion { outcome, message: Some(std::mem::take(&mut self.output)), usage: None }
    }
}
