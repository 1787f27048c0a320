//! All tests in one program: linking one for each file took longer than running them.

mod apart;
mod common;
mod delay;
mod external;
mod faults;
mod order;
mod outages;
mod overload;
mod queues;
mod threads;
mod watching;
mod windows;
