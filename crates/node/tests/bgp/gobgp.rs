//! A router beside GoBGP: routes of both families and with labels, both ways and back, and a daemon that is killed.

use super::{Beside, OWN, THEIRS, TOLD, TOLD6, begin, bgp, router};
use base::plane::{IpPrefix, NextHop, Prefix, Prefix6};
use base::{Label, PortId};
use core::net::Ipv6Addr;
use engine::World;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_node::router::Address6;

const OWN6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 1);
const THEIRS6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 2);
const BEHIND: &str = "10.7.0.0/24";
const BEHIND6: &str = "2001:db8:7::/48";

/// GoBGP in a namespace; it ends with it.
struct GoBgp<'a> {
    pair: &'a Pair,
    folder: PathBuf,
    daemon: Child,
}

impl Drop for GoBgp<'_> {
    fn drop(&mut self) {
        let _ = (self.daemon.kill(), self.daemon.wait());
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl GoBgp<'_> {
    /// Starts it as a speaker of an AS that takes part in these families; the name has to be that of nobody else in
    /// this process.
    fn start<'a>(pair: &'a Pair, name: &str, asn: u32, families: &[&str]) -> GoBgp<'a> {
        let folder = std::env::temp_dir().join(format!("node-gobgp-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let families: String = families
            .iter()
            .map(|name| {
                format!(
                    "[[neighbors.afi-safis]]\n[neighbors.afi-safis.config]\nafi-safi-name = \"{name}-unicast\"\n"
                )
            })
            .collect();
        let file = folder.join("gobgpd.toml");
        let settings = format!(
            "[global.config]\nas = {asn}\nrouter-id = \"192.0.2.203\"\n\
             [[neighbors]]\n[neighbors.config]\nneighbor-address = \"{OWN}\"\npeer-as = 65001\n\
             [neighbors.timers.config]\nconnect-retry = 2\nhold-time = 9\nkeepalive-interval = 3\n{families}"
        );
        fs::write(&file, settings).expect("a file");
        let file = file.to_string_lossy();
        let mut command =
            pair.exec(1, &["gobgpd", "-f", &file, "--api-hosts", "127.0.0.1:50051", "--pprof-disable"]);
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("gobgpd");
        let started = GoBgp { pair, folder, daemon };
        let limit = Instant::now() + Duration::from_secs(30);
        while !started.ask(&["neighbor"]).contains(&OWN.to_string()) {
            assert!(Instant::now() < limit, "gobgpd does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        started
    }

    /// What it answers to a command of `gobgp`.
    fn ask(&self, command: &[&str]) -> String {
        let output = self.pair.exec(1, &[&["gobgp"], command].concat()).output();
        String::from_utf8_lossy(&output.expect("gobgp").stdout).into_owned()
    }

    /// Adds a route of its own to a family, or takes it away.
    fn route(&self, verb: &str, family: &str, what: &[&str]) {
        let said = self.ask(&[&["global", "rib", verb, "-a", family], what].concat());
        assert_eq!(said.trim(), "", "{verb} {what:?}");
    }

    /// The line of a route that a neighbour has told it.
    fn told(&self, family: &str, prefix: &str) -> String {
        let said = self.ask(&["global", "rib", "-a", family]);
        said.lines().find(|line| line.contains(prefix)).unwrap_or_default().to_string()
    }
}

#[test]
fn gobgp_exchanges_routes_of_both_families() {
    let Some(pair) = begin("gobgpd") else { return };
    // GoBGP forwards nothing: that its next hop of IPv6 is nobody's address does not matter to it.
    let address6 = Address6 { address: OWN6, prefix_len: 64, dad: false, advertise: None };
    let mut beside = Beside::with(&pair, 65002, &json!({"families": ["ipv4", "ipv6"]}), Some(address6));
    let v4: Prefix = BEHIND.parse().expect("a prefix");
    let v6: Prefix6 = BEHIND6.parse().expect("a prefix");
    let routed = |world: &World| {
        let services = router(world).control().services();
        let via = |gateway| [NextHop::Via { port: PortId(0), gateway }];
        let v6 = services.rib6.next_hops(v6) == via(THEIRS6.into());
        (services.rib.next_hops(v4) == via(THEIRS.into()), v6)
    };
    for life in 1..=2 {
        let gobgp = GoBgp::start(&pair, &format!("routes{life}"), 65002, &["ipv4", "ipv6"]);
        let next_hops = [THEIRS.to_string(), THEIRS6.to_string()];
        gobgp.route("add", "ipv4", &[BEHIND, "nexthop", &next_hops[0]]);
        gobgp.route("add", "ipv6", &[BEHIND6, "nexthop", &next_hops[1]]);
        beside.wait("established", |world| bgp(world).peers()[0].is_established());
        beside.wait("routed", |world| routed(world) == (true, true));
        for (family, told, next_hop) in [("ipv4", TOLD, OWN.to_string()), ("ipv6", TOLD6, OWN6.to_string())] {
            beside.wait("told", |_| {
                let line = gobgp.told(family, told);
                line.contains(&next_hop) && line.contains("65001")
            });
        }
        gobgp.route("del", "ipv6", &[BEHIND6]);
        beside.wait("told that one is gone", |world| routed(world) == (true, false));
        let before = bgp(&beside.world).peers()[0].updates_received;
        gobgp.ask(&["neighbor", &OWN.to_string(), "softreset"]);
        beside.wait("told again", |world| bgp(world).peers()[0].updates_received > before);
        let peer = &bgp(&beside.world).peers()[0];
        assert!(peer.is_established() && peer.malformed == 0, "{peer:?}");
        drop(gobgp);
        beside
            .wait("lost", |world| !bgp(world).peers()[0].is_established() && routed(world) == (false, false));
    }
}

#[test]
fn gobgp_exchanges_labels_of_both_families() {
    let Some(pair) = begin("gobgpd") else { return };
    let families = json!({"families": ["ipv4-labelled", "ipv6-labelled"], "next_hop_self": true});
    let mut beside = Beside::new(&pair, 65001, &families);
    let gobgp = GoBgp::start(&pair, "labels", 65001, &["ipv4-labelled", "ipv6-labelled"]);
    let next_hops = [THEIRS.to_string(), format!("::ffff:{THEIRS}")];
    gobgp.route("add", "ipv4-mpls", &[BEHIND, "100", "nexthop", &next_hops[0]]);
    gobgp.route("add", "ipv6-mpls", &[BEHIND6, "200", "nexthop", &next_hops[1]]);
    let v4 = IpPrefix::V4(BEHIND.parse::<Prefix>().expect("a prefix"));
    let v6 = IpPrefix::V6(BEHIND6.parse::<Prefix6>().expect("a prefix"));
    for (prefix, label) in [(v4, 100), (v6, 200)] {
        beside.wait("told a label", |world| bgp(world).labels_from(0, prefix) == [Label::new(label)]);
    }
    // Implicit null of IPv4, and explicit null of IPv6 by this router's IPv4 address (RFC 4798, 2 and 3).
    beside.wait("told", |_| gobgp.told("ipv4-mpls", TOLD).contains("[3]"));
    beside.wait("told IPv6", |_| gobgp.told("ipv6-mpls", TOLD6).contains("[2]"));
    gobgp.route("del", "ipv4-mpls", &[BEHIND, "100"]);
    beside.wait("told that it is gone", |world| bgp(world).labels_from(0, v4).is_empty());
    assert_eq!(bgp(&beside.world).labels_from(0, v6), [Label::new(200)]);
    let peer = &bgp(&beside.world).peers()[0];
    assert!(peer.is_established() && peer.malformed == 0, "{peer:?}");
}
