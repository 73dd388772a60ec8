//! The operations: each a prompt from its inputs, a shape for the answer, and a reader of it.

use super::evidence::{attempts, cards, edits, headers, opened, or_none, pairs, told, words};
use super::read::{self, Wanted};
use super::{Analyst, Asker, Question, schema};
use crate::edit::{Edit, Source};
use crate::ground::error::Result;
use crate::ground::prompts::{Prompts, frame};
use crate::ground::text::clip;
use crate::llm::Schema;
use crate::optimizer::Host;
use crate::optimizer::prompt::{memory, policy};
use crate::optimizer::tasks::{
    AnalyseTask, MergeTask, MetaTask, RankTask, Ranking, RepairTask, RewriteTask, Said, Seat, Sight, SlowTask,
    UpdateMode,
};
use crate::pool::profile::Profile;

/// Characters of the guidance and of the optimizer's notes at most.
const GUIDANCE: usize = 2_400;
const NOTES: usize = 4_000;
/// Edits that a merge, a rewrite or a repair may give at most.
const MOST: usize = 64;
/// Bytes of an epoch's story, and of a repair's problems.
const STORY: usize = 64_000;
const PROBLEMS: usize = 12_000;

impl<A: Asker + ?Sized> Analyst<'_, A> {
    /// See [`crate::optimizer::Optimizer::analyse`].
    pub fn analyse(&self, task: &AnalyseTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        let name = match task.source {
            Source::Failures => "analyse-failures",
            Source::Successes => "analyse-successes",
        };
        let said = words(task.evidence);
        let slots = [
            ("policy", policy(task.sight.profile, host.prompts)?),
            ("headers", headers(task.sight, &said)),
            ("cards", cards(task.sight, &opened(task.evidence), &said)),
            ("memory", memory(task.seat.memory)),
            ("evidence", attempts(task.evidence)),
            ("most", task.most.to_string()),
            ("forms", forms(task.mode, host.prompts)?),
        ];
        let prompt = host.prompts.render(name, &slots)?;
        let wanted = Wanted {
            mode: task.mode,
            most: task.most,
            source: Some(task.source),
            support: u32::try_from(task.evidence.len()).unwrap_or(u32::MAX),
            only_card: only_card(task.sight),
        };
        let schema = schema::edits(task.mode, task.most, task.sight);
        self.say(question(&task.seat, "reflect", &prompt, &schema), host, &|text| wanted.read(text))
    }

    /// See [`crate::optimizer::Optimizer::merge`].
    pub fn merge(&self, task: &MergeTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        let all: Vec<Edit> = task.lists.iter().flatten().cloned().collect();
        if all.is_empty() {
            return Ok(Said::free(Vec::new()));
        }
        let (named, said) = told(&all);
        let lists = task.lists.iter().enumerate().map(|(n, list)| {
            let of = match (task.source, n) {
                (None, 0) => "learnt from failures",
                (None, _) => "learnt from successes",
                _ => "",
            };
            edits(&format!("list {} {of}", n + 1), list, false, task.lists.len())
        });
        let order = match task.source {
            Some(_) => "Of edits that are at odds the better supported one stays.",
            None => {
                "Of edits that are at odds those learnt from failures stay; `source` says what an edit was learnt from."
            }
        };
        let slots = [
            ("policy", policy(task.sight.profile, host.prompts)?),
            ("cards", cards_of(task.sight, &named, &said)),
            ("memory", memory(task.seat.memory)),
            ("lists", lists.collect()),
            ("order", order.to_owned()),
            ("forms", forms(task.mode, host.prompts)?),
        ];
        let prompt = host.prompts.render("merge", &slots)?;
        let most = all.len().min(MOST);
        let wanted = Wanted { most, ..wanted(task.sight, task.mode, &all) };
        let schema = schema::edits(task.mode, most, task.sight);
        self.say(question(&task.seat, "aggregate", &prompt, &schema), host, &|text| wanted.read(text))
    }

    /// See [`crate::optimizer::Optimizer::rank`].
    pub fn rank(&self, task: &RankTask<'_>, host: &Host<'_>) -> Result<Said<Ranking>> {
        let (count, asks) = (task.edits.len(), task.budget.is_none());
        if count == 0 || (count == 1 && !asks) {
            let budget = asks.then_some(0);
            return Ok(Said::free(Ranking { order: (0..count).collect(), budget }));
        }
        let (how_many, form) = match task.budget {
            Some(budget) => (format!("The first {budget} will be made."), r#"{"order": [NUMBER, NUMBER]}"#),
            None => (
                "Say too how many of them, from the first, shall be made now: few when their evidence is thin or a step before \
                 went wrong, more when they are sure and touch different things."
                    .to_owned(),
                r#"{"order": [NUMBER, NUMBER], "budget": NUMBER}"#,
            ),
        };
        let slots = [
            ("memory", memory(task.seat.memory)),
            ("edits", edits("by number", task.edits, true, 1)),
            ("how_many", how_many),
            ("form", form.to_owned()),
        ];
        let prompt = host.prompts.render("rank", &slots)?;
        let schema = schema::ranking(count, asks);
        let read = |text: &str| read::ranking(text, count, asks);
        self.say(question(&task.seat, "select", &prompt, &schema), host, &read)
    }

    /// See [`crate::optimizer::Optimizer::rewrite`].
    pub fn rewrite(&self, task: &RewriteTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        if task.suggestions.is_empty() {
            return Ok(Said::free(Vec::new()));
        }
        let (named, said) = told(task.suggestions);
        let slots = [
            ("policy", policy(task.sight.profile, host.prompts)?),
            ("cards", cards_of(task.sight, &named, &said)),
            ("suggestions", edits("best first", task.suggestions, false, 1)),
            ("forms", forms(UpdateMode::FullRewrite, host.prompts)?),
        ];
        let prompt = host.prompts.render("rewrite", &slots)?;
        let wanted = wanted(task.sight, UpdateMode::FullRewrite, task.suggestions);
        let schema = schema::edits(UpdateMode::FullRewrite, task.suggestions.len().min(MOST), task.sight);
        self.say(question(&task.seat, "update", &prompt, &schema), host, &|text| wanted.read(text))
    }

    /// See [`crate::optimizer::Optimizer::repair`].
    pub fn repair(&self, task: &RepairTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        let (named, said) = told(task.edits);
        let slots = [
            ("policy", policy(task.sight.profile, host.prompts)?),
            ("cards", cards_of(task.sight, &named, &said)),
            ("edits", edits("as they were", task.edits, false, 1)),
            ("problems", frame("problems", "", &clip(task.problems, PROBLEMS))),
            ("forms", forms(task.mode, host.prompts)?),
        ];
        let prompt = host.prompts.render("repair-edits", &slots)?;
        let wanted = wanted(task.sight, task.mode, task.edits);
        let schema = schema::edits(task.mode, task.edits.len().clamp(1, MOST), task.sight);
        self.say(question(&task.seat, "update", &prompt, &schema), host, &|text| wanted.read(text))
    }

    /// See [`crate::optimizer::Optimizer::slow_update`].
    pub fn slow_update(&self, task: &SlowTask<'_>, host: &Host<'_>) -> Result<Said<Option<String>>> {
        let limit = GUIDANCE.min(task.sight.profile.limits.max_body_chars.saturating_sub(200).max(200));
        let said: Vec<&str> = task.pairs.iter().map(|pair| pair.input.as_str()).collect();
        let slots = [
            ("headers", headers(task.sight, &said)),
            ("guidance", or_none("guidance", task.guidance, STORY)),
            ("pairs", pairs(task.pairs)),
            ("limit", limit.to_string()),
        ];
        let prompt = host.prompts.render("slow-update", &slots)?;
        let schema = schema::note("guidance", limit);
        let read = |text: &str| read::note(text, "guidance", limit);
        let said = self.say(question(&task.seat, "slow_update", &prompt, &schema), host, &read)?;
        Ok(unless_same(said, task.guidance))
    }

    /// See [`crate::optimizer::Optimizer::meta_skill`].
    pub fn meta_skill(&self, task: &MetaTask<'_>, host: &Host<'_>) -> Result<Said<Option<String>>> {
        let notes = task.seat.memory.meta_skill;
        let slots = [
            ("notes", or_none("notes", notes, STORY)),
            ("story", or_none("story", task.story, STORY)),
            ("limit", NOTES.to_string()),
        ];
        let prompt = host.prompts.render("meta-skill", &slots)?;
        let schema = schema::note("notes", NOTES);
        let read = |text: &str| read::note(text, "notes", NOTES);
        let said = self.say(question(&task.seat, "meta_skill", &prompt, &schema), host, &read)?;
        Ok(unless_same(said, notes))
    }
}

fn question<'a>(seat: &'a Seat<'a>, stage: &'static str, prompt: &'a str, schema: &'a Schema) -> Question<'a> {
    Question { seat, stage, prompt, schema, again: None }
}

/// What may come back where `edits` went in: no more support than they have together.
fn wanted<'a>(sight: Sight<'a>, mode: UpdateMode, edits: &[Edit]) -> Wanted<'a> {
    let support = edits.iter().fold(0_u32, |sum, edit| sum.saturating_add(edit.support));
    // Where all came from one source, what comes back does too, whatever the reply says.
    let source = edits.first().map(|edit| edit.source).filter(|one| edits.iter().all(|edit| edit.source == *one));
    Wanted { mode, most: MOST, source, support, only_card: only_card(sight) }
}

/// The card of a pool that is one document.
fn only_card(sight: Sight<'_>) -> Option<&str> {
    let is_document = |profile: &Profile| profile.folders.is_empty();
    match sight.cards {
        [only] if is_document(sight.profile) => Some(&only.path),
        _ => None,
    }
}

fn cards_of(sight: Sight<'_>, named: &[&str], said: &[&str]) -> String {
    let text = cards(sight, named, said);
    if text.is_empty() { String::new() } else { format!("# The cards that there are\n\n{text}") }
}

fn forms(mode: UpdateMode, prompts: &Prompts) -> Result<String> {
    let name = match mode {
        UpdateMode::Patch => "edits-patch",
        UpdateMode::RewriteFromSuggestions => "edits-suggest",
        UpdateMode::FullRewrite => "edits-whole",
    };
    prompts.render(name, &[])
}

/// What stands there already is no change.
fn unless_same(said: Said<Option<String>>, old: &str) -> Said<Option<String>> {
    let value = said.value.filter(|text| text.trim() != old.trim());
    Said { value, ..said }
}
