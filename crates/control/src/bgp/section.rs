//! What users write of BGP at a router.

use super::mesh::MeshSpec;
use super::{Bgp, Config, Graceful, LspWatch, Passing, PeerConfig};
use crate::protocol::{Agreement, Protocol, Setup};
use crate::services::policy::{PolicyRule, PrefixRange};
use crate::services::sessions::{Key, Options};
use crate::services::{Attached, Beyond, PingSpec, Services, WatchSpec};
use base::describe::{Describe, Name, Schema, Schemas, Section, Value};
use base::diagnostic::{At, Diagnostic};
use base::plane::IpPrefix;
use base::{ProtocolId, Span};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::bgp::Family;

base::problems! {
    /// Problems of the settings of BGP.
    pub enum BgpProblem {
        /// A time that messages cannot say.
        NotWhole { value: String } is OutOfRange, "bgp-not-whole", "{value}: BGP counts it in whole seconds";
        /// A hold time that is refused (RFC 4271, 4.2).
        HoldTooShort { value: String } is OutOfRange, "bgp-hold-too-short", "hold_time={value} has to be 0 s, or 3 s at least (RFC 4271, 4.2)";
        /// A policy that is not there.
        NoPolicy { name: String, known: String } is UnknownName, "bgp-no-policy", "'{name}' is no policy of this router: 'all', 'none'{known} are";
        /// A policy called like one that there is anyway.
        PolicyName { name: String } is Conflict, "bgp-policy-name", "'{name}' has a meaning already: a policy needs another name";
        /// A password that RFC 2385 has no room for, or none.
        PasswordLength { bytes: String } is OutOfRange, "bgp-password-length", "the password has {bytes} bytes: 1 to 80 are possible (RFC 2385, 4.5)";
        /// Not even the best path.
        NoPaths {} is OutOfRange, "bgp-no-paths", "send_paths=0: tell 1 path at least, or leave it out to tell the best without a number";
        /// A client in another AS.
        ClientOutside { asn: String, own: String } is Conflict, "bgp-client-outside", "client=true: clients are in the router's own AS, {own}, not in {asn}";
        /// An address that no neighbour has.
        NotOneNode { address: String, kind: &'static str } is OutOfRange, "bgp-not-one-node", "'{address}' is {kind} address: a neighbour is named by a unicast address that is not link-local";
        /// An address that is there already, in other letters.
        SameAddress { address: String, other: String } is Conflict, "bgp-same-address", "'{address}' and '{other}' are the same address: a neighbour is described once";
        /// A setting of restarts that has no use without another.
        RestartAlone { key: &'static str, needs: &'static str } is Conflict, "bgp-restart-alone", "{key} is used only with {needs}";
        /// Destinations whose LSPs nobody has watched.
        UnwatchedPrefixes {} is Conflict, "bgp-unwatched-prefixes", "lsp_bfd_prefixes: it has no use without 'lsp_bfd' or 'lsp_ping', which have LSPs watched";
    }
}

/// How long routes are waited for after a restart if nothing is said: as long as neighbours may take that restart.
const DEFERRAL: Span = Span::from_secs(360);

base::words! {
    /// Whose routes are told as the router's own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Imported {
        /// The router's own loopback address and the networks of its links.
        Connected = "connected",
        /// Those that the description gives for the router.
        Static = "static",
        /// Those that OSPF finds.
        Ospf = "ospf",
    }
    default Static;
}

base::words! {
    /// A family of destinations.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BgpFamily {
        /// IPv4 unicast.
        Ipv4 = "ipv4",
        /// IPv6 unicast (RFC 4760, RFC 2545), told by the session, over IPv4 or IPv6.
        Ipv6 = "ipv6",
        /// IPv4 unicast with labels (RFC 8277): packets go by the LSP to the next hop, below the label.
        Ipv4Labelled = "ipv4-labelled",
        /// IPv6 unicast with labels over a core of IPv4 (6PE, RFC 4798): the next hop stands for an IPv4 address, and
        /// packets go by the LSP there, below the label.
        Ipv6Labelled = "ipv6-labelled",
    }
    default Ipv4;
}

impl BgpFamily {
    const fn of_wire(self) -> Family {
        match self {
            BgpFamily::Ipv4 => Family::Ipv4,
            BgpFamily::Ipv6 => Family::Ipv6,
            BgpFamily::Ipv4Labelled => Family::Ipv4Labelled,
            BgpFamily::Ipv6Labelled => Family::Ipv6Labelled,
        }
    }
}

base::words! {
    /// Which routes pass between a router and a neighbour.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BgpPolicy {
        /// All of them.
        All = "all",
        /// None.
        None = "none",
    }
    default None;
}

/// Which routes pass: all, none, or those that a policy lets pass.
#[derive(Clone, Debug, PartialEq)]
pub enum BgpPassing {
    /// All of them, or none.
    Word(BgpPolicy),
    /// By a policy of the router.
    Named(Name),
}

impl Describe for BgpPassing {
    fn read(value: &Value) -> Result<BgpPassing, Diagnostic> {
        match value.as_text() {
            Some(text) if BgpPolicy::WORDS.contains(&text) => BgpPolicy::read(value).map(BgpPassing::Word),
            _ => Name::read(value).map(BgpPassing::Named),
        }
    }
    fn write(&self) -> Value {
        match self {
            BgpPassing::Word(word) => word.write(),
            BgpPassing::Named(name) => name.write(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::OneOf(vec![BgpPolicy::schema(known), Name::schema(known)])
    }
}

base::words! {
    /// How many paths to a destination a neighbour is told.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BgpAllPaths {
        /// All that may be told it.
        All = "all",
    }
    default All;
}

/// How many paths to a destination a neighbour is told: all, or so many of the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BgpPaths {
    /// All of them.
    All(BgpAllPaths),
    /// The best.
    Best(u8),
}

impl Describe for BgpPaths {
    fn read(value: &Value) -> Result<BgpPaths, Diagnostic> {
        match value.as_text() {
            Some(_) => BgpAllPaths::read(value).map(BgpPaths::All),
            None => u8::read(value).map(BgpPaths::Best),
        }
    }
    fn write(&self) -> Value {
        match self {
            BgpPaths::All(word) => word.write(),
            BgpPaths::Best(count) => count.write(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::OneOf(vec![BgpAllPaths::schema(known), u8::schema(known)])
    }
}

base::record! {
    /// Routes of another source that a router tells as its own.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BgpImportSpec called "BgpRedistribution" {
        /// Whose routes.
        pub from: Imported = Imported::Static;
        /// Which of them, and what is said of them; without a rule, all of them.
        pub rules: Vec<PolicyRule> = Vec::new();
    }
}

/// Routes of another source: all of them by a word, or those that rules accept.
#[derive(Clone, Debug, PartialEq)]
pub enum BgpImported {
    /// All of them.
    All(Imported),
    /// As it says.
    By(BgpImportSpec),
}

impl BgpImported {
    fn parts(&self) -> (Imported, Arc<[PolicyRule]>) {
        match self {
            BgpImported::All(from) => (*from, Arc::new([])),
            BgpImported::By(said) => (said.from, said.rules.clone().into()),
        }
    }
}

impl Describe for BgpImported {
    fn read(value: &Value) -> Result<BgpImported, Diagnostic> {
        match value {
            Value::Map(_) => BgpImportSpec::read(value).map(BgpImported::By),
            _ => Imported::read(value).map(BgpImported::All),
        }
    }
    fn write(&self) -> Value {
        match self {
            BgpImported::All(from) => from.write(),
            BgpImported::By(said) => said.write(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::OneOf(vec![Imported::schema(known), BgpImportSpec::schema(known)])
    }
}

base::record! {
    /// A neighbour of BGP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BgpNeighborSpec called "BgpNeighbor" {
        /// Its AS: that of the router for internal BGP, any other for external BGP.
        pub asn: u32, in 1..=4_294_967_295;
        /// Which of its routes are taken: all, none, or those that a policy of the router lets pass.
        pub import: Option<BgpPassing>, absent "in another AS 'none' (RFC 8212), else 'all'";
        /// Which routes it is told, in the same way.
        pub export: Option<BgpPassing>, absent "in another AS 'none' (RFC 8212), else 'all'";
        /// Families of which routes are exchanged, if the neighbour wants that, too.
        pub families: Option<Vec<BgpFamily>>, absent "that of its address alone";
        /// Take several paths to a destination from it, if it tells them (RFC 7911).
        pub receive_paths: bool = false;
        /// Tell it so many of the best paths to a destination, or all, if it takes several (RFC 7911).
        pub send_paths: Option<BgpPaths>, absent "the best alone";
        /// Pass routes of the same AS on to it and from it: the router is a route reflector then (RFC 4456).
        pub client: bool = false;
        /// In the same AS: name the router itself as the next hop of what comes from other ASes.
        pub next_hop_self: bool = false;
        /// Take packets of it only if they have come by so many hops at most, as their time to live says: 1 is right
        /// beside. It has to be set at both ends (RFC 5082).
        pub ttl_security: Option<u8>, in 1..=254, absent "no check";
        /// What both ends of the session sign its packets with (RFC 2385): 1 to 80 characters.
        pub password: Option<String>, absent "none";
        /// Have it watched by BFD (RFC 5882) while there is a session: true, or how closely. The session ends as soon
        /// as it does not answer any more.
        pub bfd: WatchSpec, absent "false";
        /// Given up if nothing comes for so long, in whole seconds, in place of the router's `hold_time`.
        pub hold_time: Option<Span>, in 0..=65_535_000_000_000_000, absent "that of the router";
        /// Take so many routes of it. With more the session ends (RFC 4271, 6.7), and begins anew after
        /// `connect_retry`.
        pub maximum_prefixes: Option<u32>, in 1..=4_294_967_295, absent "no limit";
        /// Tell it changes at most so often.
        pub advertisement_interval: Option<Span>, in 0..=3_600_000_000_000_000, absent "30 s in another AS, else 5 s (RFC 4271, 10)";
    }
}

base::record! {
    /// BGP-4 (RFC 4271). A router that speaks it has no routes by shortest paths.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BgpSpec called "Bgp" {
        /// The router's AS.
        pub asn: u32, in 1..=4_294_967_295;
        /// Its neighbours: nodes at the other ends of its links by name, others by address. A session with one by an
        /// IPv6 address is over IPv6.
        pub neighbors: Vec<(Name, BgpNeighborSpec)> = Vec::new();
        /// Sessions with all other routers of the network that are of the same AS and say so, too, between their
        /// loopback addresses: true, or settings of these sessions. What `neighbors` says of one of them counts in its
        /// place.
        pub mesh: MeshSpec, absent "false";
        /// Destinations that it tells as its own, of IPv4 or IPv6, whether it has routes to them or not.
        pub networks: Vec<IpPrefix> = Vec::new();
        /// Policies for neighbours, by name: rules in their order.
        pub policies: Vec<(Name, Vec<PolicyRule>)> = Vec::new();
        /// Whose routes it tells as its own.
        pub redistribute: Vec<BgpImported> = Vec::new();
        /// Number of its cluster as a route reflector (RFC 4456, 7).
        pub cluster_id: Option<Ipv4Addr>, absent "its router id";
        /// A neighbour from which nothing comes for so long is given up, in whole seconds; the smaller of what both
        /// say. With 0 s it never is.
        pub hold_time: Span = Span::from_secs(90), in 0..=65_535_000_000_000_000;
        /// From an attempt to connect to the next.
        pub connect_retry: Span = Span::from_secs(120), in 1_000_000_000_000..=65_535_000_000_000_000;
        /// Keep the routes of a neighbour that restarts and says that it goes on forwarding, for as long as it says
        /// that this takes (RFC 4724).
        pub graceful_restart: bool = true;
        /// Go on forwarding while BGP restarts here (RFC 4724, 4.1), and ask neighbours to keep this router's routes
        /// for so long, in whole seconds.
        pub restart_time: Option<Span>, in 1_000_000_000_000..=4_095_000_000_000_000, absent "packets go by what was written until BGP is back, and then all of it is taken out";
        /// After such a restart routes are chosen when neighbours that had a session have told all of theirs, or after
        /// so long.
        pub selection_deferral: Span = DEFERRAL, in 1_000_000_000_000..=3_600_000_000_000_000;
        /// Have LSPs watched by BFD that begin here and whose labels BGP has given (RFC 5884): true, or how closely.
        /// Packets leave one whose end is not heard any more: they take another path to the destination if there is
        /// one, else they go without its label. Watched are LSPs to single addresses, or those of `lsp_bfd_prefixes`.
        pub lsp_bfd: WatchSpec, absent "false";
        /// The same by LSP ping alone (RFC 8029): true, or how closely. Packets leave an LSP, too, that ends somewhere
        /// else than it is to.
        pub lsp_ping: PingSpec, absent "false";
        /// Which destinations' LSPs are watched: those in any of these ranges of prefixes.
        pub lsp_bfd_prefixes: Vec<PrefixRange> = Vec::new();
    }
    check BgpSpec::check;
}

/// Is a hold time one that messages can say and neighbours accept (RFC 4271, 4.2)?
fn check_hold(time: Span) -> Result<(), Diagnostic> {
    check_whole(time)?;
    if time > Span::ZERO && time < Span::from_secs(3) {
        return Err(BgpProblem::HoldTooShort { value: shown(time) }.into());
    }
    Ok(())
}

fn check_password(password: Option<&str>) -> Result<(), Diagnostic> {
    match password.filter(|one| Key::new(one.as_bytes()).is_none()) {
        Some(password) => {
            let bytes = password.len().to_string();
            Err(Diagnostic::new(BgpProblem::PasswordLength { bytes }).at("password"))
        }
        None => Ok(()),
    }
}

fn check_whole(time: Span) -> Result<(), Diagnostic> {
    if time.0 % Span::from_secs(1).0 != 0 {
        return Err(BgpProblem::NotWhole { value: shown(time) }.into());
    }
    Ok(())
}

/// A time as people write it.
fn shown(time: Span) -> String {
    time.write().as_text().unwrap_or_default().to_string()
}

/// So many seconds, of which messages can say no more than 65,535.
fn seconds(time: Span) -> u16 {
    u16::try_from(time.0 / Span::from_secs(1).0).unwrap_or(u16::MAX)
}

impl BgpSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        check_hold(self.hold_time).at("hold_time")?;
        if let Some(mesh) = &self.mesh.0 {
            check_password(mesh.password.as_deref()).at("mesh")?;
        }
        self.check_addresses()?;
        if let Some(time) = self.restart_time {
            check_whole(time).at("restart_time")?;
            if !self.graceful_restart {
                let problem =
                    BgpProblem::RestartAlone { key: "restart_time", needs: "graceful_restart=true" };
                return Err(Diagnostic::new(problem).at("restart_time").on_key());
            }
        } else if self.selection_deferral != DEFERRAL {
            let problem = BgpProblem::RestartAlone { key: "selection_deferral", needs: "restart_time" };
            return Err(Diagnostic::new(problem).at("selection_deferral").on_key());
        }
        self.lsp_ping.check_alone("lsp_bfd", self.lsp_bfd.0)?;
        if self.lsp_ping.or_bfd(self.lsp_bfd.0).is_none() && !self.lsp_bfd_prefixes.is_empty() {
            return Err(Diagnostic::new(BgpProblem::UnwatchedPrefixes {}).at("lsp_bfd_prefixes").on_key());
        }
        for (name, one) in &self.neighbors {
            if let Some(hold) = one.hold_time {
                check_hold(hold).at("hold_time").at(&**name).at("neighbors")?;
            }
            check_password(one.password.as_deref()).at(&**name).at("neighbors")?;
            if one.send_paths == Some(BgpPaths::Best(0)) {
                let wrong = Diagnostic::new(BgpProblem::NoPaths {});
                return Err(wrong.at("send_paths").at(&**name).at("neighbors"));
            }
            if one.client && one.asn != self.asn {
                let (asn, own) = (one.asn.to_string(), self.asn.to_string());
                let outside = Diagnostic::new(BgpProblem::ClientOutside { asn, own });
                return Err(outside.at("client").at(&**name).at("neighbors"));
            }
            for (key, said) in [("import", &one.import), ("export", &one.export)] {
                if let Some(BgpPassing::Named(policy)) = said
                    && self.rules(policy).is_none()
                {
                    let known = self.policies.iter().map(|(name, _)| format!(", '{}'", &**name)).collect();
                    let problem = Diagnostic::new(BgpProblem::NoPolicy { name: policy.to_string(), known });
                    return Err(problem.at(key).at(&**name).at("neighbors"));
                }
            }
        }
        let meant = |name: &Name| BgpPolicy::WORDS.contains(&&**name);
        if let Some((name, _)) = self.policies.iter().find(|(name, _)| meant(name)) {
            let problem = Diagnostic::new(BgpProblem::PolicyName { name: name.to_string() });
            return Err(problem.on_key().at(&**name).at("policies"));
        }
        Ok(())
    }

    /// Are addresses of IPv6 those of single nodes, and is each there once?
    fn check_addresses(&self) -> Result<(), Diagnostic> {
        let mut known: BTreeMap<Ipv6Addr, &str> = BTreeMap::new();
        for (name, _) in &self.neighbors {
            let Ok(address) = name.parse::<Ipv6Addr>() else { continue };
            let kind = match address {
                one if one.is_unicast_link_local() => Some("a link-local"),
                one if one.is_multicast() => Some("a multicast"),
                Ipv6Addr::UNSPECIFIED => Some("the unspecified"),
                Ipv6Addr::LOCALHOST => Some("the loopback"),
                _ => None,
            };
            let problem = match (kind, known.insert(address, name)) {
                (Some(kind), _) => BgpProblem::NotOneNode { address: name.to_string(), kind },
                (None, Some(other)) => {
                    BgpProblem::SameAddress { address: name.to_string(), other: other.into() }
                }
                (None, None) => continue,
            };
            return Err(Diagnostic::new(problem).on_key().at(&**name).at("neighbors"));
        }
        Ok(())
    }

    /// The rules of a policy.
    fn rules(&self, name: &str) -> Option<&[PolicyRule]> {
        self.policies.iter().find(|(known, _)| **known == *name).map(|(_, rules)| &**rules)
    }

    fn peer(&self, name: &str, address: IpAddr, said: &BgpNeighborSpec) -> PeerConfig {
        let is_external = said.asn != self.asn;
        let passes = |policy: &Option<BgpPassing>| match policy {
            Some(BgpPassing::Word(BgpPolicy::All)) => Passing::All,
            Some(BgpPassing::Word(BgpPolicy::None)) => Passing::None,
            Some(BgpPassing::Named(name)) => Passing::By(self.rules(name).unwrap_or_default().into()),
            // RFC 8212, 2: without a word nothing passes between ASes.
            None if is_external => Passing::None,
            None => Passing::All,
        };
        // RFC 4271, 10: the suggested values.
        let usual = Span::from_secs(if is_external { 30 } else { 5 });
        PeerConfig {
            name: name.to_string(),
            address,
            asn: said.asn,
            client: said.client,
            next_hop_self: said.next_hop_self,
            import: passes(&said.import),
            export: passes(&said.export),
            interval: said.advertisement_interval.unwrap_or(usual),
            hold_s: seconds(said.hold_time.unwrap_or(self.hold_time)),
            maximum_prefixes: said.maximum_prefixes.and_then(|most| usize::try_from(most).ok()),
            hops: said.ttl_security,
            takes_paths: said.receive_paths,
            told_paths: said.send_paths.map(|paths| match paths {
                BgpPaths::All(BgpAllPaths::All) => usize::MAX,
                BgpPaths::Best(count) => usize::from(count),
            }),
            families: match &said.families {
                Some(families) => families.iter().map(|family| family.of_wire()).collect(),
                None if address.is_ipv6() => vec![Family::Ipv6],
                None => vec![Family::Ipv4],
            },
            key: said.password.as_ref().and_then(|password| Key::new(password.as_bytes())),
            bfd: said.bfd.0,
        }
    }
}

impl Setup for BgpSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        let known = &services.interfaces;
        let far = |name: &str| {
            let mut ports = known.ports();
            ports.find_map(|(port, one)| {
                one.neighbor.filter(|_| known.attached(port).is_some_and(|a| a.node == *name))
            })
        };
        let address = |name: &str| name.parse().ok().or_else(|| far(name).map(IpAddr::V4));
        let peers =
            self.neighbors.iter().filter_map(|(name, said)| Some(self.peer(name, address(name)?, said)));
        let config = Config {
            asn: self.asn,
            cluster_id: self.cluster_id.unwrap_or(known.router_id),
            networks: self.networks.iter().copied().collect(),
            redistribute: self.redistribute.iter().map(BgpImported::parts).collect(),
            peers: peers.collect(),
            connect_retry: self.connect_retry,
            keeps_routes: self.graceful_restart,
            graceful: self
                .restart_time
                .map(|time| Graceful { time_s: seconds(time), deferral: self.selection_deferral }),
            lsp_watch: self
                .lsp_ping
                .or_bfd(self.lsp_bfd.0)
                .map(|pace| LspWatch { pace, prefixes: self.lsp_bfd_prefixes.clone() }),
        };
        let random = services.streams.stream(&format!("{}/bgp", known.node));
        Box::new(Bgp::new(known.router_id, config, random))
    }

    fn finds_routes(&self) -> bool {
        true
    }

    fn stacks_labels(&self) -> bool {
        let labelled =
            |family: &BgpFamily| matches!(family, BgpFamily::Ipv4Labelled | BgpFamily::Ipv6Labelled);
        self.neighbors.iter().any(|(_, said)| said.families.iter().flatten().any(labelled))
    }

    fn watches(&self) -> bool {
        let in_mesh = self.mesh.0.as_ref().is_some_and(|mesh| mesh.bfd.0.is_some());
        in_mesh || self.lsp_bfd.0.is_some() || self.neighbors.iter().any(|(_, one)| one.bfd.0.is_some())
    }

    fn mesh(&self) -> Option<String> {
        self.mesh.0.as_ref().map(|_| self.asn.to_string())
    }

    fn with_mesh(&self, others: &[Ipv4Addr]) -> Option<Arc<dyn Setup>> {
        Some(Arc::new(self.meshed(others)?))
    }

    fn watches_afar(&self) -> Vec<&str> {
        let watched = self.neighbors.iter().filter(|(_, one)| one.bfd.0.is_some());
        watched.map(|(name, _)| &**name).collect()
    }

    fn watches_lsps(&self) -> Option<ProtocolId> {
        self.lsp_bfd.0.map(|_| Bgp::ID)
    }

    fn neighbors(&self) -> (&'static str, Vec<&str>) {
        let names = self.neighbors.iter().map(|(name, _)| &**name);
        ("neighbors", names.filter(|name| name.parse::<IpAddr>().is_err()).collect())
    }

    fn expected(&self) -> Vec<&str> {
        self.neighbors.iter().map(|(name, _)| &**name).collect()
    }

    fn agreements(&self, attached: &Attached, _: u32) -> Option<Vec<Agreement>> {
        if !matches!(attached.beyond, Beyond::Router | Beyond::Segment) {
            return None;
        }
        Some(self.agreements_with(&attached.node))
    }

    fn agreements_with(&self, name: &str) -> Vec<Agreement> {
        let said = self.neighbors.iter().find(|(known, _)| **known == *name);
        let Some((_, said)) = said else { return Vec::new() };
        let (one, other) = (self.asn.min(said.asn), self.asn.max(said.asn));
        let pair = if one == other { one.to_string() } else { format!("{one} and {other}") };
        let password = said.password.clone().unwrap_or_default();
        // RFC 5082, 3: packets of who does not send with 255 are not taken, unless very many hops are allowed.
        let is_checked = said.ttl_security.is_some_and(|hops| Options::default().ttl < u8::MAX - (hops - 1));
        let security = if is_checked { "set" } else { "not set" };
        vec![
            Agreement::open("pair of AS numbers", pair),
            Agreement::open("TTL security", security.to_string()),
            Agreement::secret("password", password),
        ]
    }
}

impl Section<dyn Setup> for BgpSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(neighbors: &[&str]) -> Option<String> {
        let all: serde_json::Map<_, _> =
            neighbors.iter().map(|name| (name.to_string(), json!({"asn": 65001}))).collect();
        let value: Value = serde_json::from_value(json!({"asn": 65000, "neighbors": all})).expect("a value");
        BgpSpec::read(&value).err().map(|wrong| wrong.to_string())
    }

    #[test]
    fn a_neighbour_by_an_ipv6_address_is_one_node_and_there_once() {
        assert_eq!(problem(&["2001:db8::1", "2001:db8::2", "10.0.0.1"]), None);
        let kinds = [
            ("fe80::1", "a link-local"),
            ("ff02::5", "a multicast"),
            ("::", "the unspecified"),
            ("::1", "the loopback"),
        ];
        for (address, kind) in kinds {
            let said = problem(&[address]).expect("refused");
            let words = "address: a neighbour is named by a unicast address that is not link-local";
            assert!(said.ends_with(&format!("'{address}' is {kind} {words}")), "{said}");
        }
        let said = problem(&["2001:DB8::1", "2001:db8:0::1"]).expect("refused");
        let words = "are the same address: a neighbour is described once";
        assert!(said.ends_with(&format!("'2001:db8:0::1' and '2001:DB8::1' {words}")), "{said}");
    }
}
