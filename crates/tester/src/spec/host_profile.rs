//! Host profiles as users write them: how the TCP of a system behaves.

use super::problem::FlowProblem;
use super::tcp::TcpOptions;
use base::describe::{Describe, Schema, Schemas, Value, wrong_type};
use base::diagnostic::Diagnostic;

base::record! {
    /// What a host profile says.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostProfile {
        /// Its name.
        pub name: String;
        /// What it is, and where its values come from.
        pub description: String = String::new();
        /// How its TCP behaves.
        pub tcp: TcpOptions = TcpOptions::default();
    }
}

/// A host profile: by its name or its file, which Python looks up, or what the file says.
#[derive(Clone, Debug, PartialEq)]
pub enum HostProfileSpec {
    /// A name, or the path of a file.
    Named(String),
    /// What is in the file.
    Inline(Box<HostProfile>),
}

impl HostProfileSpec {
    /// How TCP behaves by it. By name the core knows none: files are looked up before.
    pub fn tcp(&self) -> Result<TcpOptions, Diagnostic> {
        match self {
            HostProfileSpec::Inline(profile) => Ok(profile.tcp),
            HostProfileSpec::Named(profile) => {
                Err(FlowProblem::UnknownHostProfile { profile: profile.clone() }.into())
            }
        }
    }
}

impl Describe for HostProfileSpec {
    fn read(value: &Value) -> Result<HostProfileSpec, Diagnostic> {
        match value {
            Value::Text(name) => Ok(HostProfileSpec::Named(name.clone())),
            Value::Map(_) => {
                HostProfile::read(value).map(|profile| HostProfileSpec::Inline(Box::new(profile)))
            }
            other => Err(wrong_type(other, "a text, or what a host profile says")),
        }
    }
    fn write(&self) -> Value {
        match self {
            HostProfileSpec::Named(name) => name.as_str().into(),
            HostProfileSpec::Inline(profile) => profile.write(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        let said = HostProfile::schema(known);
        Schema::OneOf(vec![Schema::Text { form: "any text", pattern: None }, said])
    }
    fn example() -> Option<&'static str> {
        Some("solaris-2.5.1")
    }
}
