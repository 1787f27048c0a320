//! Which devices of a network each world gets.
//!
//! Devices joined by links that are too short, or on which there is more to do than to forward, stay together. The
//! longer the shortest of the links between worlds is, the less often they have to wait for each other; so the links
//! that are joined are those shorter than a bound, which is as high as it can be while no part is too heavy to be
//! shared out evenly. Parts are then laid in a row, neighbours beside each other, and the row is cut.

use super::super::process::Sets;
use super::super::{Node, PortState};
use crate::lane::Lane;

/// A part may have this share of what a world is to get, so that they can be shared out evenly.
const PARTS_A_WORLD: u64 = 4;

/// Where the devices of a network go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// The world of each device.
    pub owner: Vec<u16>,
    /// How many worlds there are: two or more.
    pub worlds: usize,
    /// No frame takes less than this from one of them to another, in picoseconds.
    pub lookahead: u64,
}

impl Partition {
    /// Shares devices out to so many worlds at most, so that each has as much to do as the others if the devices have
    /// as much to do as `weights` says. Nothing if they can't be parted.
    pub fn new(
        nodes: &[Node],
        lanes: &[Lane],
        ports: &[PortState],
        weights: &[u64],
        worlds: usize,
    ) -> Option<Partition> {
        let parts = Parts::new(nodes.len(), lanes, ports, weights, worlds)?;
        let owner = parts.deal(lanes, weights, worlds);
        Partition::of(owner, lanes)
    }

    /// The partition that these owners make. Nothing if one has everything, or a frame may take no time between two.
    pub fn of(owner: Vec<u16>, lanes: &[Lane]) -> Option<Partition> {
        let crossing = (0..lanes.len()).filter(|&g| {
            let (from, to) = ends(lanes, g);
            owner[from] != owner[to]
        });
        let lookahead = crossing.map(|g| lanes[g].shortest()).min();
        let worlds = owner.iter().max().map_or(0, |last| usize::from(*last) + 1);
        let lookahead = lookahead.unwrap_or(u64::MAX / 4);
        (worlds > 1 && lookahead > 0).then_some(Partition { owner, worlds, lookahead })
    }
}

/// The devices that a lane leads from and to.
pub(super) fn ends(lanes: &[Lane], g: usize) -> (usize, usize) {
    (lanes[g ^ 1].to_node.index(), lanes[g].to_node.index())
}

/// Can two worlds have an end of this link each?
pub(super) fn is_parted_at(lanes: &[Lane], ports: &[PortState], link: usize) -> bool {
    [2 * link, 2 * link + 1].into_iter().all(|g| {
        let (lane, port) = (&lanes[g], &ports[g]);
        let plain = !lane.attend_arrivals && !lane.attend_departures && lane.medium().is_none();
        let undisturbed = port.impairments.is_none() && port.late == 0 && port.external.is_none();
        plain && undisturbed && lane.shortest() > 0
    })
}

/// Devices that stay together.
struct Parts {
    /// The part of each device.
    part: Vec<u32>,
    weights: Vec<u64>,
}

impl Parts {
    fn new(
        count: usize,
        lanes: &[Lane],
        ports: &[PortState],
        weights: &[u64],
        worlds: usize,
    ) -> Option<Parts> {
        let most = weights.iter().sum::<u64>() / (worlds as u64 * PARTS_A_WORLD);
        let mut sets = Sets::new(count);
        let mut free = Vec::new();
        for link in 0..lanes.len() / 2 {
            let shortest = lanes[2 * link].shortest().min(lanes[2 * link + 1].shortest());
            if is_parted_at(lanes, ports, link) {
                free.push((shortest, link));
            } else {
                let (a, b) = ends(lanes, 2 * link);
                sets.join(a as u32, b as u32);
            }
        }
        free.sort_unstable();
        // The same links once more, up to the length at which a part became too heavy.
        let bound = Parts::bound(&mut sets.clone(), weights, lanes, &free, most);
        for &(_, link) in free.iter().take_while(|(shortest, _)| *shortest < bound) {
            let (a, b) = ends(lanes, 2 * link);
            sets.join(a as u32, b as u32);
        }
        let (mut numbers, mut heavy) = (vec![u32::MAX; count], Vec::new());
        let part: Vec<u32> = (0..count)
            .map(|node| {
                let first = sets.first(node as u32) as usize;
                if numbers[first] == u32::MAX {
                    numbers[first] = heavy.len() as u32;
                    heavy.push(0);
                }
                heavy[numbers[first] as usize] += weights[node];
                numbers[first]
            })
            .collect();
        (heavy.len() > 1).then_some(Parts { part, weights: heavy })
    }

    /// The length of the first links that can't be joined as well.
    fn bound(sets: &mut Sets, weights: &[u64], lanes: &[Lane], free: &[(u64, usize)], most: u64) -> u64 {
        let mut heavy = vec![0; weights.len()];
        for (node, weight) in weights.iter().enumerate() {
            heavy[sets.first(node as u32) as usize] += weight;
        }
        for &(shortest, link) in free {
            let (a, b) = ends(lanes, 2 * link);
            let (a, b) = (sets.first(a as u32), sets.first(b as u32));
            if a != b {
                let both = heavy[a as usize] + heavy[b as usize];
                if both > most {
                    return shortest;
                }
                sets.join(a, b);
                heavy[a.min(b) as usize] = both;
            }
        }
        u64::MAX
    }

    /// Lays the parts in a row and cuts it. Returns the world of each device.
    fn deal(&self, lanes: &[Lane], weights: &[u64], worlds: usize) -> Vec<u16> {
        let count = self.weights.len();
        let mut beside: Vec<Vec<u32>> = vec![Vec::new(); count];
        for g in 0..lanes.len() {
            let (from, to) = ends(lanes, g);
            if self.part[from] != self.part[to] {
                beside[self.part[from] as usize].push(self.part[to]);
            }
        }
        let mut row = Vec::with_capacity(count);
        let mut seen = vec![false; count];
        for start in 0..count as u32 {
            if !seen[start as usize] {
                // From a part at the edge, so that the row leads across the network.
                let edge = walk(&beside, start, &mut vec![false; count]).last().copied().unwrap_or(start);
                row.extend(walk(&beside, edge, &mut seen));
            }
        }
        let total = weights.iter().sum::<u64>().max(1);
        let (mut before, mut world_of) = (0u64, vec![0u16; count]);
        for part in row {
            // Where the middle of its weight lies.
            let middle = before + self.weights[part as usize] / 2;
            let world = u128::from(middle) * worlds as u128 / u128::from(total);
            world_of[part as usize] = (world as usize).min(worlds - 1) as u16;
            before += self.weights[part as usize];
        }
        let mut used: Vec<u16> = world_of.clone();
        used.sort_unstable();
        used.dedup();
        let number = |world: u16| used.binary_search(&world).unwrap_or(0) as u16;
        self.part.iter().map(|part| number(world_of[*part as usize])).collect()
    }
}

/// The parts that can be reached from one, the nearest first.
fn walk(beside: &[Vec<u32>], start: u32, seen: &mut [bool]) -> Vec<u32> {
    let mut row = vec![start];
    seen[start as usize] = true;
    let mut at = 0;
    while let Some(&part) = row.get(at) {
        for &next in &beside[part as usize] {
            if !core::mem::replace(&mut seen[next as usize], true) {
                row.push(next);
            }
        }
        at += 1;
    }
    row
}
