//! What a control plane wants done.

use super::{ControlPlane, OWNER_SHIFT};
use crate::inquiry::{Findings, Inquiry};
use crate::owner::Owner;
use crate::protocol::{Direction, LlcMessage, LspMessage, Message, Message6};
use crate::services::sessions::{Packet, SessionOutput};
use base::plane::{Batch, LabelUse, TableOp};
use base::{Event, Time};

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

    /// Answers an inquiry: by what is done with its labels, and by what the protocols have bound to its FECs. The first
    /// that knows one answers.
    pub fn answer(&mut self, now: Time, owner: Owner, inquiry: &Inquiry, labels: Vec<LabelUse>) {
        let of = |fec| {
            self.speakers.iter().find_map(|speaker| {
                // One that restarts knows nothing.
                if speaker.down_until.is_some() {
                    return None;
                }
                let mut mapping = speaker.protocol.mapping(&self.services, fec)?;
                mapping.is_spoken = inquiry.port.is_none_or(|port| speaker.protocol.speaks_on(port));
                Some(mapping)
            })
        };
        let fecs = inquiry.fecs.iter().map(of).collect();
        let findings = Findings { number: inquiry.number, labels, fecs };
        self.call(owner, |protocol, context| protocol.handle_findings(now, context, findings));
        self.tell_changes(now);
    }
}
