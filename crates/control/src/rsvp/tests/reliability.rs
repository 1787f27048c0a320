//! The transport at work: refresh reduction, Hello, INTEGRITY.
