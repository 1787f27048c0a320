//! A description for processes that measure nothing and have not all kinds of nodes.

use super::measuring::KEYS;
use crate::kind::KINDS;
use network::NetworkError;
use network::kind::write_facts;
use serde_json::Value;

/// The description with the facts of every node, and without what is the tester's alone. Done twice it is the same.
pub fn for_processes(mut description: Value) -> Result<Value, NetworkError> {
    if let Some(fields) = description.as_object_mut() {
        KEYS.iter().for_each(|key| drop(fields.remove(*key)));
    }
    write_facts(&mut description, KINDS)?;
    Ok(description)
}
