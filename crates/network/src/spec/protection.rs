//! Fast reroute as users write it (RFC 4090).

use control::rsvp::ProtectionRequest;

base::words! {
    /// How a router protects LSPs that ask for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProtectionMode {
        /// It makes bypass tunnels for them, by what OSPF (with `te`) knows of links: facility backup (RFC 4090, 3.2).
        Facility = "facility",
        /// By the bypass tunnels that are declared, and no others.
        Declared = "declared",
    }
    default Declared;
}

base::words! {
    /// How an LSP is led around what fails.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProtectionMethod {
        /// Through a bypass tunnel that it shares with others (RFC 4090, 3.2).
        Facility = "facility",
        /// By a detour of its own at each router that could repair it (RFC 4090, 3.1).
        OneToOne = "one-to-one",
    }
    default Facility;
}

base::record! {
    /// What an LSP asks of the routers on its way, for the case that something fails (RFC 4090).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ProtectionSpec {
        /// Around the next router where that can be, and not only around the link to it.
        pub node: bool = false;
        /// With as much bandwidth as it has itself.
        pub bandwidth: bool = false;
        /// Through bypass tunnels that serve many LSPs (`facility`), or by detours that routers set up for it alone, by
        /// what OSPF (with `te`) knows of links (`one-to-one`).
        pub method: ProtectionMethod = ProtectionMethod::Facility;
    }
}

impl ProtectionSpec {
    /// As it is built.
    pub const fn lowered(self) -> ProtectionRequest {
        let one_to_one = matches!(self.method, ProtectionMethod::OneToOne);
        ProtectionRequest { node: self.node, bandwidth: self.bandwidth, one_to_one }
    }
}
