//! A speaker of BGP between two neighbours: a million prefixes with 150,000 sets of attributes are received from one,
//! chosen, put in the routing table, and passed on to the other.
//!
//! `--prefixes N`, `--sets N`: how many. `--write FILE`: the UPDATEs as bytes, for other speakers to be fed with, and
//! nothing is measured. One line of JSON: seconds of the processor, and bytes of memory for each prefix when all is
//! over. TCP is not part of it: messages are handed over as they are.

use base::describe::{Describe, Value};
use base::{Label, PortId, Streams, Time};
use control::bgp::section::BgpSpec;
use control::owner::Owner;
use control::protocol::{Context, Output};
use control::services::sessions::{SessionEvent, SessionId, SessionOutput};
use control::services::{Interface, InterfaceAddress, InterfaceKind, Interfaces, Services};
use control::{Protocol, Setup};
use core::any::Any;
use core::net::{IpAddr, Ipv4Addr};
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use twinplane_control as control;
use wire::bgp::{
    AsPath, Attributes, Capability, Family, Message, Nlri, Open, Origin, Segment, Terms, Update, kind,
};

/// Counts bytes that are in use. There is one thread, so that it counts without locking the memory for others: that
/// would be a tenth of what is measured.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

impl Counting {
    fn count(more: usize, less: usize) {
        let used = (USED.load(Ordering::Relaxed) + more).wrapping_sub(less);
        USED.store(used, Ordering::Relaxed);
        MOST.store(used.max(MOST.load(Ordering::Relaxed)), Ordering::Relaxed);
    }
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::count(layout.size(), 0);
        // SAFETY: as it was asked for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Counting::count(layout.size(), 0);
        // SAFETY: as it was asked for.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Counting::count(size, layout.size());
        // SAFETY: as it was asked for.
        unsafe { System.realloc(at, layout, size) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        Counting::count(0, layout.size());
        // SAFETY: as it was given.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TERMS: Terms = Terms { four_octet: true, is_internal: false, add_path: [false; 4], labels_max: [0; 4] };

/// Seconds that this process has had of the processor.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0) as f64 / 1e9
}

/// A number that looks like chance, and is always the same.
fn drawn(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// UPDATEs with all prefixes (/24 from 1.0.0.0 on, in no order), those of a set of attributes together.
fn updates(prefixes: usize, sets: usize) -> Vec<Vec<u8>> {
    let per_set = prefixes.div_ceil(sets);
    let mut all = Vec::with_capacity(sets);
    // A prime that is no divisor of the number of prefixes visits each of them once.
    let step = if prefixes.is_multiple_of(7_919) { 7_907 } else { 7_919 };
    for set in 0..sets {
        let random = drawn(set as u64 + 1);
        let ases = (0..2 + random % 4).map(|n| 1_000 + (drawn(random + n) % 60_000) as u32);
        let path: Vec<u32> = core::iter::once(65_101).chain(ases).collect();
        let attributes = Attributes {
            origin: Some(Origin::Igp),
            as_path: Some(AsPath(vec![Segment::Sequence(path)])),
            next_hop: Some(Ipv4Addr::new(10, 0, 0, 2)),
            med: random.is_multiple_of(3).then_some(random as u32 % 1_000),
            communities: (0..random % 3)
                .map(|n| 65_101 << 16 | (drawn(random ^ n) as u32 & 0xffff))
                .collect(),
            ..Attributes::default()
        };
        let of = |n: usize| {
            let place = (n * step % prefixes) as u32;
            let prefix = base::plane::Prefix::new(Ipv4Addr::from_bits((1 << 24) + (place << 8)), 24);
            Nlri::new(prefix.into())
        };
        let first = (set * per_set).min(prefixes);
        let nlri: Vec<Nlri> = (first..(first + per_set).min(prefixes)).map(of).collect();
        let update = Update { attributes, nlri, ..Update::default() };
        all.push(Message::Update(Box::new(update)).emit(&TERMS).expect("an UPDATE"));
    }
    all
}

fn neighbor(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, n, 0, 2)
}

/// A speaker with its services, and what it has told.
struct Speaker {
    protocol: Box<dyn Protocol>,
    services: Box<Services>,
    sessions: Vec<SessionId>,
    updates: u64,
    bytes: u64,
}

impl Speaker {
    fn new() -> Speaker {
        let one = |n: u32| json!({"asn": 65_101 + n, "import": "all", "export": "all", "advertisement_interval": "0 s"});
        let neighbors = json!({neighbor(0).to_string(): one(0), neighbor(1).to_string(): one(1)});
        let value: Value =
            serde_json::from_value(json!({"asn": 65_000, "neighbors": neighbors})).expect("a value");
        let spec = BgpSpec::read(&value).expect("settings");
        let port = |n: u8| Interface {
            kind: InterfaceKind::Port(PortId(u16::from(n))),
            addresses: vec![InterfaceAddress {
                address: IpAddr::V4(Ipv4Addr::new(10, n, 0, 1)),
                prefix_len: 24,
            }],
            link_local: None,
            neighbor: Some(neighbor(n)),
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), Ipv4Addr::new(192, 0, 2, 1), (0..2).map(port).collect());
        let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
        let (protocol, services) = (spec.protocol(&services), Box::new(services));
        let mut speaker = Speaker { protocol, services, sessions: Vec::new(), updates: 0, bytes: 0 };
        speaker.with(|protocol, context| protocol.handle_timeout(Time::ZERO, context));
        for n in 0..2u8 {
            let any: &dyn Any = &*speaker.protocol;
            let bgp: &control::bgp::Bgp = any.downcast_ref().expect("BGP");
            let found = bgp.peers().iter().find(|peer| peer.config.address == neighbor(n));
            let session = found.and_then(|peer| peer.begun.session).expect("a connection");
            speaker.sessions.push(session);
            speaker.event(session, SessionEvent::Connected);
            let (afi, safi) = Family::Ipv4.numbers();
            let open = Open::new(
                65_101 + u32::from(n),
                0,
                neighbor(n),
                vec![Capability::Multiprotocol { afi, safi }],
            );
            for message in [Message::Open(open), Message::KeepAlive] {
                let bytes = message.emit(&TERMS).expect("a message");
                speaker.event(session, SessionEvent::Received(&bytes));
            }
        }
        speaker
    }

    fn with(&mut self, what: impl FnOnce(&mut dyn Protocol, &mut Context<'_>)) {
        what(&mut *self.protocol, &mut Context { services: &mut self.services, owner: Owner::default() });
        while let Some(output) = self.protocol.poll_output() {
            if let Output::Session(_, SessionOutput::Send(bytes)) = output {
                self.updates += u64::from(bytes.get(18) == Some(&kind::UPDATE));
                self.bytes += bytes.len() as u64;
            }
        }
    }

    fn event(&mut self, session: SessionId, event: SessionEvent<'_>) {
        self.with(|protocol, context| protocol.handle_session(Time::ZERO, context, session, event));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let number = |name: &str, usual| given(name).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (prefixes, sets) = (number("--prefixes", 1_000_000usize), number("--sets", 150_000usize));
    let messages = updates(prefixes, sets.min(prefixes).max(1));
    if let Some(file) = given("--write") {
        std::fs::write(&file, messages.concat()).expect("a file that can be written");
        return;
    }
    let mut speaker = Speaker::new();
    let before = (processor_seconds(), USED.load(Ordering::Relaxed));
    for message in &messages {
        speaker.event(speaker.sessions[0], SessionEvent::Received(message));
    }
    let seconds = processor_seconds() - before.0;
    let held = USED.load(Ordering::Relaxed) - before.1;
    let most = MOST.load(Ordering::Relaxed) - before.1;
    let routes = speaker.services.rib.iter().filter(|(_, route, _)| route.source.word() == "bgp").count();
    assert_eq!(routes, prefixes, "each prefix has a route");
    let per = |bytes: usize| (bytes as f64 / prefixes as f64 * 10.0).round() / 10.0;
    println!(
        "{}",
        json!({
            "prefixes": prefixes, "sets": sets, "seconds": (seconds * 1e3).round() / 1e3,
            "bytes_per_prefix": per(held), "most_bytes_per_prefix": per(most),
            "updates_sent": speaker.updates, "bytes_sent": speaker.bytes,
        })
    );
}
