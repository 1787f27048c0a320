//! The bytes of a pcapng file (draft-ietf-opsawg-pcapng): section header, interfaces, packets; little endian.

use std::io::{self, Write};

/// Block type of a section header (pcapng, 4.1).
pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// Block type of an interface description (pcapng, 4.2).
pub const INTERFACE_DESCRIPTION: u32 = 1;
/// Block type of the obsolete packet block (pcapng, A.1).
pub const OBSOLETE_PACKET: u32 = 2;
/// Block type of a simple packet (pcapng, 4.4).
pub const SIMPLE_PACKET: u32 = 3;
/// Block type of the statistics of an interface (pcapng, 4.6).
pub const INTERFACE_STATISTICS: u32 = 5;
/// Block type of an enhanced packet (pcapng, 4.3).
pub const ENHANCED_PACKET: u32 = 6;
/// Byte-order magic of a section header.
pub const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Link type of Ethernet.
pub const ETHERNET: u16 = 1;

const OPT_END: u16 = 0;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const EPB_FLAGS: u16 = 2;
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;

/// Which way a packet passed its interface: the lowest two bits of the flags (pcapng, 4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// The interface received the packet.
    Inbound = 1,
    /// The interface sent the packet.
    Outbound = 2,
}

/// Builds blocks in memory that is used again and writes them out.
#[derive(Debug, Default)]
pub struct BlockWriter {
    block: Vec<u8>,
}

impl BlockWriter {
    /// The section header that a file begins with.
    pub fn section(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.begin(SECTION_HEADER);
        self.u32(BYTE_ORDER);
        self.u16(1); // major version
        self.u16(0); // minor version
        self.block.extend(u64::MAX.to_le_bytes()); // section length: not stated
        self.option(SHB_USERAPPL, b"twinplane");
        self.end_options();
        self.finish(out)
    }

    /// An interface with times in nanoseconds, frames of a link type without check sequence, and a speed if it has one.
    pub fn interface(
        &mut self,
        out: &mut dyn Write,
        name: &str,
        bits_per_s: u64,
        link_type: u16,
    ) -> io::Result<()> {
        self.begin(INTERFACE_DESCRIPTION);
        self.u16(link_type);
        self.u16(0); // reserved
        self.u32(0); // snapshot length: no limit
        self.option(IF_NAME, &name.as_bytes()[..name.len().min(usize::from(u16::MAX))]);
        if bits_per_s > 0 {
            self.option(IF_SPEED, &bits_per_s.to_le_bytes());
        }
        self.option(IF_TSRESOL, &[9]); // 10^-9 s
        self.option(IF_FCSLEN, &[0]);
        self.end_options();
        self.finish(out)
    }

    /// Writes an Enhanced Packet Block with all bytes of the packet. `nanos` is the time since 1970.
    pub fn packet(
        &mut self,
        out: &mut dyn Write,
        interface: u32,
        nanos: u64,
        way: Way,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.packet_start(out, interface, nanos, way, bytes, bytes.len())
    }

    /// The first `bytes` of a packet of `len` bytes.
    pub fn packet_start(
        &mut self,
        out: &mut dyn Write,
        interface: u32,
        nanos: u64,
        way: Way,
        bytes: &[u8],
        len: usize,
    ) -> io::Result<()> {
        self.begin(ENHANCED_PACKET);
        self.u32(interface);
        self.u32((nanos >> 32) as u32);
        self.u32(nanos as u32);
        self.u32(bytes.len() as u32);
        self.u32(len as u32);
        self.padded(bytes);
        self.option(EPB_FLAGS, &(way as u32).to_le_bytes());
        self.end_options();
        self.finish(out)
    }

    /// How many packets an interface has received, and how many of them are not in the file.
    pub fn statistics(
        &mut self,
        out: &mut dyn Write,
        interface: u32,
        nanos: u64,
        received: u64,
        dropped: u64,
    ) -> io::Result<()> {
        self.begin(INTERFACE_STATISTICS);
        self.u32(interface);
        self.u32((nanos >> 32) as u32);
        self.u32(nanos as u32);
        self.option(ISB_IFRECV, &received.to_le_bytes());
        self.option(ISB_IFDROP, &dropped.to_le_bytes());
        self.end_options();
        self.finish(out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.u32(kind);
        self.u32(0); // total length, known at the end
    }
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let total = self.block.len() as u32 + 4;
        self.u32(total);
        self.block[4..8].copy_from_slice(&total.to_le_bytes());
        out.write_all(&self.block)
    }
    fn option(&mut self, code: u16, value: &[u8]) {
        self.u16(code);
        self.u16(value.len() as u16);
        self.padded(value);
    }
    fn end_options(&mut self) {
        self.u16(OPT_END);
        self.u16(0);
    }
    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
    fn u16(&mut self, value: u16) {
        self.block.extend(value.to_le_bytes());
    }
    fn u32(&mut self, value: u32) {
        self.block.extend(value.to_le_bytes());
    }
}
