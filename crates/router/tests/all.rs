//! All tests in one program: linking one for each file took longer than running them.

mod common;
mod recording;
mod socket;
mod starting;
