//! Results to standard output, talk to standard error. A reader that went away ends the program quietly.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::commands::Answer;
use crate::ground::error::{Error, Kind};
use crate::ground::text::printable;

/// Prints a command's answer and gives its exit code.
pub(super) fn answer(answer: &Answer, json: bool) -> ExitCode {
    let text = if json { format!("{:#}\n", answer.json) } else { printable(&answer.text).into_owned() };
    match put(&mut io::stdout().lock(), &text) {
        Ok(()) => ExitCode::from(answer.exit),
        Err(failed) => {
            // Nothing more can be said if standard error is gone as well.
            put(&mut io::stderr().lock(), &format!("error: cannot print the result: {failed}\n")).ok();
            ExitCode::from(Kind::Failed.exit_code())
        }
    }
}

/// Prints an error with its hints and gives its kind's exit code. With `--json` the error is the result.
pub(super) fn error(error: &Error, json: bool) -> ExitCode {
    let mut text = format!("error: {error}\n");
    for hint in error.hints() {
        text.push_str(&format!("hint: {hint}\n"));
    }
    put(&mut io::stderr().lock(), &printable(&text)).ok();
    let code = error.kind().exit_code();
    if json {
        let value = serde_json::json!({ "error": error.to_string(), "hints": error.hints(), "exit": code });
        put(&mut io::stdout().lock(), &format!("{value:#}\n")).ok();
    }
    ExitCode::from(code)
}

/// Prints what clap has to say: help and version are results, the rest is wrong usage.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    error.print().ok();
    ExitCode::from(if error.use_stderr() { Kind::Usage.exit_code() } else { 0 })
}

fn put(to: &mut dyn Write, text: &str) -> io::Result<()> {
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
