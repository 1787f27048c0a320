//! The switch beside Open vSwitch: both are given the same messages and frames, and have to answer alike.

mod actions;
mod alike;
mod dice;
mod differences;
mod driver;
mod lines;
mod named;
mod os_ken;
mod ovs;
mod packet;
mod programme;
mod programme_1_0;
mod run;
mod signalled;
mod subject;
