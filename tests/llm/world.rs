//! A client of a scripted server, with a clock that takes no time.

use std::sync::Arc;
use std::time::Duration;

use skilltrain::ground::env::Env;
use skilltrain::ground::prompts::Prompts;
use skilltrain::ground::signals::Cancel;
use skilltrain::llm::{
    Backend, Budget, Client, Http, Limits, Message, Price, Request, Retry, Role, Settings, Shared, Spec, Spent, Sums,
    VirtualClock,
};

use crate::server::Server;

pub(crate) struct World {
    pub(crate) clock: Arc<VirtualClock>,
    pub(crate) shared: Shared,
    pub(crate) env: Env,
    pub(crate) settings: Settings,
    pub(crate) price: Option<Price>,
}

impl World {
    pub(crate) fn new() -> World {
        World::with_budget(Limits::default())
    }

    pub(crate) fn with_budget(limits: Limits) -> World {
        let clock = Arc::new(VirtualClock::default());
        let budget = Arc::new(Budget::new(limits, Spent::default(), clock.clone()));
        let shared = Shared { budget, ledger: Arc::default(), cancel: Cancel::default(), prompts: Prompts::default() };
        let settings = Settings { timeout: 60.0, ..Settings::default() };
        World { clock, shared, env: Env::default(), settings, price: None }
    }

    pub(crate) fn http(&self, name: &str) -> Http {
        let spec = Spec::parse(name).unwrap().unwrap();
        let http = Http::new(&spec, &self.settings, &self.env, self.clock.clone()).unwrap();
        let attempts = self.settings.retries + 1;
        http.with_retry(Retry { seed: 1, attempts, ..Retry::of_process() })
    }

    pub(crate) fn client_of(&self, backend: Arc<dyn Backend>) -> Client {
        Client::new(backend, self.shared.clone(), self.price, Role::Target)
    }

    /// A client of a server of OpenAI's kind.
    pub(crate) fn client(&self, server: &Server) -> Client {
        self.client_of(Arc::new(self.http(&format!("openai:m@{}", server.url()))))
    }

    pub(crate) fn total(&self) -> Sums {
        self.shared.ledger.total()
    }

    pub(crate) fn slept(&self) -> Vec<f64> {
        self.clock.slept().iter().map(Duration::as_secs_f64).collect()
    }
}

pub(crate) fn ask(text: &str) -> Request {
    Request::new(vec![Message::user(text)], 100)
}
