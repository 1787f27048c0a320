//! A part of a network in real time.

use super::error::{NetworkError, input};
use super::{Description, Network, Placement};

impl Network {
    /// Builds the part of a network that a placement puts in this process, to be run by the clock.
    pub fn placed(description: Description, placement: Placement) -> Result<Network, NetworkError> {
        let network = Network::build(description, Some(&placement))?;
        if network.placed.ends.is_empty() {
            return Ok(network);
        }
        input("placement: interfaces can't be opened")
    }
}
