//! What a control plane wants done.

use super::{ControlPlane, OWNER_SHIFT};
use crate::inquiry::{Carrier, Fec, FecMapping, Findings, GivenBy, Inquiry};
use crate::owner::Owner;
use crate::protocol::{Direction, LlcMessage, LspMessage, Message, Message6};
use crate::services::sessions::{Packet, SessionOutput};
use base::plane::{Batch, LabelStack, LabelUse, Leg, Prefix, TableOp};
use base::{Event, PortId, ProtocolId, Time};
use core::net::Ipv4Addr;

/// What a control plane wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send a message, and give its memory back by [`ControlPlane::recycle`].
    Message(Owner, Message),
    /// The same of IPv6. In a box, since outputs are moved with every message, and those of IPv4 are shorter.
    Message6(Owner, Box<Message6>),
    /// Send a message in a frame with an LLC header.
    Llc(LlcMessage),
    /// Send a datagram along an LSP.
    Lsp(Box<LspMessage>),
    /// Hand what is done with the labels of an inquiry to [`ControlPlane::answer`].
    Inquire(Owner, Box<Inquiry>),
    /// Send a TCP segment or a UDP datagram by the tables.
    Packet(Packet),
    /// Write a route or a group of next hops, or take one out. In a box, since outputs are moved with every message
    /// and routes change seldom.
    Route(Box<TableOp>),
    /// Write tables, and hand the driver's answer to [`ControlPlane::handle_ack`].
    Tables(Batch),
    /// An event for the user.
    Event(Event),
}

impl ControlPlane {
    /// What is to be done next; nothing when all protocols are drained.
    #[inline]
    pub fn poll_output(&mut self, now: Time) -> Option<Output> {
        if self.quiet {
            return None;
        }
        let output = self.next_output(now);
        self.quiet = output.is_none();
        output
    }

    fn next_output(&mut self, now: Time) -> Option<Output> {
        loop {
            if let Some(output) = self.protocol_output(now) {
                return Some(output);
            }
            if self.services.sessions.is_quiet() {
                return None;
            }
            self.services.sessions.flush(now);
            if let Some(packet) = self.services.sessions.poll_packet() {
                return Some(Output::Packet(packet));
            }
            if !self.tell(now) {
                return None;
            }
        }
    }

    /// The next output of a protocol that is for the node; what protocols do with sessions is done.
    fn protocol_output(&mut self, now: Time) -> Option<Output> {
        use crate::protocol::Output as Wanted;
        if let Some(op) = self.poll_route() {
            return Some(Output::Route(Box::new(op)));
        }
        loop {
            let place = self.awake.first();
            let speaker = self.speakers.get_mut(place)?;
            let owner = Owner(place as u8);
            if speaker.down_until.is_some() {
                self.awake.remove(place);
                continue;
            }
            return Some(match speaker.protocol.poll_output() {
                None => {
                    speaker.due = speaker.protocol.poll_timeout();
                    self.awake.remove(place);
                    continue;
                }
                Some(Wanted::Session(session, output)) => {
                    if let SessionOutput::Send(bytes) = &output {
                        speaker.messages.count(now, Direction::Sent, speaker.protocol.kind_of(bytes));
                    }
                    self.services.sessions.handle_output(owner, session, output);
                    continue;
                }
                Some(Wanted::Message(message)) => {
                    speaker.count(now, message.port, Direction::Sent, &message.bytes);
                    Output::Message(owner, message)
                }
                Some(Wanted::Message6(message)) => {
                    speaker.count(now, message.port, Direction::Sent, &message.bytes);
                    Output::Message6(owner, message)
                }
                Some(Wanted::Llc(message)) => {
                    speaker.count(now, message.port, Direction::Sent, &message.bytes);
                    Output::Llc(message)
                }
                Some(Wanted::Lsp(message)) => {
                    speaker.count(now, message.port, Direction::Sent, &message.bytes);
                    Output::Lsp(message)
                }
                Some(Wanted::Inquire(inquiry)) => Output::Inquire(owner, inquiry),
                Some(Wanted::Tables(mut batch)) => {
                    batch.transaction.0 |= u64::from(owner.0) << OWNER_SHIFT;
                    Output::Tables(batch)
                }
                Some(Wanted::Event(event)) => Output::Event(event),
            });
        }
    }

    /// Answers an inquiry: by what is done with its labels, and by what the protocols have bound to its FECs.
    pub fn answer(&mut self, now: Time, owner: Owner, inquiry: &Inquiry, labels: Vec<LabelUse>) {
        let fecs = inquiry.fecs.iter().map(|fec| self.mapping(fec, inquiry.port)).collect();
        let findings = Findings { number: inquiry.number, labels, fecs };
        self.call(owner, |protocol, context| protocol.handle_findings(now, context, findings));
        self.tell_changes(now);
    }

    /// What the first protocol that knows an FEC has bound to it. While one restarts alone, what it has written to the
    /// tables stands and packets go by it: then it is what was bound before.
    fn mapping(&self, fec: &Fec, port: Option<PortId>) -> Option<FecMapping> {
        self.speakers.iter().find_map(|speaker| {
            let mut mapping = speaker.protocol.mapping(&self.services, fec)?;
            mapping.is_spoken = port.is_none_or(|port| speaker.protocol.speaks_on(port));
            if let Some(far) = mapping.far {
                self.carry(&mut mapping, far, speaker.protocol.id());
            }
            Some(mapping)
        })
    }

    /// Finds what carries packets of an owner's LSP to a far router: an LSP with an FEC of its own, by whose labels
    /// they go then, implicit null among them; or what is behind labels of which nobody says what they stand for.
    fn carry(&self, mapping: &mut FecMapping, far: Ipv4Addr, owner: ProtocolId) {
        let binder = self.services.bindings.binder_without(Prefix::host(far).into(), owner);
        let carrier = binder.and_then(|binder| {
            let speaker = self.speakers.iter().find(|speaker| speaker.protocol.id() == binder.owner)?;
            let fec = speaker.protocol.carrier(far, binder.rank)?;
            let outer = speaker.protocol.mapping(&self.services, &fec)?;
            (outer.far.is_none() && !outer.legs.is_empty()).then_some((fec, outer))
        });
        let own = mapping.legs.first().map(|leg| leg.labels);
        match (carrier, own.as_ref().map(|labels| labels.as_slice())) {
            (Some((fec, outer)), Some(&[label, ..])) => {
                let above = |leg: &Leg| {
                    let labels = [&[label], leg.labels.as_slice()].concat();
                    Some(Leg { labels: LabelStack::new(&labels)?, ..*leg })
                };
                mapping.legs = outer.legs.iter().filter_map(above).collect();
                mapping.carriers = vec![Carrier { fec, by: outer.by }];
            }
            (_, labels) => {
                let hidden = Carrier { fec: Fec::Nil { label: 0 }, by: GivenBy::Unknown };
                mapping.carriers = vec![hidden; labels.map_or(0, |labels| labels.len().saturating_sub(1))];
            }
        }
    }
}
