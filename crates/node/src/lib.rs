//! Devices: control and forwarding planes composed into routers and hosts, and raw ports for peers outside.

pub mod advertising;
pub mod atm;
pub mod bridge;
pub mod discovery;
mod echo;
pub mod host;
mod host6;
mod host_tcp;
mod membership;
pub mod neighbors;
pub mod peer;
mod probing;
pub mod profile;
pub mod router;
pub mod switch;
mod trouble;

pub use advertising::Advertise;
pub use atm::{AtmConfig, AtmRouter, AtmSwitch};
pub use bridge::{Bridge, BridgeConfig};
/// TCP of a host, for the programs there.
pub use control::services::sessions;
/// What routers do to packets on their way in.
pub use forwarding::conditioner;
pub use host::{Host, HostAddress6, HostConfig, HostPort};
pub use membership::Membership;
pub use peer::Peer;
pub use profile::DeviceProfile;
pub use router::{Router, RouterConfig};
pub use switch::{Switch, SwitchConfig};
