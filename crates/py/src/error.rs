//! Errors on their way to Python: one exception with two kinds, so that nothing has to be guessed from its text.

use base::describe::{Value, lead};
use base::diagnostic::{Argument, Diagnostic, Step};
use network::NetworkError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

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

/// A diagnostic with all of its data: `path`, `on_key`, `code`, `kind`, `arguments`, `lead` (what it is about) and `words` (what is wrong).
pub fn diagnostic(py: Python<'_>, root: &Value, found: &Diagnostic) -> PyErr {
    let (about, words) = (lead(root, found), found.words());
    let error = InputError::new_err(format!("{about}{words}"));
    let filled = fill(py, &error, found, &about, &words);
    filled.map_or_else(|failed| failed, |()| error)
}

fn fill(py: Python<'_>, error: &PyErr, found: &Diagnostic, about: &str, words: &str) -> PyResult<()> {
    let made = error.value(py);
    let steps: Vec<Bound<'_, PyAny>> = found
        .path()
        .map(|step| {
            Ok(match step {
                Step::Key(key) => key.into_pyobject(py)?.into_any(),
                Step::Index(index) => index.into_pyobject(py)?.into_any(),
            })
        })
        .collect::<PyResult<_>>()?;
    let arguments = PyDict::new(py);
    for (name, argument) in found.arguments() {
        match argument {
            Argument::Int(value) => arguments.set_item(name, value)?,
            Argument::Float(value) => arguments.set_item(name, value)?,
            Argument::Text(value) => arguments.set_item(name, value)?,
        }
    }
    made.setattr("path", PyTuple::new(py, steps)?)?;
    made.setattr("on_key", found.is_on_key())?;
    made.setattr("code", found.code())?;
    made.setattr("kind", found.kind().name())?;
    made.setattr("arguments", arguments)?;
    made.setattr("lead", about)?;
    made.setattr("words", words)
}
