//! Messages made by hand.

use super::Net;
use super::bus::id;
use base::Label;
use core::net::Ipv4Addr;
use std::net::IpAddr;
use wire::rsvp::{
    Common, EroHop, Filter, FlowDescriptor, Flowspec, LabelRequest, Message, Packet, Path, Resv, RsvpHop,
    SenderTemplate, SenderTspec, Session, Style, TimeValues, TokenBucket,
};

pub(super) fn session(to: usize) -> Session {
    Session::LspTunnelIpv4 { end_point: id(to), tunnel_id: 9, extended_tunnel_id: id(0) }
}

pub(super) fn sender(lsp_id: u16) -> SenderTemplate {
    SenderTemplate::LspTunnelIpv4 { sender: id(0), lsp_id }
}

pub(super) fn bucket(mbps: u64) -> TokenBucket {
    TokenBucket::constant(base::Rate::from_mbps(mbps).as_bytes_per_s(), 1500)
}

/// The address of the first port of a node.
pub(super) fn first_address(net: &Net, node: usize) -> Ipv4Addr {
    net.nodes[node].config().interfaces[0].address
}

/// A Path as node 0 would send it to node 1.
pub(super) fn path(net: &Net, to: usize, route: &[usize]) -> Path {
    Path {
        common: Common::default(),
        session: session(to),
        hop: RsvpHop { address: IpAddr::V4(first_address(net, 0)), lih: 77 },
        time_values: TimeValues { refresh_ms: 30_000 },
        ero: Some(route.iter().map(|&node| EroHop::strict(id(node))).collect()),
        label_request: Some(LabelRequest::ipv4()),
        session_attribute: None,
        diffserv: None,
        policy_data: Vec::new(),
        sender_template: sender(1),
        sender_tspec: SenderTspec(bucket(10)),
        adspec: None,
        rro: None,
    }
}

/// A Resv as the next hop with this address would send it.
pub(super) fn resv(to: usize, from: Ipv4Addr, style: Style, lsp_ids: &[u16], label: u32) -> Resv {
    let filter = |&lsp_id: &u16| Filter { filter_spec: sender(lsp_id), label: Label::new(label), rro: None };
    Resv {
        common: Common::default(),
        session: session(to),
        hop: RsvpHop { address: IpAddr::V4(from), lih: 1 },
        time_values: TimeValues { refresh_ms: 30_000 },
        resv_confirm: None,
        scope: None,
        policy_data: Vec::new(),
        style,
        flow_descriptors: vec![FlowDescriptor {
            flowspec: Flowspec::ControlledLoad(bucket(10)),
            filters: lsp_ids.iter().map(filter).collect(),
        }],
    }
}

pub(super) fn packet(message: Message) -> Packet {
    Packet::new(64, message)
}
