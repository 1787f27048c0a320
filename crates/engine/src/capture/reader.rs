//! Packets of a pcap or pcapng file, one after the other, up to the first thing that can't be read.
//!
//! Nothing is trusted: lengths are checked, and memory is taken only for bytes that are there.

use super::CaptureError;
use super::pcapng::*;
use std::io::Read;

/// A packet of a capture file, with what the file says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// When it was captured, in nanoseconds since 1970, whatever resolution the file uses.
    pub nanos: u64,
    /// The interface in the file, counted over all sections; zero in a pcap file.
    pub interface: u32,
    /// The interface's link type: 1 for Ethernet.
    pub link_type: u16,
    /// The packet's length on the wire; more than there are bytes if it was cut.
    pub original_len: u32,
    /// The packet from its link-layer header on, as many bytes as were kept.
    pub bytes: Vec<u8>,
}

/// Reads a capture file of either kind and either byte order. As an iterator it ends after the first error.
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: R,
    offset: u64,
    format: Format,
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// The first interface of the current section.
    section: usize,
    over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Pcap,
    PcapNg,
}

#[derive(Clone, Debug)]
struct Interface {
    name: String,
    link_type: u16,
    snap_len: u32,
    /// Nanoseconds of a unit of time, as a fraction.
    unit: (u128, u128),
    offset_s: i64,
}

const MAGIC_US: u32 = 0xa1b2_c3d4;
const MAGIC_NS: u32 = 0xa1b2_3c4d;

impl<R: Read> CaptureReader<R> {
    /// Reads as much of the file as identifies its format.
    pub fn new(input: R) -> Result<CaptureReader<R>, CaptureError> {
        let mut reader = CaptureReader {
            input,
            offset: 0,
            format: Format::PcapNg,
            big_endian: false,
            interfaces: Vec::new(),
            section: 0,
            over: false,
        };
        let mut magic = Vec::new();
        reader.fill(&mut magic, 4)?;
        let number = magic.first_chunk().map_or(0, |m| u32::from_le_bytes(*m));
        if number == SECTION_HEADER {
            reader.section_header(0)?;
            return Ok(reader);
        }
        reader.format = Format::Pcap;
        reader.big_endian = [MAGIC_US, MAGIC_NS].contains(&number.swap_bytes());
        let nanos = match if reader.big_endian { number.swap_bytes() } else { number } {
            MAGIC_US => 1_000,
            MAGIC_NS => 1,
            _ => return Err(CaptureError::Foreign { magic }),
        };
        let header = reader.exactly(20, "the file header")?;
        let link_type = reader.u32(&header, 16) as u16;
        let snap_len = reader.u32(&header, 12);
        let name = String::new();
        reader.interfaces.push(Interface { name, link_type, snap_len, unit: (nanos, 1), offset_s: 0 });
        Ok(reader)
    }

    /// The name of an interface, if the file gives one.
    pub fn interface_name(&self, interface: u32) -> Option<&str> {
        self.interfaces.get(interface as usize).map(|i| i.name.as_str()).filter(|name| !name.is_empty())
    }

    /// The next packet, or nothing at the end of the file.
    pub fn read(&mut self) -> Result<Option<Packet>, CaptureError> {
        match self.format {
            Format::Pcap => self.read_record(),
            Format::PcapNg => self.read_blocks(),
        }
    }

    fn read_record(&mut self) -> Result<Option<Packet>, CaptureError> {
        let begin = self.offset;
        let mut header = Vec::new();
        if self.fill(&mut header, 16)? == 0 {
            return Ok(None);
        }
        if header.len() < 16 {
            return Err(CaptureError::Truncated { offset: self.offset, what: "a record header" });
        }
        let [seconds, fraction, len, original_len] = [0, 4, 8, 12].map(|at| self.u32(&header, at));
        // Some tools write a shorter length on the wire than they keep: the bytes are there all the same.
        if len > MAX_PACKET {
            return Err(CaptureError::Malformed {
                offset: begin,
                what: "a packet length",
                value: len.into(),
            });
        }
        let unit = self.interfaces.first().map_or(1, |i| i.unit.0 as u64);
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * unit;
        let bytes = self.exactly(len as usize, "a packet")?;
        let link_type = self.interfaces.first().map_or(0, |i| i.link_type);
        Ok(Some(Packet { nanos, interface: 0, link_type, original_len, bytes }))
    }

    fn read_blocks(&mut self) -> Result<Option<Packet>, CaptureError> {
        loop {
            let begin = self.offset;
            let mut kind = Vec::new();
            match self.fill(&mut kind, 4)? {
                0 => return Ok(None),
                4 => {}
                _ => return Err(CaptureError::Truncated { offset: self.offset, what: "a block type" }),
            }
            let kind = self.u32(&kind, 0);
            if kind == SECTION_HEADER {
                self.section_header(begin)?;
                continue;
            }
            let total = self.exactly(4, "a block length")?;
            let total = self.u32(&total, 0);
            let body = self.body(begin, total, 8)?;
            match kind {
                INTERFACE_DESCRIPTION => self.interface(begin, &body)?,
                ENHANCED_PACKET => return self.enhanced(begin, &body).map(Some),
                OBSOLETE_PACKET => return self.obsolete(begin, &body).map(Some),
                SIMPLE_PACKET => return self.simple(begin, &body).map(Some),
                _ => {} // statistics, names, custom blocks
            }
        }
    }

    /// The rest of a block of `total` bytes, of which `read` were read, without its trailing length.
    fn body(&mut self, begin: u64, total: u32, read: u32) -> Result<Vec<u8>, CaptureError> {
        let malformed =
            CaptureError::Malformed { offset: begin, what: "a block length", value: total.into() };
        if !total.is_multiple_of(4) || total < read + 4 || total > MAX_BLOCK {
            return Err(malformed);
        }
        let mut body = self.exactly((total - read) as usize, "a block")?;
        let trailer = self.u32(&body, body.len() - 4);
        if trailer != total {
            let what = "a trailing block length";
            return Err(CaptureError::Malformed { offset: begin, what, value: trailer.into() });
        }
        body.truncate(body.len() - 4);
        Ok(body)
    }

    /// A section header, of which the type was read. It says which byte order the section has.
    fn section_header(&mut self, begin: u64) -> Result<(), CaptureError> {
        let start = self.exactly(8, "a section header")?;
        self.big_endian = false;
        let magic = self.u32(&start, 4);
        self.big_endian = magic == BYTE_ORDER.swap_bytes();
        if magic != BYTE_ORDER && !self.big_endian {
            let what = "a byte-order magic";
            return Err(CaptureError::Malformed { offset: begin, what, value: magic.into() });
        }
        let total = self.u32(&start, 0);
        let body = self.body(begin, total, 12)?;
        let major = self.u16(&body, 0);
        if body.len() < 12 || major != 1 {
            let what = "a major version";
            return Err(CaptureError::Malformed { offset: begin, what, value: major.into() });
        }
        self.section = self.interfaces.len();
        Ok(())
    }

    fn interface(&mut self, begin: u64, body: &[u8]) -> Result<(), CaptureError> {
        if body.len() < 8 {
            let what = "an interface description length";
            return Err(CaptureError::Malformed { offset: begin, what, value: body.len() as u64 });
        }
        let mut interface = Interface {
            name: String::new(),
            link_type: self.u16(body, 0),
            snap_len: self.u32(body, 4),
            unit: (1_000, 1),
            offset_s: 0,
        };
        let mut at = 8;
        while at + 4 <= body.len() {
            let (code, len) = (self.u16(body, at), usize::from(self.u16(body, at + 2)));
            let Some(value) = body.get(at + 4..at + 4 + len) else { break };
            match (code, value) {
                (0, _) => break,
                (2, name) => interface.name = String::from_utf8_lossy(name).into_owned(),
                // A power of two if the highest bit is set, else of ten.
                (9, &[power]) if power & 0x80 != 0 => {
                    interface.unit = (1_000_000_000, 1u128 << (power & 0x7f).min(64));
                }
                (9, &[power]) => interface.unit = (1_000_000_000, 10u128.pow(u32::from(power.min(28)))),
                (14, &[a, b, c, d, e, f, g, h]) => {
                    let bytes = [a, b, c, d, e, f, g, h];
                    let big = self.big_endian;
                    interface.offset_s =
                        if big { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) };
                }
                _ => {}
            }
            at += 4 + len.next_multiple_of(4);
        }
        self.interfaces.push(interface);
        Ok(())
    }

    fn enhanced(&self, begin: u64, body: &[u8]) -> Result<Packet, CaptureError> {
        self.packet(begin, body, self.u32(body, 0), 4)
    }

    fn obsolete(&self, begin: u64, body: &[u8]) -> Result<Packet, CaptureError> {
        self.packet(begin, body, self.u16(body, 0).into(), 4)
    }

    /// A packet whose time, captured and original length begin at `at`.
    fn packet(&self, begin: u64, body: &[u8], interface: u32, at: usize) -> Result<Packet, CaptureError> {
        let index = self.section.saturating_add(interface as usize);
        let Some(known) = self.interfaces.get(index) else {
            let what = "an undescribed interface";
            return Err(CaptureError::Malformed { offset: begin, what, value: interface.into() });
        };
        let ticks = u64::from(self.u32(body, at)) << 32 | u64::from(self.u32(body, at + 4));
        let nanos = (u128::from(ticks) * known.unit.0 / known.unit.1) as i128;
        let nanos = nanos + i128::from(known.offset_s) * 1_000_000_000;
        let len = self.u32(body, at + 8);
        let Some(bytes) = body.get(at + 16..).and_then(|rest| rest.get(..len as usize)) else {
            return Err(CaptureError::Malformed {
                offset: begin,
                what: "a packet length",
                value: len.into(),
            });
        };
        Ok(Packet {
            nanos: u64::try_from(nanos.max(0)).unwrap_or(u64::MAX),
            interface: index as u32,
            link_type: known.link_type,
            original_len: self.u32(body, at + 12),
            bytes: bytes.to_vec(),
        })
    }

    /// A simple packet: no time, first interface of the section.
    fn simple(&self, begin: u64, body: &[u8]) -> Result<Packet, CaptureError> {
        let original_len = self.u32(body, 0);
        let Some(known) = self.interfaces.get(self.section) else {
            let what = "an undescribed interface";
            return Err(CaptureError::Malformed { offset: begin, what, value: 0 });
        };
        let limit = if known.snap_len == 0 { u32::MAX } else { known.snap_len };
        let len = original_len.min(limit);
        let Some(bytes) = body.get(4..).and_then(|rest| rest.get(..len as usize)) else {
            return Err(CaptureError::Malformed {
                offset: begin,
                what: "a packet length",
                value: len.into(),
            });
        };
        let (interface, link_type) = (self.section as u32, known.link_type);
        Ok(Packet { nanos: 0, interface, link_type, original_len, bytes: bytes.to_vec() })
    }

    /// Reads exactly `len` bytes; [`CaptureError::Truncated`] in the middle of `what` if the file has fewer.
    fn exactly(&mut self, len: usize, what: &'static str) -> Result<Vec<u8>, CaptureError> {
        let mut bytes = Vec::new();
        if self.fill(&mut bytes, len)? < len {
            return Err(CaptureError::Truncated { offset: self.offset, what });
        }
        Ok(bytes)
    }

    /// Up to `len` bytes: fewer at the end of the file.
    fn fill(&mut self, bytes: &mut Vec<u8>, len: usize) -> Result<usize, CaptureError> {
        let offset = self.offset;
        let read = (&mut self.input).take(len as u64).read_to_end(bytes);
        let read = read.map_err(|source| CaptureError::Read { offset, source })?;
        self.offset += read as u64;
        Ok(read)
    }

    /// The number at `at`; zero beyond the end.
    fn u32(&self, bytes: &[u8], at: usize) -> u32 {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    }
    fn u16(&self, bytes: &[u8], at: usize) -> u16 {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        if self.big_endian { u16::from_be_bytes(word) } else { u16::from_le_bytes(word) }
    }
}

/// Longest packet that is believed: that of a loopback interface with segmentation left to the hardware.
const MAX_PACKET: u32 = 1 << 18;
/// Longest block that is believed.
const MAX_BLOCK: u32 = 1 << 24;

impl<R: Read> Iterator for CaptureReader<R> {
    type Item = Result<Packet, CaptureError>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let packet = self.read().transpose();
        self.over = !matches!(packet, Some(Ok(_)));
        packet
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
