//! One line for what IPv6 carries.

use super::layers::Layer;
use super::layers6::{Discovery, ExtensionHeader, Icmpv6, Icmpv6Message, Ipv6, NeighborOption};
use super::summary::{write_quoted_labels, wrong_checksum};
use crate::icmpv6::{time_exceeded, unreachable};
use crate::mld;
use core::fmt::{self, Write};

impl Ipv6 {
    pub(super) fn summarise(&self, out: &mut String, next: Option<&Layer>) -> fmt::Result {
        write!(out, "{} > {}", self.src, self.dst)?;
        let named = matches!(next, Some(Layer::Udp(_) | Layer::Tcp(_) | Layer::Icmpv6(_) | Layer::Rsvp(_)));
        if let (false, Some(protocol)) = (named, self.protocol) {
            write!(out, " {protocol}")?;
        }
        for header in &self.headers {
            if let ExtensionHeader::Fragment { ident, offset, more } = header {
                let (at, more) = (u32::from(*offset) * 8, if *more { "+" } else { "" });
                write!(out, " fragment {ident} at {at}{more}")?;
            }
        }
        Ok(())
    }
}

impl Icmpv6 {
    pub(super) fn summarise(&self, out: &mut String) -> fmt::Result {
        out.push_str("ICMPv6 ");
        match &self.message {
            Icmpv6Message::EchoRequest { ident, sequence, .. } => {
                write!(out, "echo request, id {ident}, sequence {sequence}")
            }
            Icmpv6Message::EchoReply { ident, sequence, .. } => {
                write!(out, "echo reply, id {ident}, sequence {sequence}")
            }
            Icmpv6Message::DestinationUnreachable { code, .. } => match *code {
                unreachable::NO_ROUTE => out.write_str("no route"),
                unreachable::ADDRESS => out.write_str("address unreachable"),
                unreachable::PORT => out.write_str("port unreachable"),
                code => write!(out, "destination unreachable, code {code}"),
            },
            Icmpv6Message::PacketTooBig { mtu, .. } => write!(out, "packet too big, MTU {mtu}"),
            Icmpv6Message::TimeExceeded { code: time_exceeded::HOP_LIMIT, .. } => {
                out.write_str("time exceeded in transit")
            }
            Icmpv6Message::TimeExceeded { .. } => out.write_str("time exceeded in reassembly"),
            Icmpv6Message::ParameterProblem { pointer, .. } => {
                write!(out, "parameter problem at byte {pointer}")
            }
            Icmpv6Message::NeighborDiscovery { said, options } => write_discovery(out, said, options),
            Icmpv6Message::MulticastListener { said } => write_listener(out, said),
            Icmpv6Message::Other { icmp_type, code, .. } => write!(out, "type {} code {code}", icmp_type.0),
        }?;
        write_quoted_labels(out, self.message.quote())?;
        wrong_checksum(out, self.checksum, self.correct_checksum)
    }
}

fn write_discovery(out: &mut String, said: &Discovery, options: &[NeighborOption]) -> fmt::Result {
    match said {
        Discovery::RouterSolicitation => out.write_str("router solicitation"),
        Discovery::RouterAdvertisement { lifetime_s, .. } => {
            write!(out, "router advertisement, lifetime {lifetime_s} s")
        }
        Discovery::NeighborSolicitation { target } => write!(out, "who has {target}"),
        Discovery::NeighborAdvertisement { target, .. } => write!(out, "{target} is here"),
        Discovery::Redirect { target, destination } => write!(out, "redirect {destination} to {target}"),
    }?;
    for option in options {
        match option {
            NeighborOption::SourceLinkLayer { mac } => write!(out, ", tell {mac}"),
            NeighborOption::TargetLinkLayer { mac } => write!(out, ", at {mac}"),
            NeighborOption::Prefix(prefix) => write!(out, ", prefix {}/{}", prefix.prefix, prefix.len),
            NeighborOption::Mtu { mtu } => write!(out, ", MTU {mtu}"),
            NeighborOption::Other { .. } => Ok(()),
        }?;
    }
    Ok(())
}

fn write_listener(out: &mut String, said: &mld::Repr) -> fmt::Result {
    match said {
        mld::Repr::Query { group, .. } if group.is_unspecified() => out.write_str("who listens to groups"),
        mld::Repr::Query { group, v2, .. } => {
            write!(out, "who listens to {group}")?;
            let sources = v2.iter().flat_map(|v2| &v2.sources);
            sources.enumerate().try_for_each(|(place, source)| {
                write!(out, "{} {source}", if place == 0 { " from" } else { "," })
            })
        }
        mld::Repr::ReportV1 { group } => write!(out, "listens to {group}"),
        mld::Repr::Done { group } => write!(out, "listens to {group} no more"),
        mld::Repr::ReportV2 { records } => {
            out.write_str("listener report")?;
            records.iter().try_for_each(|record| write!(out, ", {}", record.group))
        }
    }
}
