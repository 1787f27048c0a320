//! LSPs that are verified for who watches them: those of sessions of BFD (RFC 5884, 4 and 6), of which the first
//! requests say by which number the session begins, and later ones only whether the LSP still ends where it is to end;
//! and those that are watched by these requests alone (RFC 8029), which tell as well whether packets get through.

use super::ask::{WHOLE, datagram};
use super::states::{Finding, Standing};
use super::{Asked, Command, Event, LspPing, ntp};
use crate::inquiry::{FecMapping, Findings, Inquiry, takes};
use crate::machine::State;
use crate::protocol::{Context, LspMessage, Output};
use crate::services::bootstrap::Wish;
use crate::services::{Pace, Verdict, WatchedLsp, WatchedPath};
use base::plane::Leg;
use base::random::Stream;
use base::{ProtocolValue, Span, Time};
use core::net::IpAddr;
use rand::RngExt;
use wire::lsp_ping::{LspPing as Message, REQUEST, Tlv, VERSION, code};

/// From a request to the next while the session is not up.
const FIRST: Span = Span::from_secs(1);
/// The same while it is: "significantly less" often than BFD speaks (RFC 5884, 4).
const LATER: Span = Span::from_secs(60);
/// A reply may take so long.
const WAIT: Span = Span::from_secs(2);
/// After so many requests in a row without a reply nobody says any more that an LSP of BFD is misled.
const MISSES: u8 = 3;
/// Handles of these requests begin here; those of commands are below.
const HANDLES: u32 = 1 << 31;

/// How an LSP is watched by requests alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    /// From a request to the next; a reply may take so long.
    pub(super) interval: Span,
    /// After so many requests in a row without a reply it is silent.
    misses: u8,
}

/// What was found of an LSP, and while it is misled the return code that said so.
type Found = (Standing, Option<u8>);

/// Why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// A request was sent, and nobody has answered in time.
    Reply,
    /// None could be sent: nothing here says by which labels packets of the LSP go.
    Way,
}

impl Missing {
    /// As events have it.
    const fn word(self) -> &'static str {
        match self {
            Missing::Reply => "no reply",
            Missing::Way => "no way",
        }
    }
}

/// An LSP that is verified.
#[derive(Debug)]
pub(super) struct Verification {
    /// As who watches it knows it.
    path: WatchedPath,
    handle: u32,
    sequence: u32,
    next: Time,
    /// Of the request that waits for its reply: what it said when it was sent, and until when it waits. One that was
    /// due and could not be sent is waited for, too: it is missing as one that was lost.
    awaited: Option<(Option<u64>, Time)>,
    /// The way of the last request that was sent.
    way: Option<Leg>,
    /// The return code of the last reply (RFC 8029, 3.1); nothing before there was one, and where the last is missing.
    pub(super) code: Option<u8>,
    /// Requests that were sent.
    pub(super) sent: u64,
    /// Requests that nobody has answered in time, and those that could not be sent after a first one was.
    pub(super) unanswered: u64,
    /// Why the last of them has no reply.
    missing: Missing,
    /// How many of them are the last ones.
    in_a_row: u32,
    pub(super) standing: Standing,
    /// The return code that said that it does not end where it is to, while it is misled.
    pub(super) blamed: Option<u8>,
    /// How it is watched; nothing if BFD does that.
    pub(super) watch: Option<Watch>,
    /// From a request to the next a little less than said, or all of a network ask at once.
    random: Stream,
}

impl Verification {
    /// When something is to be done.
    pub(super) fn due(&self) -> Time {
        self.awaited.map_or(self.next, |(_, until)| until.min(self.next))
    }

    /// No reply has come in time.
    fn missed(&mut self) {
        let is_sent = self.awaited.is_some_and(|(sent, _)| sent.is_some());
        self.missing = if is_sent { Missing::Reply } else { Missing::Way };
        (self.awaited, self.code) = (None, None);
        self.unanswered += 1;
        self.in_a_row = self.in_a_row.saturating_add(1);
        let misses = self.watch.map_or(MISSES, |watch| watch.misses);
        if self.in_a_row >= u32::from(misses) {
            let is_alone = self.watch.is_some();
            self.step(if is_alone { Finding::Missing } else { Finding::MissingBesideBfd }, None);
        }
    }

    /// Takes a step; `replied` is the return code that has shown it.
    fn step(&mut self, finding: Finding, replied: Option<u8>) {
        self.standing = self.standing.next(finding).unwrap_or(self.standing);
        self.blamed = replied.filter(|_| self.standing == Standing::Misled);
    }

    /// What was found of the LSP.
    const fn found(&self) -> Found {
        (self.standing, self.blamed)
    }

    /// Until when a request that is due now is waited for.
    fn until(&self, now: Time) -> Time {
        if self.watch.is_some() { self.next } else { now + WAIT }
    }

    /// A request by what the node says of the LSP, which waits for its reply from now on; nothing if packets of this
    /// family do not get onto the LSP.
    fn request(
        &mut self,
        now: Time,
        lsp: WatchedLsp,
        wish: Option<Wish>,
        source: u16,
        known: &FecMapping,
    ) -> Option<LspMessage> {
        let local = self.path.local;
        // RFC 5884, 7: the far end answers to the source, so BFD and its requests are of one family.
        let destination = match (local, Command::DESTINATION) {
            (IpAddr::V6(_), IpAddr::V4(address)) => address.to_ipv6_mapped().into(),
            (_, address) => address,
        };
        let leg = known.legs.first().filter(|leg| takes(leg, destination))?;
        // RFC 8029, 3.2: an FEC for each label, the first for the top of the stack.
        let carriers = known.carriers.iter().map(|carrier| carrier.fec.clone());
        let mut tlvs = vec![Tlv::TargetFecStack { fecs: carriers.chain([lsp.fec()]).collect() }];
        if let Some(wish) = wish.filter(|wish| !wish.is_up) {
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
            handle: self.handle,
            sequence: self.sequence.wrapping_add(1),
            sent: ntp(now),
            received: 0,
            tlvs,
        };
        let bytes = message.write().ok()?;
        (self.sequence, self.sent, self.way) = (message.sequence, self.sent + 1, Some(*leg));
        self.awaited = Some((Some(message.sent), self.until(now)));
        Some(datagram(leg, WHOLE, (local, destination), source, bytes))
    }

    /// When the next request is to follow one that is sent now.
    fn after(&mut self, now: Time, is_up: bool) -> Time {
        if let Some(watch) = self.watch {
            return now + watch.interval;
        }
        let usual = if is_up && self.standing != Standing::Misled { LATER } else { FIRST };
        let percent: i64 = self.random.random_range(75..=100);
        now + Span(usual.0 / 100 * percent)
    }
}

impl LspPing {
    /// What is wanted of an LSP has changed.
    pub(super) fn wanted(&mut self, now: Time, context: &mut Context<'_>, lsp: WatchedLsp) {
        let Some(wish) = context.services.bootstrap.wish(lsp) else {
            return self.forget(context, lsp, |one| one.watch.is_none());
        };
        let one = self.verification(now, context, lsp, wish.path);
        one.next = if wish.is_up { now + LATER } else { one.next.min(now + FIRST) };
        self.verify_due(now, context);
    }

    /// Those who want a path watched are others than before.
    pub(super) fn watching(&mut self, now: Time, context: &mut Context<'_>, path: WatchedPath) {
        let Some(lsp) = path.lsp() else { return };
        let wanted = context.services.liveness.clients(path).find(|(_, pace)| !pace.is_of_bfd());
        let Some((_, Pace { interval: Some(interval), multiplier: Some(misses), .. })) = wanted else {
            return self.forget(context, lsp, |one| one.watch.is_some() && one.path == path);
        };
        let one = self.verification(now, context, lsp, path);
        let is_new = one.watch.is_none_or(|watch| watch.interval != interval);
        one.watch = Some(Watch { interval, misses });
        if is_new {
            // Those of a router that begin together do not ask together.
            one.next = now + Span(one.random.random_range(0..interval.0));
        }
        self.verify_due(now, context);
    }

    /// Verifies an LSP no more: what was found of it counts no longer.
    fn forget(&mut self, context: &mut Context<'_>, lsp: WatchedLsp, is_it: impl Fn(&Verification) -> bool) {
        if let Some(one) = self.verified.get(&lsp).filter(|one| is_it(one)) {
            context.services.liveness.verified(one.path, None);
            self.verified.remove(&lsp);
        }
    }

    fn verification(
        &mut self,
        now: Time,
        context: &Context<'_>,
        lsp: WatchedLsp,
        path: WatchedPath,
    ) -> &mut Verification {
        let node = &context.services.interfaces.node;
        let handles = &mut self.handles;
        self.verified.entry(lsp).or_insert_with(|| {
            *handles = (*handles + 1) % HANDLES;
            let random = context.services.streams.stream(&format!("{node}/lspping/{lsp}"));
            Verification {
                path,
                handle: HANDLES | *handles,
                sequence: 0,
                next: now,
                awaited: None,
                way: None,
                code: None,
                sent: 0,
                unanswered: 0,
                missing: Missing::Reply,
                in_a_row: 0,
                standing: Standing::Unknown,
                blamed: None,
                watch: None,
                random,
            }
        })
    }

    /// Sends the requests that are due.
    pub(super) fn verify_due(&mut self, now: Time, context: &mut Context<'_>) {
        let (mut due, mut missed) = (Vec::new(), Vec::new());
        for (lsp, one) in self.verified.iter_mut().filter(|(_, one)| one.due() <= now) {
            if one.awaited.is_some_and(|(_, until)| until <= now) {
                let before = one.found();
                one.missed();
                missed.push((*lsp, before));
            }
            if one.next <= now {
                let is_up = context.services.bootstrap.wish(*lsp).is_some_and(|wish| wish.is_up);
                one.next = one.after(now, is_up);
                due.push(*lsp);
            }
        }
        for (lsp, before) in missed {
            self.tell(context, lsp, before);
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
        let Some(one) = self.verified.get_mut(&lsp) else { return };
        let before = one.found();
        if one.awaited.is_some() {
            // Only one is waited for: a reply to the one before would come too late.
            one.missed();
        }
        let known = findings.fecs.into_iter().flatten().next();
        let wish = context.services.bootstrap.wish(lsp);
        let request =
            self.source.zip(known).and_then(|(source, known)| one.request(now, lsp, wish, source, &known));
        match request {
            Some(request) => self.outputs.push_back(Output::Lsp(Box::new(request))),
            // Of an LSP on which nothing was ever sent nothing is missing.
            None if one.sent > 0 => one.awaited = Some((None, one.until(now))),
            None => {}
        }
        self.tell(context, lsp, before);
    }

    /// Is a reply one to a request of these? What it says is noted.
    pub(super) fn verification_answered(&mut self, context: &mut Context<'_>, message: &Message) -> bool {
        let is_it = |one: &Verification| {
            let waits = one.awaited.is_some_and(|(sent, _)| sent == Some(message.sent));
            waits && (one.handle, one.sequence) == (message.handle, message.sequence)
        };
        let Some((lsp, one)) = self.verified.iter_mut().find(|(_, one)| is_it(one)) else { return false };
        let (lsp, before, replied) = (*lsp, one.found(), message.return_code);
        (one.awaited, one.code, one.in_a_row) = (None, Some(replied), 0);
        match Finding::of(replied) {
            Some(Finding::Elsewhere) => {
                let fecs = vec![lsp.fec()];
                self.inquire(Asked::Blame(lsp, replied), Inquiry { fecs, ..Inquiry::default() });
            }
            Some(finding) => {
                one.step(finding, None);
                self.tell(context, lsp, before);
            }
            None => {}
        }
        true
    }

    /// A reply has said that an LSP does not end where it is to, and the node what is bound to it. If packets have
    /// taken another way or label since the request was sent, the reply is about what is not used any more.
    pub(super) fn blame(
        &mut self,
        context: &mut Context<'_>,
        lsp: WatchedLsp,
        replied: u8,
        findings: &Findings,
    ) {
        let Some(one) = self.verified.get_mut(&lsp) else { return };
        let before = one.found();
        let mut legs = findings.fecs.iter().flatten().flat_map(|known| &known.legs);
        let is_used = legs.any(|leg| Some(*leg) == one.way);
        // Before a session of BFD is up its far end may not be ready: nothing is known then (RFC 5882, 3.2).
        let is_judged = one.watch.is_some()
            || context.services.bootstrap.wish(lsp).is_some_and(|wish| wish.is_up)
            || one.standing == Standing::Misled;
        if is_used && is_judged {
            one.step(Finding::Elsewhere, Some(replied));
        }
        self.tell(context, lsp, before);
    }

    /// Tells those who have an LSP watched, and the user, what it is now, if that is another than before.
    fn tell(&mut self, context: &mut Context<'_>, lsp: WatchedLsp, before: Found) {
        let Some(one) = self.verified.get(&lsp).filter(|one| one.found() != before) else { return };
        let (path, after, missing) = (one.path, one.standing, one.missing.word());
        let liveness = &mut context.services.liveness;
        if one.watch.is_some() {
            match after {
                Standing::Sound => liveness.found(path, Verdict::Alive),
                Standing::Silent => liveness.found(path, Verdict::Dead),
                Standing::Unknown | Standing::Misled => {}
            }
        }
        let why = one.blamed.map(code::words);
        liveness.verified(path, why);
        let lsp = lsp.to_string();
        let event = match (before.0, after) {
            (_, Standing::Misled) => Event::LspPingDown { lsp, why: why.unwrap_or(missing) },
            (_, Standing::Silent) => Event::LspPingDown { lsp, why: missing },
            (Standing::Unknown, Standing::Sound) if one.watch.is_none() => return,
            _ => Event::LspPingUp { lsp },
        };
        self.outputs.push_back(Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
    }
}
