//! Recording the route, and finding loops in it (RFC 3209, 4.4).

use super::link::Links;
use base::Label;
use core::net::Ipv4Addr;
use wire::rsvp::RroSubobject;

/// Does the recorded route say that the message has been here before (RFC 3209, 4.4.4)?
pub(super) fn has_loop(rro: Option<&[RroSubobject]>, links: &Links) -> bool {
    rro.is_some_and(|rro| {
        rro.iter().any(|entry| match *entry {
            RroSubobject::Ipv4 { address, .. } => links.is_own(address),
            RroSubobject::Unnumbered { router_id, .. } => links.is_own(router_id),
            _ => false,
        })
    })
}

/// The route as it goes on: this router's address in front, with the label behind it if that is recorded too. The label
/// is one of the platform-wide space, and says so: it is understood on every interface (RFC 3209, 4.4.1.3).
pub(super) fn push(address: Ipv4Addr, label: Option<Label>, rest: &[RroSubobject]) -> Vec<RroSubobject> {
    push_with(address, 0, label.map(RroSubobject::global_label), rest)
}

/// The same with flags of the address (RFC 4090, 4.4), and with a label as it is recorded.
pub(super) fn push_with(
    address: Ipv4Addr,
    flags: u8,
    label: Option<RroSubobject>,
    rest: &[RroSubobject],
) -> Vec<RroSubobject> {
    let mut rro = Vec::with_capacity(rest.len() + 2);
    // RFC 3209, 4.4.3: the label is pushed before the address, so it comes after it.
    rro.push(RroSubobject::Ipv4 { address, prefix_length: 32, flags });
    rro.extend(label);
    rro.extend_from_slice(rest);
    rro
}

/// The addresses of a recorded route, in order.
pub(super) fn addresses(rro: &[RroSubobject]) -> Vec<Ipv4Addr> {
    let address = |entry: &RroSubobject| match *entry {
        RroSubobject::Ipv4 { address, .. } => Some(address),
        RroSubobject::Unnumbered { router_id, .. } => Some(router_id),
        _ => None,
    };
    rro.iter().filter_map(address).collect()
}

/// Bytes that the entries take on the wire.
pub(super) fn wire_len(rro: &[RroSubobject]) -> usize {
    let len = |entry: &RroSubobject| match entry {
        RroSubobject::Ipv4 { .. } | RroSubobject::Label { .. } => 8,
        RroSubobject::Ipv6 { .. } => 20,
        RroSubobject::Unnumbered { .. } => 12,
        RroSubobject::AutonomousSystem { .. } => 4,
        RroSubobject::Unknown { data, .. } => 2 + data.len(),
    };
    rro.iter().map(len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_comes_first_and_loops_are_found() {
        let (a, b) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let once = push(a, Some(Label::truncate(17)), &[]);
        let twice = push(b, None, &once);
        assert_eq!(addresses(&twice), [b, a]);
        assert_eq!(twice[2], RroSubobject::Label { flags: 1, c_type: 1, label: 17 });
        assert_eq!(wire_len(&twice), 24);
        assert!(has_loop(Some(&twice), &Links::new(a, &[])));
        assert!(!has_loop(Some(&twice), &Links::new(Ipv4Addr::new(10, 0, 0, 3), &[])));
        assert!(!has_loop(None, &Links::new(a, &[])));
    }
}
