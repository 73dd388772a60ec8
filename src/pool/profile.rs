//! A pool's layout and limits, from `.skilltrain.toml` at its root. No folder name and no limit stands in code.

mod check;
mod parse;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub(crate) use self::parse::nearest;
use crate::ground::digest;
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};

/// The profile's file, at the pool's root.
pub const PROFILE_FILE: &str = ".skilltrain.toml";

/// The name of the card with the slow update's guidance.
const GUIDANCE: &str = "longitudinal-guidance.md";

/// The profile of a new pool, as `init` writes it.
pub const RULES_TEMPLATE: &str = include_str!("../../pool-template/rules/.skilltrain.toml");

/// The layouts that this version knows.
const LAYOUTS: &[&str] = &["rules"];

/// What a pool's cards must look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The format's version; 1.
    pub version: u32,
    /// The layout's name: `rules`.
    pub profile: String,
    /// Size limits of one card.
    pub limits: Limits,
    /// What a card is made of.
    pub card: CardShape,
    /// The folders that hold cards, in reading order.
    pub folders: Vec<Folder>,
    /// Text that no card may hold.
    #[serde(default)]
    pub forbidden: Vec<Forbidden>,
}

/// Size limits of one card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Lines of the whole file.
    pub max_lines: usize,
    /// Characters (Unicode scalar values) of the body.
    pub max_body_chars: usize,
    /// Characters of the description.
    pub max_description_chars: usize,
}

/// What a card is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardShape {
    /// The text of its one second-level heading.
    pub heading: String,
    /// The front matter keys it has: all of these, no others.
    pub front_matter: Vec<String>,
    /// Words that count as nothing: a description or rules made of one of them alone are empty.
    #[serde(default)]
    pub placeholders: Vec<String>,
}

/// A folder of cards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    /// Its name at the pool's root.
    pub path: String,
    /// What its cards are for, one sentence: shown to optimizers.
    pub purpose: String,
    /// The part it plays: `general` (always read), `craft` (read on demand), `specific` (holds inside one kind of work).
    pub role: Role,
}

/// The part that a folder plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Principles, always read.
    General,
    /// How to do one component, read on demand.
    Craft,
    /// Holds only inside one kind of work.
    Specific,
}

/// Text that no card may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forbidden {
    /// The problem's stable code, in kebab case.
    pub code: String,
    /// A regular expression (the `regex` crate's syntax), matched against folded text (`lint::fold`).
    pub pattern: String,
    /// A match of `pattern` that lies inside a match of this one is fine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<String>,
    /// What is wrong with it.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl Profile {
    /// Reads a profile; `file` is only named in errors.
    ///
    /// # Errors
    /// Of kind usage, naming file, line and key, and the nearest known key when one is misspelt.
    pub fn parse(text: &str, file: impl AsRef<Path>) -> Result<Self> {
        let file = file.as_ref();
        let profile = parse::read(text, file)?;
        check::check(&profile).map_err(|fault| parse::at_key(text, file, &fault))?;
        Ok(profile)
    }

    /// The profile of the `rules` template.
    pub fn default_rules() -> Self {
        Self::parse(RULES_TEMPLATE, PROFILE_FILE).expect("the embedded template is checked by a test")
    }

    /// The same profile under the limits that the environment sets.
    ///
    /// # Errors
    /// Of kind usage, naming the variable, when one is not a whole number of 1 or more.
    pub fn with_env(mut self, env: &Env) -> Result<Self> {
        let limits = &mut self.limits;
        for (name, limit) in [
            ("SKILLTRAIN_MAX_LINES", &mut limits.max_lines),
            ("SKILLTRAIN_MAX_BODY_CHARS", &mut limits.max_body_chars),
            ("SKILLTRAIN_MAX_DESCRIPTION_CHARS", &mut limits.max_description_chars),
        ] {
            let Some(value) = env.get_os(name) else { continue };
            let value = value.to_string_lossy();
            *limit = value.trim().parse().ok().filter(|number| *number > 0).ok_or_else(|| {
                Error::usage(format!("{name} is `{}`, not a whole number of 1 or more", value.escape_debug()))
                    .hint(format!("set {name} to a number, or unset it to use the limit in {PROFILE_FILE}"))
            })?;
        }
        Ok(self)
    }

    /// A digest of all that decides a card's lint: this profile, its environment overrides and the lint's own rules.
    /// A blob that was clean under it stays clean under it.
    pub fn digest(&self) -> String {
        let fields = serde_json::to_vec(self).expect("a profile is strings and numbers");
        digest::of_parts([&crate::pool::lint::VERSION.to_le_bytes(), fields.as_slice()])
    }

    /// Bytes above which a file is no card whatever it holds, so that nobody reads on in it: every character in its
    /// longest writing, and much room for the rest.
    pub fn most_bytes(&self) -> usize {
        let chars = self.limits.max_body_chars.saturating_add(self.limits.max_description_chars);
        chars.saturating_mul(64).saturating_add(64 << 10)
    }

    /// The folder that holds this path, when the path is `folder/name` in a folder of this profile.
    pub fn folder_of(&self, path: &str) -> Option<&Folder> {
        let (folder, name) = path.split_once('/')?;
        self.folders.iter().find(|known| known.path == folder && !name.contains('/'))
    }

    /// Where the slow update's guidance stands: a card of the folder that is always read, which ordinary edits cannot touch.
    pub fn guidance_path(&self) -> String {
        let general = self.folders.iter().find(|folder| folder.role == Role::General).or_else(|| self.folders.first());
        general.map_or_else(|| GUIDANCE.to_owned(), |folder| format!("{}/{GUIDANCE}", folder.path))
    }

    /// Whether a card may lie at this path: `folder/name.md`, in a folder of this profile, not hidden.
    pub fn is_card_path(&self, path: &str) -> bool {
        self.folder_of(path).is_some() && {
            let name = path.rsplit('/').next().unwrap_or_default();
            name.ends_with(".md") && !name.starts_with('.')
        }
    }
}
