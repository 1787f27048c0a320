//! Why a network can't be built or run as asked.

use base::describe::{Value, lead};
use base::diagnostic::Diagnostic;
use core::fmt;
use engine::EngineError;

/// Why something can't be done as asked.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A problem with a code, a kind and a path into the description; empty if it is about none of it.
    Problem(#[from] Diagnostic),
    /// The engine refused.
    Engine(#[from] EngineError),
}

/// One sentence for people: what it is about, then the words of the problem.
impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Problem(found) => f.write_str(&sentence(found)),
            NetworkError::Engine(error) => error.fmt(f),
        }
    }
}

/// A diagnostic of a network as one sentence. Its path brings the names of what it leads through.
pub fn sentence(found: &Diagnostic) -> String {
    format!("{}{}", lead(&Value::Null, found), found.words())
}
