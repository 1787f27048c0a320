//! Four routers in a row, of which the second has a switch as its forwarding plane: OSPF and LDP meet through it, and
//! what they find is written to it. Our switch and a private Open vSwitch do that.

use super::driver::{ours, talk, theirs};
use super::ovs::{Ovs, PROGRAMS};
use super::subject::{Ours, Subject};
use crate::ospf::speaker::{config, id};
use base::describe::{Describe, Value};
use base::plane::{IpPrefix, Prefix};
use base::protocol_value::ProtocolValue;
use base::table::Table;
use base::{Command, Device, Event, Frame, Output, PortId, Rate, Span, Streams, Time, Verdict};
use control::ldp::section::LdpSpec;
use control::ospf::interface::{InterfaceConfig, NetworkType};
use control::rsvp;
use control::rsvp::command::{Command as RsvpCommand, ReservationStyle, TunnelId, TunnelSpec, WhenDown};
use core::net::Ipv4Addr;
use forwarding::driver::DRIVERS;
use forwarding::driver::openflow::OpenFlowSpec;
use serde_json::json;
use std::sync::Arc;
use twinplane_node::Router;
use twinplane_node::router::RouterConfig;
use twinplane_node::switch::ChannelInput;
use wire::Hex;
use wire::openflow::Version;

/// The router whose forwarding plane is a switch.
const REMOTE: usize = 1;
const CONNECTION: u32 = 0;

/// Who is at the other end of a port.
enum Far {
    Switch(u32),
    Router(usize, PortId),
}

/// Ports 1 and 2 of the switch are those of router 1.
fn far(router: usize, port: PortId) -> Far {
    match (router, port.0) {
        (0, _) => Far::Switch(1),
        (2, 0) => Far::Switch(2),
        (2, _) => Far::Router(3, PortId(0)),
        _ => Far::Router(2, PortId(1)),
    }
}

struct Row<'a> {
    routers: Vec<Router>,
    subject: &'a mut dyn Subject,
    now: Time,
    seconds: u64,
    replies: Vec<u16>,
    packet_ins: usize,
    is_connected: bool,
}

/// What gives labels to the routers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Labels {
    Ldp,
    Rsvp,
}

fn routers(spec: &OpenFlowSpec, labels: Labels) -> Vec<Router> {
    let link = |net: u8, host: u8| {
        let settings = InterfaceConfig {
            network: NetworkType::PointToPoint,
            hello_s: 1,
            dead_s: 4,
            ..InterfaceConfig::default()
        };
        (Ipv4Addr::new(10, 0, net, host), settings)
    };
    let ports =
        [vec![link(1, 1)], vec![link(1, 2), link(2, 1)], vec![link(2, 2), link(3, 1)], vec![link(3, 2)]];
    let said: Value =
        serde_json::from_value(json!({"hello_interval": "1 s", "hold_time": "4 s"})).expect("a value");
    let ldp = LdpSpec::read(&said).expect("settings");
    let made = ports.iter().enumerate().map(|(place, ports)| {
        let mut config: RouterConfig = config(place, ports, Streams::new(1));
        match labels {
            Labels::Ldp => config.protocols.push(Arc::new(ldp.clone())),
            Labels::Rsvp => {
                config.ports.iter_mut().for_each(|port| port.reservable = Some(Rate(1_000_000_000)));
                config.protocols.insert(0, Arc::new(rsvp::Config::default()));
            }
        }
        if place == REMOTE {
            config.table_driver = Arc::new(spec.clone());
        }
        Router::new(config)
    });
    made.collect()
}

impl Row<'_> {
    fn new<'a>(spec: &OpenFlowSpec, subject: &'a mut dyn Subject, labels: Labels) -> Row<'a> {
        subject.begin(Version::V1_3);
        let routers = routers(spec, labels);
        Row {
            routers,
            subject,
            now: Time::ZERO,
            seconds: 0,
            replies: Vec::new(),
            packet_ins: 0,
            is_connected: false,
        }
    }

    fn tell(&mut self, input: ChannelInput) {
        self.routers[REMOTE].handle_command(self.now, Command::Protocol(ProtocolValue::new(input)));
    }

    fn connect(&mut self) {
        self.is_connected = true;
        self.tell(ChannelInput::Opened { connection: CONNECTION });
        self.settle();
    }

    /// The connection ends: the router hears of it, and entries are as they were.
    fn disconnect(&mut self) {
        self.is_connected = false;
        self.tell(ChannelInput::Closed { connection: CONNECTION });
    }

    /// A number of table `openflow_switches`.
    fn counted(&self, column: &str) -> u64 {
        let mut views = DRIVERS.iter().flat_map(|known| known.views);
        let view = views.find(|view| view.decl.name == "openflow_switches").expect("a table");
        let mut table = Table::empty(view.decl);
        view.append(self.routers[REMOTE].driver(), "r1", &mut table);
        let json = serde_json::to_value(&table).expect("a table");
        json[column][0].as_u64().unwrap_or_else(|| panic!("{column} of {json}"))
    }

    fn give(&mut self, router: usize, port: PortId, mut frame: Frame) {
        match self.routers[router].forward_one(self.now, port, &mut frame) {
            Verdict::Transmit { port, .. } => self.send(router, port, &frame),
            Verdict::Punt | Verdict::Replicate => self.routers[router].handle_packet(self.now, port, frame),
            Verdict::Drop(_) | Verdict::Consume => {}
        }
    }

    fn send(&mut self, router: usize, port: PortId, frame: &Frame) {
        match far(router, port) {
            Far::Switch(number) => self.subject.frame(number, &frame.to_vec()),
            Far::Router(other, port) => self.give(other, port, Frame::from_bytes(&frame.to_vec())),
        }
    }

    /// Everything that is to happen at this time.
    fn settle(&mut self) {
        loop {
            let mut is_idle = true;
            for router in 0..self.routers.len() {
                while let Some(output) = self.routers[router].poll_output() {
                    is_idle = false;
                    match output {
                        Output::Transmit { port, frame, .. } => self.send(router, port, &frame),
                        Output::Event(Event::ProbeReply { sequence, .. }) => self.replies.push(sequence),
                        _ => {}
                    }
                }
            }
            let said = self.routers[REMOTE].take_channel();
            is_idle &= said.is_empty();
            let heard = if self.is_connected { talk(self.subject, said) } else { Vec::new() };
            for bytes in heard {
                is_idle = false;
                self.packet_ins += usize::from(bytes[1] == 10);
                self.tell(ChannelInput::Received { connection: CONNECTION, bytes: Hex(bytes) });
            }
            for (port, bytes) in self.subject.left() {
                is_idle = false;
                let router = if port == 1 { 0 } else { 2 };
                self.give(router, PortId(0), Frame::from_bytes(&bytes));
            }
            if is_idle {
                return;
            }
        }
    }

    fn run(&mut self, seconds: u64) {
        let end = self.now + Span::from_secs(seconds as i64);
        loop {
            let next = self.routers.iter().filter_map(Router::poll_timeout).min().unwrap_or(Time::MAX);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            let passed = self.now.0 / 1_000_000_000_000;
            if passed > self.seconds && self.is_connected {
                self.subject.advance((passed - self.seconds) * 1000);
                self.seconds = passed;
            }
            for router in &mut self.routers {
                if router.poll_timeout().is_some_and(|at| at <= self.now) {
                    router.handle_timeout(self.now);
                }
            }
            self.settle();
        }
    }

    /// Has a ping from the first router to the last come back? And how many packets came up in the meantime?
    fn ping(&mut self, sequence: u16) -> (bool, usize) {
        // Open vSwitch remembers for a while what its tables said before.
        self.subject.settle();
        let before = self.packet_ins;
        let probe = Command::Probe { to: id(3).into(), ttl: 64, sequence };
        self.routers[0].handle_command(self.now, probe);
        self.settle();
        (self.replies.contains(&sequence), self.packet_ins - before)
    }

    /// The labels that a router puts on packets to the last one.
    fn labels(&self, router: usize) -> usize {
        let rows = self.routers[router].forwarding().ftn();
        let to_last = rows.filter(|row| IpPrefix::V4(row.prefix) == IpPrefix::V4(Prefix::host(id(3))));
        to_last.map(|row| row.nhlfe.push.as_slice().len()).sum()
    }
}

/// So many packets of a ping come up to the router.
fn meet(subject: &mut dyn Subject, spec: &OpenFlowSpec, up: usize) {
    let mut row = Row::new(spec, subject, Labels::Ldp);
    row.run(2);
    assert_eq!(row.labels(0), 0, "nobody has met: no switch is there");
    row.connect();
    assert_eq!(row.counted("lost"), 0, "what protocols have said first has waited for it");
    row.run(20);
    assert_eq!(row.labels(0), 1, "the second router has given a label, which its switch has an entry for");
    assert_eq!(row.routers[REMOTE].backlog().0, 0, "all is acknowledged");
    assert!(row.ping(1).0);
    assert_eq!(row.ping(2), (true, up), "the switch forwards by itself");
    // Without the connection entries go on forwarding, and with a new one, too.
    row.is_connected = false;
    row.tell(ChannelInput::Closed { connection: CONNECTION });
    row.subject.reconnect();
    let before = row.replies.len();
    assert_eq!((row.ping(3).0, row.replies.len() - before), (up == 0, usize::from(up == 0)));
    row.connect();
    assert_eq!(row.ping(4), (true, up));
    row.run(10);
    assert_eq!((row.labels(0), row.ping(5)), (1, (true, up)));
}

#[test]
fn routers_meet_through_our_switch_and_programme_it() {
    meet(&mut Ours::new(), &ours(), 0);
}

#[test]
fn routers_meet_through_open_vswitch_and_programme_it() {
    if PROGRAMS.into_iter().all(testing::available) {
        // The last label of the way back would hand its TTL down, which Open vSwitch can't do: that way is refused, and
        // packets with the label come up.
        meet(&mut Ovs::start("signalled"), &theirs(), 1);
    }
}

/// The switch is killed and comes back empty, again and again, and its connection breaks in between: after each time it
/// has what it should have, nothing else, and what was right was not written again.
fn survive(subject: &mut dyn Subject, spec: &OpenFlowSpec, (kills, breaks): (usize, usize), up: usize) {
    let mut row = Row::new(spec, subject, Labels::Ldp);
    row.connect();
    row.run(20);
    let entries = row.counted("entries");
    let mut sequence = 0;
    for _ in 0..kills {
        let written = row.counted("written");
        row.disconnect();
        row.subject.kill();
        row.connect();
        assert_eq!(row.counted("written") - written, entries, "all was gone, and is there again");
        for _ in 0..breaks {
            let before = ["kept", "written", "stale", "deleted"].map(|column| row.counted(column));
            row.disconnect();
            row.subject.reconnect();
            row.connect();
            let after = ["kept", "written", "stale", "deleted"].map(|column| row.counted(column));
            assert_eq!(after[0] - before[0], entries, "all is as it should be, and stays as it is");
            assert_eq!(after[1..], before[1..]);
        }
        sequence += 1;
        assert_eq!(row.ping(sequence), (true, up));
    }
    row.run(5);
    assert_eq!((row.labels(0), row.counted("entries")), (1, entries), "no session was lost");
    assert_eq!((row.counted("errors"), row.routers[REMOTE].backlog().0), (0, 0));
    assert_eq!(row.counted("connections") as usize, 1 + kills * (1 + breaks));
}

#[test]
fn our_switch_is_killed_and_has_what_it_should_have_again() {
    // The epoch of cookies, which has eight bits, begins anew in between.
    survive(&mut Ours::new(), &ours(), (20, 14), 0);
}

#[test]
fn open_vswitch_is_killed_and_has_what_it_should_have_again() {
    if PROGRAMS.into_iter().all(testing::available) {
        survive(&mut Ovs::start("killed"), &theirs(), (5, 4), 1);
    }
}

#[test]
fn a_switch_that_does_not_answer_is_left_and_one_that_does_is_not() {
    let (mut subject, spec) = (Ours::new(), OpenFlowSpec { probe: Span::from_secs(2), ..ours() });
    let mut row = Row::new(&spec, &mut subject, Labels::Ldp);
    row.connect();
    row.run(20);
    assert_eq!((row.counted("silent"), row.routers[REMOTE].channel_state()), (0, (false, false)));
    // Nothing that is said reaches the other end any more, and nobody is told.
    row.is_connected = false;
    row.run(3);
    assert!(!row.routers[REMOTE].channel_state().1, "it is asked, and has time to answer");
    row.run(2);
    assert_eq!((row.counted("silent"), row.routers[REMOTE].channel_state().1), (1, true));
    row.tell(ChannelInput::Closed { connection: CONNECTION });
    assert!(!row.routers[REMOTE].channel_state().1);
    row.subject.reconnect();
    row.connect();
    row.run(20);
    assert_eq!((row.counted("silent"), row.ping(1)), (1, (true, 0)));
}

fn tunnel() -> TunnelSpec {
    TunnelSpec {
        name: "east".into(),
        tunnel_id: 1,
        to: id(3),
        routes: Vec::new(),
        path: None,
        watch: None,
        bandwidth: Rate(1_000_000),
        setup_priority: 7,
        holding_priority: 7,
        style: ReservationStyle::SharedExplicit,
        record_route: true,
        record_labels: true,
        protection: None,
        bypass: None,
        carries: vec![Prefix::host(id(3))],
        autoroute: false,
        carries6: Vec::new(),
        classed: Vec::new(),
        diffserv: None,
        filters: Vec::new(),
        when_down: WhenDown::Route,
        retry_limit: None,
        retry_first: Span::from_secs(1),
        retry_max: Span::from_secs(10),
    }
}

/// An LSP of RSVP-TE is signalled through the switch (Path messages have the Router Alert option), which forwards its
/// packets; it outlives kills of the switch, and goes with its tunnel.
fn signal(subject: &mut dyn Subject, spec: &OpenFlowSpec) {
    let mut row = Row::new(spec, subject, Labels::Rsvp);
    row.connect();
    row.run(20);
    // By routes: neighbours' Ethernet addresses are known from then on.
    assert!(row.ping(0).0);
    let before = row.counted("entries");
    let order = |command: RsvpCommand| Command::Protocol(ProtocolValue::new(command));
    row.routers[0].handle_command(row.now, order(RsvpCommand::TunnelSet(Arc::new(tunnel()))));
    row.settle();
    row.run(5);
    assert_eq!(row.labels(0), 1, "the LSP is up");
    assert!(row.counted("entries") > before, "the switch has its label");
    assert!(row.ping(1).0);
    assert_eq!(row.ping(2), (true, 0), "the switch forwards by itself");
    for sequence in 3..6 {
        row.disconnect();
        row.subject.kill();
        row.connect();
        assert_eq!(row.ping(sequence), (true, 0));
    }
    // Refreshes go through the switch, too.
    row.run(120);
    assert_eq!((row.labels(0), row.ping(7)), (1, (true, 0)));
    let id = TunnelId { to: id(3), id: 1 };
    row.routers[0].handle_command(row.now, order(RsvpCommand::TunnelRemove(id)));
    row.settle();
    row.run(5);
    assert_eq!((row.labels(0), row.counted("entries")), (0, before), "nothing of it is left");
    assert_eq!(row.counted("errors"), 0);
}

#[test]
fn an_lsp_of_rsvp_te_leads_through_our_switch() {
    signal(&mut Ours::new(), &ours());
}

#[test]
fn an_lsp_of_rsvp_te_leads_through_open_vswitch() {
    if PROGRAMS.into_iter().all(testing::available) {
        signal(&mut Ovs::start("tunnel"), &theirs());
    }
}
