//! From a file and the `--set` flags to a checked configuration.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::shape::Shape;
use super::source::Source;
use super::{CONFIG_FILE, Config, check, document, scrub};
use crate::ground::error::{Error, Kind, Result};
use crate::ground::files;

impl Config {
    /// Reads a configuration file, and sets what the `--set` flags (`section.key=value`) say. Relative paths, those of
    /// flags too, are relative to the file's folder and become absolute.
    ///
    /// # Errors
    /// Of kind `Usage`, naming the file and line or the flag, the key, its value and what is wanted: no such file, no
    /// TOML, an unknown key (with the nearest one), a value of a wrong type or out of its range, keys that do not go
    /// together.
    pub fn load(file: &Path, sets: &[String]) -> Result<Config> {
        let text = files::read_text(file).map_err(|error| {
            let error = error.with_kind(Kind::Usage);
            let missing = !file.exists();
            if missing { error.hint(format!("`skilltrain config init` writes a {CONFIG_FILE}")) } else { error }
        })?;
        let source = Source::parse(&text, file)?;
        let (mut config, source) = Config::of_source(source, sets)?;
        source.places.check(check::together(&config))?;
        config.make_absolute(&folder_of(file)?);
        Ok(config)
    }

    /// What a source and flags say, each value checked by itself.
    pub(super) fn of_source(mut source: Source, sets: &[String]) -> Result<(Config, Source)> {
        let shape = Shape::of_config();
        sets.iter().try_for_each(|set| source.set(set, &shape))?;
        source.places.check(check::values(&source.root, &shape))?;
        let config = serde_path_to_error::deserialize(Value::Object(source.root.clone())).map_err(|error| {
            // The schema has let it through, so this is a value that no check foresaw.
            let message = format!("key `{}`: {}", error.path(), error.inner());
            Error::usage(message).context(source.places.file.display())
        })?;
        Ok((config, source))
    }

    fn make_absolute(&mut self, folder: &Path) {
        // By components, so that `./tasks.jsonl` and `tasks.jsonl` are the same.
        let absolute = |path: &mut PathBuf| *path = folder.join(&*path).components().collect();
        absolute(&mut self.train.out);
        let optional =
            [&mut self.train.init_pool, &mut self.train.prompts, &mut self.data.tasks, &mut self.data.split_dir];
        optional.into_iter().flatten().for_each(absolute);
    }

    /// The configuration as TOML: every key with its value, in a fixed order, without passwords in URLs.
    pub fn render(&self) -> String {
        document::resolved(&self.to_json())
    }

    /// The configuration as JSON, without passwords in URLs; what is not set is null.
    pub fn to_json(&self) -> Value {
        scrub::scrubbed_value(self.tree())
    }

    /// The configuration as a tree of values.
    pub(super) fn tree(&self) -> Value {
        // Texts, numbers and tables of them: there is nothing here that cannot be a value.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Who attempts the tasks.
    ///
    /// # Errors
    /// Of kind `Usage`, saying how to name one, when none is named.
    pub fn target_name(&self) -> Result<&str> {
        self.target.name.as_deref().ok_or_else(|| {
            Error::usage("target.name is not set: nobody attempts the tasks")
                .hint("below [target] write name = \"openai:MODEL@URL\" or anthropic:MODEL, ollama:MODEL, command:PROGRAM")
                .hint("or give it for once: --set target.name=openai:MODEL@URL")
        })
    }
}

/// The folder that relative paths are relative to.
fn folder_of(file: &Path) -> Result<PathBuf> {
    let file = std::path::absolute(file).map_err(|error| Error::usage(error).context(file.display()))?;
    let folder = file.parent().unwrap_or(&file).to_owned();
    // The run's own copy of the configuration is text, and must name the same folder.
    match folder.to_str() {
        Some(_) => Ok(folder),
        None => Err(Error::usage(format!("the folder {} has a name that is not UTF-8", folder.display()))
            .hint("move the configuration file to another folder")),
    }
}
