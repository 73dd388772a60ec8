//! The environment, read once and handed down: below this nobody asks the process for a variable.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A copy of the process's environment, and where this program itself lies.
#[derive(Debug, Clone, Default)]
pub struct Env {
    variables: BTreeMap<OsString, OsString>,
    program: PathBuf,
}

impl Env {
    /// Reads the process's environment.
    pub fn of_process() -> Self {
        Env { variables: std::env::vars_os().collect(), program: std::env::current_exe().unwrap_or_default() }
    }

    /// An environment made of exactly these variables, for tests.
    pub fn of<K: Into<OsString>, V: Into<OsString>>(
        program: impl Into<PathBuf>,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Env {
            variables: variables.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
            program: program.into(),
        }
    }

    /// A variable's value, when it is set, not empty and UTF-8.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_os(name).and_then(OsStr::to_str)
    }

    /// A variable's value, when it is set and not empty.
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The skilltrain binary, which supervises agents and serves as the checkout's pre-commit hook.
    pub fn program(&self) -> &std::path::Path {
        &self.program
    }

    /// The first file of this name on `PATH` that can be executed; a name with a slash is a path.
    pub fn which(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            let path = std::path::absolute(name).ok()?;
            return is_executable(&path).then_some(path);
        }
        std::env::split_paths(self.get_os("PATH")?)
            .map(|folder| folder.join(name))
            .find(|path| path.is_absolute() && is_executable(path))
    }
}

fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
