//! Codex's events, one JSON object a line.

use serde_json::Value;

use super::LOGIN;
use crate::agent::outcome::{advice, last_words};
use crate::agent::{Conclusion, Outcome, Reader};
use crate::ground::process::{End, Finished};
use crate::trajectory::{Event, Usage};

/// One turn's output.
#[derive(Debug, Default)]
pub(super) struct Stream {
    session: bool,
    /// The last thing heard is that the provider is asked again.
    retrying: bool,
    completed: bool,
    failure: Option<String>,
}

impl Reader for Stream {
    fn line(&mut self, line: &str, emit: &mut dyn FnMut(Event)) {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            return;
        };
        self.retrying = false;
        match text(&value, "type") {
            "thread.started" => {
                self.session = true;
                emit(Event::Session { id: text(&value, "thread_id").to_owned() });
            }
            "item.completed" => item(&value["item"], emit),
            "turn.completed" => {
                self.completed = true;
                emit(Event::Usage { usage: usage(&value["usage"]) });
            }
            "turn.failed" => self.failure = Some(text(&value["error"], "message").to_owned()),
            "error" => self.error(text(&value, "message"), emit),
            _ => {}
        }
    }

    fn conclude(&mut self, finished: &Finished) -> Conclusion {
        if finished.end == End::TimedOut && self.retrying {
            return Outcome::Unreachable(format!("codex: {}", advice(None, "waiting for network", LOGIN))).into();
        }
        if let Some(outcome) = Outcome::of_end(finished) {
            return outcome.into();
        }
        match (&self.failure, &finished.end) {
            (Some(words), _) if words.to_lowercase().contains("context window") => {
                Outcome::Failed(format!("codex stopped: {words}"))
            }
            (Some(words), _) if !self.completed => {
                Outcome::Unreachable(format!("codex: {}", advice(status(words), words, LOGIN)))
            }
            (_, End::Exited(0)) => Outcome::Done,
            _ if self.session => Outcome::Failed(format!("codex ended early: {}", last_words(finished))),
            _ => Outcome::Unreachable(format!("codex could not start: {}", last_words(finished))),
        }
        .into()
    }
}

impl Stream {
    fn error(&mut self, message: &str, emit: &mut dyn FnMut(Event)) {
        if message.starts_with("Reconnecting") {
            self.retrying = true;
            emit(Event::Retrying { reason: message.to_owned() });
        } else {
            self.failure = Some(message.to_owned());
        }
    }
}

fn item(item: &Value, emit: &mut dyn FnMut(Event)) {
    let done = text(item, "status") != "failed";
    match text(item, "type") {
        "agent_message" => emit(Event::Said { text: text(item, "text").to_owned() }),
        "command_execution" if text(item, "status") == "declined" => {
            emit(Event::Denied { tool: "shell".to_owned(), detail: text(item, "command").to_owned() });
        }
        "command_execution" => emit(Event::Ran {
            command: text(item, "command").to_owned(),
            output: text(item, "aggregated_output").to_owned(),
            exit: item["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()).or((!done).then_some(1)),
        }),
        "file_change" if done => {
            for change in item["changes"].as_array().into_iter().flatten() {
                let created = text(change, "kind") == "add";
                emit(Event::Wrote { path: text(change, "path").to_owned(), created });
            }
        }
        "mcp_tool_call" => emit(Event::Used {
            tool: format!("{} {}", text(item, "server"), text(item, "tool")),
            detail: item["arguments"].to_string(),
        }),
        "web_search" => emit(Event::Used { tool: "web_search".to_owned(), detail: text(item, "query").to_owned() }),
        // Warnings about the configuration come as items too; they end nothing.
        _ => {}
    }
}

/// The HTTP status in "unexpected status 401 Unauthorized: ...".
fn status(words: &str) -> Option<u64> {
    words.split_once("status ")?.1.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn usage(value: &Value) -> Usage {
    let count = |name: &str| value[name].as_u64().unwrap_or(0);
    Usage {
        input_tokens: count("input_tokens"),
        cached_tokens: count("cached_input_tokens"),
        output_tokens: count("output_tokens"),
        cost_usd: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::testing::{self, Told};

    fn tell(name: &str, code: i32) -> Told {
        testing::tell(&mut Stream::default(), name, End::Exited(code))
    }

    #[test]
    fn a_good_run_is_told_in_order() {
        let told = tell("codex.jsonl", 0);
        assert_eq!(told.outcome, Outcome::Done);
        assert_eq!(told.kinds(), ["Session", "Ran", "Ran", "Ran", "Said", "Usage"]);
        assert_eq!((told.usage().input_tokens, told.usage().output_tokens), (41_495, 123));
    }

    #[test]
    fn a_patch_is_a_write() {
        let told = tell("codex-apply-patch.jsonl", 0);
        let wrote = |path: &str, created| Event::Wrote { path: format!("/scratch/pool1/rules/{path}"), created };
        assert!(told.events.contains(&wrote("one.md", false)));
        assert!(told.events.contains(&wrote("three.md", true)));
    }

    #[test]
    fn what_failed_decides_the_outcome() {
        for (name, wanted) in [
            ("codex-http401.jsonl", "Unreachable(\"codex: unexpected status 401 Unauthorized"),
            ("codex-http500.jsonl", "Unreachable(\"codex: We"),
            ("codex-drop.jsonl", "Unreachable(\"codex: stream disconnected"),
        ] {
            let outcome = format!("{:?}", tell(name, 1).outcome);
            assert!(outcome.starts_with(wanted), "{name}: {outcome}");
        }
        assert!(format!("{:?}", tell("codex-http401.jsonl", 1).outcome).contains("codex login"));
    }

    #[test]
    fn waiting_for_the_network_is_not_the_agents_fault() {
        let mut stream = Stream::default();
        testing::feed(&mut stream, &[r#"{"type":"error","message":"Reconnecting... waiting for network"}"#.into()]);
        let outcome = stream.conclude(&testing::finished(End::TimedOut, "")).outcome;
        assert!(matches!(outcome, Outcome::Unreachable(why) if why.contains("check the network")));
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_fail(lines in testing::damaged("codex-apply-patch.jsonl")) {
            testing::feed(&mut Stream::default(), &lines);
        }
    }
}
