//! Saved forms as JSON, with their schema.

use std::borrow::Cow;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;

use super::lines::digest;
use super::{FORMAT, SavedError, SavedPlan};

/// The field of the digest.
const DIGEST: &str = "digest";

/// A plan: everything decided, nothing run.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "SavedPlan")]
pub(super) struct WithDigest<'a> {
    #[serde(flatten)]
    plan: Cow<'a, SavedPlan>,
    /// The first 64 bits, in hexadecimal, of the SHA-256 of all other fields as JSON without white
    /// space and with names in order. A plan with another one was edited.
    digest: String,
}

impl<'a> WithDigest<'a> {
    fn of(plan: &'a SavedPlan) -> Self {
        let value = serde_json::to_value(plan);
        Self {
            plan: Cow::Borrowed(plan),
            digest: digest_of(value.expect(WRITES)),
        }
    }
}

/// Why writing a saved form cannot fail.
const WRITES: &str = "names are strings, and nothing else can fail";

/// A plan with its digest; ends in a newline.
pub(super) fn write_plan(plan: &SavedPlan) -> String {
    write(&WithDigest::of(plan))
}

/// A plan with its digest on one line; ends in a newline.
pub(super) fn plan_line(plan: &SavedPlan) -> String {
    line(&WithDigest::of(plan))
}

/// The digest of a plan.
pub(super) fn plan_digest(plan: &SavedPlan) -> String {
    WithDigest::of(plan).digest
}

/// JSON on one line; ends in a newline.
pub(crate) fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect(WRITES) + "\n"
}

/// Pretty JSON; ends in a newline.
pub(crate) fn write(value: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(value);
    json.expect(WRITES) + "\n"
}

/// The schema of a form; ends in a newline.
pub(crate) fn schema<T: JsonSchema>() -> String {
    write(&schema_for!(T))
}

/// Reads a plan of this version, or of one that differs in the minor number.
pub(super) fn read(text: &str) -> Result<SavedPlan, SavedError> {
    let error = |error: serde_json::Error| SavedError {
        message: format!("this is no plan: {error}"),
        line: error.line(),
    };
    let mut value: Value = serde_json::from_str(text).map_err(error)?;
    let version = value["format_version"].as_str().unwrap_or_default();
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    if major(version) != major(FORMAT) {
        return Err(SavedError {
            message: format!("this version of haul reads plans of format {FORMAT}"),
            line: 1,
        });
    }
    if let Some(text) = with_control(&value) {
        return Err(SavedError {
            message: format!("this is no plan: {text:?} has a control character"),
            line: 1,
        });
    }
    let plan = serde_json::from_str(text).map_err(error)?;
    let told = value.as_object_mut().and_then(|all| all.remove(DIGEST));
    if told != Some(Value::String(digest_of(value))) {
        return Err(SavedError {
            message:
                "this plan was edited after haul wrote it: `haul plan --format json` writes it \
                anew"
                    .to_owned(),
            line: 1,
        });
    }
    Ok(plan)
}

fn digest_of(mut plan: Value) -> String {
    plan.sort_all_objects();
    digest(&plan.to_string())
}

/// A text that has a control character, which could pass for several lines.
fn with_control(value: &Value) -> Option<&str> {
    let is_bad = |text: &str| text.chars().any(char::is_control);
    match value {
        Value::String(text) => is_bad(text).then_some(text),
        Value::Array(items) => items.iter().find_map(with_control),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let name = is_bad(name).then_some(name.as_str());
            name.or_else(|| with_control(value))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
