//! An optimizer that reads: each operation is a question to a chat model or an agent client, and a reply that is read.
//!
//! What a reply holds is a proposal, never an instruction. What of it cannot be read is told to its author once; what is
//! then still wrong is reported, and nothing is made of it.

mod evidence;
mod operations;
mod read;
mod schema;

use super::Host;
use super::tasks::{Said, Seat};
use crate::agent::Session;
use crate::ground::error::Result;
use crate::llm::Schema;
use crate::trajectory::Usage;

/// Whoever is asked.
pub trait Asker {
    /// Gives a reply to a question, or what kept it from being one.
    ///
    /// # Errors
    /// Where no other question would fare better: kind `Unreachable`, `Interrupted`, what a budget or a recording
    /// refuses.
    fn ask(&self, question: &Question<'_>, host: &Host<'_>) -> Result<Heard>;
}

/// One question.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Where it is asked.
    pub seat: &'a Seat<'a>,
    /// The stage that it is counted under.
    pub stage: &'static str,
    /// The prompt, rendered.
    pub prompt: &'a str,
    /// The shape of the answer, for whom can be given one.
    pub schema: &'a Schema,
    /// For the repair turn: the reply that could not be used, and what is asked of it.
    pub again: Option<(&'a Heard, &'a str)>,
}

/// What came of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heard {
    /// The reply's text; of one that is cut off what came.
    pub text: String,
    /// Why it is no whole reply.
    pub fault: Option<Fault>,
    /// What an agent client says it took; none for a model whose calls an account counts.
    pub usage: Option<Usage>,
    /// The session that a repair turn can go on with.
    pub session: Option<Session>,
}

/// Why there is no whole reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It was cut off at its limit: a shorter one may come whole.
    CutOff,
    /// There is none, and asking again would not bring one: declined, out of time.
    Lost(String),
}

/// A reply, read.
#[derive(Debug)]
struct Reading<T> {
    /// What it says; the default when it could not be read at all.
    value: T,
    /// What could not be read, a line each.
    problems: Vec<String>,
    /// Whether it could be read as a whole, single items aside.
    is_read: bool,
}

/// An optimizer's operations by questions to `asker`.
#[derive(Debug, Clone, Copy)]
pub struct Analyst<'a, A: ?Sized> {
    asker: &'a A,
}

impl<'a, A: Asker + ?Sized> Analyst<'a, A> {
    /// Asks `asker`.
    pub fn new(asker: &'a A) -> Analyst<'a, A> {
        Analyst { asker }
    }

    /// Asks and reads. A reply with anything that cannot be read gets one turn to be put right; of the two the later one
    /// counts, unless it is the worse.
    fn say<T: Default>(
        &self,
        question: Question<'_>,
        host: &Host<'_>,
        read: &dyn Fn(&str) -> Reading<T>,
    ) -> Result<Said<T>> {
        let first = self.asker.ask(&question, host)?;
        let one = reading(&first, read);
        if one.problems.is_empty() || matches!(first.fault, Some(Fault::Lost(_))) {
            return Ok(Said { value: one.value, unread: one.problems, usage: first.usage });
        }
        let slots = [("problem", one.problems.join("; ")), ("schema", question.schema.schema.to_string())];
        let request = host.prompts.render("answer", &slots)?;
        let second = self.asker.ask(&Question { again: Some((&first, &request)), ..question }, host)?;
        let other = reading(&second, read);
        let is_better = other.is_read && other.problems.len() <= one.problems.len();
        let best = if is_better || !one.is_read { other } else { one };
        let usage = first.usage.zip(second.usage).map(|(mut sum, more)| {
            sum += more;
            sum
        });
        Ok(Said { value: best.value, unread: best.problems, usage })
    }
}

fn reading<T: Default>(heard: &Heard, read: &dyn Fn(&str) -> Reading<T>) -> Reading<T> {
    let unread = |problem: String| Reading { value: T::default(), problems: vec![problem], is_read: false };
    match &heard.fault {
        None => read(&heard.text),
        Some(Fault::CutOff) => unread("the reply was cut off at its limit of tokens".into()),
        Some(Fault::Lost(why)) => unread(why.clone()),
    }
}

#[cfg(test)]
mod tests;
