//! TCP segments as layers.

use super::layers::{Tcp, TcpOption};
use crate::error::{Error, Reason};
use crate::tcp::{self, Flags, Options, Packet, Repr};
use core::net::IpAddr;

impl Tcp {
    /// Reads a segment between two addresses: the header, and what follows it.
    pub(super) fn read(src: IpAddr, dst: IpAddr, data: &[u8]) -> Result<(Tcp, &[u8]), Error> {
        let packet = Packet::new_checked(data)?;
        let repr = Repr::parse(&packet)?;
        let tcp = Tcp {
            src_port: repr.src_port,
            dst_port: repr.dst_port,
            sequence: repr.sequence,
            acknowledgment: repr.acknowledgment,
            reserved: repr.reserved,
            flags: repr.flags.names().map(str::to_owned).collect(),
            window: repr.window,
            urgent: repr.urgent,
            options: read_options(&repr.options),
            checksum: Some(packet.checksum()),
            correct_checksum: packet
                .verify_checksum(src, dst)
                .is_err()
                .then(|| packet.compute_checksum(src, dst)),
        };
        Ok((tcp, &data[packet.header_len()..]))
    }

    /// Writes the segment with its payload. Without addresses the checksum must be given.
    pub(super) fn write(
        &self,
        addresses: Option<(IpAddr, IpAddr)>,
        payload: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let mut flags = Flags::default();
        for name in &self.flags {
            let unknown = || Error::invalid("tcp", 13, "flags are FIN, SYN, RST, PSH, ACK, URG, ECE and CWR");
            flags = flags.with(Flags::named(name).ok_or_else(unknown)?);
        }
        if self.reserved > 15 {
            let reason =
                Reason::OutOfRange { field: "reserved", found: self.reserved.into(), min: 0, max: 15 };
            return Err(Error::new("tcp", 12, reason));
        }
        let repr = Repr {
            src_port: self.src_port,
            dst_port: self.dst_port,
            sequence: self.sequence,
            acknowledgment: self.acknowledgment,
            reserved: self.reserved,
            flags,
            window: self.window,
            urgent: self.urgent,
            options: write_options(&self.options)?,
        };
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(&mut bytes);
        bytes.extend_from_slice(payload);
        let mut packet = Packet::new_unchecked(&mut bytes[..]);
        match (self.checksum, addresses) {
            (Some(checksum), _) => packet.set_checksum(checksum),
            (None, Some((src, dst))) => packet.fill_checksum(src, dst),
            (None, None) => {
                let clause = "without an IP layer before it the checksum must be given";
                return Err(Error::invalid("tcp", 16, clause));
            }
        }
        Ok(bytes)
    }
}

fn read_options(all: &Options) -> Vec<TcpOption> {
    let list: Vec<tcp::TcpOption<'_>> = all.iter().collect();
    if Options::of(&list) != Ok(*all) {
        return vec![TcpOption::Raw { bytes: all.as_bytes().into() }];
    }
    let read = |option| match option {
        tcp::TcpOption::EndOfList => TcpOption::EndOfList,
        tcp::TcpOption::NoOperation => TcpOption::NoOperation,
        tcp::TcpOption::MaximumSegmentSize(size) => TcpOption::MaximumSegmentSize { size },
        tcp::TcpOption::WindowScale(shift) => TcpOption::WindowScale { shift },
        tcp::TcpOption::SackPermitted => TcpOption::SackPermitted,
        tcp::TcpOption::Timestamps { value, echo } => TcpOption::Timestamps { value, echo },
        tcp::TcpOption::Other { kind, data } => TcpOption::Other { kind, data: data.into() },
    };
    list.into_iter().map(read).collect()
}

fn write_options(list: &[TcpOption]) -> Result<Options, Error> {
    if let [TcpOption::Raw { bytes }] = list {
        return Options::from_bytes(&bytes.0);
    }
    let write = |option| {
        Ok(match option {
            &TcpOption::EndOfList => tcp::TcpOption::EndOfList,
            &TcpOption::NoOperation => tcp::TcpOption::NoOperation,
            &TcpOption::MaximumSegmentSize { size } => tcp::TcpOption::MaximumSegmentSize(size),
            &TcpOption::WindowScale { shift } => tcp::TcpOption::WindowScale(shift),
            &TcpOption::SackPermitted => tcp::TcpOption::SackPermitted,
            &TcpOption::Timestamps { value, echo } => tcp::TcpOption::Timestamps { value, echo },
            TcpOption::Other { kind, data } => tcp::TcpOption::Other { kind: *kind, data: &data.0 },
            TcpOption::Raw { .. } => return Err(Error::invalid("tcp", 20, "raw options stand alone")),
        })
    };
    Options::of(&list.iter().map(write).collect::<Result<Vec<_>, Error>>()?)
}
