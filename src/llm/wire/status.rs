//! What a reply that is no answer means: its status, its `Retry-After`, and the words in its body.

use std::time::Duration;

use serde_json::Value;

use crate::ground::text::first_line;
use crate::llm::failure::{Failure, Why};

/// The failure that a status tells, with the server's own words from the body.
pub(in crate::llm) fn failure_of(status: u16, body: &[u8]) -> Failure {
    let (words, code) = words(body);
    let why = match status {
        // A quota that is used up says 429 as well, and does not come back by waiting.
        429 if code.contains("insufficient_quota") => Why::Rejected,
        429 => Why::Busy,
        529 | 503 if code.contains("overloaded") => Why::Busy,
        408 | 409 | 425 | 500..=599 => Why::Outage,
        _ => Why::Rejected,
    };
    let named = if words.is_empty() { String::new() } else { format!(": {words}") };
    let failure = Failure { status: Some(status), ..Failure::new(why, format!("the server answered {status}{named}")) };
    match status {
        401 | 403 => failure.hint("check the key: it was not accepted"),
        404 => failure.hint("check the model's name and the base URL"),
        400 | 413 | 422 => failure.hint("the server takes no such request: check the model's name and its limits"),
        300..=399 => failure.hint("the server lies elsewhere: use the address that it names as the base URL"),
        429 if why == Why::Rejected => failure.hint("the account's quota is used up: raise it at the provider"),
        _ => failure,
    }
}

/// The words of an error's body, on one line, and whatever codes it carries.
fn words(body: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(body);
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        let places = ["/error/message", "/message", "/error", "/detail", "/0/error/message"];
        let said = places.iter().find_map(|place| value.pointer(place).and_then(Value::as_str));
        let codes = ["/error/code", "/error/type", "/error/param"];
        let codes: Vec<&str> = codes.iter().filter_map(|place| value.pointer(place).and_then(Value::as_str)).collect();
        let said = said.map_or_else(|| value.to_string(), str::to_owned);
        return (first_line(&said, 300), codes.join(" "));
    }
    if text.trim_start().starts_with('<') {
        let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
        let title = title.map(|(title, _)| format!(" \"{}\"", first_line(title, 80))).unwrap_or_default();
        return (format!("a web page{title}, not the service"), String::new());
    }
    (first_line(&text, 300), String::new())
}

/// How long a server asks us to wait, from its `Retry-After` (seconds or an HTTP date, `unix` being the time since
/// 1970) or `Retry-After-Ms`; none when neither makes sense.
pub(in crate::llm) fn retry_after(seconds: Option<&str>, millis: Option<&str>, unix: Duration) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    // A number beyond any patience must not overflow; who waits caps it anyway.
    let wait = |seconds: f64| Duration::from_secs_f64(seconds.min(1e9));
    if let Some(millis) = millis.and_then(number) {
        return Some(wait(millis / 1_000.0));
    }
    let text = seconds?;
    if let Some(seconds) = number(text) {
        return Some(wait(seconds));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    let date = u64::try_from(date.as_second()).ok()?;
    Some(Duration::from_secs(date).saturating_sub(unix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let unix = Duration::from_secs(784_111_700);
        let after = |text: &str| retry_after(Some(text), None, unix);
        assert_eq!(after("3"), Some(Duration::from_secs(3)));
        assert_eq!(after(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(77)));
        assert_eq!(after("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        for text in ["soon", "-1", "nan", "inf", "", "Sun, 99 Nov 1994"] {
            assert_eq!(after(text), None, "{text}");
        }
        assert!(after("1e300").unwrap() >= Duration::from_secs(1_000_000));
        assert_eq!(retry_after(Some("9"), Some("250"), unix), Some(Duration::from_millis(250)));
        assert_eq!(retry_after(None, None, unix), None);
    }

    #[test]
    fn statuses_are_told_apart() {
        let why = |status, body: &str| failure_of(status, body.as_bytes()).why;
        for status in [408, 409, 425, 500, 502, 503, 504, 529] {
            assert_eq!(why(status, ""), Why::Outage, "{status}");
        }
        for status in [301, 307, 400, 401, 402, 403, 404, 405, 413, 422] {
            assert_eq!(why(status, ""), Why::Rejected, "{status}");
        }
        assert_eq!(why(429, ""), Why::Busy);
        assert_eq!(why(429, r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#), Why::Rejected);
        assert_eq!(why(529, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#), Why::Busy);
    }

    #[test]
    fn the_servers_words_are_found() {
        let said = |body: &str| failure_of(500, body.as_bytes()).message;
        insta::assert_snapshot!(said(r#"{"error":{"message":"boom\nmore","type":"x"}}"#), @"the server answered 500: boom");
        insta::assert_snapshot!(said(r#"{"error":"no such model"}"#), @"the server answered 500: no such model");
        insta::assert_snapshot!(said("<html><head><title>502 Bad Gateway</title>"), @r#"the server answered 500: a web page "502 Bad Gateway", not the service"#);
        insta::assert_snapshot!(said("\n plain words \nmore"), @"the server answered 500: plain words");
        insta::assert_snapshot!(said(""), @"the server answered 500");
        insta::assert_snapshot!(failure_of(500, b"\xff\xfe").message, @"the server answered 500: ��");
    }
}
