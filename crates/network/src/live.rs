//! A network, or a part of one, by the clock on the wall.

use super::error::NetworkError;
use super::place::Place;
use super::placement::{DriverKind, PortPlacement};
use super::problem::RunProblem;
use super::spec::ReadNetwork;
use super::{Build, Network, NodeKind, Placement};
use base::diagnostic::Diagnostic;
use base::table::{Rows, Table};
use base::{NodeId, Span, Time};
use engine::external::{self, Clock, Driver, ExternalPort, ExternalSpec, News, PortError};
use engine::real_time::{Control, Lateness, PortChange, PortState, Runner};
use engine::{Progress, World};
use std::collections::BTreeSet;
use std::os::fd::RawFd;
use std::path::Path;

/// So long a run goes on before somebody may look for signals.
const SLICE: Span = Span::from_ms(20);

/// Opens the interface of a port.
pub type Open<'a> = dyn FnMut(&ExternalSpec) -> Result<Box<dyn ExternalPort>, PortError> + 'a;

/// Is called after each round of a run in real time, with the time that the clock says.
pub type Attend = dyn FnMut(&mut World, Time) + Send;

/// What drives a network in real time.
pub struct Wall {
    runner: Runner,
    /// Who has something to do between rounds.
    attend: Option<Box<Attend>>,
    ports: Vec<PortPlacement>,
    /// Has the clock begun? It does when the network first runs, unless its beginning was given.
    begun: bool,
    cpu: Option<usize>,
    fail_on_port_down: bool,
    /// Interfaces that went up, down or away.
    changes: Vec<PortChange>,
}

base::table! {
    /// In real time, what every interface counted, and how much later than due it was given its frames; in virtual time
    /// no rows.
    pub struct InterfaceRow<'a> in "interfaces" key ["node", "link"] {
        /// The node whose port it is.
        node: &'a str,
        /// The link, by its place in the description.
        link: usize,
        /// The interface.
        interface: &'a str,
        /// The path of its network namespace; absent if it is that of the process.
        netns: Option<String>,
        /// `packet` or `xdp`.
        driver: &'static str,
        /// `up`, `down` or `gone`.
        state: &'static str,
        /// Frames received.
        rx_frames: u64 = "frames",
        /// Their bytes.
        rx_bytes: u64 = "bytes",
        /// Frames sent; a super-frame counts as one.
        tx_frames: u64 = "frames",
        /// Their bytes.
        tx_bytes: u64 = "bytes",
        /// Frames that the kernel dropped because nobody took them in time.
        rx_kernel_drops: u64 = "frames",
        /// Frames that came and were too long to be taken.
        rx_too_long: u64 = "frames",
        /// Frames that came with something left undone that nobody here can do.
        rx_unknown: u64 = "frames",
        /// Frames dropped before they were sent: the interface is down, or takes nothing for long.
        tx_dropped: u64 = "frames",
        /// Frames to be sent that are longer than the interface takes.
        tx_too_long: u64 = "frames",
        /// Frames to be sent that the kernel refused.
        tx_errors: u64 = "frames",
        /// Super-frames that were cut in software.
        tx_segmented: u64 = "frames",
        /// Lateness that half of the frames did not exceed; absent before one was sent.
        lateness_p50_s: Option<f64> = "s",
        /// Lateness that 99 % of the frames did not exceed; absent before one was sent.
        lateness_p99_s: Option<f64> = "s",
        /// Greatest lateness.
        lateness_max_s: f64 = "s",
    }
}

base::table! {
    /// In real time, how late things happened: events of the network, and frames handed to each interface; in virtual
    /// time no rows.
    pub struct LatenessRow<'a> in "lateness" key ["what"] {
        /// `events`, or an interface.
        what: &'a str,
        /// How many there were.
        count: u64 = "events",
        /// Mean lateness; absent, as are the quantiles, if there were none.
        mean_s: Option<f64> = "s",
        /// Lateness that half did not exceed.
        p50_s: Option<f64> = "s",
        /// Lateness that 90 % did not exceed.
        p90_s: Option<f64> = "s",
        /// Lateness that 99 % did not exceed.
        p99_s: Option<f64> = "s",
        /// Lateness that 99.9 % did not exceed.
        p999_s: Option<f64> = "s",
        /// Greatest lateness.
        max_s: f64 = "s",
        /// Upper bounds of the bins of the histogram; empty bins are left out.
        upper_s: Vec<f64> = "s",
        /// Events in each bin.
        n: Vec<u64> = "events",
    }
}

impl PortPlacement {
    fn spec(&self, busy: bool) -> ExternalSpec {
        ExternalSpec {
            netns: self.netns.clone(),
            driver: match self.driver {
                DriverKind::Packet => Driver::Packet,
                DriverKind::Xdp => Driver::Xdp,
            },
            offload: self.offload,
            // The Ethernet address of a port is its own, whatever that of the interface is.
            promiscuous: true,
            busy_poll: busy,
            ..ExternalSpec::new(&self.interface)
        }
    }
}

impl Placement {
    /// The clock that a network with this placement runs by, and the time at which it begins.
    pub fn clock(&self) -> (Clock, Time) {
        let clock = self.epoch_ns.map_or_else(Clock::new, Clock::starting_at);
        // A process that is started long after the epoch has missed nothing: it begins now.
        let begin = self.epoch_ns.map_or(Time::ZERO, |_| clock.now());
        (clock, begin)
    }
}

impl Network {
    /// Builds the part of a network that a placement puts in this process, to be run by the clock.
    pub fn placed(
        read: &ReadNetwork,
        kinds: &[NodeKind],
        placement: Placement,
    ) -> Result<Network, NetworkError> {
        let (clock, begin) = placement.clock();
        let calendar_ns = placement.calendar_ns.or_else(|| Some(clock.calendar_at_epoch_ns()));
        let placement = Placement { calendar_ns, ..placement };
        let build = Build { placement: Some(&placement), begin, ..Build::default() };
        let mut network = Network::build(read, kinds, build)?;
        network.attach(placement, clock, &mut |spec| external::open(spec))?;
        Ok(network)
    }

    /// Opens the interfaces of the placement that the network was built for, each by `open`; from then on it runs by
    /// the clock.
    pub fn attach(
        &mut self,
        placement: Placement,
        clock: Clock,
        open: &mut Open<'_>,
    ) -> Result<(), NetworkError> {
        let mut runner = Runner::new(clock);
        runner.set_busy(placement.busy);
        for (port, &(link, side)) in placement.ports.iter().zip(&self.placed.ends) {
            let link = &self.links[link];
            let node = NodeId(link.ends()[side] as u32);
            let opened = open(&port.spec(placement.busy)).map_err(|error| {
                let closed = RunProblem::NoInterface { error: error.to_string() };
                closed.of_node(&self.description, node.index())
            })?;
            runner.attach(&mut self.world, node, link.ports[side], opened)?;
        }
        let specs: Vec<ExternalSpec> = placement.ports.iter().map(|port| port.spec(false)).collect();
        let namespaces: BTreeSet<Option<&Path>> = specs.iter().map(|spec| spec.netns.as_deref()).collect();
        for namespace in namespaces {
            // Without news interfaces are looked at all the same, a few times a second.
            if let Ok(news) = News::open(namespace) {
                runner.hear(news);
            }
        }
        self.wall = Some(Wall {
            runner,
            attend: None,
            ports: placement.ports,
            begun: placement.epoch_ns.is_some(),
            cpu: placement.cpu,
            fail_on_port_down: placement.fail_on_port_down,
            changes: Vec::new(),
        });
        Ok(())
    }

    /// The time that it is: in virtual time that which the run has reached, otherwise the clock's.
    pub fn now(&self) -> Time {
        match &self.wall {
            Some(wall) if wall.begun => wall.runner.clock().now().max(self.world.now()),
            _ => self.world.now(),
        }
    }

    /// Time zero of a run in real time, on the system's monotonic clock; nothing in virtual time, or if it has not
    /// begun.
    pub fn epoch_ns(&self) -> Option<u64> {
        self.wall.as_ref().filter(|wall| wall.begun).map(|wall| wall.runner.clock().epoch_ns())
    }

    /// Lets runs in real time come back early when this descriptor is readable.
    pub fn wake_on(&mut self, fd: Option<RawFd>) {
        if let Some(wall) = &mut self.wall {
            wall.runner.wake_on(fd);
        }
    }

    /// Lets somebody who is no device do something after each round of a run in real time, and whenever this descriptor
    /// is readable.
    pub fn attend(&mut self, fd: RawFd, attend: Box<Attend>) {
        if let Some(wall) = &mut self.wall {
            wall.runner.wake_on(Some(fd));
            wall.attend = Some(attend);
        }
    }

    /// Runs to a time, by whichever clock the network has. In real time this takes as long, and what was due before
    /// happens at once. At the end the queues are audited.
    pub fn run_until(&mut self, until: Time) -> Result<(), NetworkError> {
        self.advance(until)?;
        self.audit()
    }

    /// The same without an audit, for who runs in very short steps.
    pub fn advance(&mut self, until: Time) -> Result<(), NetworkError> {
        while let Some(due) = self.next_routes(until) {
            self.advance_to(due)?;
            self.set_new_routes()?;
        }
        self.advance_to(until)
    }

    fn advance_to(&mut self, until: Time) -> Result<(), NetworkError> {
        if self.wall.is_some() { self.run_wall(until) } else { Ok(self.world.run_until(until)?) }
    }

    /// Runs towards a time, for so many events at the most or, in real time, for some milliseconds. Says whether the
    /// time is reached; then the queues are audited.
    pub fn run_some(&mut self, until: Time, events: u64) -> Result<bool, NetworkError> {
        let due = self.next_routes(until);
        let stop = due.unwrap_or(until);
        let mut reached = match &self.wall {
            None => self.world.step(stop, events)? == Progress::Reached,
            Some(_) => {
                let slice = stop.min(self.now() + SLICE);
                self.run_wall(slice)?;
                self.world.now() >= stop
            }
        };
        if reached && due.is_some() {
            self.set_new_routes()?;
            reached = false;
        }
        if reached {
            self.audit()?;
        }
        Ok(reached)
    }

    fn run_wall(&mut self, until: Time) -> Result<(), NetworkError> {
        let Some(wall) = &mut self.wall else { return Ok(()) };
        if !wall.begun {
            wall.begun = true;
            wall.runner.set_clock(Clock::new());
        }
        if let Some(cpu) = wall.cpu.take() {
            engine::real_time::pin(cpu).map_err(|error| {
                Diagnostic::new(RunProblem::NoProcessor { cpu, error: base::diagnostic::os_text(&error) })
            })?;
        }
        let until = until.max(self.world.now());
        let Wall { runner, attend, .. } = wall;
        let clock = runner.clock().clone();
        let ended = runner.run_until(&mut self.world, until, &mut |world, _| {
            if let Some(attend) = attend {
                attend(world, clock.now().max(world.now()));
            }
            Control::Continue
        });
        let fresh = wall.runner.take_changes();
        let lost =
            fresh.iter().find(|change| change.state != PortState::Up).filter(|_| wall.fail_on_port_down);
        let lost = lost.map(|change| {
            let how = if change.state == PortState::Gone { "is gone" } else { "went down" };
            (change.node.index(), RunProblem::InterfaceLost { interface: change.name.clone(), how })
        });
        wall.changes.extend(fresh);
        ended?;
        match lost {
            Some((node, what)) => Err(what.of_node(&self.description, node).into()),
            None => Ok(()),
        }
    }

    /// Interfaces that went up, down or away since the last call.
    pub fn take_port_changes(&mut self) -> Vec<PortChange> {
        self.wall.as_mut().map(|wall| core::mem::take(&mut wall.changes)).unwrap_or_default()
    }

    /// What every interface counted, and how much later than due it was given its frames.
    pub(super) fn interfaces(&self) -> Table {
        let mut table = Rows::new();
        if let Some(wall) = &self.wall {
            for (placed, view) in wall.ports.iter().zip(wall.runner.ports()) {
                let c = view.counters;
                let state = match view.state {
                    PortState::Up => "up",
                    PortState::Down => "down",
                    PortState::Gone => "gone",
                };
                let driver = match placed.driver {
                    DriverKind::Packet => "packet",
                    DriverKind::Xdp => "xdp",
                };
                table.push(InterfaceRow {
                    node: &placed.node,
                    link: placed.link,
                    interface: &placed.interface,
                    netns: placed.netns.as_ref().map(|path| path.display().to_string()),
                    driver,
                    state,
                    rx_frames: c.rx_frames,
                    rx_bytes: c.rx_bytes,
                    tx_frames: c.tx_frames,
                    tx_bytes: c.tx_bytes,
                    rx_kernel_drops: c.rx_kernel_drops,
                    rx_too_long: c.rx_too_long,
                    rx_unknown: c.rx_unknown,
                    tx_dropped: c.tx_dropped + view.dropped,
                    tx_too_long: c.tx_too_long,
                    tx_errors: c.tx_errors,
                    tx_segmented: c.tx_segmented,
                    lateness_p50_s: quantile_s(view.lateness, 0.5),
                    lateness_p99_s: quantile_s(view.lateness, 0.99),
                    lateness_max_s: view.lateness.max().as_secs_f64(),
                });
            }
        }
        table.finish()
    }

    /// How late things happened in real time: events of the network, and frames handed to each interface.
    pub(super) fn lateness(&self) -> Table {
        let mut table = Rows::new();
        let mut push = |what, late: &Lateness| {
            let (upper, n): (Vec<f64>, Vec<u64>) =
                late.bins().map(|bin| (bin.0.as_secs_f64(), bin.1)).unzip();
            table.push(LatenessRow {
                what,
                count: late.count(),
                mean_s: late.mean().map(Span::as_secs_f64),
                p50_s: quantile_s(late, 0.5),
                p90_s: quantile_s(late, 0.9),
                p99_s: quantile_s(late, 0.99),
                p999_s: quantile_s(late, 0.999),
                max_s: late.max().as_secs_f64(),
                upper_s: upper,
                n,
            });
        };
        if let Some(wall) = &self.wall {
            push("events", wall.runner.lateness());
            wall.runner.ports().for_each(|view| push(view.name, view.lateness));
        }
        table.finish()
    }

    /// Forgets how late anything was, so that what comes is told apart from what was.
    pub fn clear_lateness(&mut self) {
        if let Some(wall) = &mut self.wall {
            wall.runner.clear_lateness();
        }
    }
}

fn quantile_s(late: &Lateness, q: f64) -> Option<f64> {
    late.quantile(q).map(Span::as_secs_f64)
}
