//! A router beside BIRD 2: routes both ways, several paths to one prefix (RFC 7911), and again after BIRD was killed.

use super::{BEHIND, Beside, OWN, THEIRS, TOLD, bgp};
use crate::bird::Bird;
use base::plane::{IpPrefix, Prefix};
use serde_json::json;
use testing::Pair;

fn configuration() -> String {
    let source = |n: u32| format!("protocol static s{n} {{ ipv4; route {BEHIND}/24 blackhole; }}\n");
    format!(
        "router id 192.0.2.201;\nprotocol device {{ }}\n{}{}protocol bgp r {{\n local {THEIRS} as 65002;\n \
         neighbor {OWN} as 65001;\n connect retry time 2;\n \
         ipv4 {{ import all; export all; add paths on; }};\n}}\n",
        source(1),
        source(2),
    )
}

#[test]
fn bird_exchanges_routes_and_several_paths() {
    if !testing::available("birdc") {
        return;
    }
    let Some(pair) = Pair::new(1500) else { return };
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    pair.ip(1, &["link", "set", "lo", "up"]);
    let mut beside = Beside::new(&pair, 65002, &json!({"receive_paths": true, "send_paths": 2}));
    let prefix = IpPrefix::V4(Prefix::new(BEHIND, 24));
    for life in 1..=2 {
        let bird = Bird::start(&pair, &format!("bgp{life}"), &configuration());
        beside.wait("established", |world| bgp(world).peers()[0].is_established());
        beside.wait("told two paths", |world| bgp(world).labels_from(0, prefix) == [None, None]);
        beside.wait("told", |_| {
            let said = bird.ask(&format!("show route {TOLD} all"));
            said.contains("65001") && said.contains(&OWN.to_string())
        });
        let peer = &bgp(&beside.world).peers()[0];
        assert!(peer.malformed == 0, "{peer:?}");
        drop(bird);
        beside.wait("lost", |world| bgp(world).labels_from(0, prefix).is_empty());
    }
}
