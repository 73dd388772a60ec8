//! A program of the user's, with its arguments, as one text in a configuration or on a command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::shell;
use crate::ground::digest;
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};

/// A program and its arguments. No shell is ever started for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    text: String,
    /// Never empty.
    words: Vec<String>,
    /// See [`CommandLine::digest`]: every attempt asks for it.
    digest: OnceLock<String>,
}

impl CommandLine {
    /// Reads what stands behind `command:`; a path with spaces in it is a program too.
    ///
    /// # Errors
    /// Of kind `Usage` when there is nothing, a quote is left open, or only a shell could do it.
    pub fn parse(text: Option<&str>) -> Result<CommandLine> {
        let text = text.filter(|text| !text.trim().is_empty()).ok_or_else(|| {
            Error::usage("which program?")
                .hint("name it behind a colon: command:./my-agent or command:\"my-agent --flag\"")
        })?;
        if Path::new(text).is_file() {
            return Ok(CommandLine { text: text.to_owned(), words: vec![text.to_owned()], digest: OnceLock::new() });
        }
        let words = shell::split(text).filter(|words| !words.is_empty()).ok_or_else(|| {
            Error::usage(format!("{text:?} is not a program and its arguments"))
                .hint("no shell is started: put pipes, variables and redirections into a script of your own")
        })?;
        Ok(CommandLine { text: text.to_owned(), words, digest: OnceLock::new() })
    }

    /// As the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program to start.
    ///
    /// # Errors
    /// Of kind `Unreachable` when it is not there.
    pub fn find(&self, env: &Env) -> Result<PathBuf> {
        let name = self.words.first().map(String::as_str).unwrap_or_default();
        env.which(name).ok_or_else(|| {
            let place = if name.contains('/') { "there is no program at" } else { "not on PATH:" };
            Error::unreachable(format!("{place} {name}")).hint("check the path, and that the file is executable")
        })
    }

    /// Its arguments. One with a slash that names a file here is made absolute: the program starts in another folder.
    pub fn args(&self) -> Vec<OsString> {
        self.words.iter().skip(1).map(|word| absolute(word)).collect()
    }

    /// The digest of the text and of the files that it names here: another program under the same name is another one. A
    /// program from PATH counts by its name.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| self.read_digest())
    }

    fn read_digest(&self) -> String {
        let named = self.words.iter().filter(|word| Path::new(word).is_file());
        let contents = named.map(|word| std::fs::read(word).unwrap_or_default());
        let parts: Vec<Vec<u8>> = std::iter::once(self.text.clone().into_bytes()).chain(contents).collect();
        digest::of_parts(parts.iter().map(Vec::as_slice))
    }

    /// What it must be able to read of its own: the folders of the program, and files among its arguments, a script for an
    /// interpreter for instance. A sandbox may hide them.
    pub fn readable(&self, program: &Path) -> Vec<PathBuf> {
        let mut readable = super::program_folders(program);
        let files = self.words.iter().skip(1).filter_map(|word| std::path::absolute(word).ok());
        readable.extend(files.filter(|path| path.is_file()));
        readable
    }
}

fn absolute(word: &str) -> OsString {
    let path = Path::new(word);
    if word.contains('/') && path.is_relative() && path.exists() {
        return std::path::absolute(path).map_or_else(|_| word.into(), PathBuf::into_os_string);
    }
    word.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_program_and_its_arguments_or_an_error() {
        let line = CommandLine::parse(Some("./score --flag 'a b' src/lib.rs")).unwrap();
        let args: Vec<String> = line.args().iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(args[..2], ["--flag".to_owned(), "a b".to_owned()]);
        assert!(Path::new(&args[2]).is_absolute());
        for wrong in [None, Some(""), Some("  "), Some("a 'b"), Some("a | b")] {
            assert!(CommandLine::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
