//! How the two routers are set up.

use base::describe::{Describe, Value};
use base::{Command, MacAddr, PortId, Rate, Span, Streams};
use control::Setup;
use control::bfd::section::BfdSpec;
use control::bgp::section::BgpSpec;
use control::ldp::section::LdpSpec;
use control::lsp_ping::section::LspPingSpec;
use control::ospf::Config;
use control::ospf::interface::{InterfaceConfig, NetworkType};
use control::rsvp;
use control::rsvp::command::{ReservationStyle, TunnelSpec, WhenDown};
use control::services::Pace;
use control::tdp::section::TdpSpec;
use core::net::Ipv4Addr;
use node::router::{PortSetup, RouterConfig};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which protocol gives labels to routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labels {
    Ldp,
    Tdp,
}

/// The id of a router, its number being 0 or 1.
pub(super) fn id(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(192, 0, 2, 1 + number)
}

pub(super) fn router(number: u8, labels: Labels, streams: Streams) -> RouterConfig {
    let own = Ipv4Addr::new(10, 0, 0, 1 + number);
    let other = Ipv4Addr::new(10, 0, 0, 2 - number);
    let interface = InterfaceConfig {
        network: NetworkType::PointToPoint,
        hello_s: 1,
        dead_s: 4,
        bfd: Some(Pace::default()),
        ..InterfaceConfig::default()
    };
    let ospf = Config { interfaces: BTreeMap::from([(PortId(0), interface)]), te: true, ..Config::default() };
    let ldp = json!({"hello_interval": "1 s", "hold_time": "4 s", "keepalive_time": "6 s"});
    let neighbor = json!({"asn": 65001 + u32::from(1 - number), "import": "all", "export": "all"});
    let bgp = json!({
        "asn": 65001 + u32::from(number), "networks": [format!("203.0.{number}.0/24")], "hold_time": "9 s",
        "connect_retry": "2 s", "neighbors": {other.to_string(): neighbor},
    });
    let labels: Arc<dyn Setup> = match labels {
        Labels::Ldp => Arc::new(LdpSpec::read(&value(&ldp)).expect("settings")),
        Labels::Tdp => Arc::new(TdpSpec::read(&value(&json!({"hello_interval": "1 s"}))).expect("settings")),
    };
    let protocols: Vec<Arc<dyn Setup>> = vec![
        Arc::new(reservations(number, own, other, streams.clone())),
        Arc::new(ospf),
        labels,
        Arc::new(BgpSpec::read(&value(&bgp)).expect("settings")),
        Arc::new(BfdSpec::read(&value(&json!({"interval": "1 s"}))).expect("settings")),
        Arc::new(LspPingSpec::default()),
    ];
    let port = PortSetup::new(MacAddr([2, 0, 0, 0, number, 1]), own, 24);
    let ports = vec![PortSetup { reservable: Some(Rate::from_gbps(1)), ..port }];
    RouterConfig::ideal(format!("r{number}"), id(number), ports, protocols, streams)
}

fn reservations(number: u8, own: Ipv4Addr, other: Ipv4Addr, streams: Streams) -> rsvp::Config {
    let interface = rsvp::Interface {
        port: PortId(0),
        address: own,
        prefix_len: 24,
        neighbor: Some(other),
        neighbor_id: Some(id(1 - number)),
        ..rsvp::Interface::default()
    };
    rsvp::Config {
        name: format!("r{number}"),
        router_id: id(number),
        interfaces: vec![interface],
        refresh_period: Span::from_secs(2),
        setup_timeout: Span::from_secs(10),
        // One of the two asks for what the other may leave.
        refresh_reduction: (number == 0).then(Default::default),
        hello: Some(rsvp::transport::HelloConfig { interval: Span::from_secs(1), ..Default::default() }),
        streams,
        ..rsvp::Config::default()
    }
}

/// Sets up the tunnel of a router to the other one, watched by BFD, which LSP ping begins.
pub(super) fn tunnel(number: u8) -> Command {
    let spec = TunnelSpec {
        name: format!("from-r{number}"),
        tunnel_id: 1,
        to: id(1 - number),
        routes: Vec::new(),
        path: Some(Box::default()),
        watch: Some(Pace { interval: Some(Span::from_secs(1)), ..Pace::default() }),
        bandwidth: Rate::from_mbps(1),
        setup_priority: 4,
        holding_priority: 4,
        style: ReservationStyle::SharedExplicit,
        record_route: true,
        record_labels: true,
        protection: None,
        bypass: None,
        carries: Vec::new(),
        autoroute: false,
        carries6: Vec::new(),
        classed: Vec::new(),
        diffserv: None,
        filters: Vec::new(),
        when_down: WhenDown::Route,
        retry_limit: None,
        retry_first: Span::from_secs(1),
        retry_max: Span::from_secs(8),
    };
    rsvp::command::Command::TunnelSet(Arc::new(spec)).into()
}

fn value(json: &serde_json::Value) -> Value {
    serde_json::from_value(json.clone()).expect("a value")
}
