//! Sessions over LSPs (RFC 5884, RFC 7726). The head end has LSP ping tell the far end the number of a session; the far
//! end speaks first, by the tables, and the head end answers on the LSP.

use super::output::by_tables;
use super::session::{Role, Session};
use super::states::SessionState;
use super::{Bfd, Time};
use crate::inquiry::{self, Fec, Findings, takes};
use crate::protocol::{Context, LspMessage, Output, Over};
use crate::services::bootstrap::{Offer, Wish};
use crate::services::{Verdict, WatchedPath, Way};
use base::Span;
use base::plane::Leg;
use base::random::{Rng as _, Stream};
use core::net::{IpAddr, Ipv4Addr};
use wire::bfd::{Diag, PORT};

/// A session that another router has asked for, and that does not come up, is forgotten after so long; each request of
/// LSP ping begins that time anew.
const UNUSED: Span = Span::from_secs(10);

/// Where a session that speaks from an address sends: to a random address of 127/8, or of ::ffff:127/104 (RFC 5884, 7),
/// and not to that of the network itself.
pub(super) fn destination(local: IpAddr, random: &mut Stream) -> IpAddr {
    let address = Ipv4Addr::from(0x7f00_0000 | (random.next_u32() & 0x00ff_ffff).max(1));
    if local.is_ipv4() { address.into() } else { address.to_ipv6_mapped().into() }
}

impl Session {
    /// What is put on its LSP, if it is of one.
    pub fn fec(&self) -> Option<Fec> {
        match &self.role {
            Role::Beside => None,
            Role::Head { .. } => self.path.lsp().map(|lsp| lsp.fec()),
            Role::Tail { fec, .. } => Some(fec.clone()),
        }
    }

    /// Do packets of its LSP come out here, where it ends? Nothing if that is as it was: that the head end does not
    /// hear this one says something of the way back alone.
    pub fn verdict_at_end(&self) -> Option<Verdict> {
        match self.state {
            SessionState::Up => Some(Verdict::Alive),
            SessionState::Down if self.diag == Diag::TIME_EXPIRED => Some(Verdict::Dead),
            SessionState::AdminDown => Some(Verdict::Unknown),
            SessionState::Down | SessionState::Init => None,
        }
    }
}

impl Bfd {
    /// Has LSP ping ask the far end of an LSP for a session, and again and again whether the LSP still ends there (RFC
    /// 5884, 4 and 6).
    pub(super) fn verify(&self, context: &mut Context<'_>, number: u32) {
        let Some(session) = self.sessions.get(&number) else { return };
        let Some(lsp) = session.path.lsp() else { return };
        let bootstrap = &mut context.services.bootstrap;
        match session.state {
            SessionState::AdminDown => bootstrap.forget(lsp),
            state => {
                let is_up = state == SessionState::Up;
                bootstrap.ask(lsp, Wish { discriminator: number, is_up, path: session.path });
            }
        }
    }

    /// Other routers want sessions for LSPs that end here: LSP ping has found that they do.
    pub(super) fn offered(&mut self, now: Time, context: &mut Context<'_>) {
        while let Some(Offer { fec, from, discriminator }) = context.services.bootstrap.poll_offer() {
            if discriminator == 0 {
                continue;
            }
            let Some(local) = context.services.interfaces.source_to(from) else { continue };
            let is_it = |session: &Session| match &session.role {
                Role::Tail { fec: own, offered } => {
                    *offered == discriminator && session.path.remote == from && *own == fec
                }
                Role::Head { .. } | Role::Beside => false,
            };
            // RFC 7726, 2.1: one for each number of a head end.
            let known = self.sessions.iter().find(|(_, session)| is_it(session)).map(|(number, _)| *number);
            let number = known.unwrap_or_else(|| {
                let path = WatchedPath { way: Way::Routed, local, remote: from };
                let random = self.stream(context, &format!("{fec}/{from}/{discriminator}"));
                let role = Role::Tail { fec, offered: discriminator };
                self.open(now, context, (path, role), self.config.terms, random)
            });
            let is_shut = self.config.is_shut;
            self.touch(now, context, number, |session| {
                session.told(discriminator);
                if is_shut {
                    session.disable(now, Diag::ADMIN_DOWN);
                }
                session.ends = (session.state != SessionState::Up).then_some(now + UNUSED);
            });
        }
    }

    /// The node has said what is bound to the LSP of a packet.
    pub(super) fn found(&mut self, context: &mut Context<'_>, findings: Findings) {
        let Some((number, bytes)) = self.inquiries.remove(&findings.number) else { return };
        let bound = findings.fecs.into_iter().flatten().next();
        if self.multipoint.has(number) {
            return self.copy(number, bound.as_ref(), &bytes);
        }
        let Some(session) = self.sessions.get(&number) else { return };
        match session.role {
            Role::Head { destination } => {
                let leg = bound.as_ref().and_then(|bound| bound.legs.first());
                let ends = (session.path.local, destination);
                let message = leg.and_then(|leg| on_lsp(leg, ends, session.source, bytes));
                self.outputs.extend(message.map(|message| Output::Lsp(Box::new(message))));
            }
            // RFC 7726, 2.3: the session goes with the LSP.
            Role::Tail { .. } if !bound.is_some_and(|bound| bound.is_egress) => self.close(context, number),
            Role::Tail { .. } | Role::Beside => by_tables(context, session, bytes),
        }
    }
}

/// A packet on an LSP, from one address to the other (RFC 5884, 7); nothing if that takes no packets of their family.
pub(super) fn on_lsp(
    leg: &Leg,
    (src, dst): (IpAddr, IpAddr),
    source: u16,
    bytes: Vec<u8>,
) -> Option<LspMessage> {
    takes(leg, dst).then(|| LspMessage {
        port: leg.port,
        gateway: leg.gateway,
        stack: inquiry::stack(leg, u8::MAX),
        src,
        dst,
        over: Over::Udp { src: source, dst: PORT },
        ttl: 1,
        router_alert: false,
        bytes,
    })
}
