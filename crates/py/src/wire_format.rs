//! Frames to trees of plain values, and back.

use crate::error::input;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wire::tree::{self, Tree};

/// The layers of a frame, as JSON.
#[pyfunction]
pub fn decode(frame: &[u8]) -> PyResult<String> {
    serde_json::to_string(&tree::decode(frame)).map_err(input)
}

/// The frame of layers given as JSON.
#[pyfunction]
pub fn encode<'py>(py: Python<'py>, layers: &str) -> PyResult<Bound<'py, PyBytes>> {
    let tree: Tree = serde_json::from_str(layers).map_err(input)?;
    let bytes = tree::encode(&tree).map_err(input)?;
    Ok(PyBytes::new(py, &bytes))
}

/// What an error code of RSVP and its value mean; nothing for a code that is not known.
#[pyfunction]
pub fn error_words(code: u8, value: u16) -> Option<String> {
    wire::rsvp::error_code::words(code, value)
}

/// A frame in one line.
#[pyfunction]
pub fn summary(frame: &[u8]) -> String {
    tree::summary(&tree::decode(frame))
}
