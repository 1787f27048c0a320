//! Captures of interfaces of this machine.

use crate::error::{input, run};
use engine::capture::CaptureTo;
use engine::external::capture::{CaptureSource, InterfaceCapture, InterfaceCaptureSpec};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};

/// How long a step waits for a frame, in milliseconds.
const WAIT_MS: i32 = 50;

/// A capture of interfaces; it begins when it is made.
#[pyclass(name = "InterfaceCapture")]
pub struct PyInterfaceCapture {
    /// Never locked: see the network.
    inner: Mutex<Option<InterfaceCapture>>,
}

impl PyInterfaceCapture {
    fn inner(&mut self) -> &mut Option<InterfaceCapture> {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Interface, path of its namespace, its name in the file, and whether only what comes in is captured.
type Source = (String, Option<String>, Option<String>, bool);

/// Packets, frames missed, whether the interface is gone, and the bytes of a capture to memory.
type Finished<'py> = (u64, u64, bool, Bound<'py, PyBytes>);

#[pymethods]
impl PyInterfaceCapture {
    #[new]
    #[pyo3(signature = (sources, path=None, snap_len=None, max_packets=None, undone=false))]
    fn new(
        sources: Vec<Source>,
        path: Option<String>,
        snap_len: Option<u32>,
        max_packets: Option<u64>,
        undone: bool,
    ) -> PyResult<PyInterfaceCapture> {
        let source = |(interface, netns, label, inbound_only): Source| CaptureSource {
            interface,
            netns: netns.map(Into::into),
            label,
            inbound_only,
        };
        let sources = sources.into_iter().map(source).collect();
        let spec = InterfaceCaptureSpec { sources, snap_len, max_packets, undone };
        let to = path.map_or(CaptureTo::Memory, |path| CaptureTo::File(path.into()));
        let capture = InterfaceCapture::open(&spec, to).map_err(input)?;
        Ok(PyInterfaceCapture { inner: Mutex::new(Some(capture)) })
    }

    /// Writes what has passed, or waits a little for it. Says how many packets there are, and whether the capture is
    /// over.
    fn step(&mut self, py: Python<'_>) -> PyResult<(u64, bool)> {
        let Some(inner) = self.inner() else { return Ok((0, true)) };
        py.detach(|| inner.step(WAIT_MS)).map_err(run)?;
        py.check_signals()?;
        Ok((inner.packets(), inner.is_over()))
    }

    /// Ends the capture and completes its file.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Finished<'py>> {
        let inner = self.inner().take().ok_or_else(|| input("the capture has been finished"))?;
        let summary = inner.finish().map_err(run)?;
        Ok((summary.packets, summary.missed, summary.gone, PyBytes::new(py, &summary.bytes)))
    }
}
