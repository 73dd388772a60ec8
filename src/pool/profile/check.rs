//! What a profile's values must be, beyond their types.

use std::collections::BTreeMap;

use super::parse::nearest;
use super::{LAYOUTS, Profile};
use crate::pool::card::DESCRIPTION;
use crate::pool::lint::codes;
use crate::pool::lint::forbidden::syntax;

/// The one version of the format.
const VERSION: u32 = 1;

/// A value that cannot be used, by its key (`folders[1].path`).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) key: String,
    pub(super) message: String,
    pub(super) hint: String,
}

fn fault<T>(key: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { key: key.into(), message: message.into(), hint: hint.into() })
}

/// The first value that cannot be used, in the file's order.
pub(super) fn check(profile: &Profile) -> Result<(), Fault> {
    if profile.version != VERSION {
        return fault(
            "version",
            format!("version {} is not known here", profile.version),
            format!("this skilltrain reads version {VERSION}"),
        );
    }
    if !LAYOUTS.contains(&profile.profile.as_str()) {
        let hint = match nearest(&profile.profile, LAYOUTS.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("the layouts are {}", LAYOUTS.join(", ")),
        };
        return fault("profile", format!("`{}` is not a layout", profile.profile.escape_debug()), hint);
    }
    limits(profile)?;
    card(profile)?;
    folders(profile)?;
    forbidden(profile)
}

fn limits(profile: &Profile) -> Result<(), Fault> {
    let limits = &profile.limits;
    for (key, value) in [
        ("max_lines", limits.max_lines),
        ("max_body_chars", limits.max_body_chars),
        ("max_description_chars", limits.max_description_chars),
    ] {
        if value == 0 {
            return fault(format!("limits.{key}"), "a limit of 0 refuses every card", "set it to 1 or more");
        }
    }
    Ok(())
}

fn card(profile: &Profile) -> Result<(), Fault> {
    let heading = &profile.card.heading;
    if heading.trim().is_empty() || heading.trim() != heading || heading.chars().any(char::is_control) {
        return fault(
            "card.heading",
            "the heading is empty or holds odd white space",
            "name the heading, as in \"Rules\"",
        );
    }
    let mut seen = BTreeMap::new();
    for (index, key) in profile.card.front_matter.iter().enumerate() {
        let place = format!("card.front_matter[{index}]");
        let plain = key.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'));
        if key.is_empty() || !plain {
            return fault(place, format!("`{}` is not a key", key.escape_debug()), "use letters, digits, `-` and `_`");
        }
        if seen.insert(key.as_str(), ()).is_some() {
            return fault(place, format!("`{key}` is there twice"), "remove one of them");
        }
    }
    if !seen.contains_key(DESCRIPTION) {
        return fault("card.front_matter", "`description` is not among the keys", "every card has a `description`");
    }
    if let Some(index) = profile.card.placeholders.iter().position(|word| word.trim().is_empty()) {
        return fault(format!("card.placeholders[{index}]"), "an empty placeholder", "remove it");
    }
    Ok(())
}

fn folders(profile: &Profile) -> Result<(), Fault> {
    if profile.folders.is_empty() {
        return fault("folders", "no folder may hold a card", "add a [[folders]] table");
    }
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (index, folder) in profile.folders.iter().enumerate() {
        let key = format!("folders[{index}].path");
        let path = folder.path.as_str();
        if let Some(what) = odd_folder(path) {
            return fault(
                key,
                format!("`{}` {what}", path.escape_debug()),
                "a folder is a plain name at the pool's root",
            );
        }
        match seen.insert(path.to_lowercase(), path) {
            Some(other) if other == path => {
                return fault(key, format!("the folder `{path}` is there twice"), "remove one of them");
            }
            Some(other) => {
                let message = format!("the folders `{other}` and `{path}` differ only by case");
                return fault(key, message, "they are one folder on some systems: rename one");
            }
            None => {}
        }
        if folder.purpose.trim().is_empty() {
            return fault(
                format!("folders[{index}].purpose"),
                "the purpose is empty",
                "say in a sentence what its cards are for",
            );
        }
    }
    Ok(())
}

fn odd_folder(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        Some("is empty")
    } else if path.contains(['/', '\\']) {
        Some("is not a plain name: it holds a slash")
    } else if path.starts_with('.') {
        Some("is hidden or leads out of the pool")
    } else if !codes::is_portable_name(path) {
        Some("cannot be a name on every system")
    } else {
        None
    }
}

fn forbidden(profile: &Profile) -> Result<(), Fault> {
    for (index, rule) in profile.forbidden.iter().enumerate() {
        let place = |field: &str| format!("forbidden[{index}].{field}");
        let code = rule.code.as_str();
        if !codes::is_kebab_case(code) {
            let message = format!("`{}` is not in kebab case", code.escape_debug());
            return fault(place("code"), message, "use lower-case letters, digits and single dashes");
        }
        if codes::is_built_in(code) {
            let hint = "choose another code: `skilltrain lint` uses this one itself";
            return fault(place("code"), format!("`{code}` is a built-in code"), hint);
        }
        for (field, pattern) in [("pattern", Some(&rule.pattern)), ("allow", rule.allow.as_ref())] {
            let Some(pattern) = pattern else { continue };
            match syntax(pattern) {
                Err(why) => {
                    let hint = "see https://docs.rs/regex for the syntax; it has no look-around";
                    return fault(place(field), format!("not a regular expression: {why}"), hint);
                }
                Ok(true) if field == "pattern" => {
                    return fault(place(field), "it matches the empty text, so every card", "make it match some text");
                }
                Ok(_) => {}
            }
        }
        if rule.message.trim().is_empty() {
            return fault(place("message"), "the message is empty", "say what is wrong with such text");
        }
    }
    Ok(())
}
