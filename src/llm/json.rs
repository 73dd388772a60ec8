//! A model's JSON as a type of ours, with errors that name the field: what [`reply::last_object`] finds, read strictly.

use serde::de::DeserializeOwned;

use crate::ground::reply;

/// Reads the last whole object of a text as a `T`. The error is one line for the model and for a person: that no
/// object is there, or which field is wrong and how (`edits[1].op: unknown variant ...`).
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let object = reply::last_object(text).map_err(|fault| fault.to_string())?;
    // A list would do for a struct too, field by field: a shape that nobody asked for.
    if !object.is_object() {
        return Err("the reply is a JSON list, not an object".to_owned());
    }
    serde_path_to_error::deserialize(object).map_err(|error| {
        let path = error.path().to_string();
        if path == "." { error.inner().to_string() } else { format!("{path}: {}", error.inner()) }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Edits {
        edits: Vec<Edit>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Edit {
        op: String,
        #[serde(default)]
        target: Option<String>,
        #[serde(default)]
        size: u32,
    }

    #[test]
    fn what_has_the_wrong_type_is_named() {
        let wrong = |text: &str| read::<Edits>(text).unwrap_err();
        assert_eq!(read::<Edits>(r#"{"edits":[{"op":"add","target":null}]}"#).unwrap().edits[0].target, None);
        insta::assert_snapshot!(wrong(r#"{"edits":[{"op":"add"}, "append a line"]}"#), @r#"edits[1]: invalid type: string "append a line", expected struct Edit"#);
        insta::assert_snapshot!(wrong(r#"{"edits":[{"op":"add","size":"eight"}]}"#), @r#"edits[0].size: invalid type: string "eight", expected u32"#);
        insta::assert_snapshot!(wrong(r#"{"edits":null}"#), @"edits: invalid type: null, expected a sequence");
        insta::assert_snapshot!(wrong(r#"{"edits":[{"op":"add","size":-1}]}"#), @"edits[0].size: invalid value: integer `-1`, expected u32");
        insta::assert_snapshot!(wrong("{}"), @"missing field `edits`");
        insta::assert_snapshot!(wrong(r#"[{"op":"add"}]"#), @"the reply is a JSON list, not an object");
        insta::assert_snapshot!(wrong(r#"{"edits":[{"op":"#), @"the reply is cut off inside its JSON object");
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in r#"([{}\[\]",:\\ \na1é<>]|</think>|"edits":|null){0,60}"#) {
            let _ = read::<Edits>(&text);
        }
    }
}
