//! Models over HTTP: a question as data in, an answer or a named failure out.
//!
//! The client is ours, over `ureq`. Everything in this program waits in threads, so a blocking client needs no
//! runtime beside it: 16 further crates and no OpenSSL, where the chat crates of the field bring about 150, an
//! executor, and their own ideas of retries, timeouts and which fields to drop. What is left to do by hand is two
//! wire shapes, a few hundred lines that can be read and tested against a server which lies.
//!
//! From the outside in: a [`Client`] asks on somebody's behalf; a [`Backend`] answers, be it a server ([`Http`]), a
//! [`Recorder`] before one, a [`Replayer`] instead of one, or a script. Each pays through the same [`Budget`] and
//! writes into the same [`Ledger`], so that a replayed run ends with the same sums.
//!
//! A failure is never an answer: a cut-off, refused or garbled reply has another type than a reply.

mod backend;
mod budget;
mod client;
mod clock;
mod deferred;
mod failure;
mod http;
mod journal;
mod json;
mod key;
mod ledger;
mod limit;
mod prices;
mod record;
mod replay;
mod reply;
mod request;
mod scripted;
mod spec;
mod tape;
mod wire;

pub use backend::{Answered, Attempt, Backend, Call, Meter};
pub use budget::{Bound, Budget, Hold, Limits, Spent};
pub use client::{Asked, Client, Shared};
pub use clock::{Clock, SystemClock, VirtualClock};
pub use deferred::Deferred;
pub use failure::{Failure, Why};
pub use http::{Http, Retry, Settings};
pub use journal::Journal;
pub use json::read;
pub use key::Key;
pub use ledger::{Account, Ledger, Line, Role, Sums};
pub use limit::{Limiter, Pass, Rates};
pub use prices::{Money, Price, Prices};
pub use record::{Recorder, Recording};
pub use replay::{Replay, Replayer};
pub use reply::{Reply, Stop, Used};
pub use request::{Message, Request, Schema, Tool, ToolCall};
pub use scripted::Scripted;
pub use spec::{Endpoint, NAMES, Provider, Spec};
