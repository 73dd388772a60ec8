//! The small edits that make one text of another: by lines, each with a target that stands in the old text exactly once.

use std::ops::Range;

use super::edits::slice;
use crate::edit::Op;

/// Lines of both texts multiplied, above which they are not compared: a card has some dozens.
const MOST_CELLS: usize = 4_000_000;

/// A run of old lines and the new lines that stand in their place; either may be empty, not both.
type Hunk = (Range<usize>, Range<usize>);

/// Edits inside a card that make `new` of `old`, white space aside. None where they would not: a line that stands there
/// twice in a place that nothing else tells apart, a text without any line.
pub(super) fn edits(old: &str, new: &str) -> Option<Vec<Op>> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let mut made = Vec::new();
    for (gone, come) in hunks(&before, &after)? {
        made.extend(hunk(old, &before, gone, &after[come])?);
    }
    (worked(old, &made)? == folded(new)).then_some(made)
}

/// The edits of one hunk.
fn hunk(old: &str, before: &[&str], gone: Range<usize>, come: &[&str]) -> Option<Vec<Op>> {
    let come: Vec<&str> = come.iter().map(|line| line.trim_end()).filter(|line| !line.trim().is_empty()).collect();
    if gone.is_empty() {
        return inserted(old, before, gone.start, &come);
    }
    let target = slice(before, gone.clone(), old);
    if target.trim().is_empty() {
        return inserted(old, before, gone.end, &come);
    }
    // As many lines as before: each has its successor, and may be taken without the others.
    if gone.len() == come.len() && gone.clone().all(|at| once(old, before[at].trim_end())) {
        let pairs = gone
            .zip(&come)
            .map(|(at, line)| Op::Replace { target: before[at].trim_end().to_owned(), content: (*line).to_owned() });
        return Some(pairs.collect());
    }
    let start = (0..=gone.start).rev().find(|start| once(old, slice(before, *start..gone.end, old)))?;
    let kept = if start < gone.start { format!("{}\n", slice(before, start..gone.start, old)) } else { String::new() };
    let target = slice(before, start..gone.end, old).to_owned();
    if kept.is_empty() && come.is_empty() {
        return Some(vec![Op::Delete { target }]);
    }
    Some(vec![Op::Replace { target, content: format!("{kept}{}", come.join("\n")).trim_end().to_owned() }])
}

/// New lines before the old line `at`: an edit each, so that each can be taken alone. Those behind one anchor are given
/// last line first: each goes right behind the anchor.
fn inserted(old: &str, before: &[&str], at: usize, come: &[&str]) -> Option<Vec<Op>> {
    if before[at..].iter().all(|line| line.trim().is_empty()) {
        return Some(come.iter().map(|line| Op::Append { content: (*line).to_owned() }).collect());
    }
    let anchor = (0..at).rev().find(|at| !before[*at].trim().is_empty())?;
    let start = (0..=anchor).rev().find(|start| once(old, slice(before, *start..anchor + 1, old)))?;
    let target = slice(before, start..anchor + 1, old);
    let edit = |line: &&str| Op::InsertAfter { target: target.to_owned(), content: (*line).to_owned() };
    Some(come.iter().rev().map(edit).collect())
}

fn once(text: &str, target: &str) -> bool {
    !target.trim().is_empty() && text.matches(target).count() == 1
}

/// What the edits make of a text, folded: none when one of them has no single place.
fn worked(old: &str, edits: &[Op]) -> Option<Vec<String>> {
    let mut text = old.trim_end().to_owned() + "\n";
    for op in edits {
        match op {
            Op::Append { content } => text.push_str(&format!("{content}\n")),
            Op::InsertAfter { target, content } if once(&text, target) => {
                let end = text.find(target.as_str()).map_or(0, |at| at + target.len());
                let end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
                text.insert_str(end, &format!("{content}\n"));
            }
            Op::Replace { target, content } if once(&text, target) => text = text.replacen(target.as_str(), content, 1),
            Op::Delete { target } if once(&text, target) => text = text.replacen(target.as_str(), "", 1),
            _ => return None,
        }
    }
    Some(folded(&text))
}

fn folded(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// The differing runs, by a longest common subsequence of lines.
fn hunks(old: &[&str], new: &[&str]) -> Option<Vec<Hunk>> {
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > MOST_CELLS {
        return None;
    }
    let same = |i: usize, j: usize| old[i].trim_end() == new[j].trim_end();
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = match same(i, j) {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let (mut out, mut i, mut j): (Vec<Hunk>, usize, usize) = (Vec::new(), 0, 0);
    let (mut from_i, mut from_j) = (0, 0);
    loop {
        let ended = i == old.len() && j == new.len();
        let matched = i < old.len() && j < new.len() && same(i, j);
        if (ended || matched) && (from_i < i || from_j < j) {
            out.push((from_i..i, from_j..j));
        }
        if ended {
            return Some(out);
        }
        if matched {
            (i, j) = (i + 1, j + 1);
            (from_i, from_j) = (i, j);
        } else if j == new.len() || (i < old.len() && longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
            i += 1;
        } else {
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_changes_are_small_edits() {
        let old = "\n## Rules\n- One.\n- Two.\n- Three.\n";
        let told = |new: &str| -> Vec<String> {
            let edits = edits(old, new).unwrap();
            edits.iter().map(|op| serde_json::to_value(op).unwrap().to_string()).collect()
        };
        assert_eq!(told(old), Vec::<String>::new());
        assert_eq!(
            told("\n## Rules\n- One.\n- Two.\n- Three.\n- Four.\n- Five.\n"),
            [r#"{"op":"append","content":"- Four."}"#, r#"{"op":"append","content":"- Five."}"#]
        );
        assert_eq!(
            told("\n## Rules\n- One.\n- 2.\n- Three.\n"),
            [r#"{"op":"replace","target":"- Two.","content":"- 2."}"#]
        );
        assert_eq!(told("\n## Rules\n- One.\n- Three.\n"), [r#"{"op":"delete","target":"- Two."}"#]);
        assert_eq!(
            told("\n## Rules\n- One.\n- A.\n- B.\n- Two.\n- Three.\n"),
            [
                r#"{"op":"insert_after","target":"- One.","content":"- B."}"#,
                r#"{"op":"insert_after","target":"- One.","content":"- A."}"#
            ]
        );
    }

    #[test]
    fn a_line_that_stands_there_twice_is_told_apart_by_what_is_before_it() {
        let old = "## Rules\n- Go.\n- Left.\n- Stop.\n- Left.\n";
        let made = edits(old, "## Rules\n- Go.\n- Left.\n- Stop.\n- Right.\n").unwrap();
        assert_eq!(made, [Op::Replace { target: "- Stop.\n- Left.".into(), content: "- Stop.\n- Right.".into() }]);
        assert_eq!(edits("- A.\n- A.\n", "- B.\n- A.\n"), None);
    }
}
