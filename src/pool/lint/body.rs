//! A card's body: its one heading, what stands before it, whether anything stands after it.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use super::Found;
use super::fold::{Lines, line_at};
use super::front_matter::is_placeholder;
use super::hidden::quote;
use crate::pool::profile::Profile;

/// A second-level heading.
struct Heading {
    at: Range<usize>,
    text: String,
}

/// What a walk over the Markdown gathers.
#[derive(Default)]
struct Walk {
    headings: Vec<Heading>,
    /// Headings of other levels, for hints.
    others: Vec<Heading>,
    /// Byte offsets of comments and other markup that is not shown.
    unshown: Vec<usize>,
    /// Byte offsets of link definitions that no link uses.
    unused: Vec<usize>,
    /// Whether something is said after the first second-level heading.
    says: bool,
}

/// Checks the body, which begins on line `first_line` of the file.
pub(super) fn check(profile: &Profile, body: &str, first_line: usize, found: &mut Found<'_>) {
    let line = |at: usize| first_line - 1 + line_at(body, at);
    let walk = walk(profile, body);
    let heading = profile.card.heading.as_str();
    first_heading(&walk, body, heading, &line, found);
    extra_headings(walk.headings.get(1..).unwrap_or_default(), body, first_line, found);
    if let Some(first) = walk.headings.first() {
        let before = &body[..first.at.start];
        if !before.trim().is_empty() {
            let at = before.len() - before.trim_start().len();
            let hint = format!("move it below `## {heading}`");
            found.add("text-before-heading", line(at), format!("text before `## {heading}`"), hint);
        }
        if !walk.says {
            let hint = "write the rule in plain language, or delete the card";
            found.add("rules-empty", line(first.at.start), format!("nothing is said under `## {heading}`"), hint);
        }
    }
    let mut lines = Lines::new(body);
    for at in &walk.unshown {
        let hint = "remove it, or write it as plain text: a reader must see all that a model reads";
        found.add("html-comment", first_line - 1 + lines.at(*at), "a comment or markup that is not shown", hint);
    }
    let mut lines = Lines::new(body);
    for at in &walk.unused {
        let hint = "remove it: a reader must see all that a model reads";
        let line = first_line - 1 + lines.at(*at);
        found.add("markdown-comment", line, "a link definition that no link uses, as comments are written", hint);
    }
    let (limit, chars) = (profile.limits.max_body_chars, body.chars().count());
    if chars > limit {
        let message = format!("the body has {chars} characters, above the limit of {limit}");
        found.add("body-too-long", first_line, message, "shorten it, or split it into two cards");
    }
}

/// The heading that every card has, or the want of it.
fn first_heading(walk: &Walk, body: &str, wanted: &str, line: &impl Fn(usize) -> usize, found: &mut Found<'_>) {
    let Some(first) = walk.headings.first() else {
        let like = |other: &&Heading| other.text.trim().eq_ignore_ascii_case(wanted);
        let hint = match walk.others.iter().find(like) {
            Some(other) => {
                format!("the heading on line {} must be a second-level one: `## {wanted}`", line(other.at.start))
            }
            None => format!("put `## {wanted}` on a line of its own before the rules"),
        };
        return found.add("heading-missing", line(0), format!("there is no `## {wanted}` heading"), hint);
    };
    let source = body[first.at.clone()].trim();
    if first.text.trim() != wanted {
        let message = format!("the heading is {}, not \"{wanted}\"", quote(&first.text));
        found.add("heading-wrong", line(first.at.start), message, format!("write `## {wanted}`"));
    } else if source.strip_prefix("##").map(str::trim) != Some(wanted) {
        let message = format!("the heading is written as {}", quote(source));
        found.add("heading-wrong", line(first.at.start), message, format!("write it as `## {wanted}`"));
    }
}

/// Second-level headings after the first.
fn extra_headings(extra: &[Heading], body: &str, first_line: usize, found: &mut Found<'_>) {
    let mut lines = Lines::new(body);
    for extra in extra {
        let setext = !body[extra.at.clone()].trim_start().starts_with('#');
        let hint = if setext {
            "a line of dashes makes the line above it a heading: put an empty line between them"
        } else {
            "make it a third-level heading or bold text, or split the card in two"
        };
        let message = format!("a second second-level heading: {}", quote(&extra.text));
        found.add("heading-extra", first_line - 1 + lines.at(extra.at.start), message, hint);
    }
}

fn walk(profile: &Profile, body: &str) -> Walk {
    let mut walk = Walk::default();
    let mut events = Parser::new_ext(body, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES).into_offset_iter();
    let mut used: Vec<String> = Vec::new();
    let has_definitions = events.reference_definitions().iter().next().is_some();
    let mut heading: Option<(HeadingLevel, Heading)> = None;
    let mut block = String::new();
    for (event, at) in events.by_ref() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some((level, Heading { at, text: String::new() }));
            }
            Event::End(TagEnd::Heading(_)) => match heading.take() {
                Some((HeadingLevel::H2, done)) => walk.headings.push(done),
                Some((_, done)) => walk.others.push(done),
                None => {}
            },
            Event::Start(Tag::Link { link_type, id, .. } | Tag::Image { link_type, id, .. })
                if has_definitions && !matches!(link_type, LinkType::Inline | LinkType::Autolink | LinkType::Email) =>
            {
                used.push(id.into_string());
            }
            Event::Text(text) | Event::Code(text) => match &mut heading {
                Some((_, heading)) => heading.text.push_str(&text),
                None if !walk.says && !walk.headings.is_empty() => block.push_str(&text),
                None => {}
            },
            Event::SoftBreak | Event::HardBreak if !walk.says => block.push(' '),
            Event::Html(html) | Event::InlineHtml(html) if is_unshown(&html) => walk.unshown.push(at.start),
            Event::End(_) if !walk.says && !block.is_empty() => {
                walk.says = !is_placeholder(profile, &block) && block.chars().any(char::is_alphanumeric);
                // Inline ends come before the block's own: keep what was gathered until then.
                if ends_block(&event) {
                    block.clear();
                }
            }
            _ => {}
        }
    }
    if has_definitions {
        walk.unused = unused(&events, &used);
    }
    walk
}

fn ends_block(event: &Event<'_>) -> bool {
    !matches!(
        event,
        Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image | TagEnd::Strikethrough)
    )
}

fn unused<'b>(events: &pulldown_cmark::OffsetIter<'b>, used: &[String]) -> Vec<usize> {
    let fold = |label: &str| label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let used: std::collections::BTreeSet<String> = used.iter().map(|id| fold(id)).collect();
    let definitions = events.reference_definitions();
    let mut unused: Vec<usize> =
        definitions.iter().filter(|(label, _)| !used.contains(&fold(label))).map(|(_, it)| it.span.start).collect();
    unused.sort_unstable();
    unused
}

/// Whether a piece of HTML holds what a rendered page does not show.
fn is_unshown(html: &str) -> bool {
    const TAGS: &[&str] = &["<script", "<style", "<template", "<noscript", "<head", "<title"];
    let html = html.trim_start().to_ascii_lowercase();
    if html.starts_with("<!") || html.contains("<!--") || html.contains("<?") {
        return true;
    }
    let squeezed: String = html.chars().filter(|char| !char.is_whitespace()).collect();
    let styled = ["display:none", "visibility:hidden", "font-size:0", "opacity:0", "color:transparent"];
    let attribute =
        || html.split(['<', ' ', '\n', '\t', '>', '/']).any(|word| word == "hidden" || word.starts_with("hidden="));
    TAGS.iter().any(|tag| html.contains(tag)) || styled.iter().any(|style| squeezed.contains(style)) || attribute()
}
