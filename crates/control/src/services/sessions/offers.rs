//! What the two ends of a connection offer each other in their SYNs, and how an offer is left out.
//!
//! smoltcp always offers to shift windows and to take selective acknowledgements. An end that is to do neither has the
//! option overwritten in its own SYN and in the other end's, as if neither had ever spoken of it.

use super::types::Options;
use wire::tcp::{Flags, Packet, TcpOption};

/// Kinds of options in a SYN that may be left out (RFC 7323, 2.2; RFC 2018, 2).
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
/// Filler of one byte (RFC 9293, 3.2).
const NO_OPERATION: u8 = 1;
/// Windows are shifted by so many bits at most (RFC 7323, 2.3).
const SHIFT_MAX: u8 = 14;

/// Does an end with these options speak of all that TCP here knows?
pub(super) fn are_all(options: &Options) -> bool {
    options.window_scaling && options.sack
}

/// Overwrites the options of a SYN that an end with `options` does not speak of, and says whether there were any. The
/// checksum is as it was.
pub(super) fn leave_out(segment: &mut [u8], options: &Options) -> bool {
    let Ok(tcp) = Packet::new_checked(&*segment) else { return false };
    if !tcp.flags().has(Flags::SYN) {
        return false;
    }
    let (mut at, end) = (wire::tcp::HEADER_LEN, tcp.header_len());
    let mut found = false;
    while at < end {
        let len = match segment[at] {
            0 => break,
            NO_OPERATION => 1,
            _ => segment.get(at + 1).map_or(0, |len| usize::from(*len)),
        };
        if len == 0 || at + len > end || (len == 1 && segment[at] != NO_OPERATION) {
            break;
        }
        let unspoken = match segment[at] {
            WINDOW_SCALE => !options.window_scaling,
            SACK_PERMITTED => !options.sack,
            _ => false,
        };
        if unspoken {
            segment[at..at + len].fill(NO_OPERATION);
            found = true;
        }
        at += len;
    }
    found
}

/// By how many bits the sender of a SYN shifts its windows, if it offers that.
pub(super) fn shift_of<T: AsRef<[u8]>>(syn: &Packet<T>) -> Option<u8> {
    let options = wire::tcp::Options::from_bytes(syn.options()).ok()?;
    options.iter().find_map(|option| match option {
        TcpOption::WindowScale(shift) => Some(shift.min(SHIFT_MAX)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::tcp::Repr;

    fn syn(list: &[TcpOption<'_>]) -> Vec<u8> {
        let repr = Repr {
            src_port: 49_152,
            dst_port: 5_001,
            sequence: 7,
            acknowledgment: 0,
            reserved: 0,
            flags: Flags::SYN,
            window: 8_192,
            urgent: 0,
            options: wire::tcp::Options::of(list).expect("they fit"),
        };
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(&mut bytes);
        bytes
    }

    #[test]
    fn an_option_that_is_left_out_is_filler() {
        let list =
            [TcpOption::MaximumSegmentSize(1_460), TcpOption::WindowScale(3), TcpOption::SackPermitted];
        let mut bytes = syn(&list);
        let neither = Options { window_scaling: false, sack: false, ..Options::default() };
        assert_eq!(shift_of(&Packet::new_unchecked(&bytes[..])), Some(3));
        assert!(!leave_out(&mut bytes, &Options::default()), "all of it is spoken of");
        assert!(leave_out(&mut bytes, &neither));
        let left = Packet::new_checked(&bytes[..]).expect("still a segment");
        let left = wire::tcp::Options::from_bytes(left.options()).expect("still options");
        let kept: Vec<_> = left.iter().filter(|one| *one != TcpOption::NoOperation).collect();
        assert_eq!(kept[0], TcpOption::MaximumSegmentSize(1_460));
        assert!(
            !kept.contains(&TcpOption::SackPermitted)
                && shift_of(&Packet::new_unchecked(&bytes[..])).is_none()
        );
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn whatever_stands_there_nothing_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let neither = Options { window_scaling: false, sack: false, ..Options::default() };
            let len = bytes.len();
            leave_out(&mut bytes, &neither);
            prop_assert_eq!(bytes.len(), len);
        }
    }
}
