//! What users write of LDP at a router.

use super::restart::Graceful;
use super::{Config, Ldp};
use crate::protocol::{Agreement, Protocol, Setup};
use crate::services::distribution::{LabelAdvertisement, LabelControl, LabelRetention, LdpPrefixes};
use crate::services::sessions::Key;
use crate::services::{Attached, Beyond, PingSpec, Services, WatchSpec};
use base::describe::{Describe, Section};
use base::diagnostic::{At, Diagnostic};
use base::{ProtocolId, Span};
use core::net::Ipv4Addr;
use std::sync::Arc;

/// How long labels and entries are kept over a restart if nothing is said: the usual two minutes.
const RESTART_TIME: Span = Span::from_secs(120);

base::problems! {
    /// Problems of the settings of LDP.
    pub enum LdpProblem {
        /// A time that messages cannot say.
        NotWhole { value: String } is OutOfRange, "ldp-not-whole", "{value}: LDP counts it in whole seconds";
        /// Packets of a session that come by a way round while its link is avoided.
        SyncWithGtsm {} is Conflict, "ldp-sync-with-gtsm", "igp_sync=true needs gtsm=false: while a link is avoided, packets of its session may come by another router";
        /// A password that RFC 2385 has no room for, or none.
        PasswordLength { bytes: String } is OutOfRange, "ldp-password-length", "the password has {bytes} bytes: 1 to 80 are possible (RFC 2385, 4.5)";
        /// A neighbour that is lost before its next Hello.
        HoldTooShort { hold: String, hello: String } is Conflict, "ldp-hold-too-short", "hold_time={hold} has to be above hello_interval={hello}";
        /// Times without what they are for.
        RestartTimesAlone { key: String } is Conflict, "ldp-restart-time-alone", "{key} is used only with graceful_restart=true";
    }
}

base::record! {
    /// LDP (RFC 5036): true, or how. Routers that speak it give each other labels for the routes that they find by
    /// OSPF.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LdpSpec called "Ldp" {
        /// From a Hello to the next.
        pub hello_interval: Span = Span::from_secs(5), in 100_000_000_000..=65_534_000_000_000_000;
        /// A neighbour of which no Hello comes for so long is gone, in whole seconds; the smaller of what both say.
        pub hold_time: Span = Span::from_secs(15), in 1_000_000_000_000..=65_534_000_000_000_000;
        /// A session by which nothing comes for so long ends, in whole seconds; the smaller of what both say.
        pub keepalive_time: Span = Span::from_secs(180), in 1_000_000_000_000..=65_535_000_000_000_000;
        /// Which prefixes get a label.
        pub prefixes: LdpPrefixes = LdpPrefixes::All;
        /// When a label is given (RFC 5036, 2.6.1).
        pub control: LabelControl = LabelControl::Independent;
        /// Who gets labels (RFC 5036, 2.6.3). Both ends of a session have to say 'on-demand', or all are told.
        pub advertise: LabelAdvertisement = LabelAdvertisement::Unsolicited;
        /// Which labels of neighbours are kept (RFC 5036, 2.6.2).
        pub retention: LabelRetention = LabelRetention::Liberal;
        /// Have labels and requests say which routers they have passed, so that circles are found (RFC 5036, 2.8). It
        /// works where all routers do so.
        pub loop_detection: bool = false;
        /// Routers that the way of a label passes at most.
        pub hops_max: u8 = 254, in 1..=255;
        /// Take part in point-to-multipoint LSPs (RFC 6388), which `p2mp` of the network asks for.
        pub p2mp: bool = true;
        /// Give labels for what a protocol finds by routers further away, too, such as BGP.
        pub beyond: bool = false;
        /// IPv4 addresses of routers further away that sessions are wanted with (RFC 5036, 2.4.2): their loopback
        /// addresses.
        pub targets: Vec<Ipv4Addr> = Vec::new();
        /// Take such wishes of others.
        pub accept_targeted: bool = false;
        /// Have the routing protocol avoid a link until its labels are known (RFC 5443). It needs gtsm=false.
        pub igp_sync: bool = false;
        /// Labels of a neighbour are known so long after the session with it has come up, unless it says when they are
        /// (RFC 5919).
        pub igp_sync_delay: Span = Span::from_secs(10), in 0..=65_535_000_000_000_000;
        /// What both ends of a session sign its packets with (RFC 2385, RFC 5036, 2.9): 1 to 80 characters.
        pub password: Option<String>, absent "none";
        /// Take packets of sessions only from right beside, as their time to live says (RFC 6720). A session whose
        /// packets would go by another router never comes to be then.
        pub gtsm: bool = true;
        /// Go on forwarding while LDP restarts, here or at a neighbour that can do so, too (RFC 3478).
        pub graceful_restart: bool = false;
        /// Neighbours are asked to keep labels of this router for so long after they have lost the session; above zero.
        pub reconnect_time: Span = RESTART_TIME, in 1_000_000_000..=4_294_967_295_000_000_000;
        /// Entries from before a restart of LDP stay for so long, if nobody confirms them earlier.
        pub forwarding_hold_time: Span = RESTART_TIME, in 1_000_000_000..=4_294_967_295_000_000_000;
        /// Labels of a neighbour are kept for so long at most after its session was lost.
        pub neighbor_liveness_time: Span = RESTART_TIME, in 1_000_000_000..=4_294_967_295_000_000_000;
        /// Labels of a neighbour that is back are kept for so long at most, if it does not give them again.
        pub recovery_time_max: Span = RESTART_TIME, in 1_000_000_000..=4_294_967_295_000_000_000;
        /// Have neighbours watched by BFD (RFC 5882): true, or how closely. One that does not answer any more is gone
        /// at once.
        pub bfd: WatchSpec, absent "false";
        /// Have the LSPs to single addresses watched by BFD that begin here (RFC 5884): true, or how closely. Packets
        /// to what lies behind an LSP whose end is not heard any more go without its label.
        pub lsp_bfd: WatchSpec, absent "false";
        /// Have the LSPs to single addresses watched by LSP ping alone that begin here (RFC 8029): true, or how
        /// closely. Packets to what lies behind an LSP whose end does not answer any more, or that ends somewhere else,
        /// go without its label.
        pub lsp_ping: PingSpec, absent "false";
    }
    check LdpSpec::check;
    read by switch;
}

/// Seconds of a time that is whole ones.
fn seconds(span: Span) -> u16 {
    u16::try_from(span.0 / Span::from_secs(1).0).unwrap_or(u16::MAX)
}

impl LdpSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        let shown = |span: Span| span.write().as_text().unwrap_or_default().to_string();
        for (key, span) in [("hold_time", self.hold_time), ("keepalive_time", self.keepalive_time)] {
            if span.0 % Span::from_secs(1).0 != 0 {
                return Err(LdpProblem::NotWhole { value: shown(span) }.into()).at(key);
            }
        }
        if let Some(password) = self.password.as_ref().filter(|one| Key::new(one.as_bytes()).is_none()) {
            let bytes = password.len().to_string();
            return Err(Diagnostic::new(LdpProblem::PasswordLength { bytes }).at("password"));
        }
        self.lsp_ping.check_alone("lsp_bfd", self.lsp_bfd.0)?;
        if self.igp_sync && self.gtsm {
            return Err(Diagnostic::new(LdpProblem::SyncWithGtsm {}).at("igp_sync").on_key());
        }
        let times = [
            ("reconnect_time", self.reconnect_time),
            ("forwarding_hold_time", self.forwarding_hold_time),
            ("neighbor_liveness_time", self.neighbor_liveness_time),
            ("recovery_time_max", self.recovery_time_max),
        ];
        let told = times.iter().find(|(_, time)| !self.graceful_restart && *time != RESTART_TIME);
        if let Some((key, _)) = told {
            let problem = LdpProblem::RestartTimesAlone { key: (*key).into() };
            return Err(Diagnostic::new(problem).at(*key).on_key());
        }
        if self.hold_time <= self.hello_interval {
            let (hold, hello) = (shown(self.hold_time), shown(self.hello_interval));
            return Err(Diagnostic::new(LdpProblem::HoldTooShort { hold, hello }).at("hold_time").on_key());
        }
        Ok(())
    }

    /// Is it spoken where this is at the other end?
    fn is_spoken(attached: &Attached) -> bool {
        matches!(attached.beyond, Beyond::Router | Beyond::Segment)
    }
}

impl Setup for LdpSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        let known = &services.interfaces;
        let is_spoken = |port| LdpSpec::is_spoken(&known.attached(port).cloned().unwrap_or_default());
        let config = Config {
            hello: self.hello_interval,
            hold_s: seconds(self.hold_time),
            keepalive_s: seconds(self.keepalive_time),
            prefixes: self.prefixes,
            control: self.control,
            advertise: self.advertise,
            retention: self.retention,
            loop_detection: self.loop_detection,
            hops_max: self.hops_max,
            p2mp: self.p2mp,
            beyond: self.beyond,
            targets: self.targets.clone(),
            accept_targeted: self.accept_targeted,
            igp_sync: self.igp_sync,
            igp_sync_delay: self.igp_sync_delay,
            key: self.password.as_ref().and_then(|password| Key::new(password.as_bytes())),
            gtsm: self.gtsm,
            graceful: self.graceful_restart.then_some(Graceful {
                reconnect: self.reconnect_time,
                hold: self.forwarding_hold_time,
                liveness: self.neighbor_liveness_time,
                recovery_max: self.recovery_time_max,
            }),
            bfd: self.bfd.0,
            lsp_watch: self.lsp_ping.or_bfd(self.lsp_bfd.0),
            ports: known.ports().map(|(port, _)| port).filter(|port| is_spoken(*port)).collect(),
            cells: known.ports().filter_map(|(port, _)| Some((port, known.attached(port)?.cells?))).collect(),
        };
        Box::new(Ldp::new(known.router_id, config))
    }

    fn gives_labels(&self) -> bool {
        true
    }

    fn joins_trees(&self) -> bool {
        self.p2mp
    }

    fn watches(&self) -> bool {
        self.bfd.0.is_some() || self.lsp_bfd.0.is_some()
    }

    fn watches_at(&self, attached: &Attached) -> bool {
        self.bfd.0.is_some() && self.agreements(attached, 0).is_some()
    }

    fn watches_lsps(&self) -> Option<ProtocolId> {
        self.lsp_bfd.0.map(|_| Ldp::ID)
    }

    fn lacks_alone(&self) -> Option<&'static str> {
        Some("no labels are exchanged on the link")
    }

    fn agreements(&self, attached: &Attached, _: u32) -> Option<Vec<Agreement>> {
        let password = self.password.clone().unwrap_or_default();
        let agreement = Agreement::secret("password", password);
        LdpSpec::is_spoken(attached).then(|| vec![agreement])
    }
}

impl Section<dyn Setup> for LdpSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}
