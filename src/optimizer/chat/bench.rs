//! The checkout as a model's tools see it: cards and nothing else, and nothing outside.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::tools::{self, Part, Wish};
use crate::ground::files;
use crate::ground::text::{clip, first_line};
use crate::llm::ToolCall;
use crate::optimizer::BackwardTask;
use crate::pool::card::Card;
use crate::pool::commit::Author;
use crate::pool::disk_lint;
use crate::pool::folder::{self, StatCache};
use crate::pool::lint::{Linter, Problem};
use crate::trajectory::Event;

/// Bytes of a tool's result at most.
const SHOWN: usize = 24 << 10;

/// Problems that are listed.
const LISTED: usize = 30;

/// A tool's result.
#[derive(Debug, Default)]
pub(super) struct Result {
    /// For the model.
    pub(super) text: String,
    /// Whether it is a refusal.
    pub(super) failed: bool,
    /// What happened, for the transcript.
    pub(super) event: Option<Event>,
    /// Whether the work is committed.
    pub(super) is_finished: bool,
}

impl Result {
    /// A result that says no.
    pub(super) fn refused(why: impl Into<String>) -> Result {
        Result { text: why.into(), failed: true, ..Result::default() }
    }

    fn of(text: impl Into<String>) -> Result {
        Result { text: text.into(), ..Result::default() }
    }
}

/// The checkout, and what was done in it.
pub(super) struct Bench<'a> {
    task: &'a BackwardTask<'a>,
    root: &'a Path,
    linter: Linter,
    /// The text of each card that was written or deleted, as it was before; none for one that was not there.
    before: BTreeMap<String, Option<String>>,
    /// The cards that were read, in order.
    pub(super) reads: Vec<String>,
    /// The report given with `finish`.
    pub(super) report: String,
}

/// What a card's path came to: a place, or why it is none, for the model.
type Place = std::result::Result<PathBuf, String>;

impl<'a> Bench<'a> {
    /// The task's checkout.
    pub(super) fn new(task: &'a BackwardTask<'a>) -> crate::ground::error::Result<Bench<'a>> {
        let (root, linter) = (task.checkout.folder(), Linter::new(task.profile)?);
        Ok(Bench { task, root, linter, before: BTreeMap::new(), reads: Vec::new(), report: String::new() })
    }

    /// Does what a call asks for. What the model did wrong is its result.
    ///
    /// # Errors
    /// Of the file system and the repository.
    pub(super) fn work(&mut self, call: &ToolCall) -> crate::ground::error::Result<Result> {
        let used = |detail: String| Event::Used { tool: first_line(&call.name, 60), detail: first_line(&detail, 200) };
        let wish = match tools::read(call) {
            Ok(wish) => wish,
            Err(problem) => {
                let event = Some(used(problem.clone()));
                return Ok(Result { event, ..Result::refused(format!("This call cannot be made: {problem}")) });
            }
        };
        let detail = call.input.to_string();
        let mut result = match wish {
            Wish::ListCards { folder } => Result::of(self.list(folder.as_deref())?),
            Wish::ReadCard { path } => self.read(&path)?,
            Wish::ReadEvidence { work, part, offset } => self.evidence(work, part, offset),
            Wish::WriteCard { path, text } => self.write(&path, &text)?,
            Wish::ReplaceInCard { path, old, new } => self.replace(&path, &old, &new)?,
            Wish::DeleteCard { path } => self.delete(&path)?,
            Wish::History => Result::of(self.history()),
            Wish::Finish { message, report } => self.finish(&message, report)?,
        };
        result.event.get_or_insert_with(|| used(detail));
        Ok(result)
    }

    /// The place of a card. Only a card's path in the profile's folders is one, and only where no link is on the way.
    fn place(&self, path: &str) -> Place {
        let odd = path.contains('\\') || path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if odd || Path::new(path).is_absolute() || !self.task.profile.is_card_path(path) {
            let folders: Vec<&str> = self.task.profile.folders.iter().map(|folder| folder.path.as_str()).collect();
            let path = first_line(path, 120);
            return Err(format!(
                "`{path}` is no card's path: cards are FOLDER/NAME.md, and the folders are {}",
                folders.join(", ")
            ));
        }
        let place = self.root.join(path);
        let on_the_way = place.ancestors().take_while(|place| *place != self.root);
        match on_the_way.into_iter().any(Path::is_symlink) {
            true => Err(format!("`{path}` is behind a link")),
            false => Ok(place),
        }
    }

    fn list(&self, wanted: Option<&str>) -> crate::ground::error::Result<String> {
        let mut text = String::new();
        let is_wanted = |path: &&String| {
            self.task.profile.folder_of(path).is_some_and(|folder| wanted.is_none_or(|wanted| wanted == folder.path))
        };
        for path in folder::paths(self.root)?.0.iter().filter(is_wanted) {
            let Ok(place) = self.place(path) else { continue };
            let card = Card::parse(path, &files::read(&place)?);
            let description =
                card.map_or_else(|_| "(its front matter cannot be read)".to_owned(), |card| card.description);
            let _ = writeln!(text, "- {path}: {}", description.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        Ok(if text.is_empty() { "There is no card there.".into() } else { clip(&text, SHOWN) })
    }

    fn read(&mut self, path: &str) -> crate::ground::error::Result<Result> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(why) => return Ok(Result::refused(why)),
        };
        let Some(bytes) = files::read_if_there(&place)? else {
            return Ok(Result::refused(format!("There is no card `{path}`. Use a path as it is listed.")));
        };
        self.reads.push(path.to_owned());
        let text = clip(&String::from_utf8_lossy(&bytes), SHOWN);
        Ok(Result { event: Some(Event::Read { path: path.to_owned() }), ..Result::of(text) })
    }

    fn evidence(&self, work: usize, part: Part, offset: usize) -> Result {
        let Some(sample) = work.checked_sub(1).and_then(|place| self.task.evidence.get(place)) else {
            return Result::refused(format!("works are numbered from 1 to {}", self.task.evidence.len()));
        };
        let text = match part {
            Part::LossReport => &sample.loss_report,
            Part::Transcript => &sample.trajectory,
        };
        let start = text.ceil_char_boundary(offset.min(text.len()));
        let end = text.floor_char_boundary(text.len().min(start + SHOWN));
        match text.len() - end {
            0 if text[start..end].trim().is_empty() => Result::of("(there is nothing more)"),
            0 => Result::of(&text[start..end]),
            left => Result::of(format!("{}\n[{left} bytes more, from offset {end}]", &text[start..end])),
        }
    }

    fn write(&mut self, path: &str, text: &str) -> crate::ground::error::Result<Result> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(why) => return Ok(Result::refused(why)),
        };
        if text.len() > self.task.profile.most_bytes() {
            return Ok(Result::refused("that is far too long for a card: nothing was written"));
        }
        let created = !self.remember(path, &place)?;
        let text = format!("{}\n", text.trim_end());
        if let Some(folder) = place.parent() {
            files::create_dir(folder)?;
        }
        files::write(&place, &text)?;
        let problems = self.linter.card(path, text.as_bytes());
        let said = match problems.is_empty() {
            true => "written".to_owned(),
            false => format!("written, but it cannot stay so:\n{}", listed(&problems)),
        };
        Ok(Result { event: Some(Event::Wrote { path: path.to_owned(), created }), ..Result::of(said) })
    }

    fn replace(&mut self, path: &str, old: &str, new: &str) -> crate::ground::error::Result<Result> {
        let bytes = match self.place(path) {
            Ok(place) => files::read_if_there(&place)?,
            Err(why) => return Ok(Result::refused(why)),
        };
        let Some(text) = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) else {
            return Ok(Result::refused(format!("There is no card `{path}`.")));
        };
        let times = if old.is_empty() { 0 } else { text.matches(old).count() };
        match times {
            1 => self.write(path, &text.replacen(old, new, 1)),
            0 => Ok(Result::refused("`old` is not in the card: quote it as it stands there, to the letter")),
            _ => Ok(Result::refused(format!("`old` is in the card {times} times: quote more of it"))),
        }
    }

    fn delete(&mut self, path: &str) -> crate::ground::error::Result<Result> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(why) => return Ok(Result::refused(why)),
        };
        if !self.remember(path, &place)? {
            return Ok(Result::refused(format!("There is no card `{path}`.")));
        }
        files::remove(&place)?;
        Ok(Result::of("deleted"))
    }

    /// Keeps a card's text as it was before the first change; says whether it is there now.
    fn remember(&mut self, path: &str, place: &Path) -> crate::ground::error::Result<bool> {
        let now = files::read_if_there(place)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let is_there = now.is_some();
        self.before.entry(path.to_owned()).or_insert(now);
        Ok(is_there)
    }

    fn history(&self) -> String {
        let mut text = String::new();
        for record in self.task.history {
            let changed: Vec<String> = record.changed.iter().map(|(letter, path)| format!("{letter} {path}")).collect();
            let _ = writeln!(text, "{} {}: {}", &record.commit[..9], record.subject, changed.join(", "));
        }
        if text.is_empty() { "There is no commit yet.".into() } else { clip(&text, SHOWN) }
    }

    fn finish(&mut self, message: &str, report: String) -> crate::ground::error::Result<Result> {
        let mut problems = disk_lint::lint(self.root, self.task.profile)?.problems;
        problems.truncate(LISTED);
        let mut said = listed(&problems);
        for line in self.beyond()? {
            let _ = writeln!(said, "{line}");
        }
        if !said.is_empty() {
            return Ok(Result::refused(format!("It is not finished: mend this, then call `finish` again.\n{said}")));
        }
        let line = first_line(message, 200);
        let line = if line.is_empty() { self.task.label.to_owned() } else { line };
        let (author, cache) = (Author::fixed(self.task.seconds), &mut StatCache::default());
        self.task.checkout.commit_all(&format!("{line}\n"), &author, cache)?;
        self.report = if report.trim().is_empty() { line.clone() } else { clip(&report, SHOWN) };
        let event = Event::Used { tool: "finish".into(), detail: line };
        Ok(Result { event: Some(event), is_finished: true, ..Result::of("finished") })
    }

    /// What goes beyond the step's bounds.
    fn beyond(&self) -> crate::ground::error::Result<Vec<String>> {
        let (mut touched, mut deleted) = (0, 0);
        for (path, before) in &self.before {
            let now = files::read_if_there(&self.root.join(path))?;
            let now = now.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            touched += usize::from(now != *before);
            deleted += usize::from(now.is_none() && before.is_some());
        }
        let mut lines = Vec::new();
        if let Some(most) = self.task.bounds.learning_rate.filter(|most| touched > *most) {
            lines.push(format!("{touched} cards are changed, and this step may change {most}: put others back"));
        }
        let most = self.task.bounds.max_deletions;
        if deleted > most {
            lines.push(format!("{deleted} cards are deleted, and this step may delete {most}: write others back"));
        }
        Ok(lines)
    }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().take(LISTED).map(|problem| format!("{problem}\n")).collect()
}
