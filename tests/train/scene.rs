//! A run in a sealed world: tasks on facts of a boat yard, and a model that answers from the cards in its prompt, so that
//! a score says what the pool says.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::server::{Seen, Server, Step, answer};
use crate::support::{Run, World};

/// The facts that the tasks ask for: id, attribute, thing, value.
pub(crate) const FACTS: [[&str; 4]; 6] = [
    ["pontoon", "mooring fee", "east pontoon", "12 crowns"],
    ["slipway", "crane limit", "old slipway", "9 tons"],
    ["lock", "radio channel", "lock keeper", "74"],
    ["chandlery", "closing time", "chandlery", "half past four"],
    ["shed", "door colour", "winter shed", "ochre"],
    ["loft", "head rigger", "sail loft", "Marit Aune"],
];

/// A shell function of an optimizer that writes the card of the yard with these facts.
pub(crate) const YARD: &str = "yard() { card 01_craft_elements/yard.md \"$1\"; commit; }\n";

/// A question for a fact, by the way in which it is put.
pub(crate) fn question(fact: &[&str; 4], way: usize) -> String {
    let [_, what, thing, _] = fact;
    match way {
        0 => format!("What is the {what} of the {thing}?"),
        1 => format!("Tell me the {what} of the {thing}."),
        2 => format!("Which {what} does the {thing} have?"),
        _ => format!("Do you know the {what} of the {thing}, number {way}?"),
    }
}

/// A task on a fact: right when the answer holds the value, half right when it names the attribute.
pub(crate) fn task(fact: &[&str; 4], way: usize) -> Value {
    let [id, what, thing, value] = fact;
    let advice = format!("State it: the {what} of the {thing} is {value}.");
    let check = |text: &str| json!({"contains": text, "ignore_case": true, "message": advice});
    let checks = [check(value), check(what)];
    json!({"id": format!("{id}-{way}"), "input": question(fact, way), "reference": value, "checks": checks})
}

/// Tasks as a file of them.
pub(crate) fn lines(tasks: impl IntoIterator<Item = Value>) -> String {
    tasks.into_iter().map(|task| task.to_string() + "\n").collect()
}

/// A card that states facts.
pub(crate) fn card(facts: &[[&str; 4]]) -> String {
    let rules: String =
        facts.iter().map(|[_, what, thing, value]| format!("- The {what} of the {thing} is {value}.\n")).collect();
    format!("---\ndescription: Use when a fact of the yard is asked for. Not for letters.\n---\n\n## Rules\n{rules}")
}

/// What a model answers that can read: the value that a card in its system text states, else that it does not know.
pub(crate) fn reads(seen: &Seen) -> Step {
    answers(&text(seen, "system").to_lowercase(), &text(seen, "user"))
}

/// What is answered to a question by somebody who knows this text, in lower case.
pub(crate) fn answers(known: &str, asked: &str) -> Step {
    let fact = FACTS.iter().find(|[_, what, thing, _]| asked.contains(what) && asked.contains(thing));
    let Some([_, what, thing, _]) = fact else { return answer("That is not about the yard.") };
    let mark = format!("the {what} of the {thing} is ");
    match known.split_once(&mark) {
        Some((_, rest)) => {
            let value = rest.split(['.', '\n', '\\']).next().unwrap();
            answer(&format!("The {what} of the {thing} is {value}."))
        }
        None => answer("I do not know."),
    }
}

/// The text of a request's first message of a role.
pub(crate) fn text(seen: &Seen, role: &str) -> String {
    let messages = seen.body["messages"].as_array().unwrap();
    let first = messages.iter().find(|message| message["role"] == role);
    first.and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned()
}

/// What a chat model is asked as the optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    Failures,
    Successes,
    Merge,
    Rank,
    Slow,
    Meta,
    Repair,
}

impl Asked {
    /// What a prompt asks; none for one that these tests do not expect.
    fn of(prompt: &str) -> Option<Asked> {
        let heads = [
            (
                "You improve a pool of skill cards. An agent attempted some tasks with the cards as they are now, and failed",
                Asked::Failures,
            ),
            ("You improve a pool of skill cards", Asked::Successes),
            ("Several readers", Asked::Merge),
            ("Below are edits that were proposed", Asked::Rank),
            ("A pool of skill cards was trained", Asked::Slow),
            ("You train a pool", Asked::Meta),
            ("Some edits of a pool", Asked::Repair),
        ];
        let flat = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
        heads.iter().find(|(head, _)| flat.starts_with(head)).map(|(_, asked)| *asked)
    }
}

/// A new card as an edit.
pub(crate) fn create(path: &str, rule: &str) -> Value {
    edit("create", path, "", &format!("## Rules\n- {rule}\n"))
}

/// An edit.
pub(crate) fn edit(op: &str, path: &str, target: &str, content: &str) -> Value {
    json!({"op": op, "card": path, "target": target, "content": content, "reason": "", "support": 2,
           "description": "Use when a fact of the yard is asked for. Not for letters."})
}

/// A configuration, its tasks and the model that attempts them.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) server: Server,
    keys: BTreeMap<String, String>,
}

impl Scene {
    /// Twelve tasks to train on, each fact asked for twice; six to select by; six to test with. One epoch of one step
    /// with the built-in optimizer.
    pub(crate) fn new() -> Scene {
        Scene::by(|seen, _| Some(reads(seen)))
    }

    /// The same with another model.
    pub(crate) fn by(play: impl Fn(&Seen, usize) -> Option<Step> + Send + Sync + 'static) -> Scene {
        let (world, server) = (World::in_memory(), Server::by(play));
        let ways = |ways: std::ops::Range<usize>| {
            lines(ways.flat_map(|way| FACTS.iter().map(move |fact| task(fact, way))).collect::<Vec<_>>())
        };
        world.write("tasks/train.jsonl", ways(0..2));
        world.write("tasks/selection.jsonl", ways(2..3));
        world.write("tasks/test.jsonl", ways(3..4));
        let target = format!("openai:m@{}", server.url());
        let scene = Scene { world, server, keys: BTreeMap::new() };
        scene
            .with("data.split_dir", "tasks")
            .with("target.name", target)
            .with("target.retries", 0)
            .with("train.out", "run")
            .with("train.num_epochs", 1)
            .with("train.batch_size", 12)
            .with("train.workers", 2)
            .with("train.sandbox", "off")
            .with("gradient.minibatch_size", 12)
            .with("optimizer.retries", 0)
            .with("optimizer.timeout", 60)
    }

    /// The same with a chat model as the optimizer that answers with edits: it is asked by its prompt and the number of
    /// its question, from 0, among those of the same kind.
    pub(crate) fn with_optimizer(play: impl Fn(Asked, &str, usize) -> Value + Send + Sync + 'static) -> Scene {
        let counts = Mutex::new(HashMap::new());
        let scene = Scene::by(move |seen, _| {
            if seen.body["model"] != "opt" {
                return Some(reads(seen));
            }
            let Some(asked) = Asked::of(seen.last()) else {
                eprintln!("{}", seen.body["messages"]);
                return None;
            };
            let number = {
                let mut counts = counts.lock().unwrap();
                let count = counts.entry(asked).or_insert(0);
                *count += 1;
                *count - 1
            };
            Some(answer(&play(asked, seen.last(), number).to_string()))
        });
        let name = format!("openai:opt@{}", scene.server.url());
        scene.with("optimizer.name", name).with("optimizer.strategy", "patch")
    }

    /// The prompts that the optimizer was asked with, of one kind.
    pub(crate) fn prompts(&self, kind: Asked) -> Vec<String> {
        let seen = self.server.seen();
        let prompts = seen.iter().filter(|seen| seen.body["model"] == "opt").map(|seen| seen.last().to_owned());
        prompts.filter(|prompt| Asked::of(prompt) == Some(kind)).collect()
    }

    /// The scene with a key set.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Scene {
        self.set(key, value);
        self
    }

    /// Sets a key.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.keys.insert(key.to_owned(), value.into().to_string());
    }

    /// Leaves a key out.
    pub(crate) fn unset(&mut self, key: &str) {
        self.keys.remove(key);
    }

    /// The scene with a shell script as the optimizer; see [`World::agent`].
    pub(crate) fn with_agent(self, script: &str) -> Scene {
        let agent = self.world.agent(script);
        self.with("optimizer.name", agent).with("optimizer.use_meta_skill", false)
    }

    /// The scene begun from a pool with one card that states these facts.
    pub(crate) fn with_cards(self, facts: &[[&str; 4]]) -> Scene {
        self.world.write("cards/01_craft_elements/yard.md", card(facts));
        let cards = self.world.path("cards").display().to_string();
        self.with("train.init_pool", cards)
    }

    /// The scene with the selection split's facts given so many times each.
    pub(crate) fn with_selection(self, ways: usize) -> Scene {
        let ways = (10..10 + ways).flat_map(|way| FACTS.iter().map(move |fact| task(fact, way)));
        self.world.write("tasks/selection.jsonl", lines(ways.collect::<Vec<_>>()));
        self
    }

    /// Runs `skilltrain train` with more arguments.
    pub(crate) fn train(&self, more: &[&str]) -> Run {
        self.config();
        self.world.skilltrain(&[&["train"], more].concat())
    }

    /// Writes the configuration.
    pub(crate) fn config(&self) {
        let mut text = String::new();
        for section in ["train", "gradient", "optimizer", "target", "evaluation", "data", "budget"] {
            text.push_str(&format!("[{section}]\n"));
            for (key, value) in &self.keys {
                if let Some(key) = key.strip_prefix(&format!("{section}.")) {
                    text.push_str(&format!("{key} = {value}\n"));
                }
            }
        }
        self.world.write("skilltrain.toml", text);
    }

    /// The result of a run that ends well.
    pub(crate) fn result(&self) -> Value {
        serde_json::from_str(&self.train(&["--json"]).ok()).unwrap()
    }

    /// Runs to a good end and shows the first step's record to a closure.
    pub(crate) fn check(&self, look: impl FnOnce(&Value)) {
        self.result();
        look(&self.step(0, 0));
    }

    /// A file of the run as JSON.
    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.world.read(format!("run/{name}"))).unwrap()
    }

    /// A step's record.
    pub(crate) fn step(&self, epoch: usize, step: usize) -> Value {
        self.json(&format!("epoch_{epoch:02}/step_{step:02}/step.json"))
    }

    /// What git says in the run's pool.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.world.git("run/memory", args)
    }

    /// The pool's cards of a commit, one after the other.
    pub(crate) fn cards(&self, commit: &str) -> String {
        let names = self.git(&["ls-tree", "-r", "--name-only", commit]);
        let cards = names.lines().filter(|name| name.ends_with(".md"));
        cards.map(|name| self.git(&["show", &format!("{commit}:{name}")]) + "\n").collect()
    }

    /// Requests so far.
    pub(crate) fn asked(&self) -> usize {
        self.server.seen().len()
    }
}
