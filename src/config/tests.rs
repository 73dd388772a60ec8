//! Rules of a configuration one by one, and what must hold of every one.

mod whole;

use std::path::{Path, PathBuf};

use serde_json::json;

use super::source::Source;
use super::*;
use crate::ground::error::{Kind, Result};

const DATA: &str = "[data]\ntasks = \"tasks.jsonl\"\n";

/// Reads a text as the file `/conf/skilltrain.toml`, each value checked by itself.
fn parse(text: &str, sets: &[&str]) -> Result<Config> {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let source = Source::parse(text, Path::new("/conf/skilltrain.toml"))?;
    Ok(Config::of_source(source, &sets)?.0)
}

/// Loads a text from a file.
fn load(text: &str, sets: &[&str]) -> (PathBuf, Result<Config>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(CONFIG_FILE);
    std::fs::write(&file, text).unwrap();
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    (folder.path().to_owned(), Config::load(&file, &sets))
}

/// The error of a text, its message and its hints on one line, the folder left out.
fn fails(text: &str, sets: &[&str]) -> String {
    let (folder, loaded) = load(text, sets);
    let error = loaded.unwrap_err();
    assert_eq!(error.kind(), Kind::Usage, "{error}");
    let hints = error.hints().iter().map(|hint| format!(" | {hint}")).collect::<String>();
    format!("{error}{hints}").replace(&format!("{}/", folder.display()), "")
}

#[test]
fn nothing_but_the_tasks_is_needed() {
    let (folder, config) = load(DATA, &[]);
    let mut wanted = Config::default();
    wanted.data.tasks = Some(folder.join("tasks.jsonl"));
    wanted.train.out = folder.join("runs/train");
    let config = config.unwrap();
    assert_eq!(config, wanted);
    let error = config.target_name().unwrap_err();
    assert!(error.hints().iter().any(|hint| hint.contains("--set target.name=")), "{error}");
}

#[test]
fn an_unknown_key_is_named_with_its_place_and_the_nearest_one() {
    for (text, sets, wanted) in [
        (
            "[optimizer]\n\nlearning_rat = 3\n",
            &[][..],
            "skilltrain.toml:3: key `optimizer.learning_rat`: unknown key | did you mean `optimizer.learning_rate`?",
        ),
        (
            "[train]\nlearning_rate = 3\n",
            &[],
            "skilltrain.toml:2: key `train.learning_rate`: unknown key | did you mean `optimizer.learning_rate`? it belongs below [optimizer]",
        ),
        (
            "learning_rate = 3\n",
            &[],
            "skilltrain.toml:1: key `learning_rate`: unknown key | did you mean `optimizer.learning_rate`? it belongs below [optimizer]",
        ),
        (
            "[train]\nepochs = 3\n",
            &[],
            "skilltrain.toml:2: key `train.epochs`: unknown key | did you mean `train.num_epochs`?",
        ),
        (
            "[train]\nnum-epochs = 3\n",
            &[],
            "skilltrain.toml:2: key `train.num-epochs`: unknown key | did you mean `train.num_epochs`?",
        ),
        (
            "[evaluation]\ntimeout = 3\n",
            &[],
            "skilltrain.toml:2: key `evaluation.timeout`: unknown key | did you mean `optimizer.timeout` or `target.timeout`?",
        ),
        (
            "[optimiser]\nlearning_rate = 3\n",
            &[],
            "skilltrain.toml:1: key `optimiser`: unknown key | did you mean `optimizer`?",
        ),
        (
            "[prices.\"gpt-4.1\"]\ninptu = 3\noutput = 1\ninput = 2\n",
            &[],
            "skilltrain.toml:2: key `prices.\"gpt-4.1\".inptu`: unknown key | did you mean `prices.\"gpt-4.1\".input`?",
        ),
        (
            "[data]\nqqq = 3\n",
            &[],
            "skilltrain.toml:2: key `data.qqq`: unknown key | the keys of [data] are tasks, split_dir, split_ratio, split_seed",
        ),
        (
            "[zzz]\n",
            &[],
            "skilltrain.toml:1: key `zzz`: unknown key | the sections are train, gradient, optimizer, target, evaluation, data, budget, prices, rates",
        ),
        (
            DATA,
            &["train.num_epoch=3"],
            "--set train.num_epoch=3: key `train.num_epoch`: unknown key | did you mean `train.num_epochs`?",
        ),
        (
            "[train]\nworker = 3\nseeed = 1\n",
            &[],
            "skilltrain.toml:2: key `train.worker`: unknown key | did you mean `train.workers`? | also wrong: skilltrain.toml:3: key `train.seeed`: unknown key",
        ),
    ] {
        assert_eq!(fails(text, sets), wanted, "{text}");
    }
}

#[test]
fn a_wrong_value_is_named_with_its_place_and_what_is_wanted() {
    for (text, wanted) in [
        (
            "[train]\nnum_epochs = \"4\"",
            "skilltrain.toml:2: key `train.num_epochs`: \"4\" is not a whole number of 1 or more",
        ),
        ("train.num_epochs = 0", "skilltrain.toml:1: key `train.num_epochs`: 0 is not a whole number of 1 or more"),
        ("train.num_epochs = 1.5", "skilltrain.toml:1: key `train.num_epochs`: 1.5 is not a whole number of 1 or more"),
        ("train.batch_size = 0", "skilltrain.toml:1: key `train.batch_size`: 0 is not a whole number of 1 or more"),
        ("train.accumulation = 0", "skilltrain.toml:1: key `train.accumulation`: 0 is not a whole number of 1 or more"),
        ("train.workers = 1025", "skilltrain.toml:1: key `train.workers`: 1025 is not a whole number from 1 to 1024"),
        ("train.seed = -1", "skilltrain.toml:1: key `train.seed`: -1 is not a whole number of 0 or more"),
        ("train.freeze = 1", "skilltrain.toml:1: key `train.freeze`: 1 is not true or false"),
        ("train.out = \"\"", "skilltrain.toml:1: key `train.out`: \"\" is not text in quotes that is not empty"),
        (
            "train.sandbox = \"bwarp\"",
            "skilltrain.toml:1: key `train.sandbox`: \"bwarp\" is not one of \"auto\", \"bwrap\", \"landlock\", \"off\" | did you mean \"bwrap\"?",
        ),
        ("train = 3", "skilltrain.toml:1: key `train`: 3 is not a table of keys"),
        ("[[train]]\nseed = 1", "skilltrain.toml:1: key `train`: a list is not a table of keys"),
        (
            "gradient.merge_batch_size = 1",
            "skilltrain.toml:1: key `gradient.merge_batch_size`: 1 is not a whole number of 2 or more",
        ),
        (
            "gradient.minibatch_size = 0",
            "skilltrain.toml:1: key `gradient.minibatch_size`: 0 is not a whole number of 1 or more",
        ),
        (
            "optimizer.timeout = 0",
            "skilltrain.toml:1: key `optimizer.timeout`: 0 is not a number above 0, at most 31536000",
        ),
        ("target.timeout = inf", "skilltrain.toml:1: key `target.timeout`: inf is not a finite number"),
        ("target.timeout = nan", "skilltrain.toml:1: key `target.timeout`: nan is not a finite number"),
        ("target.temperature = 2.1", "skilltrain.toml:1: key `target.temperature`: 2.1 is not a number from 0 to 2"),
        ("target.name = \"\"", "skilltrain.toml:1: key `target.name`: \"\" is not text in quotes that is not empty"),
        (
            "target.name = {u = \"x\"}",
            "skilltrain.toml:1: key `target.name`: a table is not text in quotes that is not empty",
        ),
        (
            "target.answer_tokens = 4294967296",
            "skilltrain.toml:1: key `target.answer_tokens`: 4294967296 is not a whole number from 1 to 4294967295",
        ),
        (
            "target.seed = 99999999999999999999",
            "skilltrain.toml:1: key `target.seed`: 99999999999999999999 is too large a number",
        ),
        ("evaluation.alpha = 1", "skilltrain.toml:1: key `evaluation.alpha`: 1 is not a number above 0 and below 1"),
        (
            "evaluation.alpha = 0.0",
            "skilltrain.toml:1: key `evaluation.alpha`: 0.0 is not a number above 0 and below 1",
        ),
        (
            "evaluation.min_coverage = 1.1",
            "skilltrain.toml:1: key `evaluation.min_coverage`: 1.1 is not a number from 0 to 1",
        ),
        (
            "evaluation.mixed_weight = -0.1",
            "skilltrain.toml:1: key `evaluation.mixed_weight`: -0.1 is not a number from 0 to 1",
        ),
        ("evaluation.repeats = 0", "skilltrain.toml:1: key `evaluation.repeats`: 0 is not a whole number of 1 or more"),
        ("evaluation.options = 1", "skilltrain.toml:1: key `evaluation.options`: 1 is not a table of keys"),
        (
            "evaluation.options.day = 2020-01-01",
            "skilltrain.toml:1: key `evaluation.options.day`: no key takes a date or a time | put it in quotes to make it text",
        ),
        ("budget.max_usd = -1", "skilltrain.toml:1: key `budget.max_usd`: -1 is not a number of 0 or more"),
        ("budget.max_minutes = -1", "skilltrain.toml:1: key `budget.max_minutes`: -1 is not a number from 0 to 525600"),
        (
            "[prices.m]\ninput = 1",
            "skilltrain.toml:1: key `prices.m.output`: is missing | US dollars per million tokens received.",
        ),
        ("prices.m = 1", "skilltrain.toml:1: key `prices.m`: 1 is not a table of keys"),
        (
            "rates.m.max_in_flight = 0",
            "skilltrain.toml:1: key `rates.m.max_in_flight`: 0 is not a whole number from 1 to 4294967295",
        ),
        ("[train]\nseed = = 1", "skilltrain.toml:2: extra `=`, expected nothing"),
        ("[train]\nseed = 1\nseed = 1", "skilltrain.toml:3: duplicate key"),
    ] {
        assert_eq!(fails(text, &[]), wanted, "{text}");
    }
}

#[test]
fn what_is_at_the_edge_is_taken() {
    let text = "
        train = { workers = 1024, num_epochs = 1, train_size = 0 }
        gradient = { merge_batch_size = 2, minibatch_size = 1 }
        optimizer = { learning_rate = 0, min_learning_rate = 9, timeout = 1, retries = 0, temperature = 0 }
        evaluation = { alpha = 0.999, min_coverage = 0, mixed_weight = 1, options = { a = [1, { b = true }] } }
        target = { temperature = 2, seed = 0, system = \"\" }
        budget = { max_usd = 0, max_tokens = 0, max_calls = 0, max_minutes = 0 }
        prices = { \"gpt-5*\" = { input = 0, output = 1 } }";
    let config = parse(text, &[]).unwrap();
    assert_eq!(config.optimizer.learning_rate, 0);
    assert_eq!(config.evaluation.options["a"], json!([1, { "b": true }]));
    assert_eq!(config.prices["gpt-5*"], Price { input: 0.0, output: 1.0, cached: None, written: None });
}

#[test]
fn keys_that_do_not_go_together_are_refused() {
    let ratio = |ratio: &str| format!("{DATA}split_ratio = {ratio:?}\n");
    for (text, wanted) in [
        ("", "skilltrain.toml: key `data.tasks`: is missing: there is nothing to train on"),
        ("[data]\ntasks = \"a\"\nsplit_dir = \"b\"", "skilltrain.toml:3: key `data.split_dir`: tasks is set as well"),
        (&ratio("2:0:7"), "skilltrain.toml:3: key `data.split_ratio`: \"2:0:7\" leaves no selection split"),
        (&ratio("0:1:7"), "skilltrain.toml:3: key `data.split_ratio`: \"0:1:7\" is not three whole numbers"),
        (&ratio("2:1"), "skilltrain.toml:3: key `data.split_ratio`: \"2:1\" is not three whole numbers"),
        (&ratio("a:b:c"), "skilltrain.toml:3: key `data.split_ratio`: \"a:b:c\" is not three whole numbers"),
    ] {
        let error = fails(text, &[]);
        assert!(error.starts_with(wanted), "{text}: {error}");
    }
    assert!(load(&ratio("2:0:7"), &["evaluation.use_gate=false"]).1.is_ok());
    assert!(load("data.split_dir = \"split\"\ndata.split_ratio = \"1:0:0\"", &[]).1.is_ok());
}

#[test]
fn relative_paths_are_the_configuration_file_s() {
    let text = "train = { out = \"./o/../x\", init_pool = \"pool\", prompts = \"/p\" }\ndata.split_dir = \"./s\"\n";
    let (folder, config) = load(text, &["train.init_pool=../seed"]);
    let config = config.unwrap();
    assert_eq!(config.train.out, folder.join("o/../x"));
    assert_eq!(config.train.init_pool, Some(folder.join("../seed")));
    assert_eq!(config.train.prompts, Some("/p".into()));
    assert_eq!(config.data.split_dir.unwrap().as_os_str(), folder.join("s").as_os_str());
}

#[test]
fn a_flag_is_typed_by_its_key() {
    let sets = [
        "train.num_epochs=2",
        "target.name=openai:m@http://h/v1?a=b",
        "target.system=\"two\\nlines\"",
        "evaluation.rubric='as it is'",
        "optimizer.model=\"half",
        "target.seed = 0x10",
        "target.temperature=1",
        "optimizer.strategy=patch",
        "train.freeze=true",
        "train.seed=1",
        "train.seed=7",
        "prices.\"m.1=x\".input=1",
        "prices.\"m.1=x\".output=2",
        "prices.gpt-4.1.input=3",
        "prices.gpt-4.1.output=4",
        "rates.openai:q@http://h/v1.max_in_flight=5",
        "evaluation.options.words=a b",
        "evaluation.options.list=[1, 2]",
        "budget.max_usd=",
        "budget={max_calls=5, max_usd=3}",
        "budget.max_usd=",
    ];
    let config = parse("[budget]\nmax_usd = 1\nmax_tokens = 9", &sets).unwrap();
    assert_eq!((config.train.num_epochs, config.train.seed, config.train.freeze), (2, 7, true));
    assert_eq!(config.target.name.as_deref(), Some("openai:m@http://h/v1?a=b"));
    assert_eq!((config.target.system.as_str(), config.evaluation.rubric.as_deref()), ("two\nlines", Some("as it is")));
    assert_eq!((config.optimizer.model.as_deref(), config.optimizer.strategy), (Some("\"half"), Strategy::Patch));
    assert_eq!((config.target.seed, config.target.temperature), (Some(16), Some(1.0)));
    assert_eq!((config.prices["m.1=x"].output, config.prices["gpt-4.1"].input), (2.0, 3.0));
    assert_eq!(config.rates["openai:q@http://h/v1"].max_in_flight, Some(5));
    assert_eq!(config.evaluation.options["words"], "a b");
    assert_eq!(config.evaluation.options["list"], json!([1, 2]));
    assert_eq!(config.budget, Budget { max_calls: Some(5), ..Budget::default() });
}

#[test]
fn a_wrong_flag_is_named() {
    for (set, wanted) in [
        ("train.num_epochs", "--set train.num_epochs: this is not KEY=VALUE"),
        ("=3", "--set =3: this is not KEY=VALUE"),
        ("train.num_epochs=two", "--set train.num_epochs=two: key `train.num_epochs`: \"two\" is not a whole number"),
        ("train.workers=", "--set train.workers=: key `train.workers`: \"\" is not a whole number from 1 to 1024"),
        ("trian.num_epochs=3", "--set trian.num_epochs=3: key `trian`: unknown key | did you mean `train`?"),
        ("train=3", "--set train=3: key `train`: 3 is not a table of keys"),
        ("train.seed.x=3", "--set train.seed.x=3: key `train.seed.x`: `train.seed` is not a table"),
        ("target.timeout=nan", "--set target.timeout=nan: key `target.timeout`: nan is not a finite number"),
        ("prices.gpt-4.1.inptu=1", "--set prices.gpt-4.1.inptu=1: key `prices.\"gpt-4.1\".inptu`: unknown key"),
        (
            "rates.a:b@http://h.c=d.max_in_flite=1",
            "--set rates.a:b@http://h.c=d.max_in_flite=1: key `rates.\"a:b@http://h\".c`",
        ),
        ("prices.m.input=1", "--set prices.m.input=1: key `prices.m.output`: is missing"),
        (
            "target.nam=openai:m@http://u:secret@h",
            "--set target.nam=openai:m@http://…@h: key `target.nam`: unknown key",
        ),
    ] {
        let error = fails(&format!("train.seed = 1\n{DATA}"), &[set]);
        assert!(error.starts_with(wanted), "{set}: {error}");
    }
}
