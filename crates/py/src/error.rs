//! Errors on their way to Python: one exception with two kinds, so that nothing has to be guessed from its text.

use network::NetworkError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(twinplane._core, CoreError, PyException, "What the core can't do, in one sentence.");
create_exception!(twinplane._core, InputError, CoreError, "The user can mend it.");
create_exception!(twinplane._core, RunError, CoreError, "It went wrong in a run.");

/// An error about what the caller gave.
pub fn input(error: impl ToString) -> PyErr {
    InputError::new_err(error.to_string())
}

/// An error of a run.
pub fn run(error: impl ToString) -> PyErr {
    RunError::new_err(error.to_string())
}

/// The error of a network.
pub fn network(error: NetworkError) -> PyErr {
    match &error {
        NetworkError::Input(_) => input(error),
        NetworkError::Engine(_) | NetworkError::Run(_) => run(error),
    }
}
