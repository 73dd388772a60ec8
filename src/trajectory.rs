//! What an agent did and what it cost: typed events, usage, and their readable forms.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

pub use crate::ground::text::clip;
use crate::ground::text::first_line;

/// Tokens and money that calls took. Unknown is `None` or absent, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens sent, those read from a cache included.
    pub input_tokens: u64,
    /// Tokens sent that the provider read from its cache.
    pub cached_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// US dollars as the client itself states them: an estimate, not a bill.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Tokens sent and received.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// What was used since an earlier count of the same kind; a count that fell is taken as new.
    #[must_use]
    pub fn since(&self, earlier: &Usage) -> Usage {
        if self.input_tokens < earlier.input_tokens || self.output_tokens < earlier.output_tokens {
            return *self;
        }
        Usage {
            input_tokens: self.input_tokens - earlier.input_tokens,
            cached_tokens: self.cached_tokens.saturating_sub(earlier.cached_tokens),
            output_tokens: self.output_tokens - earlier.output_tokens,
            cost_usd: self.cost_usd.map(|cost| (cost - earlier.cost_usd.unwrap_or(0.0)).max(0.0)),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0.0) + two.unwrap_or(0.0)),
        };
    }
}

/// One thing that an agent did, whichever client it runs in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The client's session began; it can be resumed under this name.
    Session { id: String },
    /// The agent said something.
    Said { text: String },
    /// A file was read, as the client named it.
    Read { path: String },
    /// A file was written or edited; `created` when the client says that it was not there before.
    Wrote {
        path: String,
        #[serde(default)]
        created: bool,
    },
    /// A shell command ended. No `exit` means that the client does not tell the code.
    Ran { command: String, output: String, exit: Option<i32> },
    /// Any other tool was used.
    Used { tool: String, detail: String },
    /// The client asks its provider again after a failure.
    Retrying { reason: String },
    /// A tool call was refused by the client's own permissions.
    Denied { tool: String, detail: String },
    /// Tokens and money of the client's process so far (a client may state them only at its end).
    Usage { usage: Usage },
    /// So many events were left out here to keep the record bounded.
    Omitted { count: u64 },
}

impl Event {
    /// What a progress line says of it; none for what is no action.
    pub fn headline(&self) -> Option<String> {
        let line = |verb: &str, text: &str| Some(format!("{verb}{}", first_line(text, 72)));
        match self {
            Event::Said { text } if text.trim().is_empty() => None,
            Event::Said { text } => line("", text),
            Event::Read { path } => line("reads ", path),
            Event::Wrote { path, .. } => line("writes ", path),
            Event::Ran { command, .. } => line("runs ", command),
            Event::Used { tool, .. } => line("uses ", tool),
            Event::Retrying { reason } => line("asks its provider again: ", reason),
            Event::Denied { tool, .. } => line("was refused ", tool),
            Event::Session { .. } | Event::Usage { .. } | Event::Omitted { .. } => None,
        }
    }
}

/// The read trace's file: one path a line, in order.
pub fn read_trace(reads: &[String]) -> String {
    reads.iter().fold(String::new(), |mut text, path| {
        text.push_str(path);
        text.push('\n');
        text
    })
}

/// A transcript that a person or a model reads: what was said, read, written and run, in order.
///
/// Foreign text stands in fences longer than any it holds, so that it cannot pass for ours.
pub fn markdown(events: &[Event]) -> String {
    let mut out = String::from("# Trajectory\n");
    for event in events {
        // Writing to a string cannot fail.
        let _ = match event {
            Event::Session { id } => writeln!(out, "\nSession {}", inline(id)),
            Event::Said { text } if text.trim().is_empty() => Ok(()),
            Event::Said { text } => writeln!(out, "\n## Said\n\n{}", fenced(text)),
            Event::Read { path } => writeln!(out, "\n## Read {}", inline(path)),
            Event::Wrote { path, created: true } => writeln!(out, "\n## Created {}", inline(path)),
            Event::Wrote { path, created: false } => writeln!(out, "\n## Wrote {}", inline(path)),
            Event::Ran { command, output, exit } => ran(&mut out, command, output, *exit),
            Event::Used { tool, detail } => writeln!(out, "\n## Used {}\n\n{}", inline(tool), fenced(detail)),
            Event::Retrying { reason } => writeln!(out, "\nThe provider was asked again: {}", inline(reason)),
            Event::Denied { tool, detail } => {
                writeln!(out, "\n## Refused by the client: {}\n\n{}", inline(tool), fenced(detail))
            }
            Event::Usage { .. } => Ok(()),
            Event::Omitted { count } => writeln!(out, "\n{count} events are left out here."),
        };
    }
    if let Some(usage) = last_usage(events) {
        let cost = usage.cost_usd.map_or(String::new(), |cost| format!(", about ${cost:.4}"));
        let _ = writeln!(out, "\n{} tokens sent, {} received{cost}", usage.input_tokens, usage.output_tokens);
    }
    out
}

fn ran(out: &mut String, command: &str, output: &str, exit: Option<i32>) -> std::fmt::Result {
    let how = match exit {
        Some(0) | None => String::new(),
        Some(code) => format!(" (exit code {code})"),
    };
    writeln!(out, "\n## Ran{how}\n\n{}", fenced(command))?;
    if output.trim().is_empty() { Ok(()) } else { writeln!(out, "\n{}", fenced(output)) }
}

fn last_usage(events: &[Event]) -> Option<Usage> {
    events.iter().rev().find_map(|event| match event {
        Event::Usage { usage } => Some(*usage),
        _ => None,
    })
}

fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// Code on one line, whatever is in it.
fn inline(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = clip(&line, 400).replace('\n', " ");
    let fence = "`".repeat(longest_run(&line) + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_fences_what_others_wrote() {
        let text = markdown(&[
            Event::Session { id: "s".into() },
            Event::Read { path: "a`b.md".into() },
            Event::Ran { command: "false".into(), output: "```\n# not ours".into(), exit: Some(1) },
            Event::Said { text: "done".into() },
            Event::Usage {
                usage: Usage { input_tokens: 3, output_tokens: 2, cost_usd: Some(0.5), ..Usage::default() },
            },
        ]);
        insta::assert_snapshot!(text, @r"
        # Trajectory

        Session `s`

        ## Read ``a`b.md``

        ## Ran (exit code 1)

        ```text
        false
        ```

        ````text
        ```
        # not ours
        ````

        ## Said

        ```text
        done
        ```

        3 tokens sent, 2 received, about $0.5000
        ");
    }

    #[test]
    fn clipping_keeps_both_ends_and_whole_characters() {
        assert_eq!(clip("short", 10), "short");
        let text = clip(&"é".repeat(1000), 101);
        assert!(text.starts_with('é') && text.ends_with('é') && text.contains("bytes left out"));
        assert!(text.len() < 160);
    }

    #[test]
    fn usage_since_an_earlier_count() {
        let usage = |input, output| Usage { input_tokens: input, output_tokens: output, ..Usage::default() };
        assert_eq!(usage(10, 5).since(&usage(4, 2)), usage(6, 3));
        assert_eq!(usage(3, 5).since(&usage(4, 2)), usage(3, 5));
    }
}
