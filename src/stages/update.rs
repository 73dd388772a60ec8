//! Update: edits applied to the cards' text. What does not fit is handed back, never fitted by force.

mod place;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use crate::edit::merge::is_same;
use crate::edit::{Edit, Op};
use crate::pool::card::{self, Card};

pub use place::Region;

/// Cards by path.
pub type Cards = BTreeMap<String, String>;

/// What edits may touch.
pub struct Rules<'a> {
    /// Whether a card may lie at a path.
    pub is_card: &'a dyn Fn(&str) -> bool,
    /// Cards that ordinary edits cannot touch, such as the place of the slow update's guidance.
    pub protected: &'a [String],
    /// Parts of a card that ordinary edits cannot touch, by their markers.
    pub regions: &'a [Region],
}

/// What became of one edit that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The edit.
    pub edit: Edit,
    /// Why, in a sentence that the optimizer can mend it by.
    pub why: String,
}

/// What came of a list of edits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// The edits that were made, in their order.
    pub made: Vec<Edit>,
    /// Those that do not fit: to be told to the optimizer once, then recorded as skipped.
    pub refused: Vec<Skipped>,
    /// Those without effect: duplicates, what stands there already, white space. Nobody need mend them.
    pub dropped: Vec<Skipped>,
    /// The cards whose text is another one after all edits: the new text, or none when the card is gone. Empty when the
    /// result equals the pool, which then needs no evaluation.
    pub changes: BTreeMap<String, Option<String>>,
}

impl Applied {
    /// The cards after the changes.
    pub fn result(&self, cards: &Cards) -> Cards {
        let mut result = cards.clone();
        for (path, text) in &self.changes {
            match text {
                Some(text) => drop(result.insert(path.clone(), text.clone())),
                None => drop(result.remove(path)),
            }
        }
        result
    }

    /// The refused edits as Markdown for a repair turn; none when all fitted.
    pub fn repair(&self) -> Option<String> {
        let lines: Vec<String> =
            self.refused.iter().map(|skipped| format!("- {}: {}", skipped.edit, skipped.why)).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// Why an edit was not made.
enum Not {
    /// It does not fit.
    Refused(String),
    /// It changes nothing.
    Dropped(String),
}

fn refused<T>(why: impl Into<String>) -> Result<T, Not> {
    Err(Not::Refused(why.into()))
}

fn dropped<T>(why: impl Into<String>) -> Result<T, Not> {
    Err(Not::Dropped(why.into()))
}

/// Applies edits one after another; each sees what those before it left. A target must be there exactly once as it is
/// written, or else exactly once with white space folded.
pub fn apply(cards: &Cards, edits: &[Edit], rules: &Rules<'_>) -> Applied {
    let mut now = cards.clone();
    let mut applied = Applied::default();
    for edit in edits {
        let skipped = |why| Skipped { edit: edit.clone(), why };
        if applied.made.iter().any(|made| is_same(made, edit)) {
            applied.dropped.push(skipped("the same edit was made already".into()));
            continue;
        }
        match apply_one(&mut now, edit, rules) {
            Ok(()) => applied.made.push(edit.clone()),
            Err(Not::Refused(why)) => applied.refused.push(skipped(why)),
            Err(Not::Dropped(why)) => applied.dropped.push(skipped(why)),
        }
    }
    for path in cards.keys().chain(now.keys()) {
        let (old, new) = (cards.get(path), now.get(path));
        if old != new {
            applied.changes.insert(path.clone(), new.cloned());
        }
    }
    applied
}

fn apply_one(cards: &mut Cards, edit: &Edit, rules: &Rules<'_>) -> Result<(), Not> {
    if let Op::Create { description, content } = &edit.op {
        let path = free(cards, &edit.card, rules)?;
        no_markers(content, rules)?;
        cards.insert(path, created(&edit.card, description.as_deref(), content)?);
        return Ok(());
    }
    let path = find(cards, &edit.card)?;
    unprotected(&path, rules)?;
    let text = cards.get(&path).cloned().unwrap_or_default();
    match &edit.op {
        Op::Remove => {
            if rules.regions.iter().any(|region| region.is_in(&text)) {
                return refused("the card holds a protected region, so it cannot be removed");
            }
            cards.remove(&path);
        }
        Op::Rewrite { description, content } => {
            if !place::regions(&text, rules.regions).is_empty() {
                return refused("the card holds a protected region, so it cannot be written anew as a whole");
            }
            no_markers(content, rules)?;
            let new = rewritten(&path, &text, description.as_deref(), content)?;
            if folded(&new) == folded(&text) {
                return dropped("it changes nothing but white space");
            }
            cards.insert(path, new);
        }
        Op::Suggest { .. } => return refused("a suggestion is no edit: it has to be written first"),
        Op::Move { to } => {
            if *to == path {
                return dropped("the card lies there already");
            }
            let to = free(cards, to, rules)?;
            cards.remove(&path);
            cards.insert(to, text);
        }
        op => {
            let new = edited(&text, op, rules)?;
            if folded(&new) == folded(&text) {
                return dropped("it changes nothing but white space");
            }
            cards.insert(path, new);
        }
    }
    Ok(())
}

/// The text after an edit inside a card.
fn edited(text: &str, op: &Op, rules: &Rules<'_>) -> Result<String, Not> {
    if let Op::Append { content } | Op::InsertAfter { content, .. } | Op::Replace { content, .. } = op {
        no_markers(content, rules)?;
    }
    let protected = place::regions(text, rules.regions);
    match op {
        Op::Append { content } => {
            if text::holds_lines(text, content) {
                return dropped("the card says it already");
            }
            Ok(text::append(text, content, &protected))
        }
        Op::InsertAfter { target, content } => {
            let range = place::locate(text, target).map_err(Not::Refused)?;
            let at = text::line_end_after(text, range.end);
            // Right behind a region is fine, in it is not.
            if protected.iter().any(|region| region.start < at && at < region.end) {
                return refused("it would insert into a protected region");
            }
            if text::follows_with(text, at, content) {
                return dropped("the card says it there already");
            }
            Ok(text::insert_lines(text, at, content))
        }
        Op::Replace { target, content } => {
            let range = place::locate_free(text, target, &protected).map_err(Not::Refused)?;
            Ok(format!("{}{content}{}", &text[..range.start], &text[range.end..]))
        }
        Op::Delete { target } => {
            let range = place::locate_free(text, target, &protected).map_err(Not::Refused)?;
            Ok(text::delete(text, range))
        }
        Op::Create { .. } | Op::Remove | Op::Move { .. } | Op::Rewrite { .. } | Op::Suggest { .. } => {
            Ok(text.to_owned())
        }
    }
}

/// The path of the card that is meant: as written, or else the only one that differs by case.
fn find(cards: &Cards, name: &str) -> Result<String, Not> {
    if cards.contains_key(name) {
        return Ok(name.to_owned());
    }
    let alike: Vec<&String> = cards.keys().filter(|path| path.eq_ignore_ascii_case(name)).collect();
    match alike.as_slice() {
        [path] => Ok((*path).clone()),
        [] => refused("there is no such card"),
        _ => refused("several cards differ from this name by case only"),
    }
}

/// A path at which a new card may lie.
fn free(cards: &Cards, path: &str, rules: &Rules<'_>) -> Result<String, Not> {
    unprotected(path, rules)?;
    let odd = path.chars().any(char::is_control) || path.split('/').any(|part| matches!(part, "" | "." | ".."));
    if odd || !(rules.is_card)(path) {
        return refused(format!("no card may lie at {path:?}: it is FOLDER/NAME.md in a folder of the pool's profile"));
    }
    match cards.keys().find(|other| other.eq_ignore_ascii_case(path)) {
        Some(other) => refused(format!("there is a card {other} already; edit it instead")),
        None => Ok(path.to_owned()),
    }
}

fn unprotected(path: &str, rules: &Rules<'_>) -> Result<(), Not> {
    match rules.protected.iter().any(|protected| protected.eq_ignore_ascii_case(path)) {
        true => refused("the card is protected: only the slow update writes it"),
        false => Ok(()),
    }
}

fn no_markers(content: &str, rules: &Rules<'_>) -> Result<(), Not> {
    match rules.regions.iter().any(|region| region.is_in(content)) {
        true => refused("its text holds the marker of a protected region"),
        false => Ok(()),
    }
}

/// A new card's text: as given when it has front matter, else made of description and body.
fn created(path: &str, description: Option<&str>, content: &str) -> Result<String, Not> {
    if content.starts_with("---\n") {
        return match Card::parse(path, content.as_bytes()) {
            Ok(_) => Ok(text::ended(content)),
            Err(problems) => {
                let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
                refused(format!("the new card cannot be read: {}", all.join("; ")))
            }
        };
    }
    match description.map(str::trim).filter(|description| !description.is_empty()) {
        Some(description) => Ok(Card::render(description, content)),
        None => refused("a new card needs a `description` that says when to read it"),
    }
}

/// A card's text anew. Where no description is given it keeps its own, byte for byte.
fn rewritten(path: &str, old: &str, description: Option<&str>, content: &str) -> Result<String, Not> {
    if content.starts_with("---\n") || description.is_some_and(|description| !description.trim().is_empty()) {
        return created(path, description, content);
    }
    card::replace_body(path, old, content)
        .or_else(|_| refused("the card that stands there cannot be read: give it a `description`"))
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
