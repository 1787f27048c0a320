//! Device profiles as users write them.

use super::problem::NetworkProblem;
use base::describe::{Describe, Schema, Schemas, Value, malformed, wrong_type};
use base::diagnostic::Diagnostic;
use node::DeviceProfile;

/// A device profile: by its name or its file, which Python looks up, or what the file says.
#[derive(Clone, Debug, PartialEq)]
pub enum ProfileSpec {
    /// A name, or the path of a file.
    Named(String),
    /// What is in the file.
    Inline(Box<DeviceProfile>),
}

/// The profile of devices that take no time and have no limit.
const IDEAL: &str = "ideal";

impl Default for ProfileSpec {
    fn default() -> ProfileSpec {
        ProfileSpec::Named(IDEAL.into())
    }
}

impl ProfileSpec {
    /// The profile itself. By name the core has only one, which says nothing: files are looked up before.
    pub fn resolved(&self) -> Result<DeviceProfile, Diagnostic> {
        match self {
            ProfileSpec::Inline(profile) => Ok((**profile).clone()),
            ProfileSpec::Named(name) if name == IDEAL => {
                Ok(DeviceProfile { name: name.clone(), ..DeviceProfile::default() })
            }
            ProfileSpec::Named(name) => Err(NetworkProblem::UnknownProfile { profile: name.clone() }.into()),
        }
    }
}

impl Describe for ProfileSpec {
    fn read(value: &Value) -> Result<ProfileSpec, Diagnostic> {
        match value {
            Value::Text(name) => Ok(ProfileSpec::Named(name.clone())),
            Value::Map(_) => {
                // Profiles are files of their own, which serde reads; see `docs/reference/profiles.md`.
                let parsed = serde_json::to_value(value).and_then(serde_json::from_value);
                parsed
                    .map(|profile| ProfileSpec::Inline(Box::new(profile)))
                    .map_err(|error| malformed(value, format!("a device profile: {error}")))
            }
            other => Err(wrong_type(other, "a text, or what a profile says")),
        }
    }
    fn write(&self) -> Value {
        match self {
            ProfileSpec::Named(name) => name.as_str().into(),
            ProfileSpec::Inline(profile) => {
                let value = serde_json::to_value(profile).and_then(serde_json::from_value);
                value.unwrap_or_default()
            }
        }
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::OneOf(vec![
            Schema::Text { form: "any text", pattern: None },
            Schema::Map(Box::new(Schema::Any)),
        ])
    }
    fn example() -> Option<&'static str> {
        Some(IDEAL)
    }
}
