//! Which files a shell command shows to whoever runs it, from its text (and, for searches, its output).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::globs;
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

/// An argument of a command, expanded.
#[derive(Debug, Clone)]
enum Arg {
    /// A pattern in which quoted special characters are escaped.
    Text(String),
    /// Output of another command that lists files.
    Place(Place),
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

    fn xargs(&mut self, args: &[Arg], piped: Vec<Place>) -> Vec<Place> {
        let inner = args.iter().map(Arg::plain).find(|name| reader(name).is_some());
        if inner.is_some() {
            self.places.extend(piped);
        }
        Vec::new()
    }

    fn find(&mut self, name: &str, args: &[Arg]) -> Vec<Place> {
        if name != "find" {
            return Vec::new();
        }
        let texts: Vec<String> = args.iter().map(Arg::plain).collect();
        let after = |flag: &'static str| {
            texts.iter().zip(args.iter().skip(1)).filter(move |(text, _)| *text == flag).map(|(_, arg)| arg)
        };
        // The pattern is quoted, so that its characters stand escaped: they are special to find all the same.
        let names: Vec<String> = after("-name").chain(after("-iname")).map(Arg::plain).collect();
        let starts = texts.iter().take_while(|text| !text.starts_with('-') && *text != "(" && *text != "!");
        let mut folders: Vec<PathBuf> = starts.map(|start| join(&self.folder, start)).collect();
        if folders.is_empty() {
            folders.push(self.folder.clone());
        }
        let found: Vec<Place> =
            folders.into_iter().map(|folder| Place::Below { folder, names: names.clone() }).collect();
        if after("-exec").chain(after("-execdir")).any(|program| reader(&program.plain()).is_some()) {
            self.places.extend(found.iter().cloned());
        }
        found
    }

    fn git(&mut self, args: &[Arg], sure: bool) -> Vec<Place> {
        let mut folder = self.folder.clone();
        let mut rest = args.iter();
        let command = loop {
            let Some(arg) = rest.next() else {
                return Vec::new();
            };
            match arg.plain().as_str() {
                "-C" => folder = join(&folder, rest.next().map(Arg::plain).unwrap_or_default()),
                "-c" => drop(rest.next()),
                text if text.starts_with('-') => {}
                text => break text.to_owned(),
            }
        };
        match command.as_str() {
            "show" | "cat-file" => {
                for arg in rest.map(Arg::plain).filter(|arg| !arg.starts_with('-')) {
                    let Some((_, path)) = arg.split_once(':').filter(|(_, path)| !path.is_empty()) else {
                        continue;
                    };
                    let from = if path.starts_with('.') { folder.clone() } else { top(&folder) };
                    self.places.push(Place::File { path: join(&from, path), sure });
                }
            }
            "grep" => self.shown(&folder),
            "ls-files" => {
                let names = rest.filter(|arg| !arg.is_option()).map(Arg::plain).collect();
                return vec![Place::Below { folder, names }];
            }
            _ => {}
        }
        Vec::new()
    }

    /// A search reads the one file that it is given; of several, those whose lines it shows.
    fn search(&mut self, name: &str, args: &[Arg], sure: bool) {
        let silent = |text: &str| {
            matches!(text, "--files-with-matches" | "--files-without-match" | "--count" | "--files" | "--quiet")
                || text.starts_with('-') && !text.starts_with("--") && text.contains(['l', 'L', 'c', 'q'])
        };
        if args.iter().any(|arg| silent(&arg.plain())) {
            return;
        }
        let reader =
            Reader { skip: 1, script: &["-e", "-f", "--regexp", "--file"], valued: SEARCH_VALUES, edits: false };
        let operands = reader.operands(args);
        let recursive = args.iter().map(Arg::plain).any(|text| {
            text == "--recursive" || text.starts_with('-') && !text.starts_with("--") && text.contains(['r', 'R'])
        });
        match operands.as_slice() {
            [Arg::Text(one)] if !globs::is_glob(one) && !recursive => {
                if let Some(Place::File { path, .. }) = self.place(&operands[0], sure) {
                    let is_folder = path.is_dir();
                    self.places.push(Place::File { path, sure });
                    if is_folder {
                        self.shown(&self.folder.clone());
                    }
                }
            }
            [] if !recursive && name.ends_with("grep") => {}
            _ => self.shown(&self.folder.clone()),
        }
    }

    /// The files that lines of the output name before a colon.
    fn shown(&mut self, folder: &Path) {
        let mut last = "";
        for line in self.said.output.lines().take(20_000) {
            let name = line.split(':').next().unwrap_or_default();
            if name.len() < line.len() && !name.is_empty() && name.len() < 4_096 && name != last {
                self.places.push(Place::File { path: join(folder, name), sure: false });
                last = name;
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

impl Arg {
    fn text(&self) -> Option<&str> {
        match self {
            Arg::Text(text) => Some(text),
            Arg::Place(_) => None,
        }
    }

    fn plain(&self) -> String {
        self.text().map(globs::unescape).unwrap_or_default()
    }

    fn is_option(&self) -> bool {
        self.text().is_some_and(|text| text.starts_with('-') && text.len() > 1)
    }
}

fn is_empty(part: &Part) -> bool {
    matches!(part, Part::Text { text, .. } if text.is_empty())
}

/// The folder whose `.git` a folder belongs to.
fn top(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder).to_owned()
}

/// How a program names the files that it shows.
struct Reader {
    /// Operands before the files: a script, a pattern.
    skip: usize,
    /// Options that give the script, so that all operands are files.
    script: &'static [&'static str],
    /// Options that take a value.
    valued: &'static [&'static str],
    /// Whether `-i` edits the files instead of showing them.
    edits: bool,
}

const SEARCH_VALUES: &[&str] = &["-A", "-B", "-C", "-m", "-g", "-t", "-T", "-d", "--glob", "--type", "--max-count"];

fn reader(name: &str) -> Option<Reader> {
    let plain = |valued| Reader { skip: 0, script: &[], valued, edits: false };
    Some(match name.rsplit('/').next().unwrap_or(name) {
        "cat" | "less" | "more" | "bat" | "batcat" | "tac" | "strings" | "diff" | "fold" | "fmt" | "rev" => plain(&[]),
        "head" | "tail" => plain(&["-n", "-c", "--lines", "--bytes"]),
        "nl" => plain(&["-b", "-f", "-h", "-i", "-l", "-n", "-s", "-v", "-w"]),
        "cut" | "sort" | "column" | "paste" => plain(&["-d", "-f", "-c", "-b", "-k", "-t", "-o", "-s"]),
        "uniq" | "xxd" | "od" | "hexdump" => plain(&["-f", "-s", "-w", "-l", "-c", "-n", "-t", "-A", "-N"]),
        "sed" => Reader { skip: 1, script: &["-e", "-f", "--expression", "--file"], valued: &["-l"], edits: true },
        "awk" | "gawk" | "mawk" => Reader { skip: 1, script: &["-f", "--file"], valued: &["-v", "-F"], edits: false },
        "jq" | "yq" => Reader { skip: 1, script: &["-f"], valued: &["--indent"], edits: false },
        _ => return None,
    })
}

impl Reader {
    fn operands(&self, args: &[Arg]) -> Vec<Arg> {
        let (mut operands, mut skip, mut options) = (Vec::new(), self.skip, true);
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.plain();
            match text.as_str() {
                "--" if options => options = false,
                // Edited in place: nothing is shown.
                _ if options && self.edits && (text.starts_with("-i") || text == "--in-place") => {
                    return Vec::new();
                }
                _ if options && arg.is_option() => {
                    let name = text.split('=').next().unwrap_or_default();
                    if self.script.contains(&name) {
                        skip = 0;
                    }
                    if text == name && (self.script.contains(&name) || self.valued.contains(&name)) {
                        rest.next();
                    }
                }
                _ if skip > 0 => skip -= 1,
                _ => operands.push(arg.clone()),
            }
        }
        operands
    }
}
