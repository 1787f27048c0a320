//! Ethernet II frames with up to two VLAN tags (IEEE 802.1Q, 802.1ad), without preamble and frame check sequence.
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over too few bytes.

use crate::error::{Error, Reason, need};
use base::MacAddr;
use core::fmt;
use serde::{Deserialize, Serialize};

const LAYER: &str = "ethernet";

/// Offsets of the fields in bytes.
mod field {
    use core::ops::Range;
    pub const DST: Range<usize> = 0..6;
    pub const SRC: Range<usize> = 6..12;
    pub const TYPE: usize = 12;
}

/// Bytes of a header without tags.
pub const HEADER_LEN: usize = 14;
/// Bytes of one VLAN tag.
pub const TAG_LEN: usize = 4;
/// Bytes of the frame check sequence, which views don't include.
pub const FCS_LEN: usize = 4;
/// The least frame (IEEE 802.3, 4A.4.2), with the frame check sequence.
pub const MIN_FRAME_LEN: usize = 64;
/// Preamble, start delimiter and interpacket gap: what a frame takes on the line beyond its own bytes.
pub const LINE_OVERHEAD: usize = 20;
/// Tags that are looked through; a third is left as payload.
pub const MAX_TAGS: usize = 2;

/// The type of an Ethernet payload.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4, 0x0800 (RFC 894).
    pub const IPV4: EtherType = EtherType(0x0800);
    /// ARP, 0x0806 (RFC 826).
    pub const ARP: EtherType = EtherType(0x0806);
    /// IPv6, 0x86dd (RFC 2464).
    pub const IPV6: EtherType = EtherType(0x86dd);
    /// MPLS with a label that the receiver assigned (RFC 5332, 3).
    pub const MPLS: EtherType = EtherType(0x8847);
    /// MPLS with a label that the sender assigned (RFC 5332, 3).
    pub const MPLS_UPSTREAM: EtherType = EtherType(0x8848);
    /// A customer VLAN tag (IEEE 802.1Q).
    pub const VLAN: EtherType = EtherType(0x8100);
    /// A service VLAN tag (IEEE 802.1ad).
    pub const SERVICE_VLAN: EtherType = EtherType(0x88a8);

    /// Does a VLAN tag follow?
    #[inline]
    pub const fn is_tag(self) -> bool {
        self.0 == Self::VLAN.0 || self.0 == Self::SERVICE_VLAN.0
    }
}

impl fmt::Display for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}
impl fmt::Debug for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EtherType({self})")
    }
}

/// A VLAN tag.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |             TPID              | PCP |D|          VID          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tag {
    /// Which kind of tag: [`EtherType::VLAN`] or [`EtherType::SERVICE_VLAN`].
    pub tpid: EtherType,
    /// Priority code point, 0 to 7.
    pub priority: u8,
    /// Drop eligible indicator: under congestion this frame goes before others.
    pub drop_eligible: bool,
    /// VLAN identifier, 0 to 4095.
    pub vlan: u16,
}

impl Tag {
    /// The tag whose TPID is `tpid` and whose control information is `tci`.
    pub const fn from_parts(tpid: EtherType, tci: u16) -> Tag {
        Tag { tpid, priority: (tci >> 13) as u8, drop_eligible: tci & 0x1000 != 0, vlan: tci & 0xfff }
    }
    /// The tag control information; bits that don't fit are cut off.
    pub const fn tci(self) -> u16 {
        (self.priority as u16 & 7) << 13 | (self.drop_eligible as u16) << 12 | self.vlan & 0xfff
    }
}

/// A view over the bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view without a check: accessors panic if `buffer` is too short.
    #[inline]
    pub const fn new_unchecked(buffer: T) -> Packet<T> {
        Packet { buffer }
    }

    /// A view whose accessors don't panic.
    #[inline]
    pub fn new_checked(buffer: T) -> Result<Packet<T>, Error> {
        let data = buffer.as_ref();
        need(LAYER, HEADER_LEN, data.len())?;
        let mut at = field::TYPE;
        for _ in 0..MAX_TAGS {
            if !type_at(data, at).is_tag() {
                break;
            }
            at += TAG_LEN;
            need(LAYER, at + 2, data.len())?;
        }
        Ok(Packet { buffer })
    }

    /// Gives the buffer back that the view was made over.
    #[inline]
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Destination address, the first six bytes.
    #[inline]
    pub fn dst(&self) -> MacAddr {
        mac(&self.buffer.as_ref()[field::DST])
    }
    /// Source address, the six bytes behind the destination.
    #[inline]
    pub fn src(&self) -> MacAddr {
        mac(&self.buffer.as_ref()[field::SRC])
    }
    /// The VLAN tag at `depth` (0 is the outer one), if there is one.
    #[inline]
    pub fn tag(&self, depth: usize) -> Option<Tag> {
        let data = self.buffer.as_ref();
        let at = field::TYPE + depth * TAG_LEN;
        (depth < self.tag_count())
            .then(|| Tag::from_parts(type_at(data, at), u16::from_be_bytes([data[at + 2], data[at + 3]])))
    }
    /// How many tags there are, up to [`MAX_TAGS`].
    #[inline]
    pub fn tag_count(&self) -> usize {
        let data = self.buffer.as_ref();
        (0..MAX_TAGS).take_while(|i| type_at(data, field::TYPE + i * TAG_LEN).is_tag()).count()
    }
    /// The type of the payload, behind any tags.
    #[inline]
    pub fn ethertype(&self) -> EtherType {
        type_at(self.buffer.as_ref(), field::TYPE + self.tag_count() * TAG_LEN)
    }
    /// Bytes of the header with its tags.
    #[inline]
    pub fn header_len(&self) -> usize {
        HEADER_LEN + self.tag_count() * TAG_LEN
    }
    /// What follows the header, with any padding.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the destination address.
    #[inline]
    pub fn set_dst(&mut self, addr: MacAddr) {
        self.buffer.as_mut()[field::DST].copy_from_slice(&addr.0);
    }
    /// Sets the source address.
    #[inline]
    pub fn set_src(&mut self, addr: MacAddr) {
        self.buffer.as_mut()[field::SRC].copy_from_slice(&addr.0);
    }
    /// Sets the type of the payload, behind the tags that are there.
    #[inline]
    pub fn set_ethertype(&mut self, ethertype: EtherType) {
        let at = self.header_len() - 2;
        self.buffer.as_mut()[at..at + 2].copy_from_slice(&ethertype.0.to_be_bytes());
    }
    /// What follows the header, to be written.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let at = self.header_len();
        &mut self.buffer.as_mut()[at..]
    }
}

#[inline]
fn mac(bytes: &[u8]) -> MacAddr {
    MacAddr([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]])
}
#[inline]
fn type_at(data: &[u8], at: usize) -> EtherType {
    EtherType(u16::from_be_bytes([data[at], data[at + 1]]))
}

/// An Ethernet header as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Destination address: the next station, not the far end of the packet.
    pub dst: MacAddr,
    /// Source address: the station that sent the frame on this link.
    pub src: MacAddr,
    /// VLAN tags, the outer one first. A tag behind a `None` is not written.
    pub tags: [Option<Tag>; MAX_TAGS],
    /// Type of the payload (its length, if below 0x600).
    pub ethertype: EtherType,
}

impl Repr {
    /// A header without tags.
    pub const fn untagged(dst: MacAddr, src: MacAddr, ethertype: EtherType) -> Repr {
        Repr { dst, src, tags: [None; MAX_TAGS], ethertype }
    }

    /// Reads addresses, at most two VLAN tags, and the type of the payload.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
        Ok(Repr {
            dst: packet.dst(),
            src: packet.src(),
            tags: [packet.tag(0), packet.tag(1)],
            ethertype: packet.ethertype(),
        })
    }

    fn tags(&self) -> impl Iterator<Item = &Tag> {
        self.tags.iter().map_while(Option::as_ref)
    }

    /// Bytes of the header.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN + self.tags().count() * TAG_LEN
    }

    /// `Ok` if every field fits its bits and the tags are tags.
    pub fn check(&self) -> Result<(), Error> {
        for (depth, tag) in self.tags().enumerate() {
            let bad = |field, found: u16, max| {
                let reason = Reason::OutOfRange { field, found: found.into(), min: 0, max };
                Err(Error::new(LAYER, field::TYPE + depth * TAG_LEN, reason))
            };
            if !tag.tpid.is_tag() {
                let offset = field::TYPE + depth * TAG_LEN;
                return Err(Error::invalid(LAYER, offset, "a VLAN tag has the type 0x8100 or 0x88a8"));
            }
            if tag.priority > 7 {
                return bad("priority", tag.priority.into(), 7);
            }
            if tag.vlan > 0xfff {
                return bad("VLAN", tag.vlan, 0xfff);
            }
        }
        Ok(())
    }

    /// Writes the header to the first [`Repr::buffer_len`] bytes of `buffer`. Panics if it is shorter.
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[field::DST].copy_from_slice(&self.dst.0);
        buffer[field::SRC].copy_from_slice(&self.src.0);
        let mut at = field::TYPE;
        for tag in self.tags() {
            buffer[at..at + 2].copy_from_slice(&tag.tpid.0.to_be_bytes());
            buffer[at + 2..at + 4].copy_from_slice(&tag.tci().to_be_bytes());
            at += TAG_LEN;
        }
        buffer[at..at + 2].copy_from_slice(&self.ethertype.0.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DST: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 1]);
    const SRC: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 2]);
    static VECTORS: [(&[u8], Repr); 3] = [
        (&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0x47], Repr::untagged(DST, SRC, EtherType::MPLS)),
        (
            &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0xb0, 0x64, 8, 0],
            Repr {
                dst: DST,
                src: SRC,
                tags: [
                    Some(Tag { tpid: EtherType::VLAN, priority: 5, drop_eligible: true, vlan: 100 }),
                    None,
                ],
                ethertype: EtherType::IPV4,
            },
        ),
        (
            &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xa8, 0, 7, 0x81, 0, 0x0f, 0xff, 8, 6],
            Repr {
                dst: DST,
                src: SRC,
                tags: [
                    Some(Tag { tpid: EtherType::SERVICE_VLAN, priority: 0, drop_eligible: false, vlan: 7 }),
                    Some(Tag { tpid: EtherType::VLAN, priority: 0, drop_eligible: false, vlan: 4095 }),
                ],
                ethertype: EtherType::ARP,
            },
        ),
    ];

    #[test]
    fn vectors_decode() {
        for (bytes, repr) in &VECTORS {
            assert_eq!(Repr::parse(&Packet::new_checked(bytes).unwrap()), Ok(*repr));
        }
    }

    #[test]
    fn vectors_encode() {
        for (bytes, repr) in &VECTORS {
            let mut buffer = vec![0; repr.buffer_len()];
            repr.emit(&mut buffer);
            assert_eq!(&buffer, bytes);
            assert_eq!(repr.check(), Ok(()));
        }
    }

    #[test]
    fn setters_write_behind_tags() {
        let mut bytes = VECTORS[1].0.to_vec();
        bytes.push(0x55);
        let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
        packet.set_ethertype(EtherType::MPLS);
        packet.set_dst(MacAddr::BROADCAST);
        packet.set_src(DST);
        packet.payload_mut()[0] = 0x66;
        assert_eq!(
            (packet.ethertype(), packet.dst(), packet.src()),
            (EtherType::MPLS, MacAddr::BROADCAST, DST)
        );
        assert_eq!(
            (packet.tag(0), packet.tag(1), packet.payload()),
            (VECTORS[1].1.tags[0], None, &[0x66][..])
        );
    }

    #[test]
    fn a_cut_tag_is_an_error() {
        let error = Packet::new_checked(&VECTORS[1].0[..16]).unwrap_err();
        assert_eq!(error, Error::truncated("ethernet", 18, 16));
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..40), tags in 0usize..4) {
            let mut bytes = bytes;
            for i in 0..tags {
                if let Some(slot) = bytes.get_mut(12 + 4 * i..14 + 4 * i) {
                    slot.copy_from_slice(&[0x81, 0]);
                }
            }
            if let Ok(packet) = Packet::new_checked(&bytes) {
                let repr = Repr::parse(&packet).unwrap();
                let mut again = vec![0; repr.buffer_len()];
                repr.emit(&mut again);
                prop_assert_eq!(&again[..], &bytes[..packet.header_len()]);
                prop_assert_eq!(packet.payload().len() + packet.header_len(), bytes.len());
            }
        }
    }
}
