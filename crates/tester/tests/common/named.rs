//! Networks from descriptions as users write them, in JSON, with nodes by their names.

use serde_json::Value;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Reads a description; what is wrong with it comes with its place.
pub fn read(described: &Value) -> Result<NetworkFile, String> {
    let value = serde_json::from_value(described.clone()).expect("a value");
    NetworkFile::read_part(&value)
        .map_err(|error| format!("{:?} {}", error.path().collect::<Vec<_>>(), error.words()))
}

/// Builds a network.
pub fn network(described: &Value) -> Testbed {
    Testbed::new(&read(described).expect("a description")).expect("a network")
}

/// Why a network cannot be read or built.
pub fn refusal(described: &Value) -> String {
    read(described).map_or_else(|said| said, |file| Testbed::new(&file).err().expect("a refusal").to_string())
}
