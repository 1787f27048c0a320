//! Frames to trees of plain values, and back.

use crate::error::input;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wire::link::LinkType;
use wire::tree::{self, Tree};

/// The layers of a packet that begins as a link type says, as JSON.
#[pyfunction]
#[pyo3(signature = (frame, link_type=1))]
pub fn decode(frame: &[u8], link_type: u32) -> PyResult<String> {
    serde_json::to_string(&tree::decode_link(link(link_type)?, frame)).map_err(input)
}

/// The numbers of the link types that are read, each with its name.
#[pyfunction]
pub fn link_types() -> Vec<(u16, &'static str)> {
    LinkType::numbers().collect()
}

fn link(number: u32) -> PyResult<LinkType> {
    u16::try_from(number).ok().and_then(LinkType::of).ok_or_else(|| {
        let known: Vec<String> =
            LinkType::numbers().map(|(number, name)| format!("{number} ({name})")).collect();
        input(format!("link type {number}: those that are read are {}", known.join(", ")))
    })
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

/// A packet that begins as a link type says, in one line.
#[pyfunction]
#[pyo3(signature = (frame, link_type=1))]
pub fn summary(frame: &[u8], link_type: u32) -> PyResult<String> {
    Ok(tree::summary(&tree::decode_link(link(link_type)?, frame)))
}
