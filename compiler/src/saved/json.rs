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
pub(crate) struct WithDigest<'a> {
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
    let value = parsed(text, "plan", FORMAT)?;
    let plan = serde_json::from_str(text).map_err(|error| no("plan", &error))?;
    match is_of_digest(value) {
        true => Ok(plan),
        false => Err(SavedError {
            message: format!("{EDITED}: `haul plan --format json` writes it anew"),
            line: 1,
        }),
    }
}

/// JSON of a form of this major version, without control characters.
pub(crate) fn parsed(text: &str, what: &str, format: &str) -> Result<Value, SavedError> {
    let error = |message| SavedError { message, line: 1 };
    let value: Value = serde_json::from_str(text).map_err(|error| no(what, &error))?;
    let version = value["format_version"].as_str().unwrap_or_default();
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    if major(version) != major(format) {
        return Err(error(format!(
            "this version of haul reads {what}s of format {format}"
        )));
    }
    match with_control(&value) {
        None => Ok(value),
        Some(text) => Err(error(format!(
            "this is no {what}: {text:?} has a control character"
        ))),
    }
}

/// Why a text is not what it should be.
pub(crate) fn no(what: &str, error: &serde_json::Error) -> SavedError {
    SavedError {
        message: format!("this is no {what}: {error}"),
        line: error.line(),
    }
}

/// Whether a plan as JSON has the digest of all its other fields.
fn is_of_digest(mut plan: Value) -> bool {
    let told = plan.as_object_mut().and_then(|all| all.remove(DIGEST));
    told == Some(Value::String(digest_of(plan)))
}

const EDITED: &str = "this plan was edited after haul wrote it";

/// A plan inside another form, as [`WithDigest`].
pub(crate) mod with_digest {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};
    use serde_json::Value;

    use super::{EDITED, WithDigest, is_of_digest};
    use crate::saved::SavedPlan;

    pub(crate) fn serialize<S: Serializer>(plan: &SavedPlan, to: S) -> Result<S::Ok, S::Error> {
        WithDigest::of(plan).serialize(to)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<SavedPlan, D::Error> {
        let value = Value::deserialize(from)?;
        let plan = SavedPlan::deserialize(&value).map_err(D::Error::custom)?;
        plan.check().map_err(D::Error::custom)?;
        match is_of_digest(value) {
            true => Ok(plan),
            false => Err(D::Error::custom(EDITED)),
        }
    }
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
