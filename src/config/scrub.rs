//! Passwords in URLs: none is printed or kept.

use serde_json::Value;

/// A text without what stands between `://` and `@` in its URLs: it may be a password.
pub(super) fn scrubbed(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = after.find(|c: char| "/?#\"'".contains(c) || c.is_whitespace()).unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            Some(user) => {
                shown.push('…');
                &after[user..]
            }
            None => after,
        };
    }
    shown + rest
}

/// A value whose texts and keys are scrubbed.
pub(super) fn scrubbed_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(scrubbed(&text)),
        Value::Array(items) => items.into_iter().map(scrubbed_value).collect(),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (scrubbed(&key), scrubbed_value(value))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_left_out_and_nothing_else() {
        for (text, wanted) in [
            ("openai:m@http://user:pass@host/v1", "openai:m@http://…@host/v1"),
            ("openai:m@http://host:80/v1", "openai:m@http://host:80/v1"),
            ("curl http://a:b@c/ 'https://d@e'", "curl http://…@c/ 'https://…@e'"),
            ("http://host/path@x", "http://host/path@x"),
            ("http://a:p@q@host", "http://…@host"),
            ("a@b", "a@b"),
        ] {
            assert_eq!(scrubbed(text), wanted);
        }
    }
}
