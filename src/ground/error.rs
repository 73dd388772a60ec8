//! One error type for the whole program: a kind, which fixes the exit code, a chain of causes,
//! and hints that say what to do next.

use std::fmt;
use std::path::Path;

/// What kind of failure this is; it alone decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The step or check failed; nothing was lost. Exit code 1.
    Failed,
    /// An optimizer's work cannot be taken: its step failed, and others may go on. Exit code 1.
    Refused,
    /// Wrong usage, configuration or input. Exit code 2.
    Usage,
    /// A model or an agent could not be reached or used. Exit code 3.
    Unreachable,
    /// The user stopped the program. Exit code 130.
    Interrupted,
}

impl Kind {
    /// The process exit code that this kind ends in.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Failed | Kind::Refused => 1,
            Kind::Usage => 2,
            Kind::Unreachable => 3,
            Kind::Interrupted => 130,
        }
    }
}

/// What to do about a full disk.
pub const FULL: &str =
    "the disk or a quota is full: free some space, then run the same command again; nothing was lost";

/// A failure with its kind, its causes and its hints.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    cause: anyhow::Error,
    hints: Vec<String>,
}

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind` with a one-line message.
    pub fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Error { kind, cause: anyhow::anyhow!("{message}"), hints: Vec::new() }
    }

    /// The step or check failed.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// Wrong usage, configuration or input.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// A model or an agent could not be reached or used.
    pub fn unreachable(message: impl fmt::Display) -> Self {
        Self::new(Kind::Unreachable, message)
    }

    /// The user asked to stop.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted").hint("run the same command again to resume")
    }

    /// Adds a line that says what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says what was being done when this error arose.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.cause = self.cause.context(what.to_string());
        self
    }

    /// The same error under another kind.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What to do next, in the order in which it was added.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Error {
    /// The whole chain of causes on one line, outermost first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.cause)
    }
}

impl std::error::Error for Error {}

/// Adds context to a result on its way up.
pub trait Context<T> {
    /// Says what was being done.
    fn context(self, what: impl fmt::Display) -> Result<T>;
}

impl<T> Context<T> for Result<T> {
    fn context(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| error.context(what))
    }
}

/// Turns an I/O result into ours; the path is always named.
pub trait AtPath<T> {
    /// `doing` is a verb in the infinitive: "read", "create".
    fn at(self, doing: &str, path: &Path) -> Result<T>;
}

impl<T> AtPath<T> for std::io::Result<T> {
    fn at(self, doing: &str, path: &Path) -> Result<T> {
        self.map_err(|io| {
            let error = Error::failed(&io).context(format!("cannot {doing} {}", path.display()));
            match io.kind() {
                std::io::ErrorKind::StorageFull
                | std::io::ErrorKind::QuotaExceeded
                | std::io::ErrorKind::FileTooLarge => error.hint(FULL),
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                    error.hint("check the permissions of that file and of the folders above it")
                }
                _ => error,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_fixes_the_exit_code() {
        let codes = [Kind::Failed, Kind::Usage, Kind::Unreachable, Kind::Interrupted].map(Kind::exit_code);
        assert_eq!(codes, [1, 2, 3, 130]);
    }

    #[test]
    fn context_comes_first_and_hints_are_kept() {
        let error = Error::usage("no such key").hint("look at --help").context("cannot load batch.json");
        assert_eq!(error.to_string(), "cannot load batch.json: no such key");
        assert_eq!(error.hints(), ["look at --help"]);
        assert_eq!(error.kind(), Kind::Usage);
    }
}
