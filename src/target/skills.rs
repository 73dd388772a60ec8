//! A pool's cards as the skills of an agent client: `NAME/SKILL.md`, each with a name and its description in front.

use std::collections::HashSet;
use std::path::Path;

use super::View;
use crate::ground::digest;
use crate::ground::error::Result;
use crate::ground::files;
use crate::pool::card::{Card, front_matter_line};

/// A skill's one file.
const FILE: &str = "SKILL.md";
/// Characters of a name; clients take 64, and a number may follow.
const NAME: usize = 56;

/// The cards that a client opens by itself: all but the general ones, whose rules stand in its prompt.
#[derive(Debug)]
pub(super) struct Skills(Vec<Skill>);

#[derive(Debug)]
struct Skill {
    name: String,
    /// The card's path in the pool.
    path: String,
    description: String,
    body: String,
}

impl Skills {
    /// The skills of a pool, in its cards' order. A name is the card's file name, made of small letters, digits and
    /// hyphens; a number tells equal ones apart.
    pub(super) fn of(view: &View) -> Skills {
        let mut taken = HashSet::new();
        let skill = |card: &Card| Skill {
            name: free_name(&card.path, &mut taken),
            path: card.path.clone(),
            description: card.description.split_whitespace().collect::<Vec<_>>().join(" "),
            body: card.body.trim().to_owned(),
        };
        Skills(view.cards.iter().filter(|card| !view.is_general(card)).map(skill).collect())
    }

    /// The digest of what a client shows its model before one is opened.
    pub(super) fn digest(&self) -> String {
        let shown = self.0.iter().flat_map(|skill| [skill.name.as_bytes(), skill.description.as_bytes()]);
        digest::of_parts(shown)
    }

    /// Writes the skills below a folder.
    ///
    /// # Errors
    /// Of I/O, naming the path.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        files::create_dir(folder)?;
        self.0.iter().try_for_each(|skill| {
            let place = folder.join(&skill.name);
            files::create_dir(&place)?;
            let Skill { name, description, body, .. } = skill;
            let text = format!("---\nname: {name}\n{}\n---\n\n{body}\n", front_matter_line(description));
            files::write(&place.join(FILE), text)
        })
    }

    /// The card behind a file, as a path from the client's working folder names it; `folder` is where the skills lie.
    pub(super) fn card(&self, path: &str, folder: &str) -> Option<&str> {
        let name = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(FILE)?.strip_suffix('/')?;
        self.0.iter().find(|skill| skill.name == name).map(|skill| skill.path.as_str())
    }
}

/// A name that no other skill has.
fn free_name(path: &str, taken: &mut HashSet<String>) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".md").unwrap_or(file).to_lowercase();
    let words: Vec<&str> = stem.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(NAME).collect();
    let name = match name.trim_end_matches('-') {
        "" => "card".to_owned(),
        name => name.to_owned(),
    };
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name);
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(description: &str) -> String {
        format!("---\ndescription: {description}\n---\n\n## Rules\n- Do it.\n")
    }

    #[test]
    fn cards_become_skills_with_names_that_clients_take_and_are_found_again() {
        let [a, b] = [card("\"Use when: codes\""), card("Use always.")];
        let skills = Skills::of(&View::of_cards(&[
            ("00_general_rules/always.md", &b),
            ("01_craft_elements/Door Codes.md", &a),
            ("02_genre_specifics/door_codes.md", &a),
            ("02_genre_specifics/éé.md", &a),
        ]));
        let names: Vec<&str> = skills.0.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, ["door-codes", "door-codes-2", "card"]);
        let folder = tempfile::tempdir().unwrap();
        skills.write(folder.path()).unwrap();
        let text = files::read_text(&folder.path().join("door-codes/SKILL.md")).unwrap();
        assert_eq!(text, "---\nname: door-codes\ndescription: \"Use when: codes\"\n---\n\n## Rules\n- Do it.\n");
        let card = |path: &str| skills.card(path, ".claude/skills");
        assert_eq!(card(".claude/skills/door-codes-2/SKILL.md"), Some("02_genre_specifics/door_codes.md"));
        for other in ["door-codes/SKILL.md", ".claude/skills/none/SKILL.md", ".claude/skills/door-codes/x", "/etc/x"] {
            assert_eq!(card(other), None, "{other}");
        }
    }

    #[test]
    fn the_digest_follows_headers_and_not_bodies() {
        let of = |text: &str| Skills::of(&View::of_cards(&[("01_craft_elements/a.md", text)])).digest();
        let plain = card("Use it.");
        assert_eq!(of(&plain), of(&plain.replace("Do it", "Leave it")));
        assert_ne!(of(&plain), of(&card("Use them.")));
    }
}
