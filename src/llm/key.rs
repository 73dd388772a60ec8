//! Keys: read from the environment, sent in one header, seen nowhere else.

use std::fmt;

/// A provider's key. Has no `Display`, no `Serialize`, and a `Debug` that shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key; white space around it (a pasted line's end) is not part of it.
    pub fn new(key: &str) -> Key {
        Key(key.trim().to_owned())
    }

    /// The key itself, for the header that it is sent in.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// A text without this key, should a server have echoed it.
    pub(super) fn scrub(&self, text: String) -> String {
        // A key this short is a placeholder ("none", "x"), and would be found in ordinary words.
        if self.0.len() < 8 || !text.contains(&self.0) {
            return text;
        }
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_neither_shown_nor_passed_on() {
        let key = Key::new("sk-secret-123\n");
        assert_eq!(format!("{key:?}"), "Key(…)");
        assert_eq!(key.scrub("bad key sk-secret-123!".into()), "bad key [key]!");
        assert_eq!(Key::new("none").scrub("none of it".into()), "none of it");
    }
}
