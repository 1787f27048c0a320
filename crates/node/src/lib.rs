//! Devices: control and forwarding planes composed into routers and hosts, and raw ports for peers outside.
//!
//! - [`router`]: [`Router`], a label-switching router or label edge router
//! - [`host`]: [`Host`], an IP host with a default gateway
//! - [`peer`]: [`Peer`], a port whose frames somebody else makes and reads
//! - [`profile`]: [`DeviceProfile`], how long a device takes for what it does
//! - [`neighbors`]: who is at which Ethernet address (ARP)
//! - [`processor`]: the queue in front of a control processor

pub mod host;
pub mod neighbors;
pub mod peer;
pub mod processor;
pub mod profile;
pub mod router;

pub use host::Host;
pub use peer::Peer;
pub use profile::DeviceProfile;
pub use router::{Router, RouterConfig};
