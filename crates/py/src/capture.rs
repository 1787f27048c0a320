//! Captures of a running network, and files of captured packets.

use crate::error::input;
use base::diagnostic::os_text;
use engine::capture::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::BufReader;

/// A packet as Python sees it.
type CapturedPacket<'py> = (u64, u16, u32, Bound<'py, PyBytes>);

/// What to capture: a link of the engine, to a file or to memory.
pub fn spec(link: base::LinkId, path: Option<String>, max_packets: Option<u64>) -> CaptureSpec {
    let to = path.map_or(CaptureTo::Memory, |path| CaptureTo::File(path.into()));
    CaptureSpec { max_packets, ..CaptureSpec::new(CaptureTarget::Link(link), to) }
}

/// The packets of a pcap or pcapng file, up to the first thing that can't be read.
#[pyclass]
pub struct CaptureFile {
    reader: CaptureReader<BufReader<File>>,
    path: String,
}

#[pymethods]
impl CaptureFile {
    #[new]
    fn new(path: String) -> PyResult<CaptureFile> {
        let file = File::open(&path).map_err(|error| input(format!("{path}: {}", os_text(&error))))?;
        let reader = CaptureReader::new(BufReader::new(file));
        let reader = reader.map_err(|error| input(format!("{path}: {error}")))?;
        Ok(CaptureFile { reader, path })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Time in nanoseconds since 1970, link type (1 for Ethernet), length on the wire, bytes.
    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<CapturedPacket<'py>>> {
        let packet = self.reader.read().map_err(|error| input(format!("{}: {error}", self.path)))?;
        Ok(packet.map(|p| (p.nanos, p.link_type, p.original_len, PyBytes::new(py, &p.bytes))))
    }
}

/// The bytes of a finished capture to memory; none of one to a file.
pub fn bytes_of(summary: engine::capture::CaptureSummary, py: Python<'_>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &summary.bytes)
}
