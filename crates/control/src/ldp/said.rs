//! What is said of labels: from what [`Distribution`] wants said to messages (RFC 5036, 3.5.7 to 3.5.11), and from
//! messages to what it is told.

use super::Ldp;
use super::cells::{Channels, OWN_VCS};
use super::session::Session;
use crate::protocol::Context;
use crate::services::distribution::{Attributes, Distribution, Mapped, Meant, PeerKey, Refusal, Say};
use crate::services::sessions::SessionId;
use base::plane::{IpPrefix, Prefix};
use base::{Label, Time};
use wire::ldp::{AnyLabel, Body, Fec, LdpId, Message, Notice, Status, kind};

/// The number of IPv4 among address families.
pub(super) const IPV4: u16 = 1;

/// A neighbour as the distribution of labels knows it.
pub(super) const fn key_of(id: LdpId) -> PeerKey {
    (id.router, id.space)
}

pub(super) fn fec_of(prefix: Prefix) -> Fec {
    Fec::Prefix(IpPrefix::V4(prefix))
}

const fn status_of(why: Refusal) -> Status {
    match why {
        Refusal::NoRoute => Status::NoRoute,
        Refusal::Loop => Status::LoopDetected,
        Refusal::NoLabels => Status::NoLabelResources,
    }
}

/// The label that a message says, if it is one of the session's kind (RFC 5036, 3.4.2).
fn read(channels: Option<&Channels>, label: AnyLabel) -> Option<Label> {
    match (channels, label) {
        (Some(channels), label) => channels.read(label),
        (None, AnyLabel::Generic(label)) => Some(label),
        (None, _) => None,
    }
}

/// A label as a message of the session says it.
fn write(channels: Option<&Channels>, label: Label) -> AnyLabel {
    channels.map_or(AnyLabel::Generic(label), |channels| channels.write(label))
}

/// Which labels a withdrawal or a release is about; nothing if none of this router can be.
fn meant(channels: Option<&Channels>, fec: &Fec, label: Option<AnyLabel>) -> Option<Meant> {
    let prefix = match fec {
        // RFC 5918, 4: all prefixes of the family.
        Fec::Wildcard | Fec::AllPrefixes(IPV4) => None,
        Fec::Prefix(IpPrefix::V4(prefix)) => Some(*prefix),
        Fec::Prefix(IpPrefix::V6(_)) | Fec::AllPrefixes(_) | Fec::P2mp(_) | Fec::AllP2mp(_) => return None,
    };
    let label = match label {
        None => None,
        Some(label) => Some(read(channels, label)?),
    };
    Some(Meant { prefix, label })
}

fn body_of(channels: Option<&Channels>, say: Say) -> Body {
    match say {
        Say::Map { prefix, label, request, attributes: Attributes { hops, path } } => {
            let (fecs, label) = (vec![fec_of(prefix)], write(channels, label));
            Body::Mapping { fecs, label, request, hops, path }
        }
        Say::Request { prefix, attributes: Attributes { hops, path } } => {
            Body::Request { fec: fec_of(prefix), hops, path }
        }
        Say::Withdraw { prefix, label } => {
            Body::Withdraw { fec: fec_of(prefix), label: Some(write(channels, label)) }
        }
        Say::Release { prefix, label, is_loop } => Body::Release {
            fec: fec_of(prefix),
            label: Some(write(channels, label)),
            // RFC 5036, 3.4.5.1.2: a label whose way is a circle is released with this status.
            notice: is_loop
                .then(|| Notice { message_type: kind::LABEL_MAPPING, ..Notice::new(Status::LoopDetected) }),
        },
        Say::Abort { prefix, request } => Body::Abort { fec: fec_of(prefix), request },
        Say::Refuse { request, why } => {
            let code = status_of(why).code();
            let notice = Notice { code, message_id: request, message_type: kind::LABEL_REQUEST };
            Body::notify(notice)
        }
        Say::Complete => Body::end_of_lib(Fec::AllPrefixes(IPV4)),
        Say::LabelsAvailable => Body::notify(Notice::new(Status::LabelResourcesAvailable)),
    }
}

impl Ldp {
    /// The labels that it distributes, and those of others.
    pub const fn labels(&self) -> &Distribution {
        &self.labels
    }

    /// Puts into sessions what is to be said of labels.
    pub(super) fn tell_labels(&mut self, now: Time, context: &mut Context<'_>) {
        loop {
            self.settle_cells(now, context);
            let Some((key, say)) = self.labels.poll_say() else { break };
            if key == OWN_VCS {
                self.tell_own_vcs(now, context, say);
                continue;
            }
            let mut all = self.sessions.values_mut();
            let session = all.find(|one| one.is_operational() && one.peer.map(key_of) == Some(key));
            let Some(session) = session else { continue };
            // RFC 5919, 4: only to who has said that it leaves out what it does not know.
            if say == Say::Complete && !session.capabilities.unrecognized_notification.unwrap_or(false) {
                continue;
            }
            let asked = match &say {
                Say::Request { prefix, .. } => Some(*prefix),
                _ => None,
            };
            session.say_labels(say);
            if let Some(prefix) = asked {
                // RFC 5036, 3.5.8.1: the number of the message is that of the request.
                self.labels.number_request(key, prefix, session.number);
            }
        }
        self.tell_channels();
    }

    /// Takes a message about labels of a session that is established.
    pub(super) fn take_labels(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        message: &Message,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(peer) = session.peer else { return };
        let key = key_of(peer);
        let channels = session.channels.clone();
        let channels = channels.as_ref();
        let about = |status: Status| Notice {
            code: status.code(),
            message_id: message.id,
            message_type: message.body.kind(),
        };
        let services = &mut **context.services;
        match &message.body {
            Body::Mapping { fecs, label, request, hops, path } => {
                self.await_more(now, id);
                for fec in fecs {
                    match (fec, read(channels, *label)) {
                        (Fec::Prefix(IpPrefix::V4(prefix)), Some(label)) => {
                            let attributes = Attributes { hops: *hops, path: path.clone() };
                            let (prefix, request) = (*prefix, *request);
                            let mapped = Mapped { prefix, label, request, attributes };
                            match self.switched(key) {
                                Some(vcs) => vcs.mapped(key, mapped),
                                None => self.labels.mapped(now, services, key, mapped),
                            }
                        }
                        (Fec::Prefix(IpPrefix::V6(_)), _) => {
                            self.advise(id, about(Status::UnsupportedAddressFamily));
                        }
                        (Fec::P2mp(lsp), Some(label)) => {
                            if let Err(status) = self.tree_mapped(services, peer, lsp, label) {
                                self.advise(id, about(status));
                            }
                        }
                        // A label of a link that there is none of here.
                        _ => self
                            .say(id, Body::Release { fec: fec.clone(), label: Some(*label), notice: None }),
                    }
                }
            }
            Body::Request { fec: Fec::Prefix(IpPrefix::V4(prefix)), hops, path } => {
                let attributes = Attributes { hops: *hops, path: path.clone() };
                match self.asked_by(key) {
                    Some(vcs) => vcs.requested(services, key, *prefix, message.id, attributes),
                    None => self.labels.requested(now, services, key, *prefix, message.id, attributes),
                }
            }
            // A label VC is for one prefix and one request.
            Body::Request { fec: Fec::AllPrefixes(IPV4), .. } if channels.is_some() => {
                self.advise(id, about(Status::NoRoute));
            }
            Body::Request { fec: Fec::AllPrefixes(IPV4), .. } => {
                self.labels.requested_all(now, services, key, message.id);
            }
            Body::Request { fec: fec @ (Fec::P2mp(_) | Fec::AllP2mp(_)), .. } => {
                if let Err(status) = self.trees_requested(peer, fec, message.id) {
                    self.advise(id, about(status));
                }
            }
            Body::Request { .. } => self.advise(id, about(Status::UnsupportedAddressFamily)),
            Body::Abort { fec: Fec::Prefix(IpPrefix::V4(prefix)), request } => {
                let was_there = match self.asked_by(key) {
                    Some(vcs) => vcs.aborted(key, *prefix, *request),
                    None => self.labels.aborted(now, services, key, *prefix, *request),
                };
                if was_there {
                    self.say(id, Body::notify_request(about(Status::LabelRequestAborted), *request));
                }
            }
            Body::Withdraw { fec, label } => {
                // RFC 5036, 3.5.10.1: labels are released in any case.
                self.say(id, Body::Release { fec: fec.clone(), label: *label, notice: None });
                self.trees_withdrawn(services, key, (fec, *label));
                if let Some(meant) = meant(channels, fec, *label) {
                    match self.switched(key) {
                        Some(vcs) => vcs.withdrawn(now, key, meant),
                        None => self.labels.withdrawn(now, services, key, meant),
                    }
                }
            }
            Body::Release { fec, label, notice } => {
                let is_loop =
                    notice.is_some_and(|notice| Status::of(notice.code) == Some(Status::LoopDetected));
                self.trees_released(key, (fec, *label));
                if let Some(meant) = meant(channels, fec, *label) {
                    match self.asked_by(key) {
                        Some(vcs) => vcs.released(key, meant),
                        None => self.labels.released(now, services, key, meant, is_loop),
                    }
                }
            }
            _ => {}
        }
    }

    /// Takes a Notification about a request (RFC 5036, A.1.8 to A.1.12).
    pub(super) fn advised(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        notice: Notice,
        request: Option<u32>,
    ) {
        let Some(key) = self.sessions.get(&id).and_then(|session| session.peer).map(key_of) else { return };
        let services = &mut **context.services;
        let number = notice.message_id;
        let why = match Status::of(notice.code) {
            Some(Status::NoRoute) => Refusal::NoRoute,
            Some(Status::LoopDetected) => Refusal::Loop,
            Some(Status::NoLabelResources) => Refusal::NoLabels,
            Some(Status::LabelResourcesAvailable) => {
                return match self.switched(key) {
                    Some(vcs) => vcs.labels_available(key),
                    None => self.labels.labels_available(now, services, key),
                };
            }
            Some(Status::LabelRequestAborted) => {
                let Some(request) = request else { return };
                return match self.switched(key) {
                    Some(vcs) => vcs.abort_confirmed(key, request),
                    None => self.labels.abort_confirmed(now, services, key, request),
                };
            }
            _ => return,
        };
        match self.switched(key) {
            Some(vcs) => vcs.refused(now, key, number, why),
            None => self.labels.refused(now, key, number, why),
        }
    }

    /// The links on which a neighbour is heard are others than before.
    pub(super) fn update_links(&mut self, now: Time, context: &mut Context<'_>, peer: LdpId) {
        let ports = self.ports_of(peer);
        self.labels.heard_on(now, context.services, key_of(peer), ports);
    }
}

impl Session {
    /// Has something said of labels when the call returns.
    pub(super) fn say_labels(&mut self, say: Say) {
        let body = body_of(self.channels.as_ref(), say);
        self.say(body);
    }

    /// What is known of the neighbour's labels.
    pub fn labels<'a>(&self, of: &'a Ldp) -> Option<&'a crate::services::distribution::Peer> {
        self.peer.filter(|_| self.is_operational()).and_then(|peer| of.labels.peer(key_of(peer)))
    }
}
