//! The devices of a world are given to several, and taken back.

use super::super::keys::Done;
use super::super::process::Processes;
use super::super::{EventRecord, Node, NodeState, PortState, World};
use super::Turn;
use super::partition::{Partition, ends};
use crate::lane::{Lane, LaneEnds};
use crate::queue::Place;
use base::{Command, Device, Frame, NodeId, Output, PortId, Time};
use std::collections::VecDeque;

/// Stands where a device would be that another world works on.
struct Elsewhere;

impl Device for Elsewhere {
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {
        debug_assert!(false, "a frame reaches a device of another world");
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

impl Node {
    fn elsewhere() -> Node {
        Node {
            device: Box::new(Elsewhere),
            ports: Vec::new(),
            recorder: None,
            timeout: Time::MAX,
            place: Place::default(),
            name: String::new(),
            state: NodeState::Elsewhere,
            stray_frames: 0,
            deferred: VecDeque::new(),
            restarts: 0,
            touched: false,
        }
    }
}

impl World {
    /// Gives devices to the worlds of a partition, with their ports, timers and what is on its way to them. The first
    /// of them has the place of this one, which has none until [`World::join`].
    pub(super) fn split(&mut self, partition: &Partition) -> Vec<World> {
        let first = self.next_time();
        let (nodes, lanes) = (self.nodes.len(), self.lanes.len());
        let latest = self.processes.latest_of(&self.nodes);
        let mut worlds: Vec<World> = (0..partition.worlds)
            .map(|number| {
                let mut world = World::new(self.streams.seed());
                (world.now, world.ahead) = (self.now, self.ahead);
                world.spinning = self.spinning;
                world.turns = Some(Vec::new());
                if number == 0 {
                    world.nodes = core::mem::take(&mut self.nodes);
                    world.lanes = core::mem::take(&mut self.lanes);
                    world.ports = core::mem::take(&mut self.ports);
                } else {
                    world.nodes.resize_with(nodes, Node::elsewhere);
                    world.lanes.resize_with(lanes, Lane::absent);
                    world.ports.resize_with(lanes, PortState::default);
                }
                world
            })
            .collect();
        let owners: Vec<(u16, u16)> = (0..lanes)
            .map(|g| ends(&worlds[0].lanes, g))
            .map(|(from, to)| (partition.owner[from], partition.owner[to]))
            .collect();
        for (node, &owner) in partition.owner.iter().enumerate() {
            swap(&mut worlds, owner, |world| &mut world.nodes[node], Node::elsewhere);
        }
        for (g, &(from, to)) in owners.iter().enumerate() {
            swap(&mut worlds, from, |world| &mut world.lanes[g], Lane::absent);
            swap(&mut worlds, from, |world| &mut world.ports[g], PortState::default);
            if from != to {
                // Nothing happens before that, and what is due before at the port must be on its way.
                worlds[usize::from(from)].lanes[g].catch_up(first);
                worlds[usize::from(to)].lanes[g] = worlds[usize::from(from)].lanes[g].part(first);
                worlds[usize::from(from)].sharing.leaving.push((g as u32, to));
            }
        }
        for (number, world) in worlds.iter_mut().enumerate() {
            let is_own = |node: NodeId| usize::from(partition.owner[node.index()]) == number;
            let receiver = |port: u32| usize::from(owners[port as usize].0) == number;
            world.agenda = self.agenda.part(is_own);
            world.late = self.late.part(receiver);
            for g in self.queued_lanes().filter(|g| usize::from(owners[*g as usize].0) == number) {
                world.queues.push(g);
            }
            world.processes = Processes::none(self.processes.epoch());
            world.find_processes_after(&latest);
            world.expect_all();
            world.look_ahead();
        }
        worlds
    }

    /// Takes back what the worlds of a partition have.
    pub(super) fn join(&mut self, worlds: Vec<World>, partition: &Partition) {
        let mut worlds: Vec<World> = worlds;
        let mut reported: Vec<(Turn, EventRecord)> = Vec::new();
        let lanes = worlds[0].lanes.len();
        let mut latest: Vec<Done> = vec![Done::default(); partition.owner.len()];
        for (number, world) in worlds.iter().enumerate() {
            let own = world.processes.latest_of(&world.nodes);
            let is_own = |node: &usize| usize::from(partition.owner[*node]) == number;
            (0..own.len()).filter(is_own).for_each(|node| latest[node] = own[node]);
        }
        for (node, &owner) in partition.owner.iter().enumerate() {
            swap(&mut worlds, owner, |world| &mut world.nodes[node], Node::elsewhere);
        }
        let leaving: Vec<(usize, u32, u16)> = worlds
            .iter()
            .enumerate()
            .flat_map(|(from, world)| world.sharing.leaving.iter().map(move |&(g, to)| (from, g, to)))
            .collect();
        for (from, g, to) in leaving {
            let g = g as usize;
            let far = core::mem::replace(&mut worlds[usize::from(to)].lanes[g], Lane::absent());
            let seen = core::mem::take(&mut worlds[usize::from(to)].ports[g]);
            worlds[from].lanes[g].join(far);
            worlds[from].ports[g].add_arrived(seen);
        }
        for number in 1..worlds.len() {
            for g in 0..lanes {
                if worlds[number].lanes[g].ends != LaneEnds::Neither {
                    swap(&mut worlds, number as u16, |world| &mut world.lanes[g], Lane::absent);
                    swap(&mut worlds, number as u16, |world| &mut world.ports[g], PortState::default);
                }
            }
        }
        for (number, mut world) in worlds.into_iter().enumerate() {
            if number == 0 {
                self.nodes = core::mem::take(&mut world.nodes);
                self.lanes = core::mem::take(&mut world.lanes);
                self.ports = core::mem::take(&mut world.ports);
            }
            self.ahead = self.ahead.max(world.ahead);
            self.events_done += world.events_done;
            self.spinning = self.spinning.max(world.spinning);
            let turns = world.turns.take().unwrap_or_default();
            debug_assert!(turns.is_sorted(), "events are reported in the order of their turns");
            reported.extend(turns.into_iter().zip(core::mem::take(&mut world.events)));
            self.agenda.join(core::mem::take(&mut world.agenda));
            self.late.join(core::mem::take(&mut world.late));
        }
        self.now = self.ahead;
        // Those of one turn are all of one world.
        reported.sort_by_key(|(turn, _)| *turn);
        self.events.extend(reported.into_iter().map(|(_, event)| event));
        self.find_processes_after(&latest);
        self.expect_all();
        self.look_ahead();
    }
}

/// Exchanges what the first world and another have in a place; between the first and itself there is nothing to do.
fn swap<T>(worlds: &mut [World], owner: u16, place: impl Fn(&mut World) -> &mut T, nothing: impl Fn() -> T) {
    if owner != 0 {
        let one = core::mem::replace(place(&mut worlds[0]), nothing());
        let other = core::mem::replace(place(&mut worlds[usize::from(owner)]), one);
        *place(&mut worlds[0]) = other;
    }
}

impl PortState {
    /// Adds what the world of the receiver has counted of frames that arrived by the lane of this port.
    fn add_arrived(&mut self, seen: PortState) {
        debug_assert!(
            seen.drops.total() == 0 && seen.late == 0 && seen.duplicated == 0 && seen.impairments.is_none(),
            "a lane with something to do on it is not parted"
        );
        self.attended.0 += seen.attended.0;
        self.attended.1 += seen.attended.1;
        self.delivered.0 += seen.delivered.0;
        self.delivered.1 += seen.delivered.1;
    }
}
