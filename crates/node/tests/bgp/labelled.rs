//! Routes with labels, of IPv4 and of IPv6 over IPv4 (RFC 8277, RFC 4798), and numbered paths (RFC 7911), with FRR.

use super::{BEHIND, Beside, OWN, TOLD, TOLD6, begin, bgp};
use base::Label;
use base::plane::{IpPrefix, Prefix, Prefix6};
use serde_json::json;

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
