//! The FEC element of point-to-multipoint LSPs (RFC 6388, 2.2 and 2.3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |P2MP Type(0x06)|        Address Family         | Address Length|
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ~                       Root Node Address                       ~
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Opaque Length              |    Opaque Value ...           ~
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::tlv::{FAMILIES, Found};
use super::{Malformed, Status};
use crate::hex::Hex;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The type of the element.
pub(super) const P2MP: u8 = 6;
/// The type and the length of an opaque value element that is a generic LSP identifier (RFC 6388, 2.3.1).
const GENERIC: [u8; 3] = [1, 0, 4];

/// What identifies a point-to-multipoint LSP in the whole network (RFC 6388, 2.2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct P2mp {
    /// Address of the root.
    pub root: IpAddr,
    /// What the root tells its LSPs apart by: opaque value elements, which only root and leaves understand (2.3).
    pub opaque: Hex,
}

impl P2mp {
    /// The LSP of a root with a generic LSP identifier (RFC 6388, 2.3.1).
    pub fn generic(root: IpAddr, lsp_id: u32) -> P2mp {
        P2mp { root, opaque: Hex([&GENERIC[..], &lsp_id.to_be_bytes()].concat()) }
    }

    /// Its generic LSP identifier, if that is all that the opaque value says.
    pub fn lsp_id(&self) -> Option<u32> {
        let value = self.opaque.0.strip_prefix(&GENERIC)?;
        value.try_into().ok().map(u32::from_be_bytes)
    }

    pub(super) fn emit(&self, to: &mut Vec<u8>) {
        let [family4, family6] = FAMILIES.map(u16::to_be_bytes);
        to.push(P2MP);
        match self.root {
            IpAddr::V4(root) => {
                to.extend(family4);
                to.push(4);
                to.extend(root.octets());
            }
            IpAddr::V6(root) => {
                to.extend(family6);
                to.push(16);
                to.extend(root.octets());
            }
        }
        to.extend((self.opaque.0.len() as u16).to_be_bytes());
        to.extend(&self.opaque.0);
    }

    /// Reads an element whose type is at `at`, and what comes behind it.
    pub(super) fn read<'a>(
        found: &Found<'_>,
        at: usize,
        behind: &'a [u8],
    ) -> Result<(P2mp, &'a [u8]), Malformed> {
        let Some((&[f, g, len], behind)) = behind.split_first_chunk::<3>() else {
            return Err(found.malformed("a P2MP element that ends before its root"));
        };
        let size = match u16::from_be_bytes([f, g]) {
            1 => 4,
            2 => 16,
            _ => {
                let status = Status::UnsupportedAddressFamily;
                return Err(Malformed::new(status, at, "a root address of a family that is not known"));
            }
        };
        if usize::from(len) != size {
            // RFC 6388, 2.2: the message is not processed, and answered by "Unknown FEC".
            let clause = "a root address whose length is not that of its family";
            return Err(Malformed::new(Status::UnknownFec, at, clause));
        }
        let Some((root, behind)) = behind.split_at_checked(size) else {
            return Err(found.malformed("a root address beyond its FEC"));
        };
        let root = match (<[u8; 4]>::try_from(root), <[u8; 16]>::try_from(root)) {
            (Ok(octets), _) => IpAddr::V4(Ipv4Addr::from(octets)),
            (_, Ok(octets)) => IpAddr::V6(Ipv6Addr::from(octets)),
            _ => return Err(found.malformed("a root address beyond its FEC")),
        };
        let Some((&len, behind)) = behind.split_first_chunk::<2>() else {
            return Err(found.malformed("a P2MP element that ends before its opaque value"));
        };
        let Some((opaque, behind)) = behind.split_at_checked(usize::from(u16::from_be_bytes(len))) else {
            return Err(found.malformed("an opaque value beyond its FEC"));
        };
        if opaque.is_empty() {
            return Err(found.malformed("an opaque value without an element"));
        }
        Ok((P2mp { root, opaque: opaque.into() }, behind))
    }
}
