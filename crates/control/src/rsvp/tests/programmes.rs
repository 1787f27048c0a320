//! Random programmes.
