//! What the optimizer did not understand, said so that nothing disappears unseen.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::{Finding, Findings, Verdict};
use super::report::{clip, ended, plural, works};
use super::sentences::HOLE;
use crate::batch::Evidence;

/// Lines that may be advice and may be none, then lines of which nothing was made, each once with its works.
///
/// With `apart`, findings that are marked as wrong are left out: the report lists them in a section of their own.
pub(super) fn not_understood(findings: &Findings, evidence: &[Evidence], apart: bool) -> Vec<String> {
    let mut lines = Lines::default();
    for finding in &findings.all {
        for (line, reason) in &finding.doubts {
            lines.add(format!("{} Why: {reason}.", shown(line)), &finding.works);
        }
    }
    for finding in findings.all.iter().filter(|finding| !(apart && finding.verdict == Verdict::Wrong)) {
        if !finding.unread.is_empty() && finding.cards.is_empty() {
            lines.add(whole(finding), &finding.works);
        }
    }
    for (samples, text) in &findings.fenced {
        lines.add(format!("{} Why: code and quotations are not read as advice.", shown(text)), samples);
    }
    lines.with_works(evidence)
}

/// A finding's lines with its label.
fn whole(finding: &Finding) -> String {
    let label = finding.label.as_ref().map(|label| format!("{label}: ")).unwrap_or_default();
    shown(&format!("{label}{}", finding.unread.join(" ")))
}

/// How many findings a bound kept from being read.
pub(super) fn beyond(findings: &Findings) -> String {
    let (are, share) = (if findings.dropped == 1 { "was" } else { "were" }, plural(findings.share, "finding"));
    format!(
        "{} beyond the bound of one group {are} not read: of each report at most {share}.",
        plural(findings.dropped, "finding")
    )
}

fn shown(line: &str) -> String {
    ended(&clip(&line.replace(HOLE, "[quoted]")))
}

/// Lines in order of appearance, each once.
#[derive(Default)]
struct Lines {
    order: Vec<String>,
    by: BTreeMap<String, BTreeSet<usize>>,
}

impl Lines {
    fn add(&mut self, line: String, samples: &BTreeSet<usize>) {
        if !self.by.contains_key(&line) {
            self.order.push(line.clone());
        }
        self.by.entry(line).or_default().extend(samples);
    }

    fn with_works(self, evidence: &[Evidence]) -> Vec<String> {
        self.order.iter().map(|line| format!("{line} Works: {}.", works(&self.by[line], evidence))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    fn sample(work: &str, text: &str) -> Evidence {
        Evidence { work: work.into(), loss_report: text.into(), ..Evidence::default() }
    }

    #[test]
    fn the_bound_is_shared_and_said() {
        let report: String = (0..10).map(|n| format!("- Name the year {n}.\n")).collect();
        let all: Vec<Evidence> = (0..600).map(|n| sample(&format!("w-{n}"), &report)).collect();
        let found = findings::read(&all, None);
        assert!(found.all.iter().any(|finding| finding.works.contains(&599)), "the last work is read too");
        assert_eq!((found.all.len(), found.dropped), (3_600, 2_400));
        let want = "2400 findings beyond the bound of one group were not read: of each report at most 6 findings.";
        assert_eq!(beyond(&found), want);
    }
}
