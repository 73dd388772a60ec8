//! Lists of edits merged into one without a model.

use super::{Edit, Op};

/// The share of the smaller of two new cards' lines that must stand in the other for them to be one card.
const MOSTLY: f64 = 0.5;

/// The most bytes of a description that was put together from two.
const LONGEST_DESCRIPTION: usize = 600;

/// Merges lists of edits: the same edit twice becomes one with the support of both; two new cards that say much the same
/// become one with the lines of both ([`join_new`]); of two that are at odds (the same place of the same card, another
/// text) the one learnt from failures stays, then the better supported, then the earlier. The order of what stays is
/// that of its first mention.
pub fn merge_edits(lists: &[Vec<Edit>]) -> Vec<Edit> {
    merge_with(lists, &join_new)
}

/// As [`merge_edits`], with another rule for which two edits are made one and how: `join` is given the one that stays
/// first.
pub fn merge_with(lists: &[Vec<Edit>], join: &dyn Fn(&Edit, &Edit) -> Option<Edit>) -> Vec<Edit> {
    let mut kept: Vec<Edit> = Vec::new();
    for edit in lists.iter().flatten() {
        if let Some(same) = kept.iter_mut().find(|other| is_same(other, edit)) {
            same.support = same.support.saturating_add(edit.support);
            same.source = same.source.min(edit.source);
        } else {
            kept.push(edit.clone());
        }
    }
    let mut joined: Vec<Edit> = Vec::new();
    for edit in kept {
        let found = joined.iter().enumerate().find_map(|(place, other)| {
            let (stays, goes) = if beats(&edit, other) { (&edit, other) } else { (other, &edit) };
            join(stays, goes).map(|both| (place, both))
        });
        match found {
            Some((place, both)) => {
                let (support, source) = (joined[place].support.saturating_add(edit.support), edit.source);
                joined[place] = Edit { support, source: source.min(joined[place].source), ..both };
            }
            None => joined.push(edit),
        }
    }
    let stays = |(place, edit): (usize, &Edit)| {
        !joined.iter().enumerate().any(|(at, other)| {
            at != place && at_odds(edit, other) && (beats(other, edit) || (at < place && !beats(edit, other)))
        })
    };
    joined.iter().enumerate().filter(|item| stays(*item)).map(|(_, edit)| edit.clone()).collect()
}

fn beats(one: &Edit, other: &Edit) -> bool {
    (one.source, other.support) < (other.source, one.support)
}

/// Whether two edits do the same, white space and reasons aside.
pub fn is_same(one: &Edit, other: &Edit) -> bool {
    let parts = |edit: &Edit| {
        let (target, content) = match &edit.op {
            Op::Append { content } => (None, Some(content)),
            Op::Suggest { content } => (None, Some(content)),
            Op::Create { content, .. } | Op::Rewrite { content, .. } => (None, Some(content)),
            Op::InsertAfter { target, content } | Op::Replace { target, content } => (Some(target), Some(content)),
            Op::Delete { target } => (Some(target), None),
            Op::Remove => (None, None),
            Op::Move { to } => (Some(to), None),
        };
        (target.map(|text| folded(text)), content.map(|text| folded(text)))
    };
    one.op.name() == other.op.name() && one.card.eq_ignore_ascii_case(&other.card) && parts(one) == parts(other)
}

/// Two new cards as one, when they have the same path, mostly the same lines, or the same description: the first one's
/// card with the distinct lines of the other at its end, and what both descriptions say. None when they are two cards, or
/// no new cards.
pub fn join_new(first: &Edit, other: &Edit) -> Option<Edit> {
    let (Op::Create { description, content }, Op::Create { description: of_other, content: others }) =
        (&first.op, &other.op)
    else {
        return None;
    };
    let ((head, body), (other_head, other_body)) = (parted(content), parted(others));
    let said = |description: &Option<String>, head: &str| {
        description.clone().or_else(|| described(head).map(|line| line.1.to_owned()))
    };
    let (mine, theirs) = (said(description, head), said(of_other, other_head));
    let alike = mine.as_deref().zip(theirs.as_deref()).is_some_and(|(one, other)| folded(one) == folded(other));
    if !first.card.eq_ignore_ascii_case(&other.card) && !alike && !are_mostly_same(body, other_body) {
        return None;
    }
    let both = match (mine, theirs) {
        (Some(one), Some(other)) => Some(both_descriptions(&one, &other)),
        (one, other) => one.or(other),
    };
    let text = with_lines(body, other_body);
    let op = match (described(head), both) {
        // Front matter of its own: its description is exchanged in it, where it is one plain line.
        (Some((line, _)), Some(both)) => Op::Create {
            description: None,
            content: format!("{}{text}", head.replacen(line, &format!("description: {both}"), 1)),
        },
        (None, both) if head.is_empty() => Op::Create { description: both, content: text },
        _ => Op::Create { description: description.clone(), content: format!("{head}{text}") },
    };
    Some(Edit { op, ..first.clone() })
}

/// A card's front matter, with its closing line, and its body; no front matter is empty.
fn parted(content: &str) -> (&str, &str) {
    let end = content.strip_prefix("---\n").and_then(|rest| rest.find("\n---\n")).map(|at| at + "---\n\n---\n".len());
    content.split_at(end.unwrap_or(0))
}

/// The line of a description and its value, where it is one plain line that needs no quoting.
fn described(head: &str) -> Option<(&str, &str)> {
    let mut lines = head.lines();
    let line = lines.find(|line| line.starts_with("description:"))?;
    let value = line["description:".len()..].trim();
    let goes_on = lines.next().is_some_and(|next| next.starts_with([' ', '\t']));
    let plain = value.starts_with(char::is_alphanumeric) && !value.contains(": ") && !value.contains(" #");
    (plain && !goes_on).then_some((line, value))
}

fn both_descriptions(one: &str, other: &str) -> String {
    let (one, other) = (folded(one), folded(other));
    match one.contains(&other) || one.len() + other.len() + 2 > LONGEST_DESCRIPTION {
        true => one,
        false => format!("{}. {other}", one.trim_end_matches('.')),
    }
}

/// A body with those lines of another that it does not hold, at its end.
fn with_lines(body: &str, other: &str) -> String {
    let held: Vec<String> = body.lines().map(folded).collect();
    let fresh: Vec<&str> = rules(other).filter(|line| !held.contains(&folded(line))).collect();
    if fresh.is_empty() {
        return body.to_owned();
    }
    let is_item = |line: &str| line.trim_start().starts_with(['-', '*', '+']);
    let last = body.trim_end().lines().next_back().unwrap_or_default();
    let gap = if is_item(last) && is_item(fresh[0]) { "\n" } else { "\n\n" };
    format!("{}{gap}{}\n", body.trim_end(), fresh.join("\n"))
}

/// The lines that say something: no headings, no empty ones.
fn rules(body: &str) -> impl Iterator<Item = &str> {
    body.lines().map(str::trim_end).filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

fn are_mostly_same(one: &str, other: &str) -> bool {
    let (one, other): (Vec<String>, Vec<String>) =
        (rules(one).map(folded).collect(), rules(other).map(folded).collect());
    let shared = one.iter().filter(|line| other.contains(line)).count();
    let smaller = one.len().min(other.len());
    shared > 0 && shared as f64 >= MOSTLY * smaller as f64
}

/// Whether not both of two edits can be meant.
fn at_odds(one: &Edit, other: &Edit) -> bool {
    if !one.card.eq_ignore_ascii_case(&other.card) {
        return false;
    }
    match (&one.op, &other.op) {
        (
            Op::Replace { target, .. } | Op::Delete { target },
            Op::Replace { target: other, .. } | Op::Delete { target: other },
        ) => folded(target) == folded(other),
        (Op::Create { .. }, Op::Create { .. }) | (Op::Move { .. }, Op::Move { .. }) => true,
        (Op::Rewrite { .. }, Op::Rewrite { .. }) => true,
        (Op::Remove, op) | (op, Op::Remove) => !matches!(op, Op::Remove),
        _ => false,
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
