//! Recorded labels that are taken on every port of their router, or not known to be (RFC 3209, 4.4.1.3; RFC 4090,
//! 6.4.1).

use super::messages::packet;
use super::protection::{AVAILABLE, NODE, asking, bypass, flags, ladder, on};
use super::{Net, spec};
use crate::rsvp::command::TunnelSpec;
use base::PortId;
use core::net::Ipv4Addr;
use wire::rsvp::{Message, RroSubobject};

/// The labels that Resvs have recorded, with their flags.
pub(super) fn labels(net: &Net) -> Vec<(u32, u8)> {
    let resvs = net.log.iter().filter_map(|sent| match &sent.message {
        Message::Resv(resv) => Some(resv),
        _ => None,
    });
    let filters = resvs.flat_map(|resv| &resv.flow_descriptors).flat_map(|descriptor| &descriptor.filters);
    let entries = filters.flat_map(|filter| filter.rro.iter().flatten());
    let labels = entries.filter_map(|entry| match *entry {
        RroSubobject::Label { flags, label, .. } => Some((label, flags)),
        _ => None,
    });
    labels.collect()
}

#[test]
fn each_label_is_recorded_as_one_that_all_ports_take() {
    let mut net = ladder();
    net.tunnel(0, TunnelSpec { record_labels: true, ..spec(1, 4, &[&[1, 2, 3, 4]], 1) });
    net.run(100);
    let labels = labels(&net);
    assert_eq!(labels.len(), 1 + 2 + 3 + 4);
    assert!(labels.iter().all(|(_, flags)| *flags == RroSubobject::GLOBAL_LABEL), "{labels:?}");
}

/// The next router says of these of its recorded labels that they are those of one port.
fn say_of_one_port(net: &mut Net, of: &[Ipv4Addr]) {
    let sent = net.log.iter().rev().filter(|sent| sent.from == 2).find_map(|sent| match &sent.message {
        Message::Resv(resv) if resv.hop.address == on(1, 2) && labels_of(resv) == 3 => Some(resv.clone()),
        _ => None,
    });
    let mut resv = sent.expect("a Resv of the LSP");
    resv.common.message_id = None;
    let rro = resv.flow_descriptors[0].filters[0].rro.as_mut().expect("a recorded route");
    let mut last = None;
    for entry in rro {
        match entry {
            RroSubobject::Ipv4 { address, .. } => last = Some(*address),
            RroSubobject::Label { flags, .. } if last.is_some_and(|last| of.contains(&last)) => *flags = 0,
            _ => {}
        }
    }
    net.inject(1, PortId(1), on(1, 2), &packet(Message::Resv(resv)));
    net.run(50);
}

fn labels_of(resv: &wire::rsvp::Resv) -> usize {
    let rro = resv.flow_descriptors[0].filters[0].rro.iter().flatten();
    rro.filter(|entry| matches!(entry, RroSubobject::Label { .. })).count()
}

/// Why the LSP is protected no better at the second router.
fn lacks(net: &Net) -> Option<&'static str> {
    let mut asking = net.nodes[1].store.iter().filter(|(_, lsp)| lsp.wants_protection());
    net.nodes[1].lacks(asking.next().expect("the LSP").1)
}

#[test]
fn a_label_of_one_port_protects_nobody() {
    const WHY: &str = "the recorded label of the merge point is not known to be good on its other ports";
    // Around the link alone; the label of the next router decides, and no other.
    let mut net = ladder();
    net.honest = false;
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    net.tunnel(0, asking(1, false, false));
    net.run(100);
    assert_eq!((flags(&net, 0, 1), lacks(&net)), (Some(AVAILABLE), None));
    say_of_one_port(&mut net, &[on(1, 2)]);
    assert_eq!((flags(&net, 0, 1), lacks(&net)), (Some(0), Some(WHY)));
    say_of_one_port(&mut net, &[on(2, 3), on(3, 4)]);
    assert_eq!((flags(&net, 0, 1), lacks(&net)), (Some(AVAILABLE), None));
    // Around the router: that of the router behind it, else around the link.
    let mut net = ladder();
    net.honest = false;
    net.tunnel(1, bypass(8, false, 0));
    net.tunnel(1, bypass(9, true, 0));
    net.run(100);
    net.tunnel(0, asking(1, true, false));
    net.run(100);
    assert_eq!((flags(&net, 0, 1), lacks(&net)), (Some(AVAILABLE | NODE), None));
    say_of_one_port(&mut net, &[on(2, 3)]);
    assert_eq!((flags(&net, 0, 1), lacks(&net)), (Some(AVAILABLE), Some(WHY)));
    say_of_one_port(&mut net, &[on(1, 2)]);
    assert_eq!((flags(&net, 0, 1), lacks(&net)), (Some(AVAILABLE | NODE), None));
    say_of_one_port(&mut net, &[on(1, 2), on(2, 3)]);
    assert_eq!((flags(&net, 0, 1), lacks(&net)), (Some(0), Some(WHY)));
}
