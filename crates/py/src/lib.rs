//! The door to Python: a thin extension module. It converts arguments and errors, releases the interpreter's lock while
//! a network runs, and holds no logic.
#![allow(missing_docs, reason = "the docstrings of the Python package are in the Python package")]

mod capture;
mod charts;
mod describe;
mod described;
mod draft;
mod error;
mod interface_capture;
mod network;
mod table;
mod tls_files;
mod wire_format;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use crate::network::{PyNetwork, for_processes, plan, processors};
    #[pymodule_export]
    use capture::CaptureFile;
    #[pymodule_export]
    use charts::charts;
    #[pymodule_export]
    use describe::{read_network, schema, written};
    #[pymodule_export]
    use described::{check, checked_types};
    #[pymodule_export]
    use draft::PyDraft;
    #[pymodule_export]
    use error::{CoreError, InputError, RunError};
    #[pymodule_export]
    use interface_capture::PyInterfaceCapture;
    #[pymodule_export]
    use table::{PyTable, empty_table, tables};

    #[pymodule_export]
    use tls_files::check_tls;
    #[pymodule_export]
    use wire_format::{decode, encode, error_words, link_types, summary};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
