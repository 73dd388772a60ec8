//! What a misspelt or misplaced key was most likely meant to be.

use super::place::{KeyPath, dotted};
use super::shape::{Key, Shape};

/// How like a name must be to one to be taken for it (0 unlike, 1 equal).
const NEAR: f64 = 0.8;

/// What a name is likelier for standing in the same table.
const SAME_TABLE: f64 = 0.05;

/// Names that are this much less likely than the likeliest are told as well.
const AS_LIKELY: f64 = 0.06;

/// The most names that are told.
const MOST: usize = 3;

/// A hint for a key that is not known: what it may have meant and where that belongs, else what there is.
pub(super) fn hint(key: &[String], holds_table: bool, shape: &Shape, here: &[Key]) -> String {
    let Some((name, table)) = key.split_last() else { return String::new() };
    let mut likely: Vec<(f64, KeyPath)> = candidates(table, holds_table, shape, here)
        .into_iter()
        .filter_map(|candidate| {
            let likeness = likeness(name, candidate.last()?);
            let bonus = if candidate[..candidate.len() - 1] == *table { SAME_TABLE } else { 0.0 };
            (likeness >= NEAR).then_some((likeness + bonus, candidate))
        })
        .collect();
    likely.sort_by(|left, right| right.0.total_cmp(&left.0));
    let Some(best) = likely.first().map(|first| first.0) else { return known(table, here) };
    likely.retain(|(likeness, _)| *likeness > best - AS_LIKELY);
    likely.truncate(MOST);
    let names: Vec<String> = likely.iter().map(|(_, candidate)| format!("`{}`", dotted(candidate))).collect();
    let belongs = match likely.as_slice() {
        [(_, only)] if only.len() > 1 && only[..only.len() - 1] != *table => {
            format!(" it belongs below [{}]", dotted(&only[..only.len() - 1]))
        }
        _ => String::new(),
    };
    format!("did you mean {}?{belongs}", names.join(" or "))
}

/// The word that one most likely meant.
pub(super) fn word<'w>(given: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let rated = words.into_iter().map(|word| (likeness(given, word), word)).filter(|(likeness, _)| *likeness >= NEAR);
    rated.max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, word)| word)
}

/// The keys of the same table, and those of every section; at the top sections, and keys unless it holds a table.
fn candidates(table: &[String], holds_table: bool, shape: &Shape, here: &[Key]) -> Vec<KeyPath> {
    let below = |table: &[String], key: &Key| [table, std::slice::from_ref(&key.name)].concat();
    let mut all: Vec<KeyPath> = here.iter().map(|key| below(table, key)).collect();
    if table.is_empty() && holds_table {
        return all;
    }
    for section in shape.keys() {
        let Shape::Section(keys) = &section.shape else { continue };
        if *table != [section.name.clone()] {
            all.extend(keys.iter().map(|key| below(std::slice::from_ref(&section.name), key)));
        }
    }
    all
}

fn likeness(left: &str, right: &str) -> f64 {
    let (left, right) = (left.to_lowercase().replace('-', "_"), right.to_lowercase());
    let near = strsim::jaro_winkler(&left, &right);
    let short = left.len().min(right.len());
    if left != right && short >= 3 && (left.contains(&right) || right.contains(&left)) { near.max(0.9) } else { near }
}

fn known(table: &[String], here: &[Key]) -> String {
    let names: Vec<&str> = here.iter().map(|key| key.name.as_str()).collect();
    match table {
        [] => format!("the sections are {}", names.join(", ")),
        _ => format!("the keys of [{}] are {}", dotted(table), names.join(", ")),
    }
}
