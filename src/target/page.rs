//! What a chat model is told of a pool: its system text, whole or as headers, bounded and always in the same order.

use std::fmt::Write as _;

use super::View;
use crate::ground::error::Result;
use crate::ground::prompts::Prompts;
use crate::pool::card::Card;
use crate::pool::headers::{estimate_tokens, headers};

/// How a pool is put before a chat model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every card's rules in the prompt.
    Inline,
    /// General cards' rules and all headers in the prompt; the other cards are opened by a tool.
    Routed,
}

impl Mode {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Inline => "inline",
            Mode::Routed => "routed",
        }
    }
}

/// A system text and what of the pool went into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// The text; empty when there is nothing to say.
    pub(super) text: String,
    /// The cards whose rules are in it.
    pub(super) read: Vec<String>,
    /// Cards that were to be in it and did not fit.
    pub(super) cut: usize,
}

/// Makes the system text. `budget` is in tokens, for the cards' rules and for the headers each; cards that do not fit
/// are left out in their order, general ones last.
pub(super) fn page(view: &View, mode: Mode, system: &str, budget: usize, prompts: &Prompts) -> Result<Page> {
    // The profile's order has general folders wherever its author put them; here they come first.
    let (general, others): (Vec<&Card>, Vec<&Card>) = view.cards.iter().partition(|card| view.is_general(card));
    let shown = general.into_iter().chain(others.iter().copied().filter(|_| mode == Mode::Inline));
    let Rules { text: cards, read, cut } = rules_of(shown, budget);
    let mut page = Page { text: String::new(), read, cut };
    let mut heads = String::new();
    if mode == Mode::Routed && !others.is_empty() {
        let others: Vec<Card> = others.into_iter().cloned().collect();
        let made = headers(&view.profile, &others, Some(budget), None);
        page.cut += made.cut;
        heads = made.text;
    }
    let slots = [("system", system.trim().to_owned()), ("cards", cards), ("headers", heads.trim_end().to_owned())];
    page.text = prompts.render("target", &slots)?.trim().to_owned();
    Ok(page)
}

/// Cards' rules as they stand in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    /// The text; empty when there is no card.
    pub(super) text: String,
    /// The cards in it.
    pub(super) read: Vec<String>,
    /// Cards that did not fit.
    pub(super) cut: usize,
}

/// The rules of these cards in their order, at most `budget` tokens of them.
pub(super) fn rules_of<'c>(cards: impl Iterator<Item = &'c Card>, budget: usize) -> Rules {
    let mut rules = Rules { text: String::new(), read: Vec::new(), cut: 0 };
    for card in cards {
        let item = item(card);
        if estimate_tokens(&rules.text) + estimate_tokens(&item) > budget {
            rules.cut += 1;
            continue;
        }
        rules.text.push_str(&item);
        rules.read.push(card.path.clone());
    }
    rules.text.truncate(rules.text.trim_end().len());
    rules
}

/// A card in the prompt: what it is for, and its rules without their heading, which every card shares.
fn item(card: &Card) -> String {
    let when = card.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(text, "# {when}\n\n{}\n\n", rules(card));
    text
}

/// A card's body without its first heading.
fn rules(card: &Card) -> &str {
    let body = card.body.trim();
    match body.split_once('\n') {
        Some((first, rest)) if first.starts_with("## ") => rest.trim(),
        _ => body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        let card = |when: &str, rule: &str| format!("---\ndescription: {when}\n---\n\n## Rules\n- {rule}\n");
        let (a, b, c) = (card("Codes.", "It is 4711."), card("Always.", "Be brief."), card("Names.", "It is Ada."));
        View::of_cards(&[
            ("01_craft_elements/codes.md", &a),
            ("00_general_rules/brief.md", &b),
            ("01_craft_elements/names.md", &c),
        ])
    }

    fn made(mode: Mode, budget: usize) -> Page {
        page(&view(), mode, "Answer.", budget, &Prompts::default()).unwrap()
    }

    #[test]
    fn inline_holds_every_card_general_ones_first() {
        let page = made(Mode::Inline, 1_000);
        insta::assert_snapshot!(page.text, @r"
        Answer.

        What holds here, card by card. Follow what fits the task.

        # Always.

        - Be brief.

        # Codes.

        - It is 4711.

        # Names.

        - It is Ada.
        ");
        assert_eq!(
            page.read,
            ["00_general_rules/brief.md", "01_craft_elements/codes.md", "01_craft_elements/names.md"]
        );
    }

    #[test]
    fn routed_holds_general_cards_and_the_others_headers() {
        let page = made(Mode::Routed, 1_000);
        assert_eq!(page.read, ["00_general_rules/brief.md"]);
        assert!(page.text.contains("`01_craft_elements/codes.md`: Codes.") && !page.text.contains("4711"), "{page:?}");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let page = made(Mode::Inline, 10);
        assert_eq!((page.read.len(), page.cut), (1, 2));
    }

    #[test]
    fn an_empty_pool_and_no_system_text_say_nothing() {
        let page = page(&View::of_cards(&[]), Mode::Routed, "", 100, &Prompts::default()).unwrap();
        assert_eq!((page.text.as_str(), page.cut), ("", 0));
    }
}
