//! A router beside the kernel's TCP: one process in a namespace of its own, the router's port at the other end of a
//! veth.

use super::talk::{PORT, Role, S, address, config, connect};
use base::{PortId, Rate, Span, Time};
use control::services::sessions::{Closed, SessionRow};
use engine::external::{Clock, ExternalSpec, open};
use engine::real_time::{Control, Runner};
use engine::{LinkSpec, World};
use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_node::{Peer, Router};

/// Bytes each way.
const BYTES: usize = 300_000;

/// Sends `BYTES` bytes of the stream over a connected socket, reads as many, and says whether they were right.
const TALK: &str = "
import socket, sys, threading
role, host, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
data = bytes((place * 2654435761 >> 13) & 255 for place in range(count))
if role == 'connect':
    s = socket.create_connection((host, port), timeout=30)
else:
    l = socket.create_server((host, port))
    print('listening', flush=True)
    l.settimeout(30)
    s, _ = l.accept()
s.settimeout(30)
def send():
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
sender = threading.Thread(target=send)
if sys.argv[5] == 'first':
    sender.start()
got = b''
while True:
    part = s.recv(65536)
    if not part:
        break
    got += part
if sys.argv[5] != 'first':
    sender.start()
sender.join()
print('right' if got == data else f'wrong: {len(got)} bytes', flush=True)
";

fn start(pair: &Pair, role: &str, host: &str, order: &str) -> Child {
    let count = BYTES.to_string();
    let port = PORT.to_string();
    let mut command = pair.exec(1, &["python3", "-c", TALK, role, host, &port, &count, order]);
    command.stdout(Stdio::piped()).spawn().expect("Python in a namespace")
}

/// The router's port and the kernel's interface, which has the address of the next router in a chain.
fn pair() -> Option<Pair> {
    if !testing::available("python3") {
        return None;
    }
    let pair = Pair::new(1500)?;
    pair.ip(1, &["address", "add", &format!("{}/24", address(1, 0)), "dev", "e0"]);
    Some(pair)
}

/// What came of a run.
struct Done {
    /// What the process printed.
    said: String,
    /// Sessions of the router, as they were last seen.
    rows: Vec<SessionRow>,
    world: World,
}

/// Runs a router by the clock until the process that `begin` starts has ended.
fn run(pair: &Pair, role: Role, begin: impl FnOnce() -> Child) -> Done {
    let mut world = World::new(1);
    let router = Router::new(config(0, Some(role), world.streams()));
    let node = world.add_device(Box::new(router));
    let beyond = world.add_device(Box::new(Peer::new()));
    let rate = Rate::from_gbps(1);
    world.add_link(LinkSpec::new(node, beyond, rate, Span::ZERO).with_buffer(1 << 22)).expect("a link");
    let spec = ExternalSpec { netns: Some(pair.netns(0)), offload: true, ..ExternalSpec::new("e0") };
    let mut child = begin();
    let mut runner = Runner::new(Clock::new());
    runner.attach(&mut world, node, PortId(0), open(&spec).expect("an interface")).expect("a port");
    let limit = Instant::now() + Duration::from_secs(40);
    let (mut rows, mut until) = (Vec::new(), Time::ZERO);
    while child.try_wait().expect("a process").is_none() {
        if Instant::now() > limit {
            child.kill().expect("a process");
        }
        until += Span::from_ms(20);
        runner.run_until(&mut world, until, &mut |_, _| Control::Continue).expect("a run");
        let now = super::talk::rows(&world, 0);
        rows = if now.is_empty() { rows } else { now };
    }
    // What the kernel has sent last is still to come.
    runner.run_until(&mut world, until + Span::from_ms(500), &mut |_, _| Control::Continue).expect("a run");
    let said = child.wait_with_output().expect("what it said").stdout;
    Done { said: String::from_utf8_lossy(&said).trim().to_owned(), rows, world }
}

fn check(done: &Done) {
    let heard = super::talk::talk(&done.world, 0).sessions.values().next().expect("a session");
    assert_eq!((heard.received, heard.right), (BYTES, true), "{:?}", heard.log);
    assert_eq!(heard.closed, Some(Closed::Done), "{:?}", done.rows);
    let drops = super::talk::router(&done.world, 0).drops();
    assert_eq!(drops.get(base::device::DropReason::BadChecksum), 0);
}

#[test]
fn the_kernel_connects_to_a_router() {
    let Some(pair) = pair() else { return };
    let host = address(0, 1).to_string();
    let done = run(&pair, Role::server(), || start(&pair, "connect", &host, "first"));
    assert_eq!(done.said, "right", "{:?}", done.rows);
    check(&done);
}

#[test]
fn a_router_connects_to_the_kernel() {
    let Some(pair) = pair() else { return };
    let host = address(1, 0).to_string();
    let mut connect = connect(address(1, 0));
    connect.options.ttl = 255;
    let client = Role { connects: vec![(Time(S), connect)], sends: BYTES, ..Role::default() };
    let done = run(&pair, client, || {
        let mut child = start(&pair, "accept", &host, "last");
        let mut line = [0; 10];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut line).expect("it listens");
        child
    });
    assert_eq!(done.said, "right", "{:?}", done.rows);
    check(&done);
}

#[test]
fn a_router_without_a_listener_refuses_the_kernel() {
    let Some(pair) = pair() else { return };
    let host = address(0, 1).to_string();
    let elsewhere = Role { listens: Some(1), ..Role::server() };
    let done = run(&pair, elsewhere, || {
        let script = "import socket,sys\ntry: socket.create_connection((sys.argv[1], 4000), 10)\nexcept OSError as e: print(type(e).__name__)";
        let mut command = pair.exec(1, &["python3", "-c", script, &host]);
        command.stdout(Stdio::piped()).spawn().expect("Python in a namespace")
    });
    assert_eq!(done.said, "ConnectionRefusedError");
}
