//! A tolerant reader of shell command lines: words with their quoting, operators, redirections.
//!
//! It runs nothing and never fails: an agent's command text is a hint of what was read, and half a hint is
//! still one. What it does not know it passes over.

/// A part of a word, in the order in which they are glued together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Text as it stands; unquoted text may hold glob characters.
    Text { text: String, quoted: bool },
    /// `$NAME` or `${NAME}`.
    Variable(String),
    /// `$(...)` or backquotes: the command text inside.
    Command(String),
}

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word(pub(super) Vec<Part>);

impl Word {
    /// The word when it is plain text, quoting removed.
    pub(super) fn literal(&self) -> Option<String> {
        self.0
            .iter()
            .map(|part| match part {
                Part::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    fn push(&mut self, added: &str, quoted: bool) {
        match self.0.last_mut() {
            Some(Part::Text { text, quoted: same }) if *same == quoted => text.push_str(added),
            _ => self.0.push(Part::Text { text: added.to_owned(), quoted }),
        }
    }
}

/// A word or what stands between words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    /// `&&`
    And,
    /// `||`, `;`, `&`, a line's end: what comes before may have failed unseen.
    Break,
    /// `|` or `|&`
    Pipe,
    Open,
    Close,
    /// `<`: the next word is a file that is read.
    ReadFrom,
    /// `>`, `>>` and their kin: the next word is a file that is written, or a descriptor.
    WriteTo,
    /// `<<<`: the next word is text, not a file.
    Text,
}

/// The tokens of a command line; here-documents, comments and unfinished quotes are passed over.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0, out: Vec::new(), pending: Vec::new() };
    reader.run();
    reader.out
}

/// Splits a program with its arguments as a shell would, without running one. `None` when a quote is left
/// open, or when the text holds something only a shell can do.
pub(super) fn split(text: &str) -> Option<Vec<String>> {
    if !quotes_close(text) {
        return None;
    }
    let words: Option<Vec<String>> = tokens(text)
        .into_iter()
        .map(|token| match token {
            Token::Word(word) => word.literal(),
            _ => None,
        })
        .collect();
    words.filter(|words| !words.is_empty())
}

fn quotes_close(text: &str) -> bool {
    let mut open = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (open, c) {
            (None, '\'' | '"') => open = Some(c),
            (Some(quote), c) if quote == c => open = None,
            (None | Some('"'), '\\') if chars.next().is_none() => return false,
            _ => {}
        }
    }
    open.is_none()
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    out: Vec<Token>,
    /// Here-documents announced on this line: their last line, and whether leading tabs are ignored.
    pending: Vec<(String, bool)>,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek(0) == Some(wanted);
        self.at += usize::from(there);
        there
    }

    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                '\n' => {
                    self.at += 1;
                    self.skip_documents();
                    self.out.push(Token::Break);
                }
                c if c.is_whitespace() => self.at += 1,
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '&' | '|' | ';' | '(' | ')' | '<' | '>' => self.operator(),
                _ => {
                    let word = self.word();
                    // A number glued to a redirection is its descriptor.
                    let descriptor = matches!(self.peek(0), Some('<' | '>'))
                        && word.literal().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()));
                    if !descriptor {
                        self.out.push(Token::Word(word));
                    }
                }
            }
        }
    }

    fn operator(&mut self) {
        let token = match self.take() {
            Some('&') if self.eat('&') => Token::And,
            Some('&') if self.peek(0) == Some('>') => {
                self.at += 1;
                self.eat('>');
                Token::WriteTo
            }
            Some('|') if self.eat('|') => Token::Break,
            Some('|') => {
                self.eat('&');
                Token::Pipe
            }
            Some('(') => Token::Open,
            Some(')') => Token::Close,
            Some('<') => match self.less() {
                Some(token) => token,
                None => return,
            },
            Some('>') => {
                let _ = self.eat('>') || self.eat('|') || self.eat('&');
                Token::WriteTo
            }
            _ => Token::Break,
        };
        self.out.push(token);
    }

    /// What follows a `<`; `None` for a here-document, whose text is passed over at the line's end.
    fn less(&mut self) -> Option<Token> {
        if self.peek(0) == Some('(') {
            // Process substitution: what is inside runs as a command of its own.
            return Some(Token::Break);
        }
        if self.eat('&') {
            return Some(Token::WriteTo);
        }
        if !self.eat('<') {
            self.eat('>');
            return Some(Token::ReadFrom);
        }
        if self.eat('<') {
            return Some(Token::Text);
        }
        let tabs = self.eat('-');
        while self.peek(0).is_some_and(|c| c == ' ' || c == '\t') {
            self.at += 1;
        }
        let end = self.word().literal().unwrap_or_default();
        self.pending.push((end, tabs));
        None
    }

    fn skip_documents(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.pending) {
            while self.at < self.chars.len() {
                let start = self.at;
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
                let line: String = self.chars[start..self.at].iter().collect();
                self.at += 1;
                if (if tabs { line.trim_start_matches('\t') } else { &line }) == end {
                    break;
                }
            }
            self.at = self.at.min(self.chars.len());
        }
    }

    fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(c) = self.peek(0) {
            match c {
                c if c.is_whitespace() || "&|;()<>".contains(c) => break,
                '\\' => {
                    self.at += 1;
                    match self.take() {
                        Some('\n') | None => {}
                        Some(c) => word.push(c.encode_utf8(&mut [0; 4]), true),
                    }
                }
                '\'' => {
                    self.at += 1;
                    let text = self.until('\'');
                    word.push(&text, true);
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut word);
                }
                '$' | '`' => self.expansion(&mut word, false),
                c => {
                    self.at += 1;
                    word.push(c.encode_utf8(&mut [0; 4]), false);
                }
            }
        }
        word
    }

    fn double_quoted(&mut self, word: &mut Word) {
        word.push("", true);
        while let Some(c) = self.peek(0) {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    match self.take() {
                        Some('\n') | None => {}
                        Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c.encode_utf8(&mut [0; 4]), true),
                        Some(c) => word.push(&format!("\\{c}"), true),
                    }
                }
                '$' | '`' => self.expansion(word, true),
                c => {
                    self.at += 1;
                    word.push(c.encode_utf8(&mut [0; 4]), true);
                }
            }
        }
    }

    fn expansion(&mut self, word: &mut Word, quoted: bool) {
        if self.eat('`') {
            let text = self.until('`');
            word.0.push(Part::Command(text));
            return;
        }
        self.at += 1;
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                let text = self.nested();
                word.0.push(Part::Command(text));
            }
            Some('{') => {
                self.at += 1;
                let text = self.until('}');
                let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
                word.0.push(Part::Variable(text[..end].to_owned()));
            }
            Some(c) if c.is_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.at += 1;
                }
                word.0.push(Part::Variable(name));
            }
            _ => word.push("$", quoted),
        }
    }

    fn until(&mut self, end: char) -> String {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c != end) {
            self.at += 1;
        }
        let text = self.chars[start..self.at].iter().collect();
        self.at = (self.at + 1).min(self.chars.len());
        text
    }

    /// The text up to the bracket that closes this one; quotes inside may hold brackets.
    fn nested(&mut self) -> String {
        let (start, mut depth) = (self.at, 1);
        while let Some(c) = self.take() {
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => return self.chars[start..self.at - 1].iter().collect(),
                ')' => depth -= 1,
                '\\' => self.at = (self.at + 1).min(self.chars.len()),
                '\'' => {
                    self.until('\'');
                }
                _ => {}
            }
        }
        self.chars[start..].iter().collect()
    }
}

#[cfg(test)]
mod tests;
