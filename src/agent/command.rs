//! Any program as an agent: the prompt on its standard input, the checkout as its folder, plain text out.

use std::path::PathBuf;

use super::credentials::Credentials;
use super::outcome::last_words;
use super::variables::{Variables, passed_by_user};
use super::{Client, CommandLine, Conclusion, Launch, Outcome, Reader, Turn};
use crate::ground::env::Env;
use crate::ground::error::Result;
use crate::ground::process::{End, Finished};
use crate::trajectory::Event;

/// Bytes of output that are kept as the agent's last message.
const OUTPUT: usize = 1024 * 1024;

pub(super) fn make(text: Option<&str>) -> Result<Box<dyn Client>> {
    Ok(Box::new(Program(CommandLine::parse(text)?)))
}

#[derive(Debug)]
struct Program(CommandLine);

impl Client for Program {
    fn name(&self) -> String {
        format!("command:{}", self.0.text())
    }

    fn find(&self, env: &Env) -> Result<PathBuf> {
        self.0.find(env)
    }

    fn launch(&self, env: &Env, turn: &Turn, _inside: bool) -> Result<Launch> {
        let program = self.find(env)?;
        let mut variables = Variables::of_turn(env, turn, "command");
        variables.pass(env, passed_by_user(env));
        let (readable, args) = (self.0.readable(&program), self.0.args());
        Ok(Launch { program, args, variables, readable, secrets: Vec::new() })
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Plain::default())
    }

    fn credentials(&self, _env: &Env) -> Credentials {
        Credentials::NotNeeded
    }
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
