//! The profile's forbidden patterns.

use regex::{Regex, RegexSet};

use super::Found;
use super::fold::Lines;
use super::hidden::quote;
use crate::ground::error::{Error, Result};
use crate::pool::profile::Forbidden;

/// Hits of one pattern that are looked at in one card: enough for any report, and a bound on the work.
const MOST_HITS: usize = 200;

/// A profile's patterns, compiled: all are tried in one pass, the few that match one by one.
#[derive(Debug)]
pub(super) struct Patterns {
    any: RegexSet,
    each: Vec<(Forbidden, Regex, Option<Regex>)>,
}

impl Patterns {
    pub(super) fn new(rules: &[Forbidden]) -> Result<Self> {
        let bad =
            |error: regex::Error| Error::usage(format!("a forbidden pattern of the profile is unusable: {error}"));
        let any = RegexSet::new(rules.iter().map(|rule| &rule.pattern)).map_err(bad)?;
        let each = rules
            .iter()
            .map(|rule| {
                let allow = rule.allow.as_deref().map(Regex::new).transpose()?;
                Ok((rule.clone(), Regex::new(&rule.pattern)?, allow))
            })
            .collect::<std::result::Result<_, regex::Error>>()
            .map_err(bad)?;
        Ok(Patterns { any, each })
    }

    /// `folded` is the whole card as [`super::fold::fold`] gives it.
    pub(super) fn check(&self, folded: &str, found: &mut Found<'_>) {
        for index in self.any.matches(folded) {
            let (rule, pattern, allow) = &self.each[index];
            let allowed: Vec<_> =
                allow.iter().flat_map(|allow| allow.find_iter(folded)).map(|allowed| allowed.range()).collect();
            let (mut lines, mut last_line) = (Lines::new(folded), None);
            for hit in pattern.find_iter(folded).take(MOST_HITS) {
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
}
