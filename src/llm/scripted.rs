//! A backend that answers from a script, for tests of everything above: it refuses what the script does not foresee.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::backend::{Answered, Backend, Call};
use super::failure::{Failure, Why};
use super::reply::Reply;
use super::request::Request;

type Play = dyn Fn(&Request, usize) -> Option<Result<Reply, Failure>> + Send + Sync;

/// Answers from a script.
pub struct Scripted {
    model: String,
    play: Box<Play>,
    asked: Mutex<Vec<Request>>,
}

impl Scripted {
    /// Gives these answers in this order.
    pub fn in_order(answers: impl IntoIterator<Item = Result<Reply, Failure>>) -> Scripted {
        let left = Mutex::new(answers.into_iter().collect::<VecDeque<_>>());
        Scripted::by(move |_, _| left.lock().unwrap_or_else(PoisonError::into_inner).pop_front())
    }

    /// Gives these texts in this order.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Scripted {
        Scripted::in_order(texts.into_iter().map(|text| Ok(Reply::text(text))))
    }

    /// Asks a function, which also gets the number of calls before this one; its `None` is an unforeseen call.
    pub fn by(play: impl Fn(&Request, usize) -> Option<Result<Reply, Failure>> + Send + Sync + 'static) -> Scripted {
        Scripted { model: "scripted".into(), play: Box::new(play), asked: Mutex::default() }
    }

    /// The questions so far, in the order in which they came.
    pub fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripted").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Backend for Scripted {
    fn model(&self) -> &str {
        &self.model
    }

    fn call(&self, call: &Call<'_>) -> Answered {
        let attempt = match call.open() {
            Ok(attempt) => attempt,
            Err(failure) => return Err(failure).into(),
        };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let number = asked.len();
        asked.push(call.request.clone());
        drop(asked);
        let outcome = (self.play)(call.request, number);
        let outcome = outcome.unwrap_or_else(|| {
            let last = call.request.messages.last().map(|message| message.text()).unwrap_or_default();
            let words = crate::ground::text::first_line(last, 80);
            Err(Failure::new(Why::Unrecorded, format!("the script foresees no call {}: {words}", number + 1)))
        });
        match &outcome {
            Ok(reply) => attempt.answered(reply),
            Err(failure) => attempt.failed(failure),
        }
        outcome.into()
    }
}
