//! Carries a programme out on a network.

use super::check;
use super::programme::{Action, Hop, Programme, Step, TunnelPlan};
use crate::common::{MS, S, routers};
use base::plane::Prefix;
use base::{NodeId, PortId, Rate, Span, StreamId, Time};
use control::rsvp;
use control::rsvp::command::{ReservationStyle, RouteHop, TunnelId, TunnelSpec, WhenDown};
use core::net::Ipv4Addr;
use engine::{Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Refresh period: state that nobody refreshes lives for 2.1 s.
pub const REFRESH: u64 = 400 * MS;
/// After this, with all faults healed, everything is settled.
const SETTLE: u64 = 6 * S;
/// Traffic is watched for this long.
const WATCH: u64 = 600 * MS;
/// After this everything that was torn down is gone: state lives for 2.1 s, and hop by hop if no PathTear came through.
const CLEANUP: u64 = 15 * S;
/// The same where messages are sent until they are acknowledged: the last time after 64 s (RFC 2961, 6.2).
const CLEANUP_RELIABLE: u64 = 70 * S;
const TICK: u64 = 50 * MS;
/// A quiet time takes as long.
const QUIET_MS: u64 = (SETTLE + WATCH + TICK) / MS;

/// A tunnel as the driver knows it: its stream has the same number.
#[derive(Clone, Debug)]
pub struct Tunnel {
    pub id: TunnelId,
    pub address: Ipv4Addr,
    pub plan: TunnelPlan,
    pub wanted: bool,
}

pub struct Run {
    pub network: Testbed,
    pub tunnels: Vec<Tunnel>,
    pub programme: Programme,
}

/// What the run found out about itself, for the test that programmes are worth something.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub delivered: u64,
    pub ups: u64,
    pub watched: u64,
    pub events: u64,
}

pub fn run(programme: &Programme) -> Result<Summary, String> {
    let mut run = Run::new(programme)?;
    let mut summary = Summary::default();
    for (number, Step { after_ms, action }) in programme.steps.iter().enumerate() {
        let at = |e: String| {
            format!(
                "step {number} ({action:?}) at {} ms: {e}",
                duration_ms(&programme.steps[..number]) + after_ms
            )
        };
        run.advance(after_ms * MS).map_err(at)?;
        run.act(action, &mut summary).map_err(at)?;
    }
    run.quiet(&mut summary).map_err(|e| format!("last quiet time: {e}"))?;
    run.tear_all()?;
    let (_, received) = crate::common::conserved(&mut run.network)?;
    summary.delivered = received;
    let ups = |e: &&engine::EventRecord| matches!(e.event.of(), Some(rsvp::Event::LspUp { .. }));
    summary.ups = run.network.events().iter().filter(ups).count() as u64;
    summary.events = run.network.world().events_done();
    check::nothing_left(&run)?;
    Ok(summary)
}

/// How long steps take.
fn duration_ms(steps: &[Step]) -> u64 {
    let quiet = steps.iter().filter(|s| matches!(s.action, Action::Quiet)).count() as u64;
    steps.iter().map(|s| s.after_ms).sum::<u64>() + quiet * QUIET_MS
}

impl Run {
    fn new(programme: &Programme) -> Result<Run, String> {
        let mut rsvp = json!({
            "refresh_ps": REFRESH, "setup_timeout_ps": 600 * MS, "egress_label": programme.egress,
            "refresh_reduction": programme.refresh_reduction,
        });
        if programme.hello {
            rsvp["hello_ps"] = json!(100 * MS);
        }
        if programme.integrity {
            rsvp["integrity_key"] = json!("a shared secret");
        }
        let mut nodes = routers(programme.nodes, &rsvp);
        if programme.slow {
            let profile = json!({
                "control": {"path_us": 150.0, "resv_us": 250.0, "tear_us": 100.0, "other_us": 50.0},
                "tables": {"write_us": 3_000.0},
            });
            nodes.iter_mut().for_each(|node| node["profile"] = profile.clone());
        }
        let link = |l: &super::programme::LinkPlan| {
            json!({"a": l.a, "b": l.b, "rate_bps": 100_000_000, "delay_ps": l.delay_us * 1_000_000,
                   "detection_ps": l.detection_ms * MS, "reservable_bps": l.reservable_mbps * 1_000_000})
        };
        let links: Vec<Value> = programme.links.iter().map(link).collect();
        // Groups give every tunnel its id and address; what is signalled comes from the programme.
        let lsp = |(i, t): (usize, &TunnelPlan)| json!({"name": format!("t{i}"), "from": t.from, "to": t.to, "auto": false});
        let lsps: Vec<Value> = programme.tunnels.iter().enumerate().map(lsp).collect();
        let duration = (duration_ms(&programme.steps) + QUIET_MS) * MS;
        let flow = |(i, t): (usize, &TunnelPlan)| {
            json!({"from": t.from, "to": t.to, "over": i, "size": 200, "rate_bps": 200 * 8 * 20,
                   "start_ps": i as u64 * 7 * MS, "stop_ps": duration})
        };
        let flows: Vec<Value> = programme.tunnels.iter().enumerate().map(flow).collect();
        let description =
            json!({"seed": programme.seed, "nodes": nodes, "links": links, "lsps": lsps, "flows": flows});
        let file = NetworkFile::read_part(&testing::described(&description)).map_err(|e| e.to_string())?;
        let network = Testbed::new(&file).map_err(|e| e.to_string())?;
        let tunnel = |(i, plan): (usize, &TunnelPlan)| {
            let (id, address) = network.tunnel(i, 0).ok_or("no tunnel")?;
            Ok(Tunnel { id, address, plan: plan.clone(), wanted: false })
        };
        let tunnels: Result<Vec<Tunnel>, String> = programme.tunnels.iter().enumerate().map(tunnel).collect();
        Ok(Run { tunnels: tunnels?, network, programme: programme.clone() })
    }

    pub fn now(&self) -> Time {
        self.network.world().now()
    }

    /// Lets time pass; what must be true at any time is checked on the way.
    pub fn advance(&mut self, span: u64) -> Result<(), String> {
        let end = Time(self.now().0 + span);
        while self.now() < end {
            let next = Time(self.now().0 + TICK).min(end);
            self.network.world_mut().run_until(next).map_err(|e| e.to_string())?;
            check::always(self)?;
        }
        Ok(())
    }

    fn command(&mut self, node: usize, command: rsvp::Command) -> Result<(), String> {
        let (now, command) = (self.now(), command.into());
        self.network.world_mut().command(now, NodeId(node as u32), command).map_err(|e| e.to_string())
    }

    fn fault(&mut self, kind: FaultKind, for_ms: Option<u64>) -> Result<(), String> {
        let now = self.now();
        let mut fault = Fault::new(now, kind);
        fault.until = for_ms.map(|ms| Time(now.0 + ms * MS));
        self.network.fault(fault).map_err(|e| e.to_string())
    }

    fn act(&mut self, action: &Action, summary: &mut Summary) -> Result<(), String> {
        let id = |link: &usize| self.network.link_id(*link).map_err(|e| e.to_string());
        match action {
            Action::Set(index, plan) => {
                let tunnel = &mut self.tunnels[*index];
                tunnel.plan = plan.clone();
                tunnel.wanted = true;
                let spec = self.spec(*index);
                self.command(plan.from, rsvp::Command::TunnelSet(spec.into()))
            }
            Action::Tear(index) => self.tear(*index),
            Action::Reoptimise(index) => {
                let tunnel = self.tunnels[*index].clone();
                self.command(tunnel.plan.from, rsvp::Command::TunnelReoptimise(tunnel.id))
            }
            Action::Down(link) => self.fault(FaultKind::LinkDown { link: id(link)? }, None),
            Action::Up(link) => self.fault(FaultKind::LinkUp { link: id(link)? }, None),
            Action::Impair { link, kind, thousandths, for_ms } => {
                let link = id(link)?;
                self.fault(kind.fault(link, *thousandths), Some(*for_ms))
            }
            Action::Restart { node, for_ms } => {
                let (node, down_for) = (NodeId(*node as u32), Span::from_ms(*for_ms as i64));
                self.fault(FaultKind::NodeRestart { node, down_for }, None)
            }
            Action::Quiet => self.quiet(summary),
        }
    }

    fn tear(&mut self, index: usize) -> Result<(), String> {
        let tunnel = &mut self.tunnels[index];
        tunnel.wanted = false;
        let (from, id) = (tunnel.plan.from, tunnel.id);
        self.command(from, rsvp::Command::TunnelRemove(id))
    }

    fn heal(&mut self) -> Result<(), String> {
        self.fault(FaultKind::HealAll, None)
    }

    /// Heals everything, lets everything settle, and watches: what is up must deliver.
    fn quiet(&mut self, summary: &mut Summary) -> Result<(), String> {
        self.heal()?;
        self.advance(SETTLE)?;
        check::settled(self)?;
        let before = check::active(self);
        let sent = check::sent(self);
        self.advance(WATCH)?;
        let upto = check::sent(self);
        self.advance(TICK)?;
        summary.watched += check::delivered(self, &before, &sent, &upto)?;
        Ok(())
    }

    fn tear_all(&mut self) -> Result<(), String> {
        if !self.programme.tear_under_faults {
            self.heal()?;
        }
        (0..self.tunnels.len()).try_for_each(|index| self.tear(index))?;
        self.heal()?;
        let cleanup = if self.programme.refresh_reduction { CLEANUP_RELIABLE } else { CLEANUP };
        let until = Time(self.now().0 + cleanup);
        self.network.world_mut().run_until(until).map_err(|e| e.to_string())
    }

    fn spec(&self, index: usize) -> TunnelSpec {
        let Tunnel { id, address, plan, .. } = &self.tunnels[index];
        let hops = |route: &Vec<Hop>| {
            let mut at = plan.from;
            route.iter().map(|hop| self.hop(&mut at, *hop)).collect()
        };
        TunnelSpec {
            name: format!("t{index}"),
            tunnel_id: id.id,
            to: id.to,
            routes: plan.routes.iter().map(hops).collect(),
            bandwidth: Rate::from_mbps(plan.bandwidth_mbps),
            setup_priority: plan.setup,
            holding_priority: plan.holding,
            style: if plan.fixed_filter {
                ReservationStyle::FixedFilter
            } else {
                ReservationStyle::SharedExplicit
            },
            record_route: plan.record,
            record_labels: plan.record,
            carries: vec![Prefix::host(*address)],
            carries6: Vec::new(),
            classed: Vec::new(),
            diffserv: None,
            filters: Vec::new(),
            when_down: WhenDown::default(),
            watch: None,
            retry_limit: None,
            retry_first: Span::from_ms(50),
            retry_max: Span::from_ms(400),
            path: None,
            protection: None,
            bypass: None,
            autoroute: false,
        }
    }

    fn hop(&self, at: &mut usize, hop: Hop) -> RouteHop {
        match hop {
            Hop::Link(link) => {
                let link = &self.network.links()[link];
                let far = usize::from(link.spec.b != *at);
                *at = if far == 0 { link.spec.a } else { link.spec.b };
                RouteHop { prefix: Prefix::host(link.addresses[far]), loose: false }
            }
            Hop::Loose(node) => {
                *at = node;
                RouteHop { prefix: Prefix::host(self.network.loopback(node)), loose: true }
            }
            Hop::Nowhere => RouteHop { prefix: Prefix::host(Ipv4Addr::new(192, 0, 2, 1)), loose: false },
        }
    }

    /// The node and port at the other end of a link.
    pub fn beyond(&self, node: usize, port: PortId) -> Option<(usize, PortId)> {
        let (_, node, port) = self.network.world().neighbor(NodeId(node as u32), port).ok()?;
        (node.index() < self.programme.nodes).then(|| (node.index(), port))
    }

    pub fn stream(index: usize) -> StreamId {
        StreamId(index as u32)
    }
}
