//! One line a message, for traces and listings.

use super::error_code::describe;
use super::explicit_route::{EroHop, EroSubobject};
use super::hello::Hello;
use super::message::{FlowDescriptor, Message, Packet};
use super::message_id::MessageIdList;
use super::record_route::RroSubobject;
use super::sender::SenderTemplate;
use super::session::Session;
use std::fmt::{self, Display, Formatter};

impl Packet {
    /// One line that says what the message is about.
    pub fn summary(&self) -> String {
        self.message.summary()
    }
}

impl Message {
    /// One line that says what the message is about.
    pub fn summary(&self) -> String {
        self.to_string()
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.message_type().name())?;
        match self {
            Message::Path(m) => {
                write!(f, " {} {}", m.session, m.sender_template)?;
                if let Some(ero) = &m.ero {
                    write!(f, " via {}", Route(ero))?;
                }
                if let Some(diffserv) = &m.diffserv {
                    write!(f, ", {diffserv}")?;
                }
                write!(f, ", {} B/s, from {}", m.sender_tspec.0.rate, m.hop.address)
            }
            Message::Resv(m) => {
                write!(f, " {} {}", m.session, m.style.name())?;
                descriptors(&m.flow_descriptors, f)?;
                write!(f, ", from {}", m.hop.address)
            }
            Message::PathErr(m) => {
                write!(f, " {}", m.session)?;
                if let Some(sender) = &m.sender {
                    write!(f, " {}", sender.sender_template)?;
                }
                write!(f, ": {}", m.error_spec)
            }
            Message::ResvErr(m) => {
                write!(f, " {} {}", m.session, m.style.name())?;
                descriptors(m.flow_descriptor.as_slice(), f)?;
                write!(f, ": {}", m.error_spec)
            }
            Message::PathTear(m) => {
                write!(f, " {}", m.session)?;
                if let Some(sender) = &m.sender {
                    write!(f, " {}", sender.sender_template)?;
                }
                write!(f, ", from {}", m.hop.address)
            }
            Message::ResvTear(m) => {
                write!(f, " {} {}", m.session, m.style.name())?;
                m.filters.iter().try_for_each(|filter| write!(f, " {filter}"))?;
                write!(f, ", from {}", m.hop.address)
            }
            Message::ResvConf(m) => {
                write!(f, " {} {}", m.session, m.style.name())?;
                descriptors(&m.flow_descriptors, f)?;
                write!(f, ", to {}", m.resv_confirm)
            }
            Message::Bundle(m) => {
                write!(f, " of {}", m.packets.len())?;
                let names = m.packets.iter().map(|packet| packet.message.message_type().name());
                names
                    .enumerate()
                    .try_for_each(|(i, name)| write!(f, "{} {name}", if i == 0 { ":" } else { "," }))
            }
            Message::Ack(_) => Ok(()),
            Message::Srefresh(m) => {
                let count: usize = m.lists.iter().map(MessageIdList::len).sum();
                write!(f, " of {count}")
            }
            Message::Hello(m) => match m.hello {
                Hello::Request { src_instance, dst_instance } => {
                    write!(f, " request {src_instance:#x} {dst_instance:#x}")
                }
                Hello::Ack { src_instance, dst_instance } => {
                    write!(f, " ack {src_instance:#x} {dst_instance:#x}")
                }
            },
            Message::IntegrityChallenge(_) | Message::IntegrityResponse(_) => Ok(()),
        }?;
        let Some(common) = self.common() else { return Ok(()) };
        for (i, leaf) in common.sub_lsps().unwrap_or_default().iter().enumerate() {
            write!(f, "{} {}", if i == 0 { ", leaves" } else { "," }, leaf.leaf)?;
            if let Some(route) = &leaf.explicit_route {
                write!(f, " via {}", Route(route))?;
            }
        }
        if let Some(id) = common.message_id {
            write!(f, ", id {:#x}/{}", id.epoch, id.id)?;
        }
        for ack in &common.acks {
            write!(f, ", {} {:#x}/{}", if ack.nack { "nack" } else { "ack" }, ack.epoch, ack.id)?;
        }
        Ok(())
    }
}

fn descriptors(descriptors: &[FlowDescriptor], f: &mut Formatter<'_>) -> fmt::Result {
    for descriptor in descriptors {
        write!(f, ", {} B/s", descriptor.flowspec.rate())?;
        for filter in &descriptor.filters {
            write!(f, " {}", filter.filter_spec)?;
            if let Some(label) = filter.label {
                write!(f, " label {label}")?;
            }
        }
    }
    Ok(())
}

impl Display for Session {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Session::Ipv4 { destination, protocol, port, .. } => {
                write!(f, "flow to {destination}:{port}/{protocol}")
            }
            Session::Ipv6 { destination, protocol, port, .. } => {
                write!(f, "flow to [{destination}]:{port}/{protocol}")
            }
            Session::LspTunnelIpv4 { end_point, tunnel_id, extended_tunnel_id } => {
                write!(f, "tunnel {extended_tunnel_id}/{tunnel_id} to {end_point}")
            }
            Session::LspTunnelIpv6 { end_point, tunnel_id, extended_tunnel_id } => {
                write!(f, "tunnel {extended_tunnel_id}/{tunnel_id} to {end_point}")
            }
            Session::P2mpLspTunnelIpv4 { p2mp_id, tunnel_id, extended_tunnel_id } => {
                write!(f, "p2mp tunnel {extended_tunnel_id}/{tunnel_id}/{p2mp_id}")
            }
            Session::P2mpLspTunnelIpv6 { p2mp_id, tunnel_id, extended_tunnel_id } => {
                write!(f, "p2mp tunnel {extended_tunnel_id}/{tunnel_id}/{p2mp_id}")
            }
        }
    }
}

impl Display for SenderTemplate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            SenderTemplate::Ipv4 { source, port } => write!(f, "sender {source}:{port}"),
            SenderTemplate::Ipv6 { source, port } => write!(f, "sender [{source}]:{port}"),
            SenderTemplate::Ipv6FlowLabel { source, flow_label } => {
                write!(f, "sender {source} flow {flow_label:#x}")
            }
            SenderTemplate::LspTunnelIpv4 { sender, lsp_id } => write!(f, "lsp {sender}/{lsp_id}"),
            SenderTemplate::LspTunnelIpv6 { sender, lsp_id } => write!(f, "lsp {sender}/{lsp_id}"),
            SenderTemplate::P2mpLspTunnelIpv4 { sender, lsp_id, subgroup_id, .. } => {
                write!(f, "lsp {sender}/{lsp_id} sub-group {subgroup_id}")
            }
            SenderTemplate::P2mpLspTunnelIpv6 { sender, lsp_id, subgroup_id, .. } => {
                write!(f, "lsp {sender}/{lsp_id} sub-group {subgroup_id}")
            }
        }
    }
}

impl Display for super::basic::ErrorSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}/{}) at {}", describe(self.code, self.value), self.code, self.value, self.node)
    }
}

/// An explicit route, hops in order, loose ones marked.
struct Route<'a>(&'a [EroHop]);

impl Display for Route<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, hop) in self.0.iter().enumerate() {
            let before = if i == 0 { "" } else { " " };
            write!(f, "{before}{}{}", if hop.loose { "~" } else { "" }, hop.node)?;
        }
        Ok(())
    }
}

impl Display for EroSubobject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            EroSubobject::Ipv4 { address, prefix_length: 32 } => write!(f, "{address}"),
            EroSubobject::Ipv4 { address, prefix_length } => write!(f, "{address}/{prefix_length}"),
            EroSubobject::Ipv6 { address, prefix_length: 128 } => write!(f, "{address}"),
            EroSubobject::Ipv6 { address, prefix_length } => write!(f, "{address}/{prefix_length}"),
            EroSubobject::Label { label, .. } => write!(f, "label {label}"),
            EroSubobject::Unnumbered { router_id, interface_id } => write!(f, "{router_id}#{interface_id}"),
            EroSubobject::AutonomousSystem { number } => write!(f, "AS{number}"),
            EroSubobject::Unknown { kind, .. } => write!(f, "type {kind}"),
        }
    }
}

impl Display for RroSubobject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RroSubobject::Ipv4 { address, .. } => write!(f, "{address}"),
            RroSubobject::Ipv6 { address, .. } => write!(f, "{address}"),
            RroSubobject::Label { label, .. } => write!(f, "label {label}"),
            RroSubobject::Unnumbered { router_id, interface_id, .. } => {
                write!(f, "{router_id}#{interface_id}")
            }
            RroSubobject::AutonomousSystem { number } => write!(f, "AS{number}"),
            RroSubobject::Unknown { kind, .. } => write!(f, "type {kind}"),
        }
    }
}
