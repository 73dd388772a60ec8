//! A user's login for the private home of a run: copied for its time, readable by the user alone, never written
//! back, and without what could renew it.
//!
//! A client that renews a login gets a new renewal token and voids the old one. Were the copy able to do so, the
//! user would be logged out by a training run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::ground::env::Env;
use crate::ground::error::{AtPath as _, Context as _, Result};
use crate::ground::files;

/// Whether a client seems to be able to pay.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Credentials {
    /// Found in this variable or file (the name only).
    Found(String),
    /// Nothing was found; how to fix that.
    Missing(String),
    /// The client needs none.
    NotNeeded,
}

/// The first of these variables that is set, for [`Credentials::Found`].
pub(super) fn variable(env: &Env, names: &[&str]) -> Option<String> {
    names.iter().find(|name| env.get_os(name).is_some()).map(|name| (*name).to_owned())
}

/// The folder of a client's own settings: the variable that names it, else a folder in the user's home.
pub(super) fn settings_folder(env: &Env, variable: &str, name: &str) -> Option<PathBuf> {
    let named = env.get_os(variable).map(PathBuf::from);
    named.or_else(|| env.get_os("HOME").map(|home| Path::new(home).join(name)))
}

/// Makes a folder that only the user can open.
pub(super) fn private_folder(path: &Path) -> Result<()> {
    files::create_dir(path)?;
    std::fs::set_permissions(path, files::permissions(0o700)).at("close to others the folder", path)
}

/// Writes a file that only the user can read.
pub(super) fn private_file(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    files::remove(path)?;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).at("create", path)?;
    file.write_all(bytes).at("write", path)
}

/// Copies a JSON file into the private home with some fields replaced, wherever they stand; false when there is
/// none, or when it is not JSON.
pub(super) fn copy_json(from: &Path, to: &Path, replaced: &[(&str, Value)]) -> Result<bool> {
    let Some(bytes) = files::read_if_there(from).context("cannot copy the login")? else {
        return Ok(false);
    };
    let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else {
        return Ok(false);
    };
    replace(&mut value, replaced);
    private_file(to, value.to_string().as_bytes())?;
    Ok(true)
}

fn replace(value: &mut Value, replaced: &[(&str, Value)]) {
    if let Value::Object(fields) = value {
        for (name, field) in fields {
            match replaced.iter().find(|(wanted, _)| wanted == name) {
                Some((_, with)) => *field = with.clone(),
                None => replace(field, replaced),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_login_is_private_and_cannot_be_renewed() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        files::write(&from, r#"{"a":{"accessToken":"x","refreshToken":"secret"}}"#).unwrap();
        assert!(copy_json(&from, &to, &[("refreshToken", Value::Null)]).unwrap());
        assert_eq!(files::read_text(&to).unwrap(), r#"{"a":{"accessToken":"x","refreshToken":null}}"#);
        assert_eq!(std::fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!copy_json(&folder.path().join("none"), &to, &[]).unwrap());
    }
}
