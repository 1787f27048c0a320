//! Queues of ports: which there are, what controllers are told of them, and what they have counted.
//!
//! A queue is a class of the disciplines in front of the port's link, to which packets with its number as their mark
//! go. What it has counted is known to whoever runs the switch, who is asked ([`Output::AskQueue`]) and answers at
//! once; up to then nothing else that the controller says is read, so that it gets its answers in order.

use super::flows::age;
use super::{Switch, version_1_0, version_1_3};
use base::{Output, PortId, QueueCount, Rate, Time};
use forwarding::queue::spec::MarkedClass;
use std::collections::BTreeSet;
use wire::openflow::{Code, Version};

/// The number that stands for all queues of a port: OFPQ_ALL.
pub(super) const ALL_QUEUES: u32 = u32::MAX;

/// A question of a controller that waits for what queues have counted.
#[derive(Clone, Debug)]
pub(super) struct Question {
    xid: u32,
    /// Port and queue of each row of the answer, in order.
    wanted: Vec<(u32, MarkedClass)>,
    /// What is known of them.
    rows: Vec<Counted>,
    /// Ports that have not said yet what their queues have counted.
    left: BTreeSet<u32>,
}

/// What a queue has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) port: u32,
    pub(super) queue: u32,
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Packets that found no room, or were dropped later.
    pub(super) errors: u64,
}

/// A rate in thousandths of that of the port, as controllers are told it; nothing if the port has no rate.
pub(super) fn thousandths(rate: Option<Rate>, of_port: u64) -> Option<u16> {
    let part = u128::from(rate?.0) * 1000;
    let rounded = (part + u128::from(of_port) / 2).checked_div(of_port.into())?;
    Some(rounded.min(1000) as u16)
}

impl Switch {
    /// Has any port such a queue?
    pub(super) fn has_queue(&self, queue: u32) -> bool {
        self.ports.iter().any(|port| port.queue(queue).is_some())
    }

    /// The queues of one port, or of all.
    pub(super) fn queues_of(&self, port: Option<u32>) -> impl Iterator<Item = (u32, u64, &MarkedClass)> {
        let ports = self.all_ports().filter(move |(number, ..)| port.is_none_or(|wanted| wanted == *number));
        ports.flat_map(|(number, port, _)| port.queues.iter().map(move |queue| (number, port.rate, queue)))
    }

    /// Asks what queues have counted: those of one port or of all, one of them or all. `faults` are those of a port and
    /// of a queue that there are not.
    pub(super) fn ask_queues(
        &mut self,
        now: Time,
        (from, xid): (u32, u32),
        port: Option<u32>,
        queue: u32,
        faults: [Code; 2],
    ) -> Result<(), Code> {
        if port.is_some_and(|port| !self.datapath.ports().contains_key(&port)) {
            return Err(faults[0]);
        }
        let is_meant = |one: &MarkedClass| queue == ALL_QUEUES || one.mark == queue;
        let found = self.queues_of(port).filter(|(.., one)| is_meant(one));
        let wanted: Vec<(u32, MarkedClass)> = found.map(|(port, _, one)| (port, one.clone())).collect();
        if wanted.is_empty() && queue != ALL_QUEUES {
            return Err(faults[1]);
        }
        let left: BTreeSet<u32> = wanted.iter().map(|(port, _)| *port).collect();
        for port in &left {
            self.outputs.push_back(Output::AskQueue { port: PortId(*port as u16 - 1) });
        }
        if let Some(connection) = self.agent.connections.get_mut(&from) {
            connection.asking = Some(Question { xid, wanted, rows: Vec::new(), left });
        }
        self.answer(now, from);
        Ok(())
    }

    /// The queues of a port have counted so much.
    pub(super) fn queue_counted(&mut self, now: Time, port: PortId, queues: &[QueueCount]) {
        let number = u32::from(port.0) + 1;
        let mut told = Vec::new();
        for (id, connection) in &mut self.agent.connections {
            let Some(question) = &mut connection.asking else { continue };
            if !question.left.remove(&number) {
                continue;
            }
            for (_, wanted) in question.wanted.iter().filter(|(port, _)| *port == number) {
                let count = queues.iter().find(|count| count.path == wanted.path);
                question.rows.push(Counted {
                    port: number,
                    queue: wanted.mark,
                    packets: count.map_or(0, |count| count.sent_packets),
                    bytes: count.map_or(0, |count| count.sent_bytes),
                    errors: count.map_or(0, |count| count.dropped_packets),
                });
            }
            told.push(*id);
        }
        for id in told {
            self.answer(now, id);
            self.read_messages(now, id);
        }
        self.agent.wake();
    }

    /// Answers a question about queues, if all is known.
    fn answer(&mut self, now: Time, to: u32) {
        let Switch { agent, ports, .. } = self;
        let Some(connection) = agent.connections.get_mut(&to) else { return };
        let answered = connection.asking.take_if(|asking| asking.left.is_empty());
        let Some(Question { xid, rows, .. }) = answered else { return };
        match connection.channel.version() {
            Some(Version::V1_0) => version_1_0::send_queues(connection, xid, &rows),
            _ => version_1_3::send_queues(connection, xid, &rows, |port| {
                age(now, ports[port as usize - 1].created)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_thousandths_of_the_port_rounded() {
        assert_eq!(thousandths(Some(Rate(2_500_000)), 10_000_000), Some(250));
        assert_eq!(thousandths(Some(Rate(1)), 3_000), Some(0));
        assert_eq!(thousandths(Some(Rate(2)), 3_000), Some(1));
        assert_eq!(thousandths(Some(Rate(u64::MAX)), 1), Some(1000));
        assert_eq!(thousandths(Some(Rate(5)), 0), None);
        assert_eq!(thousandths(None, 1_000), None);
    }
}
