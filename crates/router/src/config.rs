//! The file that says which network the router is a part of, and where it stands.

use base::describe;
use base::diagnostic::os_words;
use network::KINDS;
use network::spec::ReadNetwork;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What the file holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Description of the whole network, other nodes included: addresses follow from all of it.
    pub description: describe::Value,
    /// Which of it is here, and by which interfaces it is reached.
    #[serde(default)]
    pub placement: Value,
}

impl Config {
    /// Reads the file; the error names it and says what is wrong.
    pub fn read(path: &Path) -> Result<Config, String> {
        let name = path.display();
        let text = fs::read(path).map_err(|error| format!("{name}: cannot be read: {}", os_words(&error)))?;
        serde_json::from_slice(&text).map_err(|error| format!("{name}: {error}"))
    }

    /// The network that is described, as users write it, with the facts of nodes whose kinds are not known here.
    pub fn description(&self) -> Result<ReadNetwork, String> {
        ReadNetwork::read_part(&self.description, KINDS).map_err(|error| format!("description: {error}"))
    }
}
