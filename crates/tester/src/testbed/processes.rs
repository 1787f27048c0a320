//! A description for processes that measure nothing and have not all kinds of nodes.

use crate::kind::KINDS;
use base::describe::Value;
use base::diagnostic::Diagnostic;
use network::kind::write_facts;

/// What the tester alone knows of.
const KEYS: [&str; 4] = ["flows", "events", "demands", "measuring"];

/// The description with the facts of every node, and without what is the tester's alone. Done twice it is the same.
pub fn for_processes(mut description: Value) -> Result<Value, Diagnostic> {
    if let Value::Map(entries) = &mut description {
        entries.retain(|entry| !KEYS.contains(&entry.0.as_str()));
    }
    write_facts(&mut description, KINDS)?;
    Ok(description)
}
