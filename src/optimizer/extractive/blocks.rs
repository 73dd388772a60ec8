//! A report's Markdown cut into blocks: list items, table rows and paragraphs, each with the headings above it.

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use super::sentences::{fold, visible};

/// A report is read up to this many bytes.
const MAX_BYTES: usize = 1 << 20;
/// And up to this many blocks.
const MAX_BLOCKS: usize = 4_000;

/// What a block was written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Item,
    Row,
    Paragraph,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) shape: Shape,
    /// The headings above it, outermost first.
    pub(super) headings: Vec<String>,
    /// The line right above a list that leads into it ("The agent did this:"), or the item that it is nested in.
    pub(super) lead: Option<String>,
    /// What stood in bold at its beginning, if anything did.
    pub(super) bold: Option<String>,
    /// Its text, the bold beginning left out; code spans between backticks, paragraphs parted by line feeds.
    pub(super) text: String,
    /// A row's cells with the head of their column.
    pub(super) cells: Vec<(String, String)>,
}

/// What a report holds.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) blocks: Vec<Block>,
    /// Block quotes and code blocks: what was said or written, not advice.
    pub(super) quoted: Vec<String>,
}

struct Frame {
    shape: Option<Shape>,
    /// Where it begins among the blocks: an item ends after the items nested in it.
    order: usize,
    text: String,
    bold: Option<String>,
    bold_from: Option<usize>,
}

#[derive(Default)]
struct Reader {
    report: Report,
    opened: usize,
    orders: Vec<usize>,
    headings: Vec<(u8, String)>,
    frames: Vec<Frame>,
    quoted: Option<(usize, String)>,
    struck: usize,
    heads: Vec<String>,
    cells: Vec<(String, String)>,
    column: usize,
    /// A paragraph that ended in a colon, until a block that it doesn't lead into.
    lead: Option<String>,
    link: Option<String>,
}

/// Cuts a report. Never fails: what is no Markdown is paragraphs.
pub(super) fn read(markdown: &str) -> Report {
    let mut end = markdown.len().min(MAX_BYTES);
    while !markdown.is_char_boundary(end) {
        end -= 1;
    }
    let text = visible(&markdown[..end].replace("\r\n", "\n").replace('\r', "\n"));
    let mut reader = Reader::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    for event in Parser::new_ext(&text, options) {
        if reader.report.blocks.len() >= MAX_BLOCKS {
            break;
        }
        match event {
            Event::Start(tag) => reader.start(&tag),
            Event::End(tag) => reader.end(tag),
            Event::Text(text) => reader.text(&text.replace('`', "")),
            Event::Code(code) => reader.text(&format!("`{}`", code.replace('`', "'"))),
            Event::SoftBreak => reader.text(" "),
            Event::HardBreak => reader.text("\n"),
            _ => {}
        }
    }
    reader.finish()
}

impl Reader {
    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::MetadataBlock(_) => {
                self.quoted.get_or_insert((0, String::new())).0 += 1;
            }
            _ if self.quoted.is_some() => {}
            Tag::Item => self.open(Some(Shape::Item)),
            Tag::Heading { .. } | Tag::TableCell => self.open(None),
            // A paragraph in an item is part of the item.
            Tag::Paragraph if self.frames.is_empty() => self.open(Some(Shape::Paragraph)),
            Tag::Paragraph => self.text("\n"),
            Tag::Link { link_type: LinkType::Inline | LinkType::Reference, dest_url, .. } => {
                self.link = Some(dest_url.to_string());
            }
            Tag::TableHead => (self.column, self.cells, self.heads) = (0, Vec::new(), Vec::new()),
            Tag::TableRow => (self.column, self.cells) = (0, Vec::new()),
            Tag::Strong => {
                if let Some(frame) = self.frames.last_mut() {
                    let first = frame.bold.is_none() && frame.text.chars().all(|c| !c.is_alphabetic());
                    frame.bold_from = first.then_some(frame.text.len());
                }
            }
            Tag::Strikethrough => self.struck += 1,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if let Some((depth, text)) = &mut self.quoted {
            if matches!(tag, TagEnd::BlockQuote(_) | TagEnd::CodeBlock | TagEnd::MetadataBlock(_)) {
                *depth -= 1;
                if *depth == 0 {
                    self.report.quoted.push(std::mem::take(text));
                    self.quoted = None;
                }
            }
            return;
        }
        match tag {
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::Item => self.emit(),
            TagEnd::Paragraph if self.frames.last().is_some_and(|frame| frame.shape == Some(Shape::Paragraph)) => {
                self.emit();
            }
            TagEnd::Paragraph => self.text("\n"),
            TagEnd::TableCell => self.cell(),
            TagEnd::TableHead => {
                self.heads = std::mem::take(&mut self.cells).into_iter().map(|cell| cell.1).collect();
                self.column = 0;
            }
            TagEnd::TableRow => self.row(),
            TagEnd::Strong => {
                if let Some(frame) = self.frames.last_mut()
                    && let Some(from) = frame.bold_from.take()
                {
                    frame.bold = Some(fold(&frame.text[from..]));
                    frame.text.truncate(from);
                }
            }
            TagEnd::Link => {
                // What a link points to is a part of advice to follow it.
                if let Some(link) = self.link.take().filter(|link| link.starts_with("http")) {
                    self.text(&format!(" ({link})"));
                }
            }
            TagEnd::Strikethrough => self.struck = self.struck.saturating_sub(1),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        match (&mut self.quoted, self.frames.last_mut()) {
            (Some((_, quoted)), _) => quoted.push_str(text),
            (None, Some(frame)) if self.struck == 0 => frame.text.push_str(text),
            _ => {}
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let level = level as u8;
        self.lead = None;
        self.headings.retain(|(above, _)| *above < level);
        if let Some(frame) = self.frames.pop() {
            let bold = frame.bold.unwrap_or_default();
            self.headings.push((level, fold(&format!("{bold} {}", frame.text.replace('`', "")))));
        }
    }

    fn open(&mut self, shape: Option<Shape>) {
        self.frames.push(Frame { shape, order: self.opened, text: String::new(), bold: None, bold_from: None });
        self.opened += 1;
    }

    fn emit(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let mut headings: Vec<String> = self.headings.iter().map(|(_, text)| text.clone()).collect();
        headings.extend(self.frames.iter().filter_map(|outer| outer.bold.clone()));
        let Frame { shape: Some(shape), order, text, bold, .. } = frame else {
            return;
        };
        if !text.trim().is_empty() || bold.is_some() {
            let nested = self.frames.iter().rev().map(|outer| outer.text.trim()).find(|text| leads_in(text));
            let lead = nested.map(str::to_owned).or_else(|| self.lead.clone().filter(|_| shape == Shape::Item));
            if shape == Shape::Paragraph {
                let whole = fold(&format!("{} {text}", bold.clone().unwrap_or_default()));
                self.lead = leads_in(&whole).then_some(whole);
            }
            self.report.blocks.push(Block { shape, headings, lead, bold, text, cells: Vec::new() });
            self.orders.push(order);
        }
    }

    fn cell(&mut self) {
        if let Some(frame) = self.frames.pop() {
            let text = fold(&format!("{}{}", frame.bold.unwrap_or_default(), frame.text));
            let head = self.heads.get(self.column).cloned().unwrap_or_default();
            self.column += 1;
            self.cells.push((head, text));
        }
    }

    fn row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let headings = self.headings.iter().map(|(_, text)| text.clone()).collect();
        let lead = self.lead.clone();
        self.report.blocks.push(Block { shape: Shape::Row, headings, lead, bold: None, text: String::new(), cells });
        self.orders.push(self.opened);
    }

    /// The blocks in the order in which they begin.
    fn finish(mut self) -> Report {
        let mut blocks: Vec<(usize, Block)> = self.orders.into_iter().zip(self.report.blocks).collect();
        blocks.sort_by_key(|(order, _)| *order);
        self.report.blocks = blocks.into_iter().map(|(_, block)| block).collect();
        self.report
    }
}

/// Whether a line announces the list below it.
fn leads_in(text: &str) -> bool {
    text.ends_with(':') && text.len() <= 200
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_falls_into_items_rows_and_paragraphs() {
        let report = read(
            "# Loss\n\n## Dialogue\n\nToo flat.\nUse verbs.\n\n- **1. Tags** (wrong). Cut them.\n  - inner `a\"b`\n- plain\n\n\
             | Problem | Fix |\n| --- | --- |\n| **slow** | Cache it. |\n\n> said by the attempt\n\n```\ncode\n",
        );
        insta::assert_debug_snapshot!(
            report
                .blocks
                .iter()
                .map(|block| format!(
                    "{:?} {:?} {:?} {:?} {:?}",
                    block.shape,
                    block.headings,
                    block.bold,
                    block.text.trim(),
                    block.cells
                ))
                .collect::<Vec<_>>()
        );
        assert_eq!(report.quoted, ["said by the attempt", "code\n"]);
    }
}
