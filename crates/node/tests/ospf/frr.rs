//! A router beside ospfd of FRR: the daemons in a namespace of their own, the router's port at the other end of a veth.

use super::speaker::{config, config_of_areas, engineered, full, id, next_hops, ospf};
use base::plane::{NextHop, Prefix};
use base::{MacAddr, PortId, Rate, Span, Streams, Time};
use control::Setup;
use control::ospf::Config;
use control::ospf::areas::{AreaConfig, AreaKind};
use control::ospf::database::{Instance, Scope};
use control::ospf::interface::{InterfaceConfig, NetworkType, VirtualLink};
use control::ospf::outside::{Imported, Redistribution};
use control::ospf::te::Attributes;
use core::net::Ipv4Addr;
use engine::external::{Clock, ExternalSpec, open};
use engine::real_time::{Control, Runner};
use engine::{LinkSpec, World};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_node::router::{PortSetup, RouterConfig};
use twinplane_node::{Peer, Router};
use wire::ospf::te::{Te, link_type};
use wire::ospf::{Algorithm, Auth, Key, LsaBody, LsaKey, LsaKind};

const DAEMONS: &str = "/usr/lib/frr";
pub(super) const OWN: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
pub(super) const THEIRS: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
pub(super) const THEIR_ID: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 200);
/// A network behind FRR.
pub(super) const BEHIND: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 0);

/// FRR's zebra and ospfd in a namespace; they end with it.
struct Frr {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Drop for Frr {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = (daemon.kill(), daemon.wait());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Frr {
    /// Starts the daemons, with lines about the interface, and with all networks in the backbone.
    fn start(pair: &Pair, name: &str, lines: &str) -> Frr {
        let networks = " network 10.0.0.0/8 area 0\n network 192.0.2.0/24 area 0\n";
        Frr::start_in(pair, name, lines, networks)
    }

    /// The same with lines about areas.
    fn start_in(pair: &Pair, name: &str, lines: &str, areas: &str) -> Frr {
        let folder = std::env::temp_dir().join(format!("node-ospf-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let ospfd = format!(
            "interface e0\n ip ospf hello-interval 1\n ip ospf dead-interval 4\n{lines}\n\
             router ospf\n ospf router-id {THEIR_ID}\n{areas}"
        );
        // What FRR knows of links by themselves it takes from zebra.
        let links = "interface e0\n link-params\n  enable\n  metric 9\n  admin-grp 0x6\n";
        let links = if areas.contains("mpls-te") { links } else { "" };
        fs::write(folder.join("zebra.conf"), format!("hostname frr\n{links}")).expect("a file");
        fs::write(folder.join("ospfd.conf"), ospfd).expect("a file");
        // The daemons give up the rights of root.
        let owned = Command::new("chown").args(["-R", "frr:frr"]).arg(&folder).status().expect("chown");
        assert!(owned.success());
        let mut frr = Frr { folder, daemons: Vec::new() };
        frr.run(pair, "zebra");
        frr.run(pair, "ospfd");
        frr
    }

    /// Starts a daemon, and waits until it answers.
    fn run(&mut self, pair: &Pair, daemon: &str) {
        let at = |file: &str| self.folder.join(file).to_string_lossy().into_owned();
        let (program, file) = (Path::new(DAEMONS).join(daemon), at(&format!("{daemon}.conf")));
        let (program, pid, zapi) = (program.to_string_lossy(), at(&format!("{daemon}.pid")), at("zserv.api"));
        let folder = self.folder.to_string_lossy();
        let arguments = [
            &program,
            "-f",
            &file,
            "-i",
            &pid,
            "-z",
            &zapi,
            "--vty_socket",
            &folder,
            "-P",
            "0",
            "-A",
            "127.0.0.1",
        ];
        let mut command = pair.exec(1, &arguments);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a daemon of FRR");
        self.daemons.push(child);
        let limit = Instant::now() + Duration::from_secs(60);
        while !self.folder.join(format!("{daemon}.vty")).exists() {
            assert!(Instant::now() < limit, "{daemon} does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn ask(&self, question: &str) -> String {
        let mut vtysh = Command::new("vtysh");
        let output = vtysh.arg("--vty_socket").arg(&self.folder).args(["-c", question]).output();
        String::from_utf8_lossy(&output.expect("vtysh").stdout).into_owned()
    }

    /// Link state id, router, sequence number and checksum of every advertisement that it has.
    fn database(&self) -> BTreeSet<(Ipv4Addr, Ipv4Addr, u32, u16)> {
        let text = self.ask("show ip ospf database");
        let hex = |word: &str| u32::from_str_radix(word.trim_start_matches("0x"), 16).ok();
        let rows = text.lines().filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [id, router, _, sequence, checksum, ..] = words[..] else { return None };
            Some((id.parse().ok()?, router.parse().ok()?, hex(sequence)?, hex(checksum)? as u16))
        });
        rows.collect()
    }
}

/// A router whose only port is beside a daemon, by the clock.
pub(super) struct Beside {
    pub(super) world: World,
    runner: Runner,
    pub(super) until: Time,
}

impl Beside {
    fn new(pair: &Pair, settings: InterfaceConfig) -> Beside {
        Beside::of(pair, |streams| config(0, &[(OWN, settings)], streams))
    }

    pub(super) fn of(pair: &Pair, config: impl FnOnce(Streams) -> RouterConfig) -> Beside {
        let mut world = World::new(1);
        let router = Router::new(config(world.streams()));
        let node = world.add_device(Box::new(router));
        let beyond = world.add_device(Box::new(Peer::new()));
        let link = LinkSpec::new(node, beyond, Rate::from_gbps(1), Span::ZERO).with_buffer(1 << 22);
        world.add_link(link).expect("a link");
        let spec = ExternalSpec { netns: Some(pair.netns(0)), offload: true, ..ExternalSpec::new("e0") };
        let mut runner = Runner::new(Clock::new());
        runner.attach(&mut world, node, PortId(0), open(&spec).expect("an interface")).expect("a port");
        Beside { world, runner, until: Time::ZERO }
    }

    /// Runs until something is so.
    pub(super) fn wait(&mut self, what: &str, mut is_so: impl FnMut(&World) -> bool) {
        let limit = Instant::now() + Duration::from_secs(120);
        while !is_so(&self.world) {
            let known: Vec<_> = ospf(&self.world, 0).interfaces().collect();
            assert!(Instant::now() < limit, "not {what}: {known:?}");
            self.until += Span::from_ms(300);
            self.runner.run_until(&mut self.world, self.until, &mut |_, _| Control::Continue).expect("a run");
        }
    }

    fn database(&self) -> BTreeSet<(Ipv4Addr, Ipv4Addr, u32, u16)> {
        let all = ospf(&self.world, 0).databases().iter();
        let row = |(_, one): (Scope, &Instance)| {
            let header = one.header();
            (header.key.id, header.key.router, header.sequence as u32, header.checksum)
        };
        all.map(row).collect()
    }
}

fn pair() -> Option<Pair> {
    testing::available("vtysh").then(beside_networks)?
}

/// A link to a namespace with networks of its own.
pub(super) fn beside_networks() -> Option<Pair> {
    let pair = Pair::new(1500)?;
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    pair.ip(1, &["address", "add", &format!("{THEIR_ID}/32"), "dev", "lo"]);
    pair.ip(1, &["link", "add", "d0", "type", "veth", "peer", "name", "d1"]);
    pair.ip(1, &["link", "set", "d1", "up"]);
    pair.ip(1, &["address", "add", "10.7.0.1/24", "dev", "d0"]);
    pair.ip(1, &["link", "set", "d0", "up"]);
    pair.ip(1, &["link", "set", "lo", "up"]);
    Some(pair)
}

pub(super) fn settings(network: NetworkType, auth: Auth) -> InterfaceConfig {
    InterfaceConfig { network, hello_s: 1, dead_s: 4, auth: auth.into(), ..InterfaceConfig::default() }
}

/// Full adjacency, the same database to the checksum, and the same routes; then FRR is killed and comes back.
fn meet(name: &str, network: NetworkType, auth: Auth, lines: &str) {
    let Some(pair) = pair() else { return };
    let mut beside = Beside::new(&pair, settings(network, auth));
    let via = |hops: Vec<NextHop>| hops == [NextHop::Via { port: PortId(0), gateway: THEIRS.into() }];
    let behind = [Prefix::host(THEIR_ID), Prefix::new(BEHIND, 24)];
    for life in 1..=2 {
        let frr = Frr::start(&pair, &format!("{name}{life}"), lines);
        beside.wait("adjacent", |world| full(world, 0) == 1);
        beside.wait("routed", |world| behind.into_iter().all(|prefix| via(next_hops(world, 0, prefix))));
        // What is flooded last takes a moment, and so does FRR's own computation.
        let limit = Instant::now() + Duration::from_secs(60);
        loop {
            beside.wait("a moment", {
                let until = beside.until + Span::from_ms(500);
                move |world| world.now() >= until
            });
            let (here, there) = (beside.database(), frr.database());
            let routes = frr.ask("show ip route ospf");
            let own = format!("{}/32", id(0));
            let is_routed = routes.lines().any(|line| line.contains(&own) && line.contains(&OWN.to_string()));
            let neighbor = frr.ask("show ip ospf neighbor");
            let all = ospf(&beside.world, 0).databases().iter();
            let mut kinds: Vec<u8> = all.map(|(_, one)| one.key().kind.0).collect();
            kinds.sort_unstable();
            // Two routers, and the network if it is one; what FRR said of it in an earlier life it takes back.
            let is_whole =
                kinds == [&[1, 1][..], &[2][..usize::from(network == NetworkType::Broadcast)]].concat();
            if here == there && is_routed && is_whole && neighbor.contains("Full") {
                break;
            }
            assert!(Instant::now() < limit, "{here:x?}\n{there:x?}\n{routes}\n{neighbor}");
        }
        // Killed: silent, and lost after the dead interval.
        drop(frr);
        beside.wait("lost", |world| full(world, 0) == 0 && next_hops(world, 0, behind[0]).is_empty());
    }
}

/// A network of ours that leads nowhere.
pub(super) const ASIDE: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 1);

/// Two areas at each side: the link to FRR is in the first, and a network of ours in the second. Waits until each side
/// has its routes, by the words of FRR, and both have the same in the area that they share.
fn meet_in_areas(
    name: &str,
    [shared, own]: [u32; 2],
    kind: AreaKind,
    lines: [&str; 2],
    wanted: [Prefix; 1],
    theirs: &str,
) -> Option<Beside> {
    let pair = pair()?;
    let area = Ipv4Addr::from_bits;
    let point = settings(NetworkType::PointToPoint, Auth::Null);
    let link = InterfaceConfig { area: Some(area(shared)), ..point.clone() };
    let aside = InterfaceConfig { area: Some(area(own)), passive: true, ..point };
    let treated = AreaConfig { kind, summaries: false, ..AreaConfig::default() };
    let areas = BTreeMap::from([(area(1), treated)]);
    let mut beside =
        Beside::of(&pair, |streams| config_of_areas(0, &[(OWN, link), (ASIDE, aside)], areas, streams));
    let frr = Frr::start_in(&pair, name, lines[0], lines[1]);
    beside.wait("adjacent", |world| full(world, 0) == 1);
    beside.wait("routed", |world| {
        let via = [NextHop::Via { port: PortId(0), gateway: THEIRS.into() }];
        wanted.into_iter().all(|prefix| next_hops(world, 0, prefix) == via)
    });
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        beside.wait("a moment", {
            let until = beside.until + Span::from_ms(500);
            move |world| world.now() >= until
        });
        let known = ospf(&beside.world, 0).databases().of(Scope::Area(area(shared))).expect("a database");
        let row = |one: &Instance| {
            let header = one.header();
            (header.key.id, header.key.router, header.sequence as u32, header.checksum)
        };
        let (here, there): (BTreeSet<_>, _) = (known.iter().map(row).collect(), frr.database());
        let routes = frr.ask("show ip route ospf");
        let is_routed = routes.lines().any(|line| line.contains(theirs) && line.contains(&OWN.to_string()));
        if is_routed && here.is_subset(&there) {
            return Some(beside);
        }
        assert!(Instant::now() < limit, "{here:x?}\n{there:x?}\n{routes}");
    }
}

#[test]
fn frr_is_a_border_router_beside_one() {
    let networks = " network 10.9.0.0/24 area 0\n network 192.0.2.0/24 area 0\n network 10.7.0.0/24 area 1\n";
    let lines = [" ip ospf network point-to-point", networks];
    let wanted = [Prefix::new(BEHIND, 24)];
    let _ = meet_in_areas("border", [0, 2], AreaKind::Normal, lines, wanted, "10.8.0.0/24");
}

#[test]
fn frr_is_inside_a_stub_area() {
    let areas = " area 1 stub\n network 10.0.0.0/8 area 1\n network 192.0.2.0/24 area 1\n";
    let lines = [" ip ospf network point-to-point", areas];
    let _ = meet_in_areas("stub", [1, 0], AreaKind::Stub, lines, [Prefix::new(BEHIND, 24)], "0.0.0.0/0");
}

/// A router with a virtual link to the other end, and a network of the backbone aside.
pub(super) fn beside_virtual_link(pair: &Pair, network: NetworkType, auth: Auth) -> Beside {
    let area = Ipv4Addr::from_bits;
    let point = settings(NetworkType::PointToPoint, Auth::Null);
    let link = InterfaceConfig { area: Some(area(1)), cost: 7, network, ..point.clone() };
    let aside = InterfaceConfig { area: Some(area(0)), passive: true, ..point.clone() };
    let joined = InterfaceConfig { auth: auth.into(), ..point };
    let ospf_config = Config {
        interfaces: BTreeMap::from([(PortId(0), link), (PortId(1), aside)]),
        virtual_links: BTreeMap::from([(VirtualLink { area: area(1), router: THEIR_ID }, joined)]),
        ..Config::default()
    };
    Beside::of(pair, |streams| {
        let port = |place, address| PortSetup::new(MacAddr([2, 0, 0, 0, 0, place]), address, 24);
        let protocols = vec![Arc::new(ospf_config) as Arc<dyn Setup>];
        RouterConfig::ideal("r0".into(), id(0), vec![port(0, OWN), port(1, ASIDE)], protocols, streams)
    })
}

/// The backbone in two pieces, ours and FRR's, and a virtual link through the area between them, with a key.
#[test]
fn frr_is_the_other_end_of_a_virtual_link() {
    let Some(pair) = pair() else { return };
    let key = Key { id: 3, algorithm: Algorithm::Md5, secret: b"between".to_vec() };
    let mut beside = beside_virtual_link(&pair, NetworkType::PointToPoint, Auth::Cryptographic(key));
    let areas = format!(
        " network 10.9.0.0/24 area 1\n network 10.7.0.0/24 area 0\n network 192.0.2.0/24 area 0\n \
         area 1 virtual-link {own} hello-interval 1 dead-interval 4\n \
         area 1 virtual-link {own} authentication message-digest message-digest-key 3 md5 between\n",
        own = id(0)
    );
    let frr = Frr::start_in(&pair, "virtual", " ip ospf network point-to-point\n ip ospf cost 7", &areas);
    beside.wait("adjacent by the link and by the virtual one", |world| full(world, 0) == 2);
    beside.wait("routed", |world| {
        let via = [NextHop::Via { port: PortId(0), gateway: THEIRS.into() }];
        [Prefix::new(BEHIND, 24), Prefix::host(THEIR_ID)].iter().all(|to| next_hops(world, 0, *to) == via)
    });
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        beside.wait("a moment", {
            let until = beside.until + Span::from_ms(500);
            move |world| world.now() >= until
        });
        let (here, there) = (beside.database(), frr.database());
        let routes = frr.ask("show ip route ospf");
        let is_routed =
            routes.lines().any(|line| line.contains("10.8.0.0/24") && line.contains(&OWN.to_string()));
        let own = frr.ask("show ip ospf database router self-originate");
        let words = ["another Router (virtual link)", "a Virtual Link"];
        let is_said = words.iter().any(|word| own.contains(word)) && own.contains(&id(0).to_string());
        if is_routed && is_said && here == there {
            break;
        }
        assert!(Instant::now() < limit, "{here:x?}\n{there:x?}\n{routes}\n{own}");
    }
    drop(frr);
    beside
        .wait("lost", |world| full(world, 0) == 0 && next_hops(world, 0, Prefix::new(BEHIND, 24)).is_empty());
}

/// FRR announces a network outside to an area that is not so stubby, and we pass it on to all others.
#[test]
fn frr_is_a_boundary_router_of_an_area_that_is_not_so_stubby() {
    let areas = " area 1 nssa\n network 10.9.0.0/24 area 1\n network 192.0.2.0/24 area 1\n \
                 redistribute connected metric 30 metric-type 1\n";
    let lines = [" ip ospf network point-to-point", areas];
    let wanted = [Prefix::new(BEHIND, 24)];
    let Some(beside) = meet_in_areas("nssa", [1, 0], AreaKind::Nssa, lines, wanted, "0.0.0.0/0") else {
        return;
    };
    let key = LsaKey { kind: LsaKind::EXTERNAL, id: BEHIND, router: id(0) };
    let passed_on = ospf(&beside.world, 0).databases().get(Scope::As, &key);
    match passed_on.map(|one| one.body()) {
        Some(LsaBody::External(said)) => {
            assert_eq!((said.metric, said.type2), (30, false));
            assert!(!said.forwarding.is_unspecified(), "packets go to FRR by any border router");
        }
        other => panic!("{other:?}"),
    }
}

/// We announce a network outside to an area that is not so stubby, and FRR passes it on to all others.
#[test]
fn frr_passes_on_what_comes_from_an_area_that_is_not_so_stubby() {
    let Some(pair) = pair() else { return };
    let area = Ipv4Addr::from_bits(1);
    let point = settings(NetworkType::PointToPoint, Auth::Null);
    let link = InterfaceConfig { area: Some(area), ..point };
    let said =
        Redistribution { from: Imported::Connected, rules: [].into(), metric: 40, is_type2: true, tag: 5 };
    let ospf = Config {
        area,
        areas: BTreeMap::from([(area, AreaConfig { kind: AreaKind::Nssa, ..AreaConfig::default() })]),
        redistribute: vec![said],
        interfaces: BTreeMap::from([(PortId(0), link)]),
        ..Config::default()
    };
    let mut beside = Beside::of(&pair, |streams| {
        let port = |place, address| PortSetup::new(MacAddr([2, 0, 0, 0, 0, place]), address, 24);
        let protocols = vec![Arc::new(ospf) as Arc<dyn Setup>];
        RouterConfig::ideal("r0".into(), id(0), vec![port(0, OWN), port(1, ASIDE)], protocols, streams)
    });
    let areas = " area 1 nssa\n network 10.9.0.0/24 area 1\n network 10.7.0.0/24 area 0\n \
                 network 192.0.2.0/24 area 0\n";
    let frr = Frr::start_in(&pair, "translator", " ip ospf network point-to-point", areas);
    beside.wait("adjacent", |world| full(world, 0) == 1);
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        beside.wait("a moment", {
            let until = beside.until + Span::from_ms(500);
            move |world| world.now() >= until
        });
        let external = frr.ask("show ip ospf database external 10.8.0.0");
        let is_said = |words: &str| external.contains(words);
        let by = format!("Advertising Router: {THEIR_ID}");
        let forwarding = format!("Forward Address: {}", id(0));
        // FRR 8.4 says a metric of its own, 20; RFC 3101, 3.2, step 2 has the one that was announced.
        if is_said(&by) && is_said("External Route Tag: 5") && is_said(&forwarding) {
            break;
        }
        let all = frr.ask("show ip ospf database nssa-external");
        assert!(Instant::now() < limit, "{external}\n{all}");
    }
}

#[test]
fn frr_is_a_neighbour_on_a_link_between_two() {
    meet("p2p", NetworkType::PointToPoint, Auth::Null, " ip ospf network point-to-point");
}

#[test]
fn frr_is_a_neighbour_on_a_broadcast_network() {
    meet("lan", NetworkType::Broadcast, Auth::Null, "");
}

#[test]
fn frr_is_a_neighbour_with_a_key() {
    let key = Key { id: 1, algorithm: Algorithm::Md5, secret: b"secret".to_vec() };
    let lines = " ip ospf network point-to-point\n ip ospf authentication message-digest\n \
                 ip ospf message-digest-key 1 md5 secret";
    meet("key", NetworkType::PointToPoint, Auth::Cryptographic(key), lines);
}

/// What may be reserved on the link to FRR, and what FRR says of it.
#[test]
fn frr_knows_the_same_of_traffic_engineering() {
    let Some(pair) = pair() else { return };
    let link = settings(NetworkType::PointToPoint, Auth::Null);
    let te = Attributes { metric: Some(7), groups: 5, srlgs: vec![3] };
    let mut beside = Beside::of(&pair, |streams| engineered(0, OWN, InterfaceConfig { te, ..link }, streams));
    let areas = " network 10.0.0.0/8 area 0\n network 192.0.2.0/24 area 0\n capability opaque\n mpls-te on\n \
                 mpls-te router-address 192.0.2.200\n";
    let frr = Frr::start_in(&pair, "te", " ip ospf network point-to-point", areas);
    beside.wait("adjacent", |world| full(world, 0) == 1);
    let read = |one: &Instance| {
        let all = match one.body() {
            LsaBody::Other { bytes } => Te::parse(&bytes.0).unwrap_or_default(),
            _ => Vec::new(),
        };
        let router = one.key().router;
        all.into_iter().map(move |te| (router, te)).collect::<Vec<_>>()
    };
    let said = |world: &World| -> Vec<(Ipv4Addr, Te)> {
        ospf(world, 0).databases().iter().flat_map(|(_, one)| read(one)).collect()
    };
    // FRR 8.4 says its address beside its link, in one advertisement.
    beside.wait("told of a link and an address by both", |world| said(world).len() == 4);
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        beside.wait("a moment", {
            let until = beside.until + Span::from_ms(500);
            move |world| world.now() >= until
        });
        let (here, there) = (beside.database(), frr.database());
        let known = frr.ask("show ip ospf database opaque-area");
        // What is ours, in the words of FRR.
        let own = [OWN.to_string(), THEIRS.to_string(), format!("Router-Address: {}", id(0))];
        if here == there && here.len() == 5 && own.iter().all(|one| known.contains(one)) {
            break;
        }
        assert!(Instant::now() < limit, "{here:x?}\n{there:x?}\n{known}\n{:?}", said(&beside.world));
    }
    let all = said(&beside.world);
    assert!(all.contains(&(THEIR_ID, Te::RouterAddress(THEIR_ID))), "{all:?}");
    let theirs = all.iter().find_map(|(router, te)| match te {
        Te::Link(link) if *router == THEIR_ID => Some(link),
        _ => None,
    });
    let theirs = theirs.expect("a link of FRR");
    assert_eq!((theirs.kind, theirs.id), (link_type::POINT_TO_POINT, id(0)));
    assert_eq!((&theirs.local[..], &theirs.remote[..]), (&[THEIRS][..], &[OWN][..]));
    assert_eq!((theirs.metric, theirs.groups), (Some(9), Some(6)));
}
