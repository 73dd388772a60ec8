//! The tools of a backward pass: what a model may call, and how their input is read.

use serde_json::{Value, json};

use crate::llm::{Tool, ToolCall};

/// The most bytes of a path that can be a card's.
const LONGEST_PATH: usize = 1 << 10;

/// A call, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    ListCards { folder: Option<String> },
    ReadCard { path: String },
    ReadEvidence { work: usize, part: Part, offset: usize },
    WriteCard { path: String, text: String },
    ReplaceInCard { path: String, old: String, new: String },
    DeleteCard { path: String },
    History,
    Finish { message: String, report: String },
}

/// A part of a work's evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    LossReport,
    Transcript,
}

/// All tools.
pub(super) fn all() -> Vec<Tool> {
    let path = || json!({"type": "string", "description": "the card's path: FOLDER/NAME.md"});
    let text = |what: &str| json!({"type": "string", "description": what});
    let number = |what: &str| json!({"type": "integer", "minimum": 0, "description": what});
    vec![
        tool(
            "list_cards",
            "Lists the cards as they are now, with their descriptions; of one folder, or of all.",
            json!({"folder": text("a folder of the pool, or \"\" for all")}),
            &[],
        ),
        tool("read_card", "Gives the whole text of a card as it is now.", json!({"path": path()}), &["path"]),
        tool(
            "read_evidence",
            "Gives a part of the evidence of a work, from `offset` on.",
            json!({
                "work": number("the work's number in the list of works, from 1"),
                "part": {"type": "string", "enum": ["loss_report", "transcript"]},
                "offset": number("the byte to begin at; 0 for the beginning"),
            }),
            &["work", "part"],
        ),
        tool(
            "write_card",
            "Writes a whole card: a new one, or in the place of the old text. `text` is the whole file, its front matter \
             between two lines of --- first.",
            json!({"path": path(), "text": text("the whole file")}),
            &["path", "text"],
        ),
        tool(
            "replace_in_card",
            "Replaces a passage of a card. `old` is there exactly once, to the letter.",
            json!({"path": path(), "old": text("the passage as it stands there"), "new": text("what stands there instead")}),
            &["path", "old", "new"],
        ),
        tool("delete_card", "Takes a card away.", json!({"path": path()}), &["path"]),
        tool("history", "Gives the pool's newest commits with the cards that they changed.", json!({}), &[]),
        tool(
            "finish",
            "Ends the work: what you wrote is checked and committed. Call it once, last.",
            json!({
                "message": text("one line: what changed, or why nothing did"),
                "report": text("a few lines: each change with the works behind it, and what you left alone and why"),
            }),
            &["message"],
        ),
    ]
}

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Tool {
    let input =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    Tool { name: name.to_owned(), description: description.to_owned(), input }
}

/// What a call asks for.
///
/// # Errors
/// Says what is wrong with it, for the model.
pub(super) fn read(call: &ToolCall) -> Result<Wish, String> {
    if let Some(problem) = &call.problem {
        return Err(problem.clone());
    }
    let input = Input(&call.input);
    Ok(match call.name.as_str() {
        "list_cards" => {
            let folder = input.optional("folder")?.map(|folder| folder.trim().trim_matches('/').to_owned());
            Wish::ListCards { folder: folder.filter(|folder| !folder.is_empty() && folder != ".") }
        }
        "read_card" => Wish::ReadCard { path: input.path()? },
        "read_evidence" => Wish::ReadEvidence {
            work: input.number("work")?.ok_or("`work` is missing: the number of a work, from 1")?,
            part: match input.text("part")?.as_str() {
                "loss_report" => Part::LossReport,
                "transcript" | "trajectory" => Part::Transcript,
                other => return Err(format!("there is no part `{}`", crate::ground::text::first_line(other, 40))),
            },
            offset: input.number("offset")?.unwrap_or(0),
        },
        "write_card" => Wish::WriteCard { path: input.path()?, text: input.text("text")? },
        "replace_in_card" => {
            Wish::ReplaceInCard { path: input.path()?, old: input.text("old")?, new: input.text("new")? }
        }
        "delete_card" => Wish::DeleteCard { path: input.path()? },
        "history" => Wish::History,
        "finish" => {
            Wish::Finish { message: input.text("message")?, report: input.optional("report")?.unwrap_or_default() }
        }
        other => {
            let names: Vec<String> = all().into_iter().map(|tool| tool.name).collect();
            let other = crate::ground::text::first_line(other, 60);
            return Err(format!("there is no tool `{other}`; tools are {}", names.join(", ")));
        }
    })
}

struct Input<'a>(&'a Value);

impl Input<'_> {
    fn optional(&self, key: &str) -> Result<Option<String>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.replace("\r\n", "\n"))),
            Some(_) => Err(format!("`{key}` is not a text")),
        }
    }

    fn text(&self, key: &str) -> Result<String, String> {
        self.optional(key)?.ok_or_else(|| format!("`{key}` is missing"))
    }

    fn number(&self, key: &str) -> Result<Option<usize>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
                number
                    .and_then(|number| usize::try_from(number).ok())
                    .map(Some)
                    .ok_or_else(|| format!("`{key}` is not a whole number of 0 or more"))
            }
        }
    }

    /// A path as it was written: whether it may be used is decided by who uses it.
    fn path(&self) -> Result<String, String> {
        let path = self.text("path")?;
        let path = path.trim();
        let path = path.strip_prefix("./").unwrap_or(path);
        match path.is_empty() || path.len() > LONGEST_PATH || path.chars().any(char::is_control) {
            true => Err("`path` is no path of a card: FOLDER/NAME.md".into()),
            false => Ok(path.to_owned()),
        }
    }
}
