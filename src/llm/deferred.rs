//! A backend that is made when it is first asked, for one whose making touches files that may not be its own yet.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::backend::{Answered, Backend, Call};
use super::failure::{Failure, Why};
use crate::ground::error::Result;

type Make = dyn Fn() -> Result<Arc<dyn Backend>> + Send + Sync;

/// Made at the first call. A recording is opened so once its run holds its lock: opening mends the file's end, which may
/// be another's line that is being written.
pub struct Deferred {
    model: String,
    make: Box<Make>,
    made: OnceLock<std::result::Result<Arc<dyn Backend>, String>>,
}

impl Deferred {
    /// Plays the part of `model`; `make` is called once. Its error fails every call.
    pub fn new(model: &str, make: impl Fn() -> Result<Arc<dyn Backend>> + Send + Sync + 'static) -> Deferred {
        Deferred { model: model.to_owned(), make: Box::new(make), made: OnceLock::new() }
    }
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Backend for Deferred {
    fn model(&self) -> &str {
        &self.model
    }

    fn call(&self, call: &Call<'_>) -> Answered {
        match self.made.get_or_init(|| (self.make)().map_err(|error| error.to_string())) {
            Ok(backend) => backend.call(call),
            Err(why) => Err(Failure::new(Why::Unkept, why.clone())).into(),
        }
    }
}
