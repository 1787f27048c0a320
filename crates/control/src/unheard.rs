//! What reaches a node and nobody listens to, counted by reason.

macro_rules! unheard {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// Why a packet for this node reached nobody.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Unheard {
            $($(#[$doc])* $name,)*
        }

        impl Unheard {
            /// Every reason, in order.
            pub const ALL: &[Unheard] = &[$(Unheard::$name,)*];

            /// The reason as tables have it.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Unheard::$name => $word,)*
                }
            }
        }
    };
}

unheard! {
    /// No protocol listens to its IP protocol.
    IpProtocol = "ip-protocol",
    /// No protocol listens to its UDP port.
    UdpPort = "udp-port",
    /// A TCP segment to a port or a connection that the node does not have.
    TcpPort = "tcp-port",
    /// Sent to a group or a broadcast address that no protocol listens to.
    Group = "group",
    /// A fragment: nothing that protocols listen to comes in fragments.
    Fragment = "fragment",
    /// An ICMP message that answers nothing the node has asked.
    Icmp = "icmp",
    /// No protocol listens to its service access point.
    Llc = "llc",
    /// A TCP segment that is not signed as its session wants it (RFC 2385).
    Unsigned = "unsigned",
    /// A TCP segment whose time to live is lower than its session takes (RFC 5082).
    Ttl = "ttl",
    /// A command to a protocol that the node does not speak, or that knows no such command.
    Command = "command",
    /// The protocol that listens does not speak on the port that it came by.
    NotSpoken = "not-spoken",
}

/// Packets that reached nobody, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnheardCounters([u64; Unheard::ALL.len()]);

impl UnheardCounters {
    /// Counts a packet that no protocol listens to.
    pub fn count(&mut self, what: Unheard) {
        self.0[what as usize] += 1;
    }

    /// How many there were for a reason.
    pub fn get(&self, what: Unheard) -> u64 {
        self.0[what as usize]
    }

    /// All reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Unheard, u64)> {
        Unheard::ALL.iter().map(|&what| (what, self.get(what))).filter(|(_, count)| *count > 0)
    }
}
