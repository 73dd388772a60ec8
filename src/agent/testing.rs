//! Real event streams for tests, whole and damaged.

use std::time::Duration;

use proptest::prelude::*;

use super::{Outcome, Reader};
use crate::ground::process::{End, Finished};
use crate::trajectory::{Event, Usage};

/// What a reader made of a stream.
pub(super) struct Told {
    pub(super) events: Vec<Event>,
    pub(super) outcome: Outcome,
    pub(super) message: Option<String>,
    pub(super) counted: Option<Usage>,
}

impl Told {
    /// The events' kinds.
    pub(super) fn kinds(&self) -> Vec<String> {
        let name = |event| format!("{event:?}").split([' ', '{']).next().unwrap_or_default().to_owned();
        self.events.iter().map(name).collect()
    }

    pub(super) fn usage(&self) -> Usage {
        let usage = self.events.iter().rev().find_map(|event| match event {
            Event::Usage { usage } => Some(*usage),
            _ => None,
        });
        usage.unwrap()
    }
}

fn lines(name: &str) -> Vec<String> {
    let path = format!("{}/tests/fixtures/events/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

pub(super) fn feed(reader: &mut dyn Reader, lines: &[String]) -> Vec<Event> {
    let mut events = Vec::new();
    lines.iter().for_each(|line| reader.line(line, &mut |event| events.push(event)));
    events
}

/// Feeds a fixture to a reader and lets it conclude.
pub(super) fn tell(reader: &mut dyn Reader, name: &str, end: End) -> Told {
    let events = feed(reader, &lines(name));
    let end = reader.conclude(&finished(end, ""));
    Told { events, outcome: end.outcome, message: end.message, counted: end.usage }
}

pub(super) fn finished(end: End, stderr: &str) -> Finished {
    Finished {
        end,
        stderr: stderr.to_owned(),
        elapsed: Duration::ZERO,
        leftovers: 0,
        sandbox: "supervisor".to_owned(),
        warning: None,
    }
}

/// A fixture with a line torn, a line replaced, and a value of any line replaced by another kind.
pub(super) fn damaged(name: &'static str) -> impl Strategy<Value = Vec<String>> {
    let values =
        proptest::sample::select(vec!["null", "7", "-1e300", "[]", "{}", "\"x\"", "[[1]]", "18446744073709551615"]);
    (any::<prop::sample::Index>(), any::<prop::sample::Index>(), "\\PC{0,30}", values).prop_map(
        move |(which, place, text, value)| {
            let mut lines = lines(name);
            let at = which.index(lines.len());
            let line = lines[at].clone();
            let cut = line.floor_char_boundary(place.index(line.len()));
            let fields: Vec<usize> = line.match_indices("\":").map(|(at, _)| at + 2).collect();
            let field = fields[place.index(fields.len())];
            let rest = line[field..].find([',', '}']).map_or(line.len(), |end| field + end);
            lines.push(line[..cut].to_owned());
            lines.push(text);
            lines.push(format!("{}{value}{}", &line[..field], &line[rest..]));
            lines.swap(at, cut % (at + 1));
            lines
        },
    )
}
