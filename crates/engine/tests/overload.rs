//! A world in real time whose interfaces bring more than it can handle, or go away for a while.

use crate::common::Forwarder;
use base::device::DropReason;
use base::{Command, Device, Frame, NodeId, Output, PortId, Rate, Span, Time, Verdict};
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use twinplane_engine::external::{ExternalCounters, ExternalPort, PortError};
use twinplane_engine::real_time::{Clock, Control, PortState, Runner};
use twinplane_engine::{LinkSpec, World};

/// An interface by which as many frames come as are taken, as long as it is there.
struct Flood {
    fd: UnixStream,
    there: Arc<AtomicBool>,
    open: bool,
}

impl ExternalPort for Flood {
    fn name(&self) -> &str {
        "flood"
    }
    fn receive(&mut self, _: &Clock, frames: &mut Vec<Frame>, max: usize) -> Result<usize, PortError> {
        frames.extend((0..max).map(|_| Frame::from_bytes(&[0; 60])));
        Ok(max)
    }
    fn send(&mut self, frames: &mut VecDeque<Frame>) -> Result<usize, PortError> {
        Ok(frames.drain(..).count())
    }
    fn reopen(&mut self) -> Result<(), PortError> {
        self.open = self.there.load(Ordering::Relaxed);
        if self.open { Ok(()) } else { Err(PortError::NoInterface { name: "flood".into() }) }
    }
    fn poll_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
    fn link_up(&mut self) -> Result<bool, PortError> {
        self.open &= self.there.load(Ordering::Relaxed);
        if self.open { Ok(true) } else { Err(PortError::Gone { name: "flood".into() }) }
    }
    fn counters(&self) -> ExternalCounters {
        ExternalCounters::default()
    }
}

/// A device with two ports, the first of which is flooded, and the other end of the descriptor that is waited for.
fn flooded() -> (World, Runner, NodeId, Arc<AtomicBool>, UnixStream) {
    let mut world = World::new(1);
    let node = world.add_device(Box::new(Forwarder::transit()));
    let mut runner = Runner::new(Clock::new());
    let there = Arc::new(AtomicBool::new(true));
    let (fd, far) = UnixStream::pair().expect("a pair of sockets");
    for port in 0..2 {
        let beyond = world.add_device(Box::new(Forwarder::new(&[u16::MAX])));
        let link = LinkSpec::new(node, beyond, Rate::from_gbps(1), Span::ZERO).with_buffer(1 << 20);
        world.add_link(link).expect("a link");
        if port == 0 {
            let fd = fd.try_clone().expect("a descriptor");
            let port = Flood { fd, there: there.clone(), open: true };
            runner.attach(&mut world, node, PortId(0), Box::new(port)).expect("a port");
        }
    }
    (world, runner, node, there, far)
}

#[test]
fn a_flood_neither_stops_time_nor_keeps_anybody_waiting() {
    let (mut world, mut runner, _, _, _far) = flooded();
    let until = Time::ZERO + Span::from_ms(20);
    runner.run_until(&mut world, until, &mut |_, _| Control::Continue).expect("a run");
    assert_eq!(world.now(), until);
    // Somebody who wants the run to come back gets it long before its end.
    let (wake, mut waker) = UnixStream::pair().expect("a pair of sockets");
    std::io::Write::write_all(&mut waker, b"!").expect("a socket");
    runner.wake_on(Some(wake.as_raw_fd()));
    let until = Time::ZERO + Span::from_secs(3600);
    runner.run_until(&mut world, until, &mut |_, _| Control::Continue).expect("a run");
    assert!(world.now() < until);
}

/// A processor that takes long for each frame, and knows which ones keep a link alive: by their first byte.
#[derive(Default)]
struct Slow {
    handled: Vec<u8>,
}

impl Device for Slow {
    fn forward_batch(&mut self, _: Time, _: PortId, _: &mut [Frame], verdicts: &mut [Verdict]) {
        verdicts.fill(Verdict::Punt);
    }
    fn handle_packet(&mut self, _: Time, _: PortId, frame: Frame) {
        self.handled.extend(frame.header().first());
        std::thread::sleep(std::time::Duration::from_micros(700));
    }
    fn is_urgent(&self, frame: &Frame) -> bool {
        frame.header().first() == Some(&1)
    }
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

/// A world of one slow device whose port is flooded: every `every`th frame is urgent.
fn slow(every: usize) -> (World, Runner, NodeId) {
    let mut world = World::new(1);
    let node = world.add_device(Box::new(Slow::default()));
    let beyond = world.add_device(Box::new(Forwarder::new(&[u16::MAX])));
    let link = LinkSpec::new(node, beyond, Rate::from_gbps(1), Span::ZERO);
    world.add_link(link).expect("a link");
    let mut runner = Runner::new(Clock::new());
    let mut frames = (0..).map(move |n: usize| Frame::from_bytes(&[u8::from(n % every == every - 1); 60]));
    let port = Given::new(move |_, max| frames.by_ref().take(max).collect());
    runner.attach(&mut world, node, PortId(0), port).expect("a port");
    (world, runner, node)
}

/// An interface by which frames come as a function says: of the clock, and of how many are taken.
struct Given<F> {
    fd: UnixStream,
    give: F,
}

impl<F: FnMut(&Clock, usize) -> Vec<Frame> + Send> Given<F> {
    fn new(give: F) -> Box<Given<F>> {
        Box::new(Given { fd: UnixStream::pair().expect("a pair of sockets").0, give })
    }
}

impl<F: FnMut(&Clock, usize) -> Vec<Frame> + Send> ExternalPort for Given<F> {
    fn name(&self) -> &str {
        "given"
    }
    fn receive(&mut self, clock: &Clock, frames: &mut Vec<Frame>, max: usize) -> Result<usize, PortError> {
        let before = frames.len();
        frames.extend((self.give)(clock, max));
        Ok(frames.len() - before)
    }
    fn send(&mut self, frames: &mut VecDeque<Frame>) -> Result<usize, PortError> {
        Ok(frames.drain(..).count())
    }
    fn reopen(&mut self) -> Result<(), PortError> {
        Ok(())
    }
    fn poll_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
    fn link_up(&mut self) -> Result<bool, PortError> {
        Ok(true)
    }
    fn counters(&self) -> ExternalCounters {
        ExternalCounters::default()
    }
}

/// Runs for so many rounds of the loop.
fn run_rounds(world: &mut World, runner: &mut Runner, count: usize) {
    let mut rounds = 0;
    let watch = &mut |_: &mut World, _| {
        rounds += 1;
        if rounds < count { Control::Continue } else { Control::Stop }
    };
    runner.run_until(world, Time::ZERO + Span::from_secs(3600), watch).expect("a run");
}

#[test]
fn what_keeps_links_alive_waits_behind_no_other() {
    // One of 256 frames, which are taken at once: it is handled before the 255 that came before it.
    let (mut world, mut runner, node) = slow(256);
    run_rounds(&mut world, &mut runner, 20);
    // A turn of the others is one frame here, as each takes longer than a turn.
    assert_eq!(world.device::<Slow>(node).expect("the device").handled, [1, 0].repeat(20));
}

#[test]
fn frames_that_nobody_has_time_for_are_dropped_and_counted() {
    let (mut world, mut runner, node) = slow(usize::MAX);
    run_rounds(&mut world, &mut runner, 100);
    let handled = world.device::<Slow>(node).expect("the device").handled.len() as u64;
    let ingress = world.port_counters(node, PortId(0)).expect("the port").ingress;
    let dropped = ingress.drops.get(DropReason::ControlQueueFull);
    assert_eq!(ingress.received_frames + dropped, 100 * 256);
    // The last round has made room for one.
    assert_eq!(ingress.received_frames - handled, 16_383);
}

/// Waits for frames of its neighbour, 175 ms for each, and is kept from it by frames that take it 300 ms.
#[derive(Default)]
struct Watcher {
    expires: Option<Time>,
    heard: u32,
    missed: Vec<Time>,
}

impl Device for Watcher {
    fn handle_packet(&mut self, now: Time, _: PortId, frame: Frame) {
        if self.is_urgent(&frame) {
            self.heard += 1;
            self.expires = Some(now + Span::from_ms(175));
        } else {
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
    }
    fn is_urgent(&self, frame: &Frame) -> bool {
        frame.header().first() == Some(&1)
    }
    fn handle_timeout(&mut self, now: Time) {
        if self.expires.is_some_and(|end| end <= now) {
            self.missed.push(now);
            self.expires = None;
        }
    }
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        self.expires
    }
}

#[test]
fn a_neighbour_that_was_heard_in_time_is_not_missed_by_who_was_busy() {
    let mut world = World::new(1);
    let node = world.add_device(Box::new(Watcher::default()));
    let beyond = world.add_device(Box::new(Forwarder::new(&[u16::MAX])));
    world.add_link(LinkSpec::new(node, beyond, Rate::from_gbps(1), Span::ZERO)).expect("a link");
    let mut runner = Runner::new(Clock::new());
    runner.set_busy(true);
    // A frame of the neighbour comes each 50 ms, for a second, and two that take long.
    let came = |number: i64| Time::ZERO + Span::from_ms(50 * number);
    let mut sent = 0;
    let port = Given::new(move |clock, _| {
        let mut frames = Vec::new();
        while sent < 20 && came(sent) <= clock.now() {
            let mut frame = Frame::from_bytes(&[1; 60]);
            frame.set_arrived(came(sent));
            frames.push(frame);
            if sent % 10 == 5 {
                frames.push(Frame::from_bytes(&[0; 60]));
            }
            sent += 1;
        }
        frames
    });
    runner.attach(&mut world, node, PortId(0), port).expect("a port");
    let until = Time::ZERO + Span::from_ms(1_600);
    runner.run_until(&mut world, until, &mut |_, _| Control::Continue).expect("a run");
    let watcher = world.device::<Watcher>(node).expect("the device");
    // It is missed once: after the last frame.
    assert_eq!((watcher.heard, watcher.missed.len()), (20, 1), "{:?}", watcher.missed);
    assert!(watcher.missed[0] >= came(19) + Span::from_ms(175));
}

#[test]
fn a_neighbour_is_not_missed_by_who_loses_its_processor_while_it_takes_what_came_in() {
    let mut world = World::new(1);
    let node = world.add_device(Box::new(Watcher::default()));
    let beyond = world.add_device(Box::new(Forwarder::new(&[u16::MAX])));
    world.add_link(LinkSpec::new(node, beyond, Rate::from_gbps(1), Span::ZERO)).expect("a link");
    let mut runner = Runner::new(Clock::new());
    runner.set_busy(true);
    // The second frame comes a little after the first, and is taken by a call that takes long.
    let mut calls = 0;
    let mut began = Time::ZERO;
    let port = Given::new(move |clock, _| {
        calls += 1;
        if calls > 2 {
            return Vec::new();
        }
        let mut frame = Frame::from_bytes(&[1; 60]);
        if calls == 1 {
            began = clock.now();
            frame.set_arrived(began);
        } else {
            std::thread::sleep(std::time::Duration::from_millis(300));
            frame.set_arrived(began + Span::from_ms(150));
        }
        vec![frame]
    });
    runner.attach(&mut world, node, PortId(0), port).expect("a port");
    let until = Time::ZERO + Span::from_ms(600);
    runner.run_until(&mut world, until, &mut |_, _| Control::Continue).expect("a run");
    let watcher = world.device::<Watcher>(node).expect("the device");
    // It is missed once: 175 ms after the second frame.
    assert_eq!((watcher.heard, watcher.missed.len()), (2, 1), "{:?}", watcher.missed);
    assert!(watcher.missed[0] >= Time::ZERO + Span::from_ms(325));
}

#[test]
fn a_flood_by_one_interface_does_not_keep_those_by_others_waiting() {
    let (mut world, mut runner, node) = slow(usize::MAX);
    let beyond = world.add_device(Box::new(Forwarder::new(&[u16::MAX])));
    world.add_link(LinkSpec::new(node, beyond, Rate::from_gbps(1), Span::ZERO)).expect("a link");
    // Ten frames that begin with a 7, beside hundreds of the other interface.
    let mut left = 10;
    let port = Given::new(move |_, _| {
        (0..core::mem::take(&mut left)).map(|_| Frame::from_bytes(&[7; 60])).collect()
    });
    runner.attach(&mut world, node, PortId(1), port).expect("a port");
    run_rounds(&mut world, &mut runner, 30);
    let handled = &world.device::<Slow>(node).expect("the device").handled;
    // One of each interface after the other.
    assert_eq!(handled[..20], [0, 7].repeat(10));
}

#[test]
fn an_interface_that_is_there_again_is_a_port_that_is_up_again() {
    let (mut world, mut runner, node, there, _far) = flooded();
    let mut states = Vec::new();
    let mut run = |world: &mut World, runner: &mut Runner, wanted: PortState| {
        while states.last() != Some(&wanted) {
            let until = world.now() + Span::from_ms(10);
            runner.run_until(world, until, &mut |_, _| Control::Continue).expect("a run");
            states.extend(runner.take_changes().into_iter().map(|change| change.state));
        }
    };
    there.store(false, Ordering::Relaxed);
    run(&mut world, &mut runner, PortState::Gone);
    there.store(true, Ordering::Relaxed);
    run(&mut world, &mut runner, PortState::Up);
    assert_eq!(states, [PortState::Gone, PortState::Up]);
    let commands = &world.device::<Forwarder>(node).expect("the device").commands;
    let told: Vec<_> = commands.iter().map(|(_, command)| command.clone()).collect();
    assert_eq!(told, [Command::PortDown(PortId(0)), Command::PortUp(PortId(0))]);
}
