//! The headers: what an agent sees of a pool before it opens a card. Each folder's purpose, each card's description.

use std::fmt::Write as _;

use super::card::Card;
use super::profile::Profile;

/// Bytes a token, as an estimate that holds for prose; no vocabulary matches every model.
const BYTES_A_TOKEN: usize = 4;

/// A relevance: the higher, the sooner a card is shown when not all fit.
pub type Scores<'s> = &'s dyn Fn(&Card) -> f64;

/// The headers of a pool, cut to a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headers {
    /// Markdown: a section a folder, a list item a card, and at the end what was cut.
    pub text: String,
    /// Cards in the text.
    pub shown: usize,
    /// Cards left out.
    pub cut: usize,
}

/// An estimate of how many tokens a text costs: a quarter of its bytes, rounded up.
pub fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_A_TOKEN)
}

/// The headers of these cards, folders in the profile's order and cards in path order.
///
/// When they cost more than `budget` tokens (by [`estimate_tokens`]) as many cards as fit are kept, those with the
/// highest of `scores` first, or without it in path order; what is left out is said, folder by folder. The folders
/// themselves are always there. Deterministic: equal scores, and scores that are no number, go in path order.
pub fn headers(profile: &Profile, cards: &[Card], budget: Option<usize>, scores: Option<Scores<'_>>) -> Headers {
    let mut sorted: Vec<&Card> = cards.iter().collect();
    sorted.sort_by(|left, right| left.path.cmp(&right.path));
    let kept = match budget {
        Some(budget) if estimate_tokens(&render(profile, &sorted, &sorted)) > budget => {
            choose(profile, &sorted, budget, scores)
        }
        _ => sorted.clone(),
    };
    Headers { text: render(profile, &sorted, &kept), shown: kept.len(), cut: sorted.len() - kept.len() }
}

/// The cards that fit, in path order.
fn choose<'c>(profile: &Profile, sorted: &[&'c Card], budget: usize, scores: Option<Scores<'_>>) -> Vec<&'c Card> {
    let mut ranked: Vec<(f64, usize)> = sorted
        .iter()
        .enumerate()
        .map(|(index, card)| (scores.map_or(0.0, |score| score(card)), index))
        .map(|(score, index)| (if score.is_nan() { f64::NEG_INFINITY } else { score }, index))
        .collect();
    ranked.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    // Folders (an empty line each) and the note of what is cut come first; it is longest when nothing is shown.
    let bare = render(profile, sorted, &[]).len() + sections(profile, sorted).len();
    let mut left = budget.saturating_mul(BYTES_A_TOKEN).saturating_sub(bare);
    let mut kept = Vec::new();
    for (_, index) in ranked {
        let cost = item(sorted[index]).len();
        if cost <= left {
            left -= cost;
            kept.push(index);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|index| sorted[index]).collect()
}

fn render(profile: &Profile, all: &[&Card], kept: &[&Card]) -> String {
    let mut text = String::new();
    let mut cut = Vec::new();
    for (folder, purpose) in sections(profile, all) {
        let inside = |card: &&&Card| folder_of(card) == folder;
        let shown: Vec<&&Card> = kept.iter().filter(inside).collect();
        let count = all.iter().filter(inside).count();
        if !text.is_empty() {
            text.push('\n');
        }
        let name = if folder.is_empty() { "Outside the folders" } else { folder };
        let _ = writeln!(text, "## {name}\n{purpose}");
        if !shown.is_empty() || count == 0 {
            text.push('\n');
        }
        shown.iter().for_each(|card| text.push_str(&item(card)));
        if count == 0 {
            text.push_str("No cards yet.\n");
        }
        if shown.len() < count {
            cut.push(format!("{} of {count} in {name}", count - shown.len()));
        }
    }
    if !cut.is_empty() {
        let _ =
            write!(text, "\nNot shown, for length: {}. Their files are there to be listed and read.\n", cut.join(", "));
    }
    text
}

/// The folders to show with their purposes: the profile's, then any other that cards lie in.
fn sections<'a>(profile: &'a Profile, cards: &[&'a Card]) -> Vec<(&'a str, &'a str)> {
    let known = profile.folders.iter().map(|folder| (folder.path.as_str(), folder.purpose.as_str()));
    let mut sections: Vec<(&str, &str)> = known.collect();
    for card in cards {
        let folder = folder_of(card);
        if !sections.iter().any(|(known, _)| *known == folder) {
            sections.push((folder, "Not a folder of this pool's profile."));
        }
    }
    sections
}

fn folder_of(card: &Card) -> &str {
    card.path.split_once('/').map_or("", |(folder, _)| folder)
}

/// One card's line; a description of several lines becomes one.
fn item(card: &Card) -> String {
    let description: Vec<&str> = card.description.split_whitespace().collect();
    format!("- `{}`: {}\n", card.path, description.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(path: &str, description: &str) -> Card {
        Card { path: path.into(), description: description.into(), body: String::new() }
    }

    fn some() -> Vec<Card> {
        vec![
            card("01_craft_elements/b.md", "Use when a question asks\nfor a code."),
            card("01_craft_elements/a.md", "Use when a question asks for a name."),
            card("00_general_rules/answering.md", "Read for every question."),
        ]
    }

    #[test]
    fn folders_in_profile_order_and_cards_in_path_order() {
        let headers = headers(&Profile::default_rules(), &some(), None, None);
        insta::assert_snapshot!(headers.text, @r"
        ## 00_general_rules
        Principles that hold for every task. Always read.

        - `00_general_rules/answering.md`: Read for every question.

        ## 01_craft_elements
        How to do one component of a task. Read on demand, when the description fits.

        - `01_craft_elements/a.md`: Use when a question asks for a name.
        - `01_craft_elements/b.md`: Use when a question asks for a code.

        ## 02_genre_specifics
        Rules that hold only inside one kind of work. Read only for that kind.

        No cards yet.
        ");
        assert_eq!((headers.shown, headers.cut), (3, 0));
    }

    #[test]
    fn above_the_budget_the_relevant_ones_stay_and_the_rest_is_said() {
        let (profile, mut cards) = (Profile::default_rules(), some());
        cards.extend(
            ["c", "d", "e"].map(|name| card(&format!("01_craft_elements/{name}.md"), &"Use when asked. ".repeat(5))),
        );
        let all = estimate_tokens(&headers(&profile, &cards, None, None).text);
        assert_eq!(headers(&profile, &cards, Some(all), None).cut, 0);
        let scores = |card: &Card| if card.path.ends_with("b.md") { 2.0 } else { f64::NAN };
        let cut = headers(&profile, &cards, Some(130), Some(&scores));
        insta::assert_snapshot!(cut.text, @r"
        ## 00_general_rules
        Principles that hold for every task. Always read.

        ## 01_craft_elements
        How to do one component of a task. Read on demand, when the description fits.

        - `01_craft_elements/b.md`: Use when a question asks for a code.

        ## 02_genre_specifics
        Rules that hold only inside one kind of work. Read only for that kind.

        No cards yet.

        Not shown, for length: 1 of 1 in 00_general_rules, 4 of 5 in 01_craft_elements. Their files are there to be listed and read.
        ");
        assert!(estimate_tokens(&cut.text) <= 130);
    }

    #[test]
    fn a_budget_too_small_for_any_card_still_names_the_folders() {
        let none = headers(&Profile::default_rules(), &some(), Some(1), None);
        assert_eq!((none.shown, none.cut), (0, 3));
        assert!(none.text.contains("Not shown, for length: 1 of 1 in 00_general_rules, 2 of 2 in 01_craft_elements."));
    }

    #[test]
    fn a_card_outside_the_profile_is_not_lost() {
        let text = headers(&Profile::default_rules(), &[card("odd/x.md", "d"), card("y.md", "e")], None, None).text;
        assert!(text.contains("## odd\n") && text.contains("`y.md`: e"), "{text}");
    }
}
