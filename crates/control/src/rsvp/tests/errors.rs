//! Each error with its code.
