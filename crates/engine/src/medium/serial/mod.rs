//! Serial, a made-up medium: an example for developers of what a new medium takes. Its header is in the manner of HDLC:
//! an address, a control byte of zero, and the EtherType, which Wireshark reads as Cisco's HDLC. The bits that a real
//! line stuffs are not counted.

use super::{Carries, Conversion, Ends, Medium, Outside};
use base::frame::Framing;
use base::{Frame, MacAddr};

/// Bytes of an Ethernet header, and of one of this medium.
const ETHERNET: usize = 14;
const SERIAL: usize = 4;
/// First byte of the header: to the station at the other end, and to all.
const UNICAST: u8 = 0x0f;
const BROADCAST: u8 = 0x8f;

/// A point-to-point line without Ethernet addresses.
pub const MEDIUM: Medium = Medium {
    name: "serial",
    meaning: "A made-up line with short headers and no addresses: an example for developers.",
    framing: Framing {
        typed: SERIAL as i32 - ETHERNET as i32,
        llc: SERIAL as i32 - ETHERNET as i32,
        trailer: 2,
        least: SERIAL as u32 + 2,
        most: 1_500 + SERIAL as u32 + 2,
        gap: 1,
    },
    conversion: Some(Conversion { encode, decode }),
    carries: Carries::Packets,
    link_type: 104,
    has_addresses: false,
    outside: Outside::Nowhere,
};

fn encode(frame: &mut Frame) {
    let Some(&header) = frame.header().first_chunk::<ETHERNET>() else { return };
    let address = if header[0] & 1 == 1 { BROADCAST } else { UNICAST };
    frame.replace_front(ETHERNET, &[address, 0, header[12], header[13]]);
}

/// A line has two ends: what is not for all is for the port that it comes to.
fn decode(frame: &mut Frame, ends: Ends) -> bool {
    let Some(&[address, 0, high, low]) = frame.header().first_chunk::<SERIAL>() else { return false };
    let to = match address {
        UNICAST => ends.to,
        BROADCAST => MacAddr::BROADCAST,
        _ => return false,
    };
    let mut header = [0; ETHERNET];
    header[..6].copy_from_slice(&to.0);
    header[6..12].copy_from_slice(&ends.from.0);
    header[12..].copy_from_slice(&[high, low]);
    frame.replace_front(SERIAL, &header);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENDS: Ends = Ends { from: MacAddr([2, 0, 0, 0, 0, 1]), to: MacAddr([2, 0, 0, 0, 0, 2]) };

    #[test]
    fn frames_lose_their_addresses_and_get_those_of_the_ends() {
        let sent = Frame::from_bytes(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0x11]);
        let mut frame = sent.clone();
        MEDIUM.encode(&mut frame);
        assert_eq!((frame.to_vec(), frame.wire_len()), (vec![0x0f, 0, 8, 0, 0x45, 0x11], 8));
        assert_eq!(MEDIUM.framing.len(sent.header(), sent.len()), frame.wire_len());
        assert!(MEDIUM.decode(&mut frame, ENDS));
        assert_eq!(frame, sent);
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let read = MEDIUM.decode(&mut Frame::from_bytes(&bytes), ENDS);
            prop_assert_eq!(read, matches!(bytes.as_slice(), [UNICAST | BROADCAST, 0, _, _, ..]));
        }
    }
}
