//! Which queue a flow has.

use crate::flow::{flow_at, ip_at};
use base::Frame;
use core::net::{IpAddr, Ipv6Addr};

/// A hash of flows that nobody outside can foresee (RFC 8290, 4.1).
#[derive(Clone, Copy, Debug)]
pub struct FlowHash {
    keys: [u64; 2],
}

/// An odd constant with as many ones as zeros: the fractional part of the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Both halves of a product, so that every bit of it counts.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl FlowHash {
    /// A hash that depends on `keys`, so that flows which collide in one run don't in another.
    pub fn new(keys: [u64; 2]) -> FlowHash {
        FlowHash { keys }
    }

    #[inline]
    fn mix(&self, a: u64, b: u64) -> u64 {
        let once = fold(a ^ self.keys[0], b ^ self.keys[1] | 1);
        fold(once ^ GOLDEN, self.keys[1] ^ a.rotate_left(32) | 1)
    }

    /// One of `count` queues: by addresses, protocol and ports of an IP packet, also below labels; by label stack
    /// or Ethernet header of others.
    #[inline]
    pub fn queue_of(&self, frame: &Frame, count: u32) -> u32 {
        let flow = ip_at(frame.header()).and_then(|at| flow_at(frame, at));
        let hash = match flow {
            Some(flow) => {
                let (a, b) = flow.ports.unwrap_or_default();
                let ends = match (flow.src, flow.dst) {
                    (IpAddr::V4(src), IpAddr::V4(dst)) => {
                        u64::from(src.to_bits()) << 32 | u64::from(dst.to_bits())
                    }
                    (src, dst) => self.mix(self.half(src), self.half(dst)),
                };
                self.mix(ends, u64::from(flow.protocol) << 32 | u64::from(a) << 16 | u64::from(b))
            }
            None => self.of_bytes(frame.header()),
        };
        // The upper half, spread over the queues without a division.
        (((hash >> 32) * u64::from(count)) >> 32) as u32
    }

    /// Of one of two addresses.
    fn half(&self, address: IpAddr) -> u64 {
        let bits = match address {
            IpAddr::V4(address) => Ipv6Addr::to_bits(address.to_ipv6_mapped()),
            IpAddr::V6(address) => address.to_bits(),
        };
        self.mix((bits >> 64) as u64, bits as u64)
    }

    /// Of the Ethernet header and four bytes more.
    fn of_bytes(&self, header: &[u8]) -> u64 {
        let mut words = [0; 3];
        for (at, byte) in header.iter().take(18).enumerate() {
            words[at / 8] = words[at / 8] << 8 | u64::from(*byte);
        }
        self.mix(self.mix(words[0], words[1]), words[2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Body;

    fn udp(source: u32, port: u16, tos: u8) -> Frame {
        let mut header = vec![2; 12];
        header.extend([8, 0, 0x45, tos, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0]);
        header.extend(source.to_be_bytes());
        header.extend([10, 0, 0, 2]);
        header.extend(port.to_be_bytes());
        header.extend([0, 80]);
        Frame::new(&header, Body::Pattern { start: 0, len: 36 })
    }

    #[test]
    fn flows_spread_evenly_and_stay_where_they_are() {
        let hash = FlowHash::new([0x1234_5678_9abc_def0, 0xfeed_beef_0bad_cafe]);
        let mut counts = [0u32; 64];
        for source in 0..64 {
            for port in 0..100 {
                let queue = hash.queue_of(&udp(0x0a00_0000 + source, 1000 + port, 0), 64);
                assert_eq!(queue, hash.queue_of(&udp(0x0a00_0000 + source, 1000 + port, 0xb8), 64));
                counts[queue as usize] += 1;
            }
        }
        // Chi-squared with 63 degrees of freedom: beyond 114 once in 10,000.
        let chi: f64 = counts.iter().map(|count| (f64::from(*count) - 100.0).powi(2) / 100.0).sum();
        assert!(chi < 114.0, "{chi}");
        let other = FlowHash::new([1, 2]);
        let same = (0..1000u16).filter(|port| {
            let frame = udp(9, *port, 0);
            hash.queue_of(&frame, 64) == other.queue_of(&frame, 64)
        });
        assert!(same.count() < 60);
    }

    #[test]
    fn frames_without_ip_have_a_queue() {
        let hash = FlowHash::new([3, 4]);
        for len in 0..60 {
            assert!(hash.queue_of(&Frame::from_bytes(&vec![7; len]), 5) < 5);
        }
    }
}
