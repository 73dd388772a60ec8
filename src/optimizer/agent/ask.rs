//! Questions to an agent client: one run in an empty folder each, its last words the reply. A run that ended before is
//! recalled from the desk when it was asked the same.

use std::time::Duration;

use super::{AgentOptimizer, turn};
use crate::agent::{self, Outcome, TurnEnd};
use crate::ground::error::{Error, Result};
use crate::ground::prompts::frame;
use crate::ground::text::clip;
use crate::ground::{files, process};
use crate::optimizer::analyst::{Asker, Fault, Heard, Question};
use crate::optimizer::{Desk, Host};
use crate::trajectory::Usage;

/// How long a question waits for an earlier run's processes to be gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most bytes of an unusable reply that its author is shown again.
const SHOWN_AGAIN: usize = 32 << 10;

impl Asker for AgentOptimizer {
    fn ask(&self, question: &Question<'_>, host: &Host<'_>) -> Result<Heard> {
        host.cancel.check()?;
        let seat = &question.seat.desk;
        // The repair turn goes on in the same private home, with files of its own.
        let desk = match question.again {
            None => seat.clone(),
            Some(_) => Desk { folder: seat.folder.join("again"), ..seat.clone() },
        };
        files::create_dir(&desk.folder)?;
        // Of a run that was killed something may be dying still: what it leaves is read once it is gone.
        process::wait_until_free(&desk.hold, PATIENCE)?;
        let workdir = desk.private.join("work");
        files::create_dir(&workdir)?;
        let session = question.again.and_then(|(said, _)| said.session.clone());
        let text = prompt(question, session.is_some());
        let turn = turn(&desk, &workdir, Vec::new(), session);
        let same = files::read_if_there(&desk.prompt())?.is_some_and(|bytes| bytes == text.as_bytes());
        let recalled = if same { agent::recall_turn(self.client.as_ref(), &turn)? } else { None };
        match recalled.filter(|end| end.outcome == Outcome::Done) {
            Some(end) => heard(end),
            None => {
                desk.put_aside()?;
                heard(self.start(turn, &desk, &text, host)?)
            }
        }
    }
}

/// The prompt; of a repair turn the request alone where the client's session holds the rest.
fn prompt(question: &Question<'_>, resumes: bool) -> String {
    match question.again {
        None => question.prompt.to_owned(),
        Some((_, request)) if resumes => request.to_owned(),
        Some((said, request)) => {
            let reply = frame("your reply", "", &clip(&said.text, SHOWN_AGAIN));
            format!("{}\n\n{reply}\n{request}", question.prompt)
        }
    }
}

fn heard(end: TurnEnd) -> Result<Heard> {
    let fault = match end.outcome {
        Outcome::Done => None,
        Outcome::Unreachable(why) => return Err(Error::unreachable(why)),
        Outcome::Cancelled => return Err(Error::interrupted()),
        Outcome::TimedOut => Some(Fault::Lost("the agent did not end before its deadline".into())),
        Outcome::Failed(why) => Some(Fault::Lost(format!("the agent failed: {why}"))),
    };
    let usage = (end.usage != Usage::default()).then_some(end.usage);
    Ok(Heard { text: end.last_message, fault, usage, session: end.session })
}
