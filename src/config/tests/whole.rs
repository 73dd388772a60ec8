//! What holds of every configuration: template, schema, rendering, and comparison.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::Strategy;
use serde_json::{Map, Value, json};

use super::super::place::dotted;
use super::super::shape::{Key, Leaf, Shape};
use super::super::{Change, Config, Rates, document, schema, template};
use super::parse;

/// Every key of a shape, with its path; those of named tables below the name `n.1`.
fn all_keys(shape: &Shape) -> Vec<(Vec<String>, Key)> {
    let mut all = Vec::new();
    for section in shape.keys() {
        all.push((vec![section.name.clone()], section.clone()));
        for key in section.shape.keys() {
            let mut path = vec![section.name.clone()];
            if matches!(section.shape, Shape::Named { .. }) {
                path.push("n.1".to_owned());
            }
            path.push(key.name.clone());
            all.push((path, key.clone()));
        }
    }
    all
}

#[test]
fn the_template_is_the_defaults_and_its_examples_are_right() {
    assert_eq!(parse(&template(), &[]).unwrap(), Config::default());
    // With every example taken it is one as well.
    let is_key = |line: &str| {
        let line = line.trim_start_matches("# ");
        line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '))
    };
    let text = template();
    let lines = text.lines().map(|line| if is_key(line) { line.trim_start_matches("# ") } else { line });
    let full = parse(&lines.collect::<Vec<_>>().join("\n"), &[]).unwrap();
    assert!(!full.to_json().to_string().contains("null"), "{}", full.to_json());
    assert!(text.lines().all(|line| line.chars().count() <= 113), "a line is too long");
}

#[test]
fn the_schema_describes_every_key_and_its_bounds() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["train"]["properties"]["workers"]["maximum"], 1024);
    assert_eq!(schema["properties"]["evaluation"]["properties"]["alpha"]["exclusiveMaximum"], 1);
    assert!(!schema.to_string().contains("$ref"), "the shape is read without following references");
    let mut seen = BTreeSet::new();
    for (path, key) in all_keys(&Shape::of_config()) {
        assert!(key.about.ends_with('.'), "{}: no description", dotted(&path));
        assert!(key.example.is_some() || !key.is_optional, "{}: no example", dotted(&path));
        if let Shape::Leaf(Leaf::Choice(words)) = &key.shape {
            assert!(words.iter().all(|(word, meaning)| !word.is_empty() && !meaning.is_empty()), "{}", dotted(&path));
        }
        assert!(seen.insert(path));
    }
    assert_eq!(seen.len(), 84, "{seen:?}");
}

#[test]
fn a_password_is_in_no_rendering() {
    let mut config = Config::default();
    config.target.name = Some("openai:m@https://user:hunter2@host/v1".to_owned());
    config.evaluation.options = Map::from_iter([("url".to_owned(), json!("http://hunter2@h/"))]);
    config.rates.insert("openai:m@https://user:hunter2@host/v1".to_owned(), Rates::default());
    let other = Config::default();
    let changes = Config::changes_of_history(&config, &other);
    for text in [config.render(), config.to_json().to_string(), format!("{changes:?}")] {
        assert!(!text.contains("hunter2") && text.contains("…@h"), "{text}");
    }
}

#[test]
fn only_what_decides_results_changes_the_history() {
    let changed = |sets: &[&str]| {
        let base = ["target.name=openai:m@http://a:1/v1", "evaluation.judge=ollama:j"];
        let old = parse("", &base).unwrap();
        let new = parse("", &[&base[..], sets].concat()).unwrap();
        let changes = Config::changes_of_history(&old, &new);
        changes.into_iter().map(|Change { key, old, new }| format!("{key}: {old} -> {new}")).collect::<Vec<_>>()
    };
    let free = [
        "train.num_epochs=5",
        "train.workers=9",
        "train.out=x",
        "train.sandbox=off",
        "data.tasks=elsewhere.jsonl",
        "data.split_dir=elsewhere",
        "gradient.analyst_workers=1",
        "evaluation.eval_test=false",
        "budget.max_usd=1",
        "prices.m={input=1,output=1}",
        "rates.m.max_in_flight=1",
        "optimizer.timeout=1",
        "optimizer.retries=9",
        "target.timeout=1",
        "target.retries=9",
        "target.name=openai:m@https://b/v1",
        "evaluation.judge=ollama:j@http://c",
    ];
    assert_eq!(changed(&free), [""; 0]);
    assert_eq!(changed(&["target.name=openai:m"]), [""; 0]);
    for (set, wanted) in [
        ("train.num_epochs=3", "train.num_epochs: 4 -> 3"),
        ("train.init_pool=p", "train.init_pool: not set -> \"p\""),
        ("train.freeze=true", "train.freeze: false -> true"),
        ("target.name=openai:n@http://a:1/v1", "target.name: \"openai:m@http://a:1/v1\" -> \"openai:n@http://a:1/v1\""),
        ("target.name=", "target.name: \"openai:m@http://a:1/v1\" -> not set"),
        ("optimizer.name=command:a@http://x", "optimizer.name: \"extractive\" -> \"command:a@http://x\""),
        ("evaluation.options.timeout=3", "evaluation.options: {} -> { timeout = 3 }"),
        ("data.split_seed=1", "data.split_seed: 42 -> 1"),
    ] {
        assert_eq!(changed(&[set]), [wanted]);
    }
    // A key is free because it is listed, or it is not: none is forgotten.
    let listed = free.map(|set| set.split('=').next().unwrap_or_default().to_owned());
    for (path, key) in all_keys(&Shape::of_config()).into_iter().filter(|(path, _)| path.len() == 2) {
        let name = dotted(&path);
        if ["budget", "prices", "rates"].contains(&path[0].as_str()) || listed.contains(&name) {
            continue;
        }
        let other = other_value(&key, &Config::default().tree()[&path[0]][&path[1]]);
        let set = format!("{name}={}", document::value(&other));
        let (old, new) = (Config::default(), parse("", &[&set]).unwrap());
        let changes = Config::changes_of_history(&old, &new);
        assert_eq!(changes.iter().map(|change| change.key.as_str()).collect::<Vec<_>>(), [name]);
    }
}

/// A value of this key that it does not have.
fn other_value(key: &Key, value: &Value) -> Value {
    match &key.shape {
        Shape::Leaf(Leaf::Whole(_)) => json!(value.as_u64().unwrap_or(1) + 1),
        Shape::Leaf(Leaf::Number(_)) => json!(value.as_f64().unwrap_or(1.0) / 2.0),
        Shape::Leaf(Leaf::Flag) => json!(value != true),
        Shape::Leaf(Leaf::Choice(words)) => words.last().map(|(word, _)| json!(word)).unwrap_or_default(),
        Shape::Leaf(Leaf::Text { .. }) => json!("other"),
        _ => json!({ "a": 1 }),
    }
}

/// A value that a leaf takes.
fn taken(leaf: &Leaf) -> BoxedStrategy<Value> {
    match leaf {
        Leaf::Whole(bounds) => {
            let least = bounds.least.unwrap_or(0.0) as u64;
            (least..=bounds.most.map_or(i64::MAX as u64, |most| most as u64)).prop_map(Value::from).boxed()
        }
        Leaf::Number(bounds) => {
            let least = bounds.least.or(bounds.above).unwrap_or(0.0);
            let most = bounds.most.or(bounds.below).unwrap_or(1e300);
            (least + 1e-9..most).prop_map(Value::from).boxed()
        }
        Leaf::Text { least } => {
            let least = *least as usize;
            prop::collection::vec(any::<char>(), least..9).prop_map(|chars| json!(String::from_iter(chars))).boxed()
        }
        Leaf::Flag => any::<bool>().prop_map(Value::from).boxed(),
        Leaf::Choice(words) => {
            let words: Vec<String> = words.iter().map(|(word, _)| word.clone()).collect();
            prop::sample::select(words).prop_map(Value::from).boxed()
        }
    }
}

/// Some table of the evaluator's own.
fn free() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e300..1e300).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let inner = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..3).prop_map(|map| json!(map)),
        ]
    });
    prop::collection::btree_map(any::<String>(), inner, 0..3).prop_map(|map| json!(map)).boxed()
}

/// Some table of these keys, each of which may be left out.
fn table(keys: &[Key]) -> BoxedStrategy<Value> {
    let each: Vec<BoxedStrategy<(String, Option<Value>)>> = keys
        .iter()
        .map(|key| {
            let value = match &key.shape {
                Shape::Leaf(leaf) => taken(leaf),
                Shape::Section(keys) => table(keys),
                Shape::Named { keys, .. } => {
                    prop::collection::btree_map(any::<String>(), table(keys), 0..3).prop_map(|map| json!(map)).boxed()
                }
                Shape::Free => free(),
            };
            let name = key.name.clone();
            let value = if key.is_required { value.prop_map(Some).boxed() } else { prop::option::of(value).boxed() };
            value.prop_map(move |value| (name.clone(), value)).boxed()
        })
        .collect();
    let map = |each: Vec<(String, Option<Value>)>| {
        let set = each.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Value::Object(set.collect())
    };
    each.prop_map(map).boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_rendered_loads_as_the_same(value in table(Shape::of_config().keys())) {
        let config: Config = serde_json::from_value(value).unwrap();
        let text = config.render();
        // Passwords in URLs are the one thing that is not kept.
        prop_assume!(!config.tree().to_string().contains("://"));
        let again = parse(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(&again, &config);
        prop_assert_eq!(again.render(), text);
        prop_assert_eq!(Config::changes_of_history(&config, &again), vec![]);
    }

    #[test]
    fn no_text_and_no_flag_breaks_it(text in "([a-z\\[\\]=\"'{}.,# \n]|train|seed|prices|-?[0-9]+){0,12}", set in "(\\PC|[a-z.=\"\n]|prices\\.){0,12}") {
        let outcome = parse(&text, &[]);
        prop_assert!(outcome.is_err() || outcome.is_ok());
        if let Err(error) = parse("", &[&set]) {
            prop_assert!(error.to_string().contains("--set"), "{}", error);
        }
    }
}
