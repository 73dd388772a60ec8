//! JSON in what a model says: the last whole object, whatever stands around it, and that object as a type of ours.
//!
//! A model's text is hostile until it parses. Finding it is the ground's; typing it is done here.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ground::reply::{self, Fault};

/// Reads the last whole object of a text as a `T`. The error is one line for the model and for a person: that no
/// object is there, or which field is wrong and how (`edits[1].op: unknown variant ...`).
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let object = last_object(text)?;
    serde_path_to_error::deserialize(object).map_err(|error| {
        let path = error.path().to_string();
        if path == "." { error.inner().to_string() } else { format!("{path}: {}", error.inner()) }
    })
}

/// The last whole object of a text, as [`reply::last_object`] finds it, or why there is none. A list is no object.
pub fn last_object(text: &str) -> Result<Value, String> {
    match reply::last_object(text) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) => Err(Fault::None.to_string()),
        Err(fault) => Err(fault.to_string()),
    }
}

#[cfg(test)]
mod tests;
