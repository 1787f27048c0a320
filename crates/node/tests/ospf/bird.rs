//! The same beside BIRD.

use super::frr::{BEHIND, OWN, THEIR_ID, THEIRS, beside_networks, beside_virtual_link};
use super::speaker::{full, id, next_hops};
use crate::bird::Bird;
use base::PortId;
use base::plane::{NextHop, Prefix};
use control::ospf::interface::NetworkType;
use wire::ospf::{Algorithm, Auth, Key};

/// The backbone in two pieces, ours and BIRD's, and a virtual link through the area between them, with a key. BIRD
/// 2.0.12 finds the other end only over broadcast links: two of its own come together by no others, either.
#[test]
fn bird_is_the_other_end_of_a_virtual_link() {
    if !testing::available("birdc") {
        return;
    }
    let Some(pair) = beside_networks() else { return };
    let key = Key { id: 3, algorithm: Algorithm::Md5, secret: b"between".to_vec() };
    let mut beside = beside_virtual_link(&pair, NetworkType::Broadcast, Auth::Cryptographic(key));
    let config = format!(
        "router id {THEIR_ID};\nprotocol device {{}}\nprotocol ospf v2 {{\n ipv4 {{ import all; export none; }};\n \
         area 0 {{ interface \"d0\" {{ stub; }}; interface \"lo\" {{ stub; }}; }};\n \
         area 1 {{ interface \"e0\" {{ type broadcast; hello 1; dead 4; cost 7; }};\n \
         virtual link {own} {{ hello 1; dead 4; authentication cryptographic; \
         password \"between\" {{ id 3; algorithm keyed md5; }}; }}; }};\n}}\n",
        own = id(0)
    );
    let bird = Bird::start(&pair, "virtual", &config);
    beside.wait("adjacent by the link and by the virtual one", |world| full(world, 0) == 2);
    beside.wait("routed", |world| {
        let via = [NextHop::Via { port: PortId(0), gateway: THEIRS.into() }];
        [Prefix::new(BEHIND, 24), Prefix::host(THEIR_ID)].iter().all(|to| next_hops(world, 0, *to) == via)
    });
    let routes = bird.ask("show route 10.8.0.0/24");
    assert!(routes.contains(&OWN.to_string()), "{routes}");
}
