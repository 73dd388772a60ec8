//! What one turn adds up to, with memory bounded whatever a client sends.

use std::collections::VecDeque;
use std::path::Path;

use super::reads::Trace;
use crate::trajectory::{Event, Usage, clip};

/// Events kept from a turn's start, and from its end.
const FIRST: usize = 4_000;
const LAST: usize = 400;
/// Bytes of one text that are kept.
const TEXT: usize = 32 * 1024;
/// Bytes of a message that are kept whole.
const MESSAGE: usize = 1024 * 1024;
/// Bytes of all texts from the start that are kept.
const TEXTS: usize = 16 * 1024 * 1024;

/// Takes events as they come.
#[derive(Debug)]
pub(super) struct Gather {
    pub(super) session: Option<String>,
    /// As the client counted last.
    pub(super) usage: Usage,
    pub(super) message: String,
    pub(super) denied: Vec<String>,
    trace: Trace,
    first: Vec<Event>,
    last: VecDeque<Event>,
    omitted: u64,
    bytes: usize,
}

impl Gather {
    pub(super) fn new(workdir: &Path, keeps_folder: bool) -> Self {
        Gather {
            session: None,
            usage: Usage::default(),
            message: String::new(),
            denied: Vec::new(),
            trace: Trace::new(workdir, keeps_folder),
            first: Vec::new(),
            last: VecDeque::new(),
            omitted: 0,
            bytes: 0,
        }
    }

    /// Takes one event; gives it back as it is kept, its texts clipped.
    pub(super) fn take(&mut self, event: Event) -> Event {
        self.trace.note(&event);
        match &event {
            Event::Session { id } => self.session = Some(clip(id, 400)),
            Event::Said { text } if !text.trim().is_empty() => self.message = clip(text, MESSAGE),
            Event::Usage { usage } => self.usage = *usage,
            Event::Denied { tool, detail } if self.denied.len() < 100 => {
                self.denied.push(format!("{tool} {}", clip(detail, 400)).trim_end().to_owned());
            }
            _ => {}
        }
        let event = clipped(event);
        let size = size(&event);
        if self.first.len() < FIRST && self.bytes + size <= TEXTS {
            self.bytes += size;
            self.first.push(event.clone());
        } else {
            // Once something was left out, the rest goes to the end, so that the order stays.
            self.bytes = TEXTS;
            self.last.push_back(event.clone());
            if self.last.len() > LAST {
                self.last.pop_front();
                self.omitted += 1;
            }
        }
        event
    }

    /// The files that were read.
    pub(super) fn reads(&self) -> Vec<String> {
        self.trace.resolve()
    }

    /// The events that were kept, in order.
    pub(super) fn into_events(self) -> Vec<Event> {
        let mut events = self.first;
        if self.omitted > 0 {
            events.push(Event::Omitted { count: self.omitted });
        }
        events.extend(self.last);
        events
    }
}

fn clipped(event: Event) -> Event {
    let cut = |text: String| if text.len() > TEXT { clip(&text, TEXT) } else { text };
    match event {
        Event::Session { id } => Event::Session { id: cut(id) },
        Event::Said { text } => Event::Said { text: cut(text) },
        Event::Read { path } => Event::Read { path: cut(path) },
        Event::Wrote { path, created } => Event::Wrote { path: cut(path), created },
        Event::Ran { command, output, exit } => Event::Ran { command: cut(command), output: cut(output), exit },
        Event::Used { tool, detail } => Event::Used { tool: cut(tool), detail: cut(detail) },
        Event::Retrying { reason } => Event::Retrying { reason: cut(reason) },
        Event::Denied { tool, detail } => Event::Denied { tool: cut(tool), detail: cut(detail) },
        event @ (Event::Usage { .. } | Event::Omitted { .. }) => event,
    }
}

fn size(event: &Event) -> usize {
    64 + match event {
        Event::Session { id: text }
        | Event::Said { text }
        | Event::Read { path: text }
        | Event::Wrote { path: text, .. }
        | Event::Retrying { reason: text } => text.len(),
        Event::Ran { command: one, output: two, .. }
        | Event::Used { tool: one, detail: two }
        | Event::Denied { tool: one, detail: two } => one.len() + two.len(),
        Event::Usage { .. } | Event::Omitted { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_keeps_its_start_and_its_end() {
        let mut gather = Gather::new(Path::new("/nowhere"), false);
        for number in 0..10_000 {
            gather.take(Event::Said { text: format!("{number} {}", "x".repeat(100_000)) });
        }
        assert!(gather.message.starts_with("9999 "));
        let events = gather.into_events();
        assert!(events.len() < 1_000, "{}", events.len());
        assert!(events.iter().any(|event| matches!(event, Event::Omitted { count } if *count > 8_000)));
        assert!(matches!(events.last(), Some(Event::Said { text }) if text.starts_with("9999 ")));
    }
}
