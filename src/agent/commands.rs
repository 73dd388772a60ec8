//! Which files a shell command shows to whoever runs it, from its text (and, for searches, its output).

mod finders;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::globs;
use super::programs::{Arg, reader};
use super::reads::{Place, join};
use super::shell::{self, Part, Token, Word};

/// Longer command texts are read only so far.
const TEXT_LIMIT: usize = 256 * 1024;
/// `bash -c` inside `bash -c`, and `$(...)` inside `$(...)`, so deep.
const DEPTH: usize = 4;
/// At most so many arguments come out of one word.
const WORD_LIMIT: usize = 1_000;

/// What is known of how a command went.
pub(super) struct Said<'a> {
    /// Its output, both streams.
    pub(super) output: &'a str,
    /// Whether its exit code is known to be 0.
    pub(super) succeeded: bool,
}

/// The places that a command reads when run in `folder`, in order, and the folder that it ends in.
pub(super) fn read_by(text: &str, folder: &Path, said: &Said) -> (Vec<Place>, PathBuf) {
    let mut run = Run { folder: folder.to_owned(), variables: HashMap::new(), places: Vec::new(), said };
    run.script(text, 0, said.succeeded);
    (run.places, run.folder)
}

struct Run<'a> {
    folder: PathBuf,
    variables: HashMap<String, Vec<Arg>>,
    places: Vec<Place>,
    said: &'a Said<'a>,
}

/// A command between two operators.
#[derive(Default)]
struct Simple {
    words: Vec<Word>,
    /// Files named after `<`.
    inputs: Vec<Word>,
}

impl Run<'_> {
    /// Walks a script; gives the files that its last command lists. `sure`: all of it succeeded.
    fn script(&mut self, text: &str, depth: usize, sure: bool) -> Vec<Place> {
        if depth > DEPTH {
            return Vec::new();
        }
        let tokens = shell::tokens(&text[..text.floor_char_boundary(TEXT_LIMIT)]);
        let end = tokens.iter().rposition(|token| *token != Token::Break).map_or(0, |at| at + 1);
        let tokens = &tokens[..end];
        // An exit code vouches for the last command, and for those before it that `&&` ties to it.
        let vouched = tokens.iter().rposition(|token| *token == Token::Break).map_or(0, |at| at + 1);
        let (mut simple, mut listed, mut folders) = (Simple::default(), None, Vec::new());
        let mut at = 0;
        loop {
            match tokens.get(at) {
                Some(Token::Word(word)) => simple.words.push(word.clone()),
                Some(token @ (Token::ReadFrom | Token::WriteTo | Token::Text)) => {
                    if let Some(Token::Word(word)) = tokens.get(at + 1) {
                        at += 1;
                        if *token == Token::ReadFrom {
                            simple.inputs.push(word.clone());
                        }
                    }
                }
                other => {
                    let piped = other == Some(&Token::Pipe);
                    let vouched = sure && at >= vouched && !piped;
                    let input = listed.take().unwrap_or_default();
                    let output = self.simple(&std::mem::take(&mut simple), input, depth, vouched);
                    match other {
                        Some(Token::Open) => folders.push(self.folder.clone()),
                        Some(Token::Close) => self.folder = folders.pop().unwrap_or_else(|| self.folder.clone()),
                        None => return output,
                        _ => {}
                    }
                    listed = piped.then_some(output);
                }
            }
            at += 1;
        }
    }

    /// One command: notes what it reads, gives the files that it lists.
    fn simple(&mut self, simple: &Simple, piped: Vec<Place>, depth: usize, sure: bool) -> Vec<Place> {
        for input in &simple.inputs {
            let args = self.expand(input, depth);
            self.operands(&args, sure);
        }
        let Some(words) = self.command_words(&simple.words, depth) else {
            return Vec::new();
        };
        if let [name, variable, _, values @ ..] = words
            && name.literal().as_deref() == Some("for")
        {
            let values = values.iter().flat_map(|word| self.expand(word, depth)).collect();
            self.variables.insert(variable.literal().unwrap_or_default(), values);
            return Vec::new();
        }
        let args: Vec<Arg> = words.iter().flat_map(|word| self.expand(word, depth)).collect();
        self.program(&args, piped, depth, sure)
    }

    /// The words from the program's name on; assignments before it are noted.
    fn command_words<'w>(&mut self, words: &'w [Word], depth: usize) -> Option<&'w [Word]> {
        const BEFORE: [&str; 17] = [
            "do", "then", "else", "elif", "if", "while", "until", "{", "!", "time", "sudo", "env", "command", "exec",
            "nohup", "export", "builtin",
        ];
        let mut rest = words;
        loop {
            let (first, after) = rest.split_first()?;
            let name = first.literal().unwrap_or_default();
            if let Some(Part::Text { text, quoted: false }) = first.0.first()
                && let Some((name, value)) = text.split_once('=')
                && !name.is_empty()
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            {
                let mut word = first.clone();
                word.0[0] = Part::Text { text: value.to_owned(), quoted: false };
                let values = self.expand(&word, depth);
                self.variables.insert(name.to_owned(), values);
            } else if name == "timeout" {
                let skip = after.iter().take_while(|word| word.literal().is_some_and(|w| w.starts_with('-'))).count();
                rest = after.get(skip + 1..)?;
                continue;
            } else if !BEFORE.contains(&name.as_str()) {
                return Some(rest);
            }
            rest = after;
        }
    }

    /// What a word becomes; unknown variables make it nothing.
    fn expand(&mut self, word: &Word, depth: usize) -> Vec<Arg> {
        if let [Part::Command(text)] = word.0.as_slice() {
            return self.script(text, depth + 1, false).into_iter().map(Arg::Place).collect();
        }
        let mut out = vec![String::new()];
        for part in &word.0 {
            let choices: Vec<String> = match part {
                Part::Text { text, quoted: true } => vec![globs::escape(text)],
                Part::Text { text, quoted: false } => vec![text.clone()],
                Part::Variable(name) if name == "PWD" => vec![globs::escape(&self.folder.to_string_lossy())],
                Part::Variable(name) => match self.variables.get(name) {
                    Some(values) if word.0.iter().filter(|part| !is_empty(part)).count() == 1 => {
                        return values.clone();
                    }
                    Some(values) => values.iter().filter_map(Arg::text).map(str::to_owned).collect(),
                    None => Vec::new(),
                },
                Part::Command(text) => {
                    self.script(text, depth + 1, false);
                    Vec::new()
                }
            };
            out = out
                .iter()
                .flat_map(|before| choices.iter().map(move |choice| format!("{before}{choice}")))
                .take(WORD_LIMIT)
                .collect();
        }
        out.iter().flat_map(|pattern| globs::braces(pattern)).map(Arg::Text).collect()
    }

    fn program(&mut self, args: &[Arg], piped: Vec<Place>, depth: usize, sure: bool) -> Vec<Place> {
        let Some((name, args)) = args.split_first() else {
            return Vec::new();
        };
        let name = name.plain();
        let name = name.rsplit('/').next().unwrap_or_default();
        match name {
            "cd" | "pushd" => {
                if let Some(Arg::Text(to)) = args.iter().find(|arg| !arg.is_option()) {
                    self.folder = join(&self.folder, globs::unescape(to));
                }
            }
            "bash" | "sh" | "zsh" | "dash" | "ash" | "ksh" => self.shell(args, depth, sure),
            "xargs" => return self.xargs(args, piped),
            "find" | "fd" | "fdfind" => return self.find(name, args),
            "git" => return self.git(args, sure),
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => self.search(name, args, sure),
            "read" => {
                let names = args.iter().filter(|arg| !arg.is_option());
                let listed: Vec<Arg> = piped.into_iter().map(Arg::Place).collect();
                names.for_each(|name| {
                    self.variables.insert(name.plain(), listed.clone());
                });
            }
            "ls" | "echo" | "printf" => {
                return args.iter().filter(|arg| !arg.is_option()).filter_map(|arg| self.place(arg, false)).collect();
            }
            "sort" | "uniq" | "tr" if args.iter().all(Arg::is_option) => return piped,
            _ => {
                if let Some(reader) = reader(name) {
                    let operands = reader.operands(args);
                    self.operands(&operands, sure);
                }
            }
        }
        Vec::new()
    }

    fn shell(&mut self, args: &[Arg], depth: usize, sure: bool) {
        let flag = args.iter().position(|arg| {
            let text = arg.plain();
            text.starts_with('-') && !text.starts_with("--") && text.contains('c')
        });
        if let Some(text) = flag.and_then(|at| args.get(at + 1)) {
            let folder = self.folder.clone();
            self.script(&text.plain(), depth + 1, sure);
            if depth > 0 {
                self.folder = folder;
            }
        }
    }

    fn operands(&mut self, args: &[Arg], sure: bool) {
        let places: Vec<Place> = args.iter().filter_map(|arg| self.place(arg, sure)).collect();
        self.places.extend(places);
    }

    fn place(&self, arg: &Arg, sure: bool) -> Option<Place> {
        Some(match arg {
            Arg::Place(place) => place.clone(),
            Arg::Text(text) if text.is_empty() || text == "-" => return None,
            Arg::Text(text) if globs::is_glob(text) => {
                // Only the pattern's own part is special, not the folder it is in.
                let folder =
                    if text.starts_with('/') { String::new() } else { globs::escape(&self.folder.to_string_lossy()) };
                Place::Glob(join(Path::new("/"), format!("{folder}/{text}")).to_string_lossy().into_owned())
            }
            Arg::Text(text) => Place::File { path: join(&self.folder, globs::unescape(text)), sure },
        })
    }
}

fn is_empty(part: &Part) -> bool {
    matches!(part, Part::Text { text, .. } if text.is_empty())
}
