//! Captures of interfaces of this machine.

use crate::error::{input, run};
use engine::capture::CaptureTo;
use engine::external::capture::{InterfaceCapture, InterfaceCaptureSpec};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};

/// How long a step waits for a frame, in milliseconds.
const WAIT_MS: i32 = 50;

/// A capture of both directions of an interface; it begins when it is made.
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

/// Packets, frames missed, whether the interface is gone, and the bytes of a capture to memory.
type Finished<'py> = (u64, u64, bool, Bound<'py, PyBytes>);

#[pymethods]
impl PyInterfaceCapture {
    #[new]
    #[pyo3(signature = (interface, netns=None, path=None, label=None, snap_len=None, max_packets=None, undone=false))]
    fn new(
        interface: &str,
        netns: Option<String>,
        path: Option<String>,
        label: Option<String>,
        snap_len: Option<u32>,
        max_packets: Option<u64>,
        undone: bool,
    ) -> PyResult<PyInterfaceCapture> {
        let netns = netns.map(Into::into);
        let spec = InterfaceCaptureSpec {
            netns,
            label,
            snap_len,
            max_packets,
            undone,
            ..InterfaceCaptureSpec::new(interface)
        };
        let to = path.map_or(CaptureTo::Memory, |path| CaptureTo::File(path.into()));
        let capture = InterfaceCapture::open(&spec, to).map_err(input)?;
        Ok(PyInterfaceCapture { inner: Mutex::new(Some(capture)) })
    }

    /// Writes what has passed, or waits a little for it. Says whether the capture is over.
    fn step(&mut self, py: Python<'_>) -> PyResult<bool> {
        let Some(inner) = self.inner() else { return Ok(true) };
        py.detach(|| inner.step(WAIT_MS)).map_err(run)?;
        py.check_signals()?;
        Ok(inner.is_over())
    }

    /// Ends the file.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Finished<'py>> {
        let inner = self.inner().take().ok_or_else(|| input("the capture has been finished"))?;
        let summary = inner.finish().map_err(run)?;
        Ok((summary.packets, summary.missed, summary.gone, PyBytes::new(py, &summary.bytes)))
    }
}
