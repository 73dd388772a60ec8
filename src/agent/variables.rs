//! A client's environment: made of an allow-list, so that no key and no `GIT_*` variable of the user's leaks in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::Turn;
use crate::ground::env::Env;

/// What any program needs to reach the network as the user does.
const NETWORK: [&str; 12] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

/// Settings for git in the checkout, whatever the user's and the system's are.
const GIT: [(&str, &str); 6] = [
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("core.fsmonitor", "false"),
    ("core.autocrlf", "false"),
];

/// The variables of one child process.
#[derive(Debug, Clone, Default)]
pub struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    /// Those of every client: a private home and temporary folder, the user's `PATH` and proxies, and git set so
    /// that `git commit` works in the checkout and nowhere else. `author` signs the commits made there.
    pub(super) fn of_turn(env: &Env, turn: &Turn, author: &str) -> Self {
        let mut variables = Variables::default();
        variables.pass(env, NETWORK);
        variables.pass(env, ["PATH", "TZ"]);
        let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
        variables.set("SHELL", shell);
        variables.set("HOME", &turn.home);
        variables.set("TMPDIR", &turn.tmp);
        variables.set("LANG", "C.UTF-8");
        variables.set("TERM", "dumb");
        variables.set("NO_COLOR", "1");
        variables.set("PAGER", "cat");
        variables.git(turn, author);
        variables
    }

    fn git(&mut self, turn: &Turn, author: &str) {
        for role in ["AUTHOR", "COMMITTER"] {
            self.set(format!("GIT_{role}_NAME"), format!("{author} (skilltrain)"));
            self.set(format!("GIT_{role}_EMAIL"), "agent@skilltrain.invalid");
        }
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "true"),
            ("GIT_OPTIONAL_LOCKS", "0"),
        ] {
            self.set(name, value);
        }
        // A checkout that lost its `.git` is no repository: git must not take the enclosing one for it.
        if let Some(above) = turn.workdir.parent() {
            self.set("GIT_CEILING_DIRECTORIES", above);
        }
        // In a user namespace or a container the checkout may seem to be another user's.
        let safe = [("safe.directory", turn.workdir.as_os_str())];
        let settings = GIT.iter().map(|(key, value)| (*key, OsStr::new(*value))).chain(safe);
        let mut count = 0;
        for (key, value) in settings {
            self.set(format!("GIT_CONFIG_KEY_{count}"), key);
            self.set(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        self.set("GIT_CONFIG_COUNT", count.to_string());
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    /// Sets a variable unless it is set.
    pub fn set_default(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.entry(name.into()).or_insert_with(|| value.into());
    }

    /// Hands on those variables of the user's that are set.
    pub fn pass<N: AsRef<str>>(&mut self, env: &Env, names: impl IntoIterator<Item = N>) {
        for name in names {
            if let Some(value) = env.get_os(name.as_ref()) {
                self.set(name.as_ref(), value);
            }
        }
    }

    /// A variable's value.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// As pairs, sorted by name.
    pub fn into_pairs(self) -> Vec<(OsString, OsString)> {
        self.0.into_iter().collect()
    }
}

/// The names that a user lists in `SKILLTRAIN_PASS_ENV`, with commas between; `GIT_*` is never handed on.
pub(super) fn passed_by_user(env: &Env) -> Vec<String> {
    let names = env.get("SKILLTRAIN_PASS_ENV").unwrap_or_default().split(',').map(str::trim);
    names.filter(|name| !name.is_empty() && !name.starts_with("GIT_")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_comes_in() {
        let env = Env::of(
            "/bin/skilltrain",
            [
                ("PATH", "/bin"),
                ("GIT_DIR", "/other"),
                ("GIT_CONFIG_GLOBAL", "/home/u/.gitconfig"),
                ("OPENAI_API_KEY", "secret"),
                ("HTTPS_PROXY", "http://proxy"),
                ("SKILLTRAIN_PASS_ENV", "MINE, GIT_DIR,,OPENAI_API_KEY"),
                ("MINE", "1"),
            ],
        );
        let turn = Turn::in_folder("/out".as_ref());
        let mut variables = Variables::of_turn(&env, &turn, "claude");
        assert_eq!(variables.get("GIT_DIR"), None);
        assert_eq!(variables.get("OPENAI_API_KEY"), None);
        assert_eq!(variables.get("GIT_CONFIG_GLOBAL").unwrap(), "/dev/null");
        assert_eq!(variables.get("HTTPS_PROXY").unwrap(), "http://proxy");
        assert_eq!(variables.get("HOME").unwrap(), "/out/home");
        assert_eq!(variables.get("GIT_CEILING_DIRECTORIES").unwrap(), "/out");
        variables.pass(&env, passed_by_user(&env));
        assert_eq!(variables.get("GIT_DIR"), None);
        assert_eq!(variables.get("MINE").unwrap(), "1");
    }
}
