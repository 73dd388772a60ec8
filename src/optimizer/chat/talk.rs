//! The talk of a backward pass: question, tool calls, results, until the model says that it is done.

use std::time::Instant;

use super::bench::{Bench, Result as Worked};
use crate::ground::error::Result;
use crate::llm::{Client, Failure, Message, Reply, Request, Used, Why};
use crate::optimizer::{BackwardTask, Host, Outcome, Turn};
use crate::trajectory::{Event, Usage};

/// Tool calls of one reply that are carried out.
const CALLS: usize = 24;

/// Replies without a tool call, or cut off, in a row before the talk is given up.
const IDLE: usize = 2;

/// The events that are kept for the transcript.
const EVENTS: usize = 2_000;

/// Talks until `finish`, at most `turns` questions.
///
/// # Errors
/// A provider that failed, a budget, a recording; a checkout that cannot be written to.
pub(super) fn converse(
    client: &Client,
    mut request: Request,
    turns: usize,
    task: &BackwardTask<'_>,
    host: &Host<'_>,
) -> Result<Turn> {
    let began = Instant::now();
    let (bench, usage) = (Bench::new(task)?, Some(Usage::default()));
    let mut talk = Talk { bench, client, host, events: Vec::new(), usage, idle: 0 };
    for turn in 1..=turns {
        if host.cancel.is_asked() {
            return talk.end(Outcome::Cancelled, task);
        }
        if began.elapsed() > host.timeout {
            return talk.end(Outcome::TimedOut, task);
        }
        let left = turns - turn;
        match client.chat(&request) {
            Ok(reply) => {
                if talk.take(&reply, &mut request, left)? {
                    return talk.end(Outcome::Done, task);
                }
            }
            Err(failure) => {
                if let Some(outcome) = talk.failed(failure, &mut request)? {
                    return talk.end(outcome, task);
                }
            }
        }
        if talk.idle > IDLE {
            let why = "it stopped calling tools and did not call `finish`: nothing was taken";
            return talk.end(Outcome::Failed(why.into()), task);
        }
    }
    talk.end(Outcome::Failed(format!("it did not call `finish` within {turns} turns: nothing was taken")), task)
}

struct Talk<'a> {
    bench: Bench<'a>,
    client: &'a Client,
    host: &'a Host<'a>,
    events: Vec<Event>,
    /// None once a call did not tell.
    usage: Option<Usage>,
    /// Replies in a row that did nothing.
    idle: usize,
}

impl Talk<'_> {
    /// Takes a reply down and does what it asks for; true when it is finished.
    fn take(&mut self, reply: &Reply, request: &mut Request, left: usize) -> Result<bool> {
        self.event(Event::Said { text: reply.text.clone() });
        self.count(reply.usage.as_ref());
        request.messages.push(reply.message());
        if reply.calls.is_empty() {
            self.nudge(request, "Nothing is taken before you call `finish`. Go on with a tool call, or finish now.");
            return Ok(false);
        }
        self.idle = 0;
        let mut finished = false;
        for (n, call) in reply.calls.iter().enumerate() {
            let worked = if finished {
                Worked::refused("it is finished already")
            } else if n >= CALLS {
                Worked::refused(format!("not more than {CALLS} calls at a time: this one was not made"))
            } else {
                self.bench.work(call)?
            };
            finished |= worked.is_finished;
            worked.event.into_iter().for_each(|event| self.event(event));
            let note = match left {
                0..=3 => format!("\n\n({left} more replies of yours are read: finish soon.)"),
                _ => String::new(),
            };
            let (id, text) = (call.id.clone(), format!("{}{note}", worked.text));
            request.messages.push(Message::Tool { id, text, failed: worked.failed });
        }
        Ok(finished)
    }

    /// A call that failed: the model's own fault is told to it or ends the talk, anything else is an error.
    fn failed(&mut self, failure: Failure, request: &mut Request) -> Result<Option<Outcome>> {
        if failure.usage.is_some() {
            self.count(failure.usage.as_deref());
        }
        match failure.why {
            Why::Cancelled => Ok(Some(Outcome::Cancelled)),
            _ if failure.is_providers() => Err(failure.into()),
            Why::CutOff => {
                let text = failure.text.unwrap_or_default();
                self.event(Event::Said { text: format!("{text} […]") });
                let say = "Your answer was cut off at its limit of tokens, and nothing of it was used. Say less at a time: one \
                           tool call with a shorter text.";
                self.nudge(request, say);
                Ok(None)
            }
            Why::Refused | Why::Malformed => Ok(Some(Outcome::Failed(failure.message))),
            _ => Err(failure.into()),
        }
    }

    fn count(&mut self, used: Option<&Used>) {
        self.usage = self.usage.zip(super::usage(self.client, used)).map(|(mut sum, more)| {
            sum += more;
            sum
        });
    }

    fn nudge(&mut self, request: &mut Request, text: &str) {
        self.idle += 1;
        request.messages.push(Message::user(text));
    }

    fn event(&mut self, event: Event) {
        (self.host.watch)(&event);
        if self.events.len() < EVENTS {
            self.events.push(event);
        }
    }

    fn end(mut self, outcome: Outcome, task: &BackwardTask<'_>) -> Result<Turn> {
        let usage = self.usage;
        usage.into_iter().for_each(|usage| self.event(Event::Usage { usage }));
        let lines = self.events.iter().filter_map(|event| serde_json::to_string(event).ok());
        crate::ground::files::write(&task.desk.events(), lines.map(|line| line + "\n").collect::<String>())?;
        Ok(super::turn(outcome, self.bench.report, self.bench.reads, usage, &self.events))
    }
}
