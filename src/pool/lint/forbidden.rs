//! The profile's forbidden patterns.

use std::sync::OnceLock;

use regex::{Regex, RegexSet};

use super::Found;
use super::fold::Lines;
use super::hidden::quote;
use crate::ground::error::Error;
use crate::pool::profile::Forbidden;

/// Hits of one pattern that are looked at in one card: enough for any report, and a bound on the work.
const MOST_HITS: usize = 200;

/// A profile's patterns: all are tried in one pass, the few that match one by one. Compiled when first needed, since
/// compiling takes as long as checking some hundred cards.
#[derive(Debug)]
pub(super) struct Patterns {
    rules: Vec<Forbidden>,
    any: OnceLock<Result<RegexSet, regex::Error>>,
    each: Vec<OnceLock<Result<Pair, regex::Error>>>,
}

/// A rule's pattern, and what allows a match of it.
#[derive(Debug)]
struct Pair {
    pattern: Regex,
    allow: Option<Regex>,
}

impl Pair {
    fn new(rule: &Forbidden) -> Result<Self, regex::Error> {
        let allow = rule.allow.as_deref().map(Regex::new).transpose()?;
        Ok(Pair { pattern: Regex::new(&rule.pattern)?, allow })
    }
}

impl Patterns {
    /// # Errors
    /// When a pattern is not a regular expression; one too large to compile is found with the first card.
    pub(super) fn new(rules: &[Forbidden]) -> Result<Self, Error> {
        for pattern in rules.iter().flat_map(|rule| std::iter::once(&rule.pattern).chain(&rule.allow)) {
            syntax(pattern).map_err(|why| Error::usage(format!("a forbidden pattern of the profile: {why}")))?;
        }
        let each = rules.iter().map(|_| OnceLock::new()).collect();
        Ok(Patterns { rules: rules.to_vec(), any: OnceLock::new(), each })
    }

    /// `folded` is the whole card as [`super::fold::fold`] gives it.
    pub(super) fn check(&self, folded: &str, found: &mut Found<'_>) {
        if self.rules.is_empty() {
            return;
        }
        match self.any.get_or_init(|| RegexSet::new(self.rules.iter().map(|rule| &rule.pattern))) {
            Ok(any) => any.matches(folded).iter().for_each(|index| self.check_one(index, folded, found)),
            // Together they are too large: try each, so that the one to blame is named.
            Err(_) => (0..self.rules.len()).for_each(|index| self.check_one(index, folded, found)),
        }
    }

    fn check_one(&self, index: usize, folded: &str, found: &mut Found<'_>) {
        let rule = &self.rules[index];
        let pair = match self.each[index].get_or_init(|| Pair::new(rule)) {
            Ok(pair) => pair,
            Err(error) => {
                let message = format!("its pattern cannot be used, so no card can be checked: {}", last_line(error));
                return found.add(&rule.code, None, message, "make the pattern smaller in the profile");
            }
        };
        let allowed: Vec<_> =
            pair.allow.iter().flat_map(|allow| allow.find_iter(folded)).map(|allowed| allowed.range()).collect();
        let (mut lines, mut last_line) = (Lines::new(folded), None);
        for hit in pair.pattern.find_iter(folded).take(MOST_HITS) {
            let fine = |range: &std::ops::Range<usize>| range.start <= hit.start() && hit.end() <= range.end;
            let line = lines.at(hit.start());
            if hit.is_empty() || last_line == Some(line) || allowed.iter().any(fine) {
                continue;
            }
            last_line = Some(line);
            found.add(&rule.code, line, format!("{}: {}", rule.message, quote(hit.as_str())), rule.hint.as_str());
        }
    }
}

/// Whether a pattern is a regular expression, without the cost of compiling it; gives whether it matches the empty text.
///
/// # Errors
/// What is wrong with it, in one line.
pub(crate) fn syntax(pattern: &str) -> Result<bool, String> {
    let hir = regex_syntax::Parser::new().parse(pattern).map_err(|error| last_line(&error))?;
    Ok(hir.properties().minimum_len() == Some(0))
}

/// The first lines of a syntax error draw the pattern; the last one says what is wrong with it.
fn last_line(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().next_back().unwrap_or(&text);
    line.strip_prefix("error: ").unwrap_or(line).to_string()
}
