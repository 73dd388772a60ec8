//! Programs that show files to whoever runs them, and how each names its files among its arguments.

use super::globs;
use super::reads::Place;

/// An argument of a command, expanded.
#[derive(Debug, Clone)]
pub(super) enum Arg {
    /// A pattern in which quoted special characters are escaped.
    Text(String),
    /// Output of another command that lists files.
    Place(Place),
}

impl Arg {
    /// The pattern, when it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Arg::Text(text) => Some(text),
            Arg::Place(_) => None,
        }
    }

    /// The argument as the program gets it; nothing for another command's output.
    pub(super) fn plain(&self) -> String {
        self.text().map(globs::unescape).unwrap_or_default()
    }

    pub(super) fn is_option(&self) -> bool {
        self.text().is_some_and(|text| text.starts_with('-') && text.len() > 1)
    }
}

/// How a program names the files that it shows.
pub(super) struct Reader {
    /// Operands before the files: a script, a pattern.
    skip: usize,
    /// Options that give the script, so that all operands are files.
    script: &'static [&'static str],
    /// Options that take a value.
    valued: &'static [&'static str],
    /// Whether `-i` edits the files instead of showing them.
    edits: bool,
}

/// Searches: a pattern, then files.
pub(super) const SEARCH: Reader = Reader {
    skip: 1,
    script: &["-e", "-f", "--regexp", "--file"],
    valued: &["-A", "-B", "-C", "-m", "-g", "-t", "-T", "-d", "--glob", "--type", "--max-count"],
    edits: false,
};

/// How a program that shows files names them; `None` for any other program.
pub(super) fn reader(name: &str) -> Option<Reader> {
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
    /// The operands that are files; none when the files are edited instead of shown.
    pub(super) fn operands(&self, args: &[Arg]) -> Vec<Arg> {
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
