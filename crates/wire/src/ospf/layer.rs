//! A packet as a layer of a tree. Field names are what users see in Python and JSON.

use super::body::{Body, packet};
use super::header::{HEADER_LEN, Header, packet_checksum};
use super::{AU_CRYPTOGRAPHIC, LAYER};
use crate::error::Error;
use crate::hex::Hex;
use core::fmt::{self, Write};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

/// An OSPF packet with its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ospf {
    /// Router id of the sender.
    pub router_id: Ipv4Addr,
    /// The area that the packet is of.
    pub area: Ipv4Addr,
    /// What it says, by its type.
    #[serde(flatten)]
    pub body: Body,
    /// The packet's checksum; left out: the right one, or zero where a digest follows.
    pub checksum: Option<u16>,
    /// What the checksum should be, if it is not that. Not read when encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct_checksum: Option<u16>,
    /// How it is authenticated: 0 not at all, 1 by a password, 2 by a digest.
    #[serde(default)]
    pub au_type: u16,
    /// The eight bytes of authentication in the header; left out: zeros.
    #[serde(default, skip_serializing_if = "Hex::is_empty")]
    pub authentication: Hex,
    /// The digest behind the packet.
    #[serde(default, skip_serializing_if = "Hex::is_empty")]
    pub digest: Hex,
}

impl Ospf {
    /// Reads a packet, and how many bytes it has with its digest. What can't be written again as it is, is refused.
    pub(crate) fn read(data: &[u8]) -> Result<(Ospf, usize), Error> {
        let header = Header::parse(data)?;
        let (whole, behind) = data.split_at(header.length.into());
        let body = Body::parse(header.kind, &whole[HEADER_LEN..])?;
        let is_cryptographic = header.au_type == AU_CRYPTOGRAPHIC;
        let digest_len = if is_cryptographic { usize::from(header.authentication[3]) } else { 0 };
        let digest = behind.get(..digest_len).unwrap_or(&[]);
        let zeros = header.authentication == [0; 8];
        let correct = if is_cryptographic { 0 } else { packet_checksum(whole) };
        let layer = Ospf {
            router_id: header.router_id,
            area: header.area,
            body,
            checksum: Some(header.checksum),
            correct_checksum: (header.checksum != correct).then_some(correct),
            au_type: header.au_type,
            authentication: if zeros { Hex::default() } else { header.authentication[..].into() },
            digest: digest.into(),
        };
        let len = whole.len() + digest.len();
        match layer.write() {
            Ok(again) if again == data[..len] => Ok((layer, len)),
            _ => Err(Error::invalid(LAYER, HEADER_LEN, "a field that must be zero is not")),
        }
    }

    /// The packet as it is on the wire.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        self.body.emit(&mut body)?;
        let mut bytes = packet(self.body.kind(), self.router_id, self.area, &body)?;
        bytes[14..16].copy_from_slice(&self.au_type.to_be_bytes());
        if !self.authentication.is_empty() {
            let field = <[u8; 8]>::try_from(&self.authentication.0[..])
                .map_err(|_| Error::invalid(LAYER, 16, "authentication has eight bytes"))?;
            bytes[16..HEADER_LEN].copy_from_slice(&field);
        }
        let right = if self.au_type == AU_CRYPTOGRAPHIC { 0 } else { packet_checksum(&bytes) };
        bytes[12..14].copy_from_slice(&self.checksum.unwrap_or(right).to_be_bytes());
        bytes.extend(&self.digest.0);
        Ok(bytes)
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        write!(out, "OSPF {} from {} area {}", self.body.kind().name(), self.router_id, self.area)?;
        match &self.body {
            Body::Hello(hello) => {
                write!(out, ", hello {} s, dead {} s", hello.hello_s, hello.dead_s)?;
                hello.neighbors.iter().try_for_each(|id| write!(out, ", hears {id}"))
            }
            Body::Description(description) => {
                let names = [(4, " init"), (2, " more"), (1, " master")];
                write!(out, ", sequence {}", description.sequence)?;
                for (_, name) in names.iter().filter(|(bit, _)| description.flags & bit != 0) {
                    out.push_str(name);
                }
                write!(out, ", LSAs {}", description.headers.len())
            }
            Body::Request { wanted } => write!(out, ", LSAs {}", wanted.len()),
            Body::Update { lsas } => {
                for lsa in lsas {
                    let key = lsa.key;
                    write!(out, ", {} {} by {}", key.kind.name(), key.id, key.router)?;
                }
                Ok(())
            }
            Body::Ack { headers } => write!(out, ", LSAs {}", headers.len()),
        }
    }
}
