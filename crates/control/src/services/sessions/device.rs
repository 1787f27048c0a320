//! What the TCP of one connection takes for its network interface: packets in memory, both ways.

use smoltcp::phy::{Checksum, ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use std::collections::VecDeque;

/// Packets from and to one connection, from their IP header on.
#[derive(Debug)]
pub(super) struct Packets {
    /// Longest packet, in bytes, IP header included.
    pub(super) mtu: usize,
    received: Option<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

impl Packets {
    pub(super) fn new(mtu: usize) -> Packets {
        Packets { mtu, received: None, sent: VecDeque::new() }
    }

    /// Hands a packet to TCP when it is polled next.
    pub(super) fn receive_next(&mut self, packet: Vec<u8>) {
        self.received = Some(packet);
    }

    /// The next packet that TCP has sent.
    pub(super) fn take_sent(&mut self) -> Option<Vec<u8>> {
        self.sent.pop_front()
    }
}

/// One packet for TCP.
pub(super) struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

/// Room for one packet of TCP.
pub(super) struct Sent<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let mut packet = vec![0; len];
        let result = write(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Packets {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sent<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sent<'_>)> {
        self.received.take().map(|packet| (Received(packet), Sent(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        // What comes has been verified before it is handed over, and the IP header that goes is written anew.
        let mut checksum = ChecksumCapabilities::ignored();
        checksum.tcp = Checksum::Tx;
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities.checksum = checksum;
        capabilities
    }
}
