//! `twinplane-router`: one router of a described network as a process of its own, by the wall clock.
//!
//! - [`arguments`], [`config`]: how it is called
//! - [`process`]: what the operating system is asked for
//! - [`server`], [`client`], [`protocol`]: the control socket
//! - [`instance`], [`captures`], [`probes`], [`names`]: what clients can do
//! - [`drive`], [`run`]: the loop

mod arguments;
mod captures;
mod channels;
mod client;
mod config;
mod drive;
mod instance;
mod log;
mod lsp_tests;
mod names;
mod plane;
mod probes;
mod process;
mod protocol;
mod run;
mod server;
mod stream;

use arguments::Asked;
use run::Failure;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// It can't do as asked.
const CANNOT: u8 = 2;
/// A defect of its own (as `EX_SOFTWARE` of sysexits.h).
const DEFECT: u8 = 70;

fn main() -> ExitCode {
    process::catch_panics();
    let arguments = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Asked::Run(arguments)) => arguments,
        Ok(Asked::Print(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(sentence) => {
            log::complain(&sentence);
            return ExitCode::from(CANNOT);
        }
    };
    let (code, sentence) = match catch_unwind(AssertUnwindSafe(|| run::run(&arguments))) {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(Failure::Cannot(sentence))) => (CANNOT, sentence),
        Ok(Err(Failure::Defect(sentence))) => (DEFECT, sentence),
        Err(_) => (DEFECT, "it panicked".to_string()),
    };
    let place = if code == DEFECT { process::panic_message() } else { None };
    let place = place.map(|place| format!(": {place}")).unwrap_or_default();
    let defect = if code == DEFECT { " (a defect of this program)" } else { "" };
    log::complain(&format!("{}: {}{place}{defect}", arguments.node, log::one_line(&sentence)));
    ExitCode::from(code)
}
