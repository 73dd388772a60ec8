//! Arguments that say who scores, and by what.

use std::path::Path;

use serde_json::{Map, Value};

use super::Call;
use super::model::{self, Exchanges, ModelArgs};
use crate::evaluator::{Evaluator, registry};
use crate::ground::error::{Error, Kind, Result};
use crate::ground::files;
use crate::llm::{Client, Price, Role, Shared, Spec};

/// Who scores, and by what.
#[derive(Debug, clap::Args)]
pub struct EvaluatorArgs {
    /// Who scores: auto, checks, exact, normalised, contains, numeric, regex, json_equal, token_f1, judge,
    /// command:PROGRAM
    #[arg(long, value_name = "NAME", default_value = "auto")]
    evaluator: String,

    /// An option of the evaluator, such as tolerance=0.01; may be given several times
    #[arg(long = "evaluator-option", value_name = "KEY=VALUE", value_parser = option)]
    options: Vec<(String, Value)>,

    /// The model that judges, for --evaluator judge: openai:MODEL@URL, anthropic:MODEL, ollama:MODEL
    #[arg(long, env = "SKILLTRAIN_JUDGE", value_name = "MODEL")]
    judge: Option<String>,

    /// What a good answer is, for --evaluator judge: a text, or @FILE
    #[arg(long, value_name = "TEXT|@FILE")]
    rubric: Option<String>,

    /// The judge's price in US dollars per million tokens sent and received
    #[arg(long, value_name = "IN:OUT", value_parser = model::price)]
    judge_price: Option<Price>,
}

/// A key and its value: JSON where it is some, else a text.
fn option(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("a key and a value are wanted, such as tolerance=0.01")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((key.trim().to_owned(), value))
}

impl EvaluatorArgs {
    /// The judge's model, when the evaluator asks one.
    ///
    /// # Errors
    /// Of kind `Usage`: a name that is no model's, or a judge or a rubric for an evaluator that has none.
    pub(super) fn needs_model(&self) -> Result<Option<Spec>> {
        if !registry::needs_model(&self.evaluator) {
            if self.rubric.is_some() {
                return Err(Error::usage(format!("--rubric is for --evaluator judge, not {}", self.evaluator)));
            }
            return Ok(None);
        }
        let Some(name) = &self.judge else { return Ok(None) };
        let spec = Spec::parse(name)?;
        spec.map(Some).ok_or_else(|| {
            Error::usage(format!("--judge {name:?} is not the name of a model")).hint("for instance openai:MODEL@URL")
        })
    }

    /// The evaluator.
    ///
    /// # Errors
    /// As [`registry::find_judging`]; of kind `Usage` for an option that is there twice, and a rubric's file that
    /// cannot be read.
    pub(super) fn find(
        &self,
        args: &ModelArgs,
        shared: &Shared,
        call: &Call<'_>,
        exchanges: Option<&Exchanges>,
    ) -> Result<Box<dyn Evaluator>> {
        let judge = match (self.needs_model()?, exchanges) {
            (Some(spec), Some(exchanges)) => {
                let backend = args.backend(&spec, call, exchanges)?;
                let client = Client::new(backend, shared.clone(), self.judge_price, Role::Judge);
                Some(registry::Judge { client, prompts: shared.prompts.clone() })
            }
            _ => None,
        };
        registry::find_judging(&self.evaluator, &self.given()?, judge.as_ref())
    }

    fn given(&self) -> Result<Map<String, Value>> {
        let mut given = Map::new();
        if let Some(rubric) = &self.rubric {
            let text = match rubric.strip_prefix('@') {
                Some(file) => files::read_text(Path::new(file)).map_err(|error| error.with_kind(Kind::Usage))?,
                None => rubric.clone(),
            };
            given.insert("rubric".into(), text.into());
        }
        for (key, value) in &self.options {
            if given.insert(key.clone(), value.clone()).is_some() {
                return Err(Error::usage(format!("the evaluator's option `{key}` is given twice")));
            }
        }
        Ok(given)
    }
}
