//! What can still be read of a Path or Resv that is to be refused, to answer it with a PathErr or ResvErr.
//!
//! [`super::Error::answer`] says whether a message that cannot be read deserves an answer; the answer needs the
//! message's session and more. Objects that cannot be read are passed over here.

use super::basic::{ErrorSpec, RsvpHop};
use super::class::{self, MessageType};
use super::descriptors::Descriptors;
use super::error::Error;
use super::header::{Header, Objects};
use super::intserv::{Flowspec, SenderTspec};
use super::message::{Common, Message, PathErr, ResvErr, SenderDescriptor};
use super::sender::SenderTemplate;
use super::session::Session;
use super::style::Style;
use std::net::IpAddr;

/// An answer to a message that could not be read, and whom to send it to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The hop that sent the message: where the answer goes.
    pub to: RsvpHop,
    /// A PathErr, or a ResvErr whose RSVP_HOP is still that of the message: the sender puts its own there.
    pub message: Message,
}

impl Reply {
    /// The answer to `bytes`, a message that [`super::Packet::parse`] refused with `error`; `node` is who answers.
    ///
    /// `None` if the error deserves none, if the message is neither Path nor Resv, if the lengths of its objects do not
    /// add up, or if so little of it can be read that nobody could make sense of the answer.
    pub fn to(bytes: &[u8], error: &Error, node: IpAddr) -> Option<Reply> {
        let (code, value) = error.answer()?;
        let header = Header::parse(bytes).ok()?;
        let kind = MessageType::of(header.message_type)?;
        let error_spec = ErrorSpec { node, flags: 0, code, value };
        // RFC 2205, 3.1.2: with one wrong length, nothing that seems to follow needs to be what its sender meant.
        if Objects::of(header.message(bytes)).any(|object| object.is_err()) {
            return None;
        }
        let salvage = Salvage::of(header.message(bytes));
        let (session, to) = (salvage.session?, salvage.hop?);
        let common = Common::default();
        let message = match kind {
            MessageType::Path => {
                let sender = SenderDescriptor {
                    sender_tspec: salvage.sender_tspec,
                    ..SenderDescriptor::of(salvage.sender_template?)
                };
                let (sender, policy_data) = (Some(sender), Vec::new());
                Message::PathErr(PathErr { common, session, error_spec, policy_data, sender, ero: None })
            }
            MessageType::Resv => {
                let style = salvage.style.unwrap_or(Style::FixedFilter);
                let mut descriptors = salvage.descriptors.finish(style).unwrap_or_default();
                descriptors.truncate(1);
                Message::ResvErr(ResvErr {
                    common,
                    session,
                    hop: to,
                    error_spec,
                    scope: None,
                    policy_data: Vec::new(),
                    style,
                    flow_descriptor: descriptors.pop(),
                })
            }
            _ => return None,
        };
        Some(Reply { to, message })
    }
}

#[derive(Default)]
struct Salvage {
    session: Option<Session>,
    hop: Option<RsvpHop>,
    sender_template: Option<SenderTemplate>,
    sender_tspec: Option<SenderTspec>,
    style: Option<Style>,
    descriptors: Descriptors,
}

impl Salvage {
    fn of(message: &[u8]) -> Salvage {
        let mut salvage = Salvage::default();
        for object in Objects::of(message).map_while(Result::ok) {
            let (c_type, body) = (object.c_type, object.body);
            match object.class {
                class::SESSION => salvage.session = Session::parse(c_type, body).ok(),
                class::RSVP_HOP => salvage.hop = RsvpHop::parse(c_type, body).ok(),
                class::SENDER_TEMPLATE => {
                    salvage.sender_template = SenderTemplate::parse(c_type, body).ok();
                }
                class::SENDER_TSPEC => salvage.sender_tspec = SenderTspec::parse(c_type, body).ok(),
                class::STYLE => salvage.style = Style::parse(c_type, body).ok(),
                class::FLOWSPEC => {
                    if let Ok(flowspec) = Flowspec::parse(c_type, body) {
                        salvage.descriptors.flowspec(flowspec);
                    }
                }
                class::FILTER_SPEC => {
                    if let Ok(filter_spec) = SenderTemplate::parse(c_type, body) {
                        salvage.descriptors.filter_spec(filter_spec);
                    }
                }
                _ => {}
            }
        }
        salvage
    }
}
