//! Claude Code's events, one JSON object a line.

use std::collections::HashMap;

use serde_json::Value;

use super::LOGIN;
use crate::agent::outcome::{advice, last_words};
use crate::agent::{Conclusion, Outcome, Reader};
use crate::ground::process::{End, Finished};
use crate::trajectory::{Event, Usage};

/// At most so many tool calls wait for their results.
const WAITING: usize = 4_096;

/// One turn's output.
#[derive(Debug, Default)]
pub(super) struct Stream {
    waiting: HashMap<String, Call>,
    /// Usage of messages so far, for a turn that ends without a result.
    messages: HashMap<String, Usage>,
    session: bool,
    /// The last thing heard is that the provider is asked again.
    retrying: bool,
    result: Option<Ending>,
}

/// A tool call that waits for its result.
#[derive(Debug)]
struct Call {
    tool: String,
    input: Value,
}

/// The fields of the result event that decide.
#[derive(Debug)]
struct Ending {
    subtype: String,
    is_error: bool,
    status: Option<u64>,
    text: Option<String>,
}

impl Reader for Stream {
    fn line(&mut self, line: &str, emit: &mut dyn FnMut(Event)) {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            return;
        };
        self.retrying = false;
        match text(&value, "type") {
            "system" => self.system(&value, emit),
            "assistant" => self.assistant(&value, emit),
            "user" => self.user(&value, emit),
            "result" => self.result(&value, emit),
            _ => {}
        }
    }

    fn conclude(&mut self, finished: &Finished) -> Conclusion {
        if finished.end == End::TimedOut && self.retrying {
            return Outcome::Unreachable(format!("claude: {}", advice(None, "no answer in time", LOGIN))).into();
        }
        let Some(ending) = self.result.take() else {
            let usage = self.messages.drain().fold(Usage::default(), |mut sum, (_, usage)| {
                sum += usage;
                sum
            });
            let outcome = Outcome::of_end(finished).unwrap_or_else(|| match finished.end {
                End::Exited(0) => Outcome::Done,
                _ if self.session => Outcome::Failed(format!("claude ended early: {}", last_words(finished))),
                _ => Outcome::Unreachable(format!("claude could not start: {}", last_words(finished))),
            });
            return Conclusion { outcome, message: None, usage: Some(usage) };
        };
        if let Some(outcome) = Outcome::of_end(finished) {
            return outcome.into();
        }
        let words = ending.text.clone().unwrap_or_default();
        let outcome = match (ending.is_error, ending.subtype.as_str()) {
            (false, "success") => Outcome::Done,
            // The loop itself went well, its provider did not.
            (true, "success") => Outcome::Unreachable(format!("claude: {}", advice(ending.status, &words, LOGIN))),
            (_, subtype) => Outcome::Failed(format!("claude stopped: {subtype} {words}").trim_end().to_owned()),
        };
        let message = ending.text.filter(|_| outcome == Outcome::Done);
        Conclusion { outcome, message, usage: None }
    }
}

impl Stream {
    fn system(&mut self, value: &Value, emit: &mut dyn FnMut(Event)) {
        match text(value, "subtype") {
            "init" => {
                self.session = true;
                emit(Event::Session { id: text(value, "session_id").to_owned() });
            }
            "api_retry" => {
                self.retrying = true;
                let status = value["error_status"].as_u64().map_or(String::new(), |status| format!("{status} "));
                emit(Event::Retrying { reason: format!("{status}{}", text(value, "error")) });
            }
            _ => {}
        }
    }

    fn assistant(&mut self, value: &Value, emit: &mut dyn FnMut(Event)) {
        let message = &value["message"];
        if self.messages.len() < WAITING {
            self.messages.insert(text(message, "id").to_owned(), usage(&message["usage"]));
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match text(block, "type") {
                // What the client itself says in the model's place comes again in its result.
                "text" if text(message, "model") != "<synthetic>" => {
                    emit(Event::Said { text: text(block, "text").to_owned() });
                }
                "tool_use" if self.waiting.len() < WAITING => {
                    let call = Call { tool: text(block, "name").to_owned(), input: block["input"].clone() };
                    self.waiting.insert(text(block, "id").to_owned(), call);
                }
                _ => {}
            }
        }
    }

    fn user(&mut self, value: &Value, emit: &mut dyn FnMut(Event)) {
        for block in value["message"]["content"].as_array().into_iter().flatten() {
            match text(block, "type") {
                "tool_result" => {
                    if let Some(call) = self.waiting.remove(text(block, "tool_use_id")) {
                        emit(call.ended(block, &value["tool_use_result"]));
                    }
                }
                // A skill's text comes as a message of the client's own making.
                "text" if value["isSynthetic"] == true => {
                    let folder = text(block, "text").strip_prefix("Base directory for this skill: ");
                    if let Some(folder) = folder.and_then(|text| text.lines().next()) {
                        emit(Event::Read { path: format!("{}/SKILL.md", folder.trim_end_matches('/')) });
                    }
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, value: &Value, emit: &mut dyn FnMut(Event)) {
        for denial in value["permission_denials"].as_array().into_iter().flatten() {
            emit(Event::Denied { tool: text(denial, "tool_name").to_owned(), detail: detail(&denial["tool_input"]) });
        }
        let mut total = usage(&value["usage"]);
        // Helpers that the agent started are only in the sums by model.
        let by_model = value["modelUsage"].as_object().into_iter().flat_map(|models| models.values()).fold(
            Usage::default(),
            |mut sum, model| {
                sum +=
                    counts(model, ["inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens"]);
                sum
            },
        );
        if by_model.tokens() > total.tokens() {
            total = by_model;
        }
        total.cost_usd = value["total_cost_usd"].as_f64();
        emit(Event::Usage { usage: total });
        let mut errors = value["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        self.result = Some(Ending {
            subtype: text(value, "subtype").to_owned(),
            is_error: value["is_error"].as_bool().unwrap_or(false),
            status: value["api_error_status"].as_u64(),
            text: value["result"].as_str().map(str::to_owned).or_else(|| errors.next_back().map(str::to_owned)),
        });
    }
}

impl Call {
    /// What the call was, now that its result is there.
    fn ended(self, block: &Value, structured: &Value) -> Event {
        let failed = block["is_error"] == true;
        let path = ["file_path", "notebook_path"].iter().find_map(|key| self.input[*key].as_str());
        match (self.tool.as_str(), path) {
            ("Bash", _) => Event::Ran {
                command: text(&self.input, "command").to_owned(),
                output: words(&block["content"]),
                exit: Some(if failed { exit_code(&words(&block["content"])) } else { 0 }),
            },
            ("Read", Some(path)) if !failed => Event::Read { path: path.to_owned() },
            ("Write" | "Edit" | "MultiEdit" | "NotebookEdit", Some(path)) if !failed => {
                Event::Wrote { path: path.to_owned(), created: structured["type"] == "create" }
            }
            _ => {
                let failure = if failed { format!(": {}", words(&block["content"])) } else { String::new() };
                Event::Used { detail: format!("{}{failure}", detail(&self.input)), tool: self.tool }
            }
        }
    }
}

/// The code in "Exit code 2", with which a failed command's output begins; 1 when there is none.
fn exit_code(output: &str) -> i32 {
    let line = output.trim_start_matches("Error: ").lines().next().unwrap_or_default();
    line.strip_prefix("Exit code ").and_then(|code| code.trim().parse().ok()).filter(|code| *code != 0).unwrap_or(1)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The plain text of a result: a string, or a list of blocks.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| text(block, "text")).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// The one argument that says most, else all of them.
fn detail(input: &Value) -> String {
    let known = ["command", "file_path", "skill", "pattern", "url", "query", "description"];
    match known.iter().find_map(|key| input[*key].as_str()) {
        Some(text) => text.to_owned(),
        None if input.is_null() => String::new(),
        None => input.to_string(),
    }
}

fn usage(value: &Value) -> Usage {
    counts(value, ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"])
}

/// Token counts under the names of those sent fresh, written to a cache, read from a cache, and received.
fn counts(value: &Value, names: [&str; 4]) -> Usage {
    let [fresh, written, cached, output] = names.map(|name| value[name].as_u64().unwrap_or(0));
    Usage {
        input_tokens: fresh.saturating_add(written).saturating_add(cached),
        cached_tokens: cached,
        output_tokens: output,
        cost_usd: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::testing::{self, Told};

    fn tell(name: &str, end: End) -> Told {
        testing::tell(&mut Stream::default(), name, end)
    }

    #[test]
    fn a_good_run_is_told_in_order() {
        let told = tell("claude.jsonl", End::Exited(0));
        assert_eq!(told.outcome, Outcome::Done);
        assert_eq!(told.message.as_deref(), Some("I added one rule card and committed it."));
        assert_eq!(told.kinds(), ["Session", "Read", "Wrote", "Ran", "Said", "Usage"]);
        let usage = told.usage();
        assert_eq!((usage.input_tokens, usage.output_tokens), (77_397, 175));
        assert!(usage.cost_usd.unwrap() > 0.39);
    }

    #[test]
    fn a_refusal_by_permissions_is_told_though_all_went_well() {
        let told = tell("claude-permission-denied.jsonl", End::Exited(0));
        assert_eq!(told.outcome, Outcome::Done);
        let denied = told.events.iter().filter(|event| matches!(event, Event::Denied { .. })).count();
        assert_eq!(denied, 2);
        assert!(!told.kinds().contains(&"Wrote".to_owned()));
    }

    #[test]
    fn a_skill_that_was_launched_was_read() {
        let told = tell("claude-skill.jsonl", End::Exited(0));
        let path = "/scratch/pool1/.claude/skills/units/SKILL.md".to_owned();
        assert!(told.events.contains(&Event::Read { path }));
    }

    #[test]
    fn what_failed_decides_the_outcome() {
        let rows: &[(&str, End, &str)] = &[
            ("claude-http401.jsonl", End::Exited(1), "Unreachable(\"claude: Invalid API key"),
            ("claude-http500.jsonl", End::Exited(1), "Unreachable(\"claude: API Error: 500"),
            ("claude-http529.jsonl", End::Exited(1), "Unreachable(\"claude: API Error: 529"),
            ("claude-max-turns.jsonl", End::Exited(1), "Failed(\"claude stopped: error_max_turns"),
            ("claude-max-budget.jsonl", End::Exited(1), "Failed(\"claude stopped: error_max_budget_usd"),
            ("claude-sigint.jsonl", End::TimedOut, "TimedOut"),
            ("claude-sigint.jsonl", End::Cancelled, "Cancelled"),
            ("claude-sigterm.jsonl", End::Signaled(15), "Failed(\"ended by signal 15\")"),
            ("claude-sigterm.jsonl", End::Exited(1), "Failed(\"claude ended early: exit code 1"),
        ];
        for (name, end, wanted) in rows {
            let told = tell(name, end.clone());
            let outcome = format!("{:?}", told.outcome);
            assert!(outcome.starts_with(wanted), "{name}: {outcome}");
        }
    }

    #[test]
    fn without_a_result_the_messages_are_counted() {
        assert_eq!(tell("claude-sigterm.jsonl", End::Signaled(9)).counted.unwrap().input_tokens, 19_190);
    }

    #[test]
    fn a_client_that_says_nothing_did_not_start() {
        let finished = testing::finished(End::Exited(1), "cannot be used with root");
        let outcome = Stream::default().conclude(&finished).outcome;
        assert!(matches!(outcome, Outcome::Unreachable(why) if why.contains("with root")));
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_fail(lines in testing::damaged("claude.jsonl")) {
            testing::feed(&mut Stream::default(), &lines);
        }
    }
}
