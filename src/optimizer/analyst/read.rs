//! Replies read: tolerant of form, strict about what they mean.

use serde_json::{Map, Value};

use super::Reading;
use super::schema::operations;
use crate::edit::{self, Edit, Source};
use crate::ground::reply;
use crate::optimizer::tasks::{Ranking, UpdateMode};

/// How many edits of a reply can be read at all: what is beyond is a flood.
const FLOOD: usize = 200;

/// Problems that are listed.
const TOLD: usize = 20;

/// What edits of a reply may be.
pub(super) struct Wanted<'a> {
    pub(super) mode: UpdateMode,
    /// At most so many.
    pub(super) most: usize,
    /// What they were learnt from; none takes the reply's word.
    pub(super) source: Option<Source>,
    /// Attempts that can speak for one at most.
    pub(super) support: u32,
    /// The card meant by an edit that names none.
    pub(super) only_card: Option<&'a str>,
}

impl Wanted<'_> {
    /// A reply's edits. Those of another kind than was asked for are not taken.
    pub(super) fn read(&self, text: &str) -> Reading<Vec<Edit>> {
        let read = edit::read_reply(text, self.only_card);
        let is_read = read.unread.iter().all(|unread| unread.index.is_some());
        let mut problems: Vec<String> = read.unread.iter().map(ToString::to_string).collect();
        let mut value = Vec::new();
        for edit in read.edits.into_iter().take(FLOOD) {
            let name = edit.op.name();
            if !operations(self.mode).contains(&name) {
                problems.push(format!("{name} is not asked for here ({edit})"));
                continue;
            }
            let source = self.source.unwrap_or(edit.source);
            value.push(Edit { source, support: edit.support.clamp(1, self.support.max(1)), ..edit });
        }
        // Too many is no fault of form: the first are the best, as was asked for.
        value.truncate(self.most);
        if problems.len() > TOLD {
            let more = problems.len() - TOLD;
            problems.truncate(TOLD);
            problems.push(format!("and {more} more like that"));
        }
        Reading { value, problems, is_read }
    }
}

/// A reply's ranking of `count` edits.
pub(super) fn ranking(text: &str, count: usize, with_budget: bool) -> Reading<Ranking> {
    let object = match object(text) {
        Ok(object) => object,
        Err(problem) => return Reading { value: Ranking::default(), problems: vec![problem], is_read: false },
    };
    let mut problems = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    match field(&object, "order") {
        Some(Value::Array(items)) => {
            for item in items.iter().take(FLOOD.max(count)) {
                match item.as_u64().and_then(|place| usize::try_from(place).ok()).filter(|place| *place < count) {
                    Some(place) if !order.contains(&place) => order.push(place),
                    Some(_) => {}
                    None => problems.push(format!("`order` holds {item}, which is the number of no edit")),
                }
            }
            problems.truncate(5);
        }
        Some(_) => problems.push("`order` is not a list of numbers".into()),
        None => problems.push("`order` is missing".into()),
    }
    let is_read = !order.is_empty();
    let mut budget = None;
    if with_budget {
        match field(&object, "budget").map(Value::as_u64) {
            Some(Some(number)) => budget = Some(usize::try_from(number).unwrap_or(usize::MAX).min(count)),
            Some(None) => problems.push("`budget` is not a whole number of 0 or more".into()),
            None => problems.push("`budget` is missing".into()),
        }
    }
    Reading { value: Ranking { order, budget }, problems, is_read }
}

/// A reply's text under `name`: none when it is null or empty. List items and sentences, no headings, within `limit`
/// characters.
pub(super) fn note(text: &str, name: &str, limit: usize) -> Reading<Option<String>> {
    let read = object(text).and_then(|object| match field(&object, name) {
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.replace("\r\n", "\n").trim().to_owned() + "\n")),
        Some(Value::Null) => Ok(None),
        Some(_) => Err(format!("`{name}` is not a text")),
        None => Err(format!("`{name}` is missing")),
    });
    let read = read.and_then(|note| match &note {
        Some(text) if text.chars().count() > limit => {
            Err(format!("`{name}` has {} characters, more than {limit}", text.chars().count()))
        }
        Some(text) if text.lines().any(|line| line.starts_with('#')) => Err(format!("`{name}` holds a heading")),
        _ => Ok(note),
    });
    match read {
        Ok(value) => Reading { value, problems: Vec::new(), is_read: true },
        Err(problem) => Reading { value: None, problems: vec![problem], is_read: false },
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match reply::last_object(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("the reply is a list, not an object".into()),
        Err(fault) => Err(fault.to_string()),
    }
}

fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
