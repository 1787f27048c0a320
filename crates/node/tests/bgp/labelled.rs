//! Routes with labels, of IPv4 and of IPv6 over IPv4 (RFC 8277, RFC 4798), and numbered paths (RFC 7911), with FRR.

use super::{BEHIND, Beside, OWN, TOLD, TOLD6, begin, bgp, router};
use base::plane::{IpPrefix, NextHop, Prefix, Prefix6};
use base::{Label, PortId};
use core::net::Ipv6Addr;
use serde_json::json;
use twinplane_node::router::Address6;

const BEHIND6: &str = "2001:db8:7::/48";

#[test]
fn frr_exchanges_labels_of_both_families() {
    let Some(pair) = begin("vtysh") else { return };
    let families = json!({"families": ["ipv4-labelled", "ipv6-labelled"], "next_hop_self": true});
    let mut beside = Beside::new(&pair, 65001, &families);
    let lines = format!(
        " no bgp network import-check\n address-family ipv4 unicast\n  no neighbor {OWN} activate\n \
         exit-address-family\n address-family ipv4 labeled-unicast\n  neighbor {OWN} activate\n \
         exit-address-family\n address-family ipv6 labeled-unicast\n  neighbor {OWN} activate\n \
         exit-address-family\n address-family ipv6 unicast\n  network {BEHIND6}\n exit-address-family\n"
    );
    let frr = super::frr(&pair, "labelled", 65001, &lines);
    let v4 = IpPrefix::V4(Prefix::new(BEHIND, 24));
    let v6 = IpPrefix::V6(BEHIND6.parse::<Prefix6>().expect("a prefix"));
    for prefix in [v4, v6] {
        beside
            .wait("told a label", |world| bgp(world).labels_from(0, prefix) == [Some(Label::IMPLICIT_NULL)]);
    }
    beside.wait("told", |_| {
        let said = frr.ask(&format!("show bgp ipv4 labeled-unicast {TOLD}"));
        said.contains(&OWN.to_string()) && said.contains("best")
    });
    beside.wait("told IPv6", |_| {
        let said = frr.ask(&format!("show bgp ipv6 labeled-unicast {TOLD6}"));
        // RFC 4798, 2 and 3: this router's IPv4 address as FRR shows it, and explicit null of IPv6.
        said.contains("::ffff:a09:1 from") && said.contains("Remote label: 2")
    });
    let peer = &bgp(&beside.world).peers()[0];
    assert!(peer.is_established() && peer.malformed == 0, "{peer:?}");
}

/// Where the link has IPv6, FRR names its own IPv6 address as the next hop of IPv6 with labels, in place of its IPv4
/// address (RFC 4798, 2).
#[test]
fn frr_names_an_ipv6_next_hop_of_labels() {
    let Some(pair) = begin("vtysh") else { return };
    let theirs: Ipv6Addr = "2001:db8:9::2".parse().expect("an address");
    let enabled = pair.exec(1, &["sysctl", "-qw", "net.ipv6.conf.e0.disable_ipv6=0"]).status();
    assert!(enabled.expect("sysctl runs").success());
    pair.ip(1, &["address", "add", &format!("{theirs}/64"), "dev", "e0", "nodad"]);
    let own = Address6::new("2001:db8:9::1".parse().expect("an address"), 64);
    let families = json!({"families": ["ipv6-labelled"]});
    let mut beside = Beside::with(&pair, 65002, &families, Some(own));
    let lines = format!(
        " no bgp network import-check\n address-family ipv4 unicast\n  no neighbor {OWN} activate\n \
         exit-address-family\n address-family ipv6 labeled-unicast\n  neighbor {OWN} activate\n \
         exit-address-family\n address-family ipv6 unicast\n  network {BEHIND6}\n exit-address-family\n"
    );
    let _frr = super::frr(&pair, "next-hop6", 65002, &lines);
    let prefix: Prefix6 = BEHIND6.parse().expect("a prefix");
    let via = [NextHop::Via { port: PortId(0), gateway: theirs.into() }];
    beside.wait("routed", |world| router(world).control().services().rib6.next_hops(prefix) == via);
    let known = bgp(&beside.world).labels_from(0, IpPrefix::V6(prefix));
    assert_eq!(known, [Some(Label::IMPLICIT_NULL)]);
}

#[test]
fn frr_exchanges_numbered_paths() {
    let Some(pair) = begin("vtysh") else { return };
    let paths = json!({"receive_paths": true, "send_paths": "all"});
    let mut beside = Beside::new(&pair, 65002, &paths);
    let lines = format!(
        " no bgp network import-check\n address-family ipv4 unicast\n  neighbor {OWN} addpath-tx-all-paths\n \
         exit-address-family\n"
    );
    let frr = super::frr(&pair, "paths", 65002, &lines);
    let prefix = IpPrefix::V4(Prefix::new(BEHIND, 24));
    beside.wait("told a path", |world| bgp(world).labels_from(0, prefix).len() == 1);
    beside.wait("told", |_| {
        let said = frr.ask(&format!("show ip bgp {TOLD}"));
        said.contains("best") && said.contains("AddPath ID: RX 1")
    });
    let peer = &bgp(&beside.world).peers()[0];
    assert!(peer.is_established() && peer.malformed == 0, "{peer:?}");
}
