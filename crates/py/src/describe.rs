//! Descriptions on their way from Python, and what is wrong with them on the way back: values, not text.

use crate::error::{diagnostic, steps_of};
use base::describe::{Value, lead_to};
use base::diagnostic::Step;
use network::spec::written::place;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString, PyTuple};
use tester::spec::{NetworkFile, schemas};

/// Deeper than any description is nested.
const DEPTH_MAX: usize = 100;

/// What Python objects say: mappings keep their order; objects with a method `described` say it by that.
pub fn value(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    at_depth(given, 0)
}

fn at_depth(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEPTH_MAX {
        return Err(PyTypeError::new_err("a description is not nested so deeply"));
    }
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = given.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if given.is_instance_of::<PyInt>() {
        // An integer that no description can hold is a number too large for whatever reads it.
        return Ok(given.extract::<i128>().map_or_else(|_| Value::Float(f64::INFINITY), Value::Int));
    }
    if given.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(given.extract()?));
    }
    if given.is_instance_of::<PyString>() {
        return Ok(Value::Text(given.extract()?));
    }
    if let Ok(entries) = given.cast::<PyMapping>() {
        let entry = |item: Bound<'_, PyAny>| -> PyResult<(String, Value)> {
            let (key, inner): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            Ok((key.str()?.to_string(), at_depth(&inner, depth + 1)?))
        };
        return entries.items()?.iter().map(entry).collect::<PyResult<_>>().map(Value::Map);
    }
    if let Ok(described) = given.getattr("described") {
        return at_depth(&described.call0()?, depth + 1);
    }
    if let Ok(elements) = given.cast::<PySequence>() {
        let elements = elements.to_list()?;
        let inner = elements.iter().map(|element| at_depth(&element, depth + 1));
        return inner.collect::<PyResult<_>>().map(Value::List);
    }
    if let Ok(items) = given.try_iter() {
        return items.map(|item| at_depth(&item?, depth + 1)).collect::<PyResult<_>>().map(Value::List);
    }
    // Numbers of other libraries.
    if let Ok(number) = given.call_method0("__index__") {
        return at_depth(&number, depth + 1);
    }
    if let Ok(number) = given.call_method0("__float__") {
        return at_depth(&number, depth + 1);
    }
    Ok(Value::Text(given.repr()?.to_string()))
}

/// A value as plain Python objects.
pub fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::List(elements) => {
            let list = PyList::empty(py);
            elements.iter().try_for_each(|element| list.append(object(py, element)?))?;
            list.into_any()
        }
        Value::Map(entries) => {
            let dict = PyDict::new(py);
            entries.iter().try_for_each(|(key, inner)| dict.set_item(key, object(py, inner)?))?;
            dict.into_any()
        }
    })
}

/// Reads a network file's values; returns them with every default filled in and every interface named.
#[pyfunction]
pub fn read_network<'py>(py: Python<'py>, described: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let root = value(described)?;
    let read = py.detach(|| NetworkFile::read(&root));
    let read = read.map_err(|error| diagnostic(py, &root, &error))?;
    object(py, &read.write())
}

/// Everything that a description may say: types by name, with their fields.
#[pyfunction]
pub fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let mut known = schemas();
    crate::described::enter(&mut known);
    object(py, &known.write())
}

/// Where a file says what the path of an error of the core leads to: the steps to it, whether its key is meant, and
/// what it is in the words of whoever wrote it, such as `lsp 'east': route: `.
#[pyfunction]
pub fn written<'py>(
    py: Python<'py>,
    described: &Bound<'py, PyAny>,
    path: Vec<PathStep>,
    on_key: bool,
) -> PyResult<(Bound<'py, PyTuple>, bool, String)> {
    let root = value(described)?;
    let steps = path.into_iter().map(|step| match step {
        PathStep::Index(index) => Step::Index(index),
        PathStep::Key(key) => Step::Key(key),
    });
    let (found, whole) = place(&root, &steps.collect::<Vec<_>>());
    let on_key = on_key && whole;
    let lead = lead_to(&root, found.iter(), on_key);
    Ok((steps_of(py, found.iter())?, on_key, lead))
}

/// A step of a path, as Python has it.
#[derive(FromPyObject)]
pub enum PathStep {
    Index(usize),
    Key(String),
}
