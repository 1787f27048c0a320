//! What the program says: one line each on standard error, the last of which are kept.

use base::Time;
use base::table::Rows;
use network::LogRow;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, Write};

/// Lines that are kept.
const LINES: usize = 1_000;

/// The last lines that the process said on standard error, with their times.
pub struct Log {
    name: String,
    lines: VecDeque<(Time, String)>,
}

impl Log {
    /// An empty log of a node.
    pub fn new(name: &str) -> Log {
        Log { name: name.to_string(), lines: VecDeque::new() }
    }

    /// Writes a line to standard error, with the node's name before it, and keeps it.
    pub fn say(&mut self, now: Time, text: impl Into<String>) {
        let text = one_line(&text.into());
        complain(&format!("{}: {text}", self.name));
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back((now, text));
    }

    /// What was said, as a table.
    pub fn table(&self) -> Value {
        let mut rows = Rows::new();
        rows.extend(self.lines.iter().map(|(time_s, text)| LogRow { time_s: *time_s, text }));
        serde_json::to_value(rows.finish()).unwrap_or_default()
    }
}

/// Says something on standard error. Nobody need be there to hear it: a disk that is full or a terminal that was closed
/// ends no router.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "twinplane-router: {text}");
}

/// A text on one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
