//! A checkout with links in it, as no pool makes one: the tools go through none of them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use skilltrain::ground::env::Env;
use skilltrain::ground::process::Sandbox;
use skilltrain::ground::prompts::Prompts;
use skilltrain::ground::signals::Cancel;
use skilltrain::llm::{
    Backend, Budget, Client, Limits, Reply, Role, Scripted, Shared, Spent, Stop, ToolCall, VirtualClock,
};
use skilltrain::optimizer::chat::{Chat, Options};
use skilltrain::optimizer::tasks::Memory;
use skilltrain::optimizer::{BackwardTask, Bounds, Desk, Host, Optimizer as _, Outcome};
use skilltrain::pool::checkout::Checkout;
use skilltrain::pool::folder::StatCache;
use skilltrain::pool::profile::Profile;
use skilltrain::pool::repo::Pool;

use crate::support::{CARD, World};

fn client(calls: Vec<(&str, serde_json::Value)>) -> (Client, Arc<Scripted>) {
    let calls = calls.into_iter().enumerate().map(|(n, (name, input))| ToolCall {
        id: format!("c{n}"),
        name: name.into(),
        input,
        problem: None,
    });
    let script = Arc::new(Scripted::in_order([
        Ok(Reply { calls: calls.collect(), stop: Stop::Tools, ..Reply::default() }),
        Ok(Reply::text("I stop here.")),
        Ok(Reply::text("I stop here.")),
        Ok(Reply::text("I stop here.")),
    ]));
    let budget = Budget::new(Limits::default(), Spent::default(), Arc::new(VirtualClock::default()));
    let (ledger, cancel, prompts) = (Arc::default(), Cancel::default(), Prompts::default());
    let backend: Arc<dyn Backend> = Arc::<Scripted>::clone(&script);
    let shared = Shared { budget: Arc::new(budget), ledger, cancel, prompts };
    (Client::new(backend, shared, None, Role::Target), script)
}

#[test]
fn nothing_is_read_written_or_deleted_through_a_link() {
    let world = World::with_pool();
    world.write("secret/inside.md", CARD);
    let secret = world.write("secret.md", CARD);
    let pool = Pool::open(&world.path("pool")).unwrap();
    let (place, before) = (world.path("step/checkout"), pool.tip().unwrap());
    let checkout = Checkout::prepare(&pool, &place, before, "skilltrain".as_ref(), &mut StatCache::default()).unwrap();
    std::fs::create_dir_all(place.join("00_general_rules")).unwrap();
    std::os::unix::fs::symlink(&secret, place.join("00_general_rules/link.md")).unwrap();
    std::os::unix::fs::symlink(world.path("secret"), place.join("01_craft_elements")).unwrap();
    let paths = ["00_general_rules/link.md", "01_craft_elements/inside.md", "01_craft_elements/new.md"];
    let calls = paths.iter().flat_map(|path| {
        [
            ("read_card", json!({"path": path})),
            ("write_card", json!({"path": path, "text": "mine"})),
            ("replace_in_card", json!({"path": path, "old": "Answer", "new": "x"})),
            ("delete_card", json!({"path": path})),
        ]
    });
    let (client, script) = client(calls.collect());
    let folder = world.path("step");
    let task = BackwardTask {
        label: "x",
        attempt: 1,
        checkout: &checkout,
        profile: &Profile::default_rules(),
        cards: &[],
        history: &[],
        samples: &[],
        evidence: &[],
        summary: None,
        summary_is_given: false,
        bounds: Bounds { learning_rate: None, max_deletions: 2 },
        seconds: 0,
        desk: Desk { stem: "backward", private: folder.join("private"), hold: folder.join("hold"), folder },
        memory: Memory::default(),
        repair: None,
    };
    let (env, cancel, prompts, watch) = (Env::default(), Cancel::default(), Prompts::default(), |_: &_| {});
    let (timeout, sandbox) = (Duration::from_secs(60), Sandbox::Off);
    let host = Host { env: &env, cancel: &cancel, prompts: &prompts, timeout, sandbox, watch: &watch };
    let turn = Chat::new("openai:m", &client, Options::default()).backward(&task, &host).unwrap();
    assert!(matches!(turn.outcome, Outcome::Failed(_)), "{:?}", turn.outcome);
    assert_eq!((turn.usage, turn.reads.len()), (None, 0), "what a call took was not told");
    let asked = script.asked();
    let results = asked[1].messages.iter().filter(|message| message.text().contains("is behind a link")).count();
    assert_eq!(results, 12, "{:#?}", asked[1].messages);
    assert_eq!(world.read("secret.md"), CARD);
    assert_eq!(world.read("secret/inside.md"), CARD);
    assert!(!world.path("secret/new.md").exists());
}
