//! Errors on their way to Python: an exception whose data say what is wrong and where, so that nobody has to read its
//! text.

use base::describe::{Value, lead};
use base::diagnostic::{Argument, Diagnostic, Kind, Step};
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
    match error {
        NetworkError::Problem(found) => of_network(&found),
        NetworkError::Engine(error) => run(error),
    }
}

/// A diagnostic of a network, whose path names what it leads through.
pub fn of_network(found: &Diagnostic) -> PyErr {
    Python::attach(|py| diagnostic(py, &Value::Null, found))
}

/// A diagnostic with all of its data: `path`, `on_key`, `code`, `kind`, `arguments`, `lead` (what it is about) and
/// `words` (what is wrong).
pub fn diagnostic(py: Python<'_>, root: &Value, found: &Diagnostic) -> PyErr {
    let (about, words) = (lead(root, found), found.words());
    let text = format!("{about}{words}");
    let error = match found.kind() {
        Kind::Failed => RunError::new_err(text),
        _ => InputError::new_err(text),
    };
    let filled = fill(py, error.value(py).as_any(), found, &about, &words);
    filled.map_or_else(|failed| failed, |()| error)
}

/// Something surprising, with the data that an error has: an exception that nobody raises.
pub fn warning<'py>(py: Python<'py>, found: &Diagnostic) -> Bound<'py, PyAny> {
    diagnostic(py, &Value::Null, found).into_value(py).into_bound(py).into_any()
}

fn fill(
    py: Python<'_>,
    made: &Bound<'_, PyAny>,
    found: &Diagnostic,
    about: &str,
    words: &str,
) -> PyResult<()> {
    let arguments = PyDict::new(py);
    for (name, argument) in found.arguments() {
        match argument {
            Argument::Int(value) => arguments.set_item(name, value)?,
            Argument::Float(value) => arguments.set_item(name, value)?,
            Argument::Text(value) => arguments.set_item(name, value)?,
        }
    }
    made.setattr("path", steps_of(py, found.path())?)?;
    made.setattr("on_key", found.is_on_key())?;
    made.setattr("code", found.code())?;
    made.setattr("kind", found.kind().name())?;
    made.setattr("arguments", arguments)?;
    made.setattr("lead", about)?;
    made.setattr("words", words)
}

/// A path as Python has it: keys and places.
pub fn steps_of<'py, 's>(
    py: Python<'py>,
    path: impl Iterator<Item = &'s Step>,
) -> PyResult<Bound<'py, PyTuple>> {
    let step = |step: &Step| {
        Ok(match step {
            Step::Key(key) => key.into_pyobject(py)?.into_any(),
            Step::Index(index) | Step::Called(index, _) => index.into_pyobject(py)?.into_any(),
        })
    };
    PyTuple::new(py, path.map(step).collect::<PyResult<Vec<_>>>()?)
}
