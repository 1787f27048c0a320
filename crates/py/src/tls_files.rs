//! Files of keys and certificates, looked at before a run begins.

use pyo3::prelude::*;
use std::path::PathBuf;
use tls::Credentials;

/// What is wrong with such files: which of them it is, and a sentence. Nothing if a switch can use them.
#[pyfunction]
pub fn check_tls(
    py: Python<'_>,
    private_key: PathBuf,
    certificate: PathBuf,
    ca_cert: PathBuf,
) -> Option<(&'static str, String)> {
    let read = py.detach(|| Credentials::read(&private_key, &certificate, &ca_cert));
    read.err().map(|fault| (fault.setting, fault.words))
}
