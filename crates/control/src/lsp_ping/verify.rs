//! LSPs that are verified for who watches them (RFC 5884, 4 and 6): the first requests say by which number a session of
//! BFD begins, later ones only whether the LSP still ends where it is to end.

use super::ask::{WHOLE, datagram};
use super::{Asked, Command, LspPing, ntp};
use crate::inquiry::{Findings, Inquiry, takes};
use crate::protocol::{Context, Output};
use crate::services::WatchedLsp;
use base::random::Stream;
use base::{Span, Time};
use core::net::IpAddr;
use rand::RngExt;
use wire::lsp_ping::{LspPing as Message, REQUEST, Tlv, VERSION};

/// From a request to the next while the session is not up.
const FIRST: Span = Span::from_secs(1);
/// The same while it is: "significantly less" often than BFD speaks (RFC 5884, 4).
const LATER: Span = Span::from_secs(60);
/// A reply may take so long.
const WAIT: Span = Span::from_secs(2);
/// Handles of these requests begin here; those of commands are below.
const HANDLES: u32 = 1 << 31;

/// An LSP that is verified.
#[derive(Debug)]
pub(super) struct Verification {
    handle: u32,
    sequence: u32,
    next: Time,
    /// What the request said when it was sent that waits for its reply, and until when it waits.
    awaited: Option<(u64, Time)>,
    /// The return code of the last reply (RFC 8029, 3.1); nothing before there was one, and where the last is missing.
    pub(super) code: Option<u8>,
    /// Requests that were sent.
    pub(super) sent: u64,
    /// From a request to the next a little less than said, or all of a network ask at once.
    random: Stream,
}

impl Verification {
    /// When something is to be done.
    pub(super) fn due(&self) -> Time {
        self.awaited.map_or(self.next, |(_, until)| until.min(self.next))
    }
}

impl LspPing {
    /// What is wanted of an LSP has changed.
    pub(super) fn wanted(&mut self, now: Time, context: &mut Context<'_>, lsp: WatchedLsp) {
        let Some(wish) = context.services.bootstrap.wish(lsp) else {
            self.verified.remove(&lsp);
            return;
        };
        let node = &context.services.interfaces.node;
        let handles = &mut self.handles;
        let one = self.verified.entry(lsp).or_insert_with(|| {
            *handles = (*handles + 1) % HANDLES;
            let random = context.services.streams.stream(&format!("{node}/lspping/{lsp}"));
            Verification {
                handle: HANDLES | *handles,
                sequence: 0,
                next: now,
                awaited: None,
                code: None,
                sent: 0,
                random,
            }
        });
        one.next = if wish.is_up { now + LATER } else { one.next.min(now + FIRST) };
        self.verify_due(now, context);
    }

    /// Sends the requests that are due.
    pub(super) fn verify_due(&mut self, now: Time, context: &mut Context<'_>) {
        let mut due = Vec::new();
        for (lsp, one) in self.verified.iter_mut().filter(|(_, one)| one.due() <= now) {
            if one.awaited.is_some_and(|(_, until)| until <= now) {
                (one.awaited, one.code) = (None, None);
            }
            if one.next <= now {
                let is_up = context.services.bootstrap.wish(*lsp).is_some_and(|wish| wish.is_up);
                let usual = if is_up { LATER } else { FIRST };
                let percent: i64 = one.random.random_range(75..=100);
                one.next = now + Span(usual.0 / 100 * percent);
                due.push(*lsp);
            }
        }
        for lsp in due {
            self.inquire(Asked::Verify(lsp), Inquiry { fecs: vec![lsp.fec()], ..Inquiry::default() });
        }
    }

    /// Sends a request on an LSP, of which the node has said what is bound to it.
    pub(super) fn send_verification(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        lsp: WatchedLsp,
        findings: Findings,
    ) {
        if self.source.is_none() {
            self.source = context.bind(None);
        }
        let Some(wish) = context.services.bootstrap.wish(lsp) else { return };
        let Some((one, source)) = self.verified.get_mut(&lsp).zip(self.source) else { return };
        let Some(known) = findings.fecs.into_iter().flatten().next() else { return };
        // RFC 5884, 7: the far end answers to the source, so BFD and its requests are of one family.
        let destination = match (wish.source, Command::DESTINATION) {
            (IpAddr::V6(_), IpAddr::V4(address)) => address.to_ipv6_mapped().into(),
            (_, address) => address,
        };
        let Some(leg) = known.legs.first().filter(|leg| takes(leg, destination)) else { return };
        (one.sequence, one.sent) = (one.sequence.wrapping_add(1), one.sent + 1);
        // RFC 8029, 3.2: an FEC for each label, the first for the top of the stack.
        let carriers = known.carriers.iter().map(|carrier| carrier.fec.clone());
        let mut tlvs = vec![Tlv::TargetFecStack { fecs: carriers.chain([lsp.fec()]).collect() }];
        if !wish.is_up {
            // RFC 5884, 6.1.
            tlvs.push(Tlv::BfdDiscriminator { discriminator: wish.discriminator });
        }
        let message = Message {
            version: VERSION,
            flags: 0,
            message_type: REQUEST,
            reply_mode: 2,
            return_code: 0,
            return_subcode: 0,
            handle: one.handle,
            sequence: one.sequence,
            sent: ntp(now),
            received: 0,
            tlvs,
        };
        let Ok(bytes) = message.write() else { return };
        if one.awaited.is_some() {
            one.code = None;
        }
        one.awaited = Some((message.sent, now + WAIT));
        let sent = datagram(leg, WHOLE, (wish.source, destination), source, bytes);
        self.outputs.push_back(Output::Lsp(Box::new(sent)));
    }

    /// Is a reply one to a request of these? What it says is noted.
    pub(super) fn verification_answered(&mut self, message: &Message) -> bool {
        let is_it = |one: &Verification| {
            let waits = one.awaited.is_some_and(|(sent, _)| sent == message.sent);
            waits && (one.handle, one.sequence) == (message.handle, message.sequence)
        };
        let Some(one) = self.verified.values_mut().find(|one| is_it(one)) else { return false };
        (one.awaited, one.code) = (None, Some(message.return_code));
        true
    }
}
