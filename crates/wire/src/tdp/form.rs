//! What is known of TDP's bytes, in one place. TDP was an Internet-Draft of 1996 and 1997 and never an RFC; LDP took
//! its place. Each line says how it is known: `o` was observed between two routers of the vendor that made it, `r` is
//! remembered by people who used it, and likely. Whoever knows better changes it here.

/// UDP port of Hellos and TCP port of sessions (o).
pub const PORT: u16 = 711;
/// The only version (o).
pub const VERSION: u16 = 1;
/// Bytes of version and length, which the length does not count (o).
pub const PREAMBLE: usize = 4;
/// Bytes behind the length up to the first element of a session (o): identifier, and two that are zero.
pub const IDENTIFIER: usize = 6;
/// The two that are zero (o); in a Hello there are none.
pub const RESERVED: usize = 2;
/// What a Hello's length says (o).
pub const HELLO_LEN: u16 = 16;
/// Type and length of the only parameter of a Hello, its sender's end of a session (o).
pub const TRANSPORT: (u8, u16) = (3, 4);
/// The two bytes in front of the hold time of an Open (o): a version or type, and flags (r).
pub const OPEN: [u8; 2] = [1, 0];
/// Number of IPv4 among address families (o).
pub const IPV4: u16 = 1;
/// Type of a list of tags and prefixes (o).
pub const BINDINGS: u16 = 2;
/// Type of a list of addresses (o).
pub const ADDRESSES: u16 = 3;
/// Bytes of a tag, a prefix length and a prefix, which has four whatever its length is (o).
pub const BINDING_LEN: usize = 9;
/// Bytes of a prefix length, which is 32, and an address (o).
pub const ADDRESS_LEN: usize = 5;
/// The tag by which a router says that the prefix is right at it (o). LDP's is 3.
pub const IMPLICIT_NULL: u32 = 1;

/// An element of a session (PIE, protocol information element).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its type.
    pub kind: u16,
    /// Its name.
    pub name: &'static str,
    /// Was it observed, or is it remembered?
    pub is_observed: bool,
}

/// The types of elements. Values of those that are remembered: Withdraw Bind and Release Bind are as Bind. The values
/// of Request Bind and Notification are not known byte by byte, so nothing here makes or reads them.
pub const ELEMENTS: &[Element] = &[
    Element { kind: 0x0100, name: "Open", is_observed: true },
    Element { kind: 0x0200, name: "Bind", is_observed: true },
    Element { kind: 0x0300, name: "Request Bind", is_observed: false },
    Element { kind: 0x0400, name: "Withdraw Bind", is_observed: false },
    Element { kind: 0x0500, name: "Keep Alive", is_observed: true },
    Element { kind: 0x0600, name: "Notification", is_observed: false },
    Element { kind: 0x0700, name: "Release Bind", is_observed: false },
    Element { kind: 0x0800, name: "Address", is_observed: true },
];

/// Places in [`ELEMENTS`].
pub(super) const OPEN_AT: usize = 0;
pub(super) const BIND_AT: usize = 1;
pub(super) const WITHDRAW_AT: usize = 3;
pub(super) const KEEP_ALIVE_AT: usize = 4;
pub(super) const RELEASE_AT: usize = 6;
pub(super) const ADDRESS_AT: usize = 7;
