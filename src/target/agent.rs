//! An agent client as a target: the pool's cards are its skills, an empty folder of its own is where it works.
//!
//! It runs as its user would run it, headless, in a private home and in the sandbox. Which cards it opens is its own
//! choice, by their descriptions; general cards, which are always read, stand in its prompt.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::page::{Rules, rules_of};
use super::registry::Options;
use super::skills::Skills;
use super::{Attempt, Host, Outcome, Ready, Target, View};
use crate::agent::{self, Client, Turn, TurnEnd};
use crate::ground::digest;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::task::Task;
use crate::trajectory::{Event, Usage};

/// Raised when cards are put before a client in another way.
const LAYOUT: u32 = 1;
/// Time between the polite signal and the end: enough for a client to write its last record.
const GRACE: Duration = Duration::from_secs(8);

/// An agent client as a target.
struct Agent {
    client: Box<dyn Client>,
    /// Where in its working folder the client looks for skills.
    folder: &'static str,
    options: Options,
}

/// The target for a client; none when it takes no skills.
pub(super) fn make(client: Box<dyn Client>, options: Options) -> Option<Box<dyn Target>> {
    let folder = client.skills()?;
    Some(Box::new(Agent { client, folder, options }))
}

impl Target for Agent {
    fn name(&self) -> String {
        self.client.name()
    }

    /// The client with its model, and how the pool is put before it.
    fn identity(&self) -> String {
        json!({ "agent": LAYOUT, "client": self.client.name(), "skills": self.folder }).to_string()
    }

    fn told(&self, task: &Task) -> Value {
        json!({ "id": task.id, "input": task.input })
    }

    fn ready<'a>(&'a self, view: &'a View) -> Result<Box<dyn Ready + 'a>> {
        let general = rules_of(view.cards.iter().filter(|card| view.is_general(card)), self.options.budget);
        let skills = Skills::of(view);
        let prompt = self.prompt(&general, "")?;
        let seen = digest::of_parts([prompt.as_bytes(), skills.digest().as_bytes()]);
        Ok(Box::new(AtHand { agent: self, general, skills, seen }))
    }
}

/// A client with a pool at hand.
struct AtHand<'a> {
    agent: &'a Agent,
    general: Rules,
    skills: Skills,
    seen: String,
}

impl Ready for AtHand<'_> {
    /// The prompt without the task, with the general cards' rules in it, and each other card's name and description.
    fn sees(&self) -> String {
        self.seen.clone()
    }

    fn remarks(&self) -> Vec<String> {
        let (cut, budget) = (self.general.cut, self.agent.options.budget);
        let line = || format!("{cut} general cards are left out of the prompt: they do not fit into {budget} tokens");
        if cut > 0 { vec![line()] } else { Vec::new() }
    }

    fn attempt(&self, task: &Task, host: &Host<'_>) -> Result<Outcome> {
        let Agent { client, folder, .. } = self.agent;
        let turn = turn(host);
        lay_out(&turn.workdir, folder, &self.skills)?;
        files::write(&turn.prompt_file, self.agent.prompt(&self.general, &task.input)?)?;
        let end = agent::run_turn(host.env, client.as_ref(), &turn, host.cancel, &mut |_| {})?;
        match &end.outcome {
            agent::Outcome::Done => Ok(Outcome::Ended(self.attempted(end))),
            agent::Outcome::Cancelled => Err(Error::interrupted()),
            agent::Outcome::Unreachable(why) | agent::Outcome::Failed(why) => Ok(Outcome::Lost(why.clone())),
            agent::Outcome::TimedOut => {
                Ok(Outcome::Lost(format!("{} did not end within {:?}", client.name(), host.timeout)))
            }
        }
    }
}

impl Agent {
    fn prompt(&self, general: &Rules, task: &str) -> Result<String> {
        let slots = [
            ("system", self.options.system.trim().to_owned()),
            ("cards", general.text.clone()),
            ("task", task.to_owned()),
        ];
        self.options.prompts.render("target_agent", &slots)
    }
}

impl AtHand<'_> {
    /// What a turn that ended well came to; files of skills are named as the cards that they are.
    fn attempted(&self, end: TurnEnd) -> Attempt {
        let mut events: Vec<Event> = self.general.read.iter().map(|path| Event::Read { path: path.clone() }).collect();
        let mut tools = Vec::new();
        for event in end.events {
            tools.extend(tool(&event));
            events.push(self.named(event));
        }
        let opened = end.reads.iter().filter_map(|path| self.skills.card(path, self.agent.folder));
        let reads = self.general.read.iter().map(String::as_str).chain(opened).map(str::to_owned).collect();
        let fault = end.last_message.trim().is_empty().then(|| "The agent ended without an answer.".to_owned());
        let usage = (end.usage != Usage::default()).then_some(end.usage);
        Attempt { answer: end.last_message, fault, events, reads, tools, usage }
    }

    /// The event with a card's path in place of its skill's.
    fn named(&self, event: Event) -> Event {
        let Event::Read { path } = &event else { return event };
        let inside = path.find(self.agent.folder).map(|at| &path[at..]);
        match inside.and_then(|inside| self.skills.card(inside, self.agent.folder)) {
            Some(card) => Event::Read { path: card.to_owned() },
            None => event,
        }
    }
}

/// The tool behind an event, under one name for all clients; none when there is none.
fn tool(event: &Event) -> Option<String> {
    match event {
        Event::Read { .. } => Some("read".to_owned()),
        Event::Wrote { .. } => Some("write".to_owned()),
        Event::Ran { .. } => Some("shell".to_owned()),
        Event::Used { tool, .. } => Some(tool.clone()),
        _ => None,
    }
}

fn turn(host: &Host<'_>) -> Turn {
    let at = |name: &str| host.desk.join(name);
    Turn {
        workdir: at("work"),
        prompt_file: at("prompt.md"),
        events_file: at("events.jsonl"),
        stderr_file: at("stderr.txt"),
        skills: true,
        timeout: host.timeout,
        grace: GRACE.min(host.timeout),
        sandbox: host.sandbox,
        ..Turn::in_folder(host.desk)
    }
}

/// A working folder with the skills in it. It is a repository of its own, though an empty one: clients look for
/// skills upwards to the root of a repository, and the user's own must not be among them.
fn lay_out(workdir: &Path, folder: &str, skills: &Skills) -> Result<()> {
    files::remove_dir(workdir)?;
    for name in [".git/objects", ".git/refs"] {
        files::create_dir(&workdir.join(name))?;
    }
    files::write(&workdir.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    skills.write(&workdir.join(folder))
}
