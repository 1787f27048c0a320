//! What can be wrong with a description or a command, in one sentence for people.

use engine::EngineError;

/// Why something can't be done as asked.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The user asked for something impossible.
    #[error("{0}")]
    Input(String),
    /// Something went wrong in a run in real time.
    #[error("{0}")]
    Run(String),
    /// The engine refused.
    #[error("{0}")]
    Engine(#[from] EngineError),
}

/// An error about the user's input.
pub fn input<T>(message: impl Into<String>) -> Result<T, NetworkError> {
    Err(NetworkError::Input(message.into()))
}
