//! Things with the shape of a key or token. The message never repeats them.

use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet};

use super::Found;
use super::fold::Lines;

/// A known kind of key: its name, its shape, and whether it must also look random (its shape alone being too common).
type Shape = (&'static str, &'static str, bool);

const SHAPES: &[Shape] = &[
    ("an AWS access key", r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?-u:\b)", false),
    ("a GitHub token", r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})", false),
    ("a GitLab token", r"(?-u:\b)glpat-[A-Za-z0-9_-]{20}", false),
    ("an Anthropic key", r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{20,}", true),
    ("an OpenAI key", r"(?-u:\b)sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}", true),
    ("a Slack token", r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,}", true),
    ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}", false),
    ("a Google API key", r"(?-u:\b)AIza[0-9A-Za-z_-]{35}", false),
    ("a Google OAuth token", r"(?-u:\b)(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{20,}", true),
    ("a Stripe key", r"(?-u:\b)[rs]k_(?:live|test)_[0-9A-Za-z]{16,}", true),
    ("an npm token", r"(?-u:\b)npm_[A-Za-z0-9]{36}", true),
    ("a PyPI token", r"(?-u:\b)pypi-AgE[A-Za-z0-9_-]{20,}", true),
    ("a Hugging Face token", r"(?-u:\b)hf_[A-Za-z0-9]{30,}", true),
    ("a SendGrid key", r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", true),
    ("a Telegram bot token", r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}", false),
    ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----", false),
    ("a JSON web token", r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", false),
];

/// A value given to something that is named like a secret, and a password inside an address.
const ASSIGNMENTS: &[&str] = &[
    r#"(?i-u)(?:password|passwd|passphrase|pwd|secret|token|api[_ -]?key|access[_ -]?key|credentials?|auth)["'`]?[ \t]{0,3}(?:=>|:=|=|:)[ \t]{0,3}(?:bearer[ \t]+)?["'`]?(?P<value>[!#-&*+./0-9:=?@A-Z^_a-z|~\\-]{10,})"#,
    r"(?-u)://[!-.0-9;-?A-~]{1,64}:(?P<value>[!-.0-?A-~]{8,64})@",
];

/// The hits of one shape that are looked at in one card.
const MOST_HITS: usize = 200;

/// All shapes. Compiled when the first card is checked, each single one when a card has it.
struct Shapes {
    any: RegexSet,
    each: Vec<OnceLock<Regex>>,
}

static COMPILED: LazyLock<Shapes> = LazyLock::new(|| {
    let any = RegexSet::new(patterns()).expect("a test compiles these constants");
    Shapes { any, each: (0..SHAPES.len() + ASSIGNMENTS.len()).map(|_| OnceLock::new()).collect() }
});

fn patterns() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|(_, pattern, _)| *pattern).chain(ASSIGNMENTS.iter().copied())
}

/// Looks for secrets anywhere in a card.
pub(super) fn check(text: &str, found: &mut Found<'_>) {
    let hint = "remove it and revoke it: the pool's history is shared; name where it is kept instead";
    let mut taken: Vec<std::ops::Range<usize>> = Vec::new();
    for index in COMPILED.any.matches(text) {
        let Some(pattern) = patterns().nth(index) else { continue };
        let regex = COMPILED.each[index].get_or_init(|| Regex::new(pattern).expect("a test compiles these constants"));
        let mut lines = Lines::new(text);
        for hit in regex.captures_iter(text).take(MOST_HITS) {
            let Some(whole) = hit.name("value").or(hit.get(0)) else { continue };
            if taken.iter().any(|other| other.start < whole.end() && whole.start() < other.end) {
                continue;
            }
            let line = lines.at(whole.start());
            match SHAPES.get(index) {
                Some((kind, _, random)) if !random || looks_random(whole.as_str()) => {
                    found.add("secret", line, format!("this has the shape of {kind}"), hint);
                }
                None if is_secret_value(hit.get(0).map_or("", |all| all.as_str()), whole.as_str()) => {
                    let message = "a random-looking value is given to a password, key or token";
                    found.add("secret-assignment", line, message, hint);
                }
                _ => continue,
            }
            taken.push(whole.range());
        }
    }
}

/// Whether a token could come from a random generator: digits among letters, and no few characters over and over.
fn looks_random(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let letters = token.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= 2 && letters >= 2 && entropy(token) >= 3.0
}

/// Whether a value that was given to something named like a secret is one, rather than an example or a name.
fn is_secret_value(assignment: &str, value: &str) -> bool {
    const EXAMPLES: &[&str] =
        &["example", "your", "xxxx", "changeme", "placeholder", "dummy", "redacted", "1234567", "$", "%", "..."];
    let lower = value.to_ascii_lowercase();
    if EXAMPLES.iter().any(|word| lower.contains(word)) || value.contains("://") {
        return false;
    }
    let name = assignment.to_ascii_lowercase();
    let digest = lower.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if digest {
        // A commit, a digest or a UUID after "token:" is more often a name than a secret.
        return value.len() >= 20 && !name.starts_with("token") && !name.starts_with("auth") && looks_random(value);
    }
    let has = |test: fn(char) -> bool| value.chars().any(test);
    let (upper, lower_case, digit) =
        (has(|c| c.is_ascii_uppercase()), has(|c| c.is_ascii_lowercase()), has(|c| c.is_ascii_digit()));
    let mixed = digit && upper && lower_case;
    let long = value.len() >= 16 && digit && (upper || lower_case) && entropy(value) >= 3.5;
    // Paths, dotted names and sentences are no secrets.
    let words = value.split(['.', '/', '_', '-']).filter(|word| !word.is_empty());
    let longest = words.map(str::len).max().unwrap_or(0);
    longest >= 8 && ((mixed && entropy(value) >= 3.0) || long)
}

/// Shannon entropy of the bytes, in bits a byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    #[expect(clippy::cast_precision_loss, reason = "a card is far shorter than 2^52 bytes")]
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}
