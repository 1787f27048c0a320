//! Tables `losses` and `flow_accounts`: where and why packets of each flow were lost, and that none is missing.
//!
//! Whoever discards a frame hands it to a [`base::LossBook`]. It asks [`Owners`] whose frame that was, and nobody else
//! on the way of a packet knows flows.

use super::Testbed;
use crate::packet::{Ports, read_stamp};
use base::device::DropReason;
use base::losses::{Keeping, Recognise, Recognised, Stretch, TestPacket};
use base::table::{Rows, Table, word};
use base::{Dscp, NodeId, Phb, StreamId, Time, TrafficClass};
use engine::LossPlace;
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use wire::{ethernet, measurement};

base::table! {
    /// Packets of each flow that were lost: where, why and when. A packet that was copied on its way counts as often as
    /// copies of it were lost.
    pub struct LossRow<'a> in "losses" key ["flow", "time_s", "phb", "tc", "place", "node", "port", "to", "reason"] {
        /// The flow, by its place in the description.
        flow: u32,
        /// The PHB that its IP header asked for, by the recommended code points.
        phb: String,
        /// TC of the outermost label that it had; absent without label, and of a packet that was never sent.
        tc: Option<u32>,
        /// `source`: the source had its turn and could not send; `device`: in the node, between its ports; `port`: at
        /// the port by which it was to leave, in its queue or refused by it; `link`: on the link behind the port;
        /// `between`: nobody knows where.
        place: &'static str,
        /// The node where it was lost; of a link and of what nobody knows, that from which it came.
        node: &'a str,
        /// The node's port by which it came (`device`) or was to leave (`port`, `link`); absent at a source, and where
        /// nobody knows.
        port: Option<u32>,
        /// The node to which it was on its way on a link, or somewhere between; absent otherwise.
        to: Option<&'a str>,
        /// Why: the reasons of table `drops`. `no-route` at a source says that no LSP was up for it, `no-adjacency`
        /// that the neighbour's address was not known; `misdelivered` that a sink got it which does not expect the
        /// flow; `unknown` that no table of this process explains it.
        reason: String,
        /// When the bin of time begins in which it was lost; absent where nobody knows.
        time_s: Option<Time> = "s",
        /// How many.
        packets: u64 = "packets",
    }
}

base::table! {
    /// What became of the packets of each flow: sent and duplicated together are received, lost,
    /// unselected, in flight, or unknown.
    pub struct AccountRow in "flow_accounts" key ["flow"] {
        /// The flow, by its place in the description.
        flow: u32,
        /// Packets whose turn came at the source, whether or not it could send them; absent if the source is in another
        /// process.
        sent: Option<u64> = "packets",
        /// Copies made on the way: by a fault, by replication, by a bridge.
        duplicated: u64 = "packets",
        /// Packets that the sink got, duplicates included; absent if it is in another process.
        received: Option<u64> = "packets",
        /// Packets lost, by table `losses`, without those of reason `unknown`.
        lost: u64 = "packets",
        /// Copies that came by an LSP whose packets were not taken where it ends (protection 1+1); they are not lost.
        unselected: u64 = "packets",
        /// Packets that are queued, on a link, or waiting in a node.
        in_flight: u64 = "packets",
        /// Packets that are none of these: in one process none. In a lab those that were lost, or still are, in other
        /// processes; less than zero if more came in than went out. Absent without source or sink.
        unknown: Option<i64> = "packets",
    }
}

base::table! {
    /// When packets of each flow were lost, as stretches of time in which they were lost at one place for one reason. A
    /// stretch ends where nothing is lost for a hundredth of `loss_bin`, with the bin, and before something is done to
    /// the network (table `actions`): together they are the packets of table `losses` whose time is known.
    pub struct TimeRow in "loss_times" key [] {
        /// The flow, by its place in the description.
        flow: u32,
        /// When the first packet of the stretch was lost.
        first_s: Time = "s",
        /// When the last one was lost.
        last_s: Time = "s",
        /// How many were lost from the first to the last.
        packets: u64 = "packets",
    }
}

/// Whose a stream is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// UDP ports of its packets.
    pub(super) ports: Ports,
    pub(super) flow: u32,
    /// Its turn among the streams of the flow, which send one after the other.
    pub(super) turn: u32,
    /// How many streams the flow has.
    pub(super) turns: u32,
}

/// Whose test packets are: the UDP ports and the flow of each stream, by its number. Streams are only added, while
/// those that there are may be read elsewhere: without a lock, since that would cost more than all else that is done
/// for a lost packet. Each row has twice the places of the one before, the first has one.
#[derive(Debug, Default)]
pub(super) struct Owners {
    rows: [OnceLock<Box<[OnceLock<Owner>]>>; Owners::ROWS],
    count: AtomicUsize,
}

impl Owners {
    /// Enough for all numbers of streams.
    const ROWS: usize = measurement::MAX_STREAM.ilog2() as usize + 2;

    /// Row of a stream, and place in it.
    fn place(stream: usize) -> (usize, usize) {
        let row = (stream + 1).ilog2() as usize;
        (row, stream + 1 - (1 << row))
    }

    /// The next stream is this one's.
    pub(super) fn add(&self, owner: Owner) {
        let (row, place) = Owners::place(self.count.fetch_add(1, Ordering::Relaxed));
        if let Some(row) =
            self.rows.get(row).map(|of| of.get_or_init(|| (0..1 << row).map(|_| OnceLock::new()).collect()))
        {
            let _ = row[place].set(owner);
        }
    }

    fn get(&self, stream: StreamId) -> Option<Owner> {
        let (row, place) = Owners::place(stream.index());
        self.rows.get(row)?.get()?.get(place)?.get().copied()
    }
}

impl Recognise for Owners {
    /// As a sink does ([`crate::sink::Sink::takes`]), of the streams of all sinks together.
    fn recognise(&self, header: &[u8]) -> Option<Recognised> {
        let stamp = read_stamp(header, Time::ZERO)?;
        let Owner { ports, flow, turn, turns } = self.get(stamp.stream)?;
        let number = u64::from(stamp.sequence) * u64::from(turns) + u64::from(turn);
        let is_test = stamp.ports.dst == measurement::PORT || stamp.ports == ports;
        let ip = header.get(usize::from(stamp.ip)..)?.first_chunk::<2>()?;
        let tos = if ip[0] >> 4 == 6 { ip[0] << 4 | ip[1] >> 4 } else { ip[1] };
        // What is between the Ethernet header and that of IP is labels; TC is in the third byte of an entry.
        let labelled = usize::from(stamp.ip) > ethernet::HEADER_LEN;
        let class = labelled.then(|| TrafficClass::truncate(header[ethernet::HEADER_LEN + 2] >> 1));
        let packet = TestPacket { flow, dscp: Dscp::of_tos(tos), class };
        is_test.then_some(Recognised { packet, number })
    }
}

/// Where packets were lost: a row but for flow, class, reason and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    place: &'static str,
    node: usize,
    port: Option<u32>,
    to: Option<usize>,
}

/// Flow, when, DSCP, TC, where, why: the order of rows.
type Key = (u32, Option<Time>, Dscp, Option<u32>, At, Option<DropReason>);

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    sent: Option<u64>,
    received: Option<u64>,
    duplicated: u64,
    lost: u64,
    unselected: u64,
    in_flight: u64,
}

impl Account {
    /// Packets that are neither received nor lost nor left nor in flight, as far as is known.
    fn unknown(&self) -> Option<i64> {
        let known = self.received? + self.lost + self.unselected + self.in_flight;
        Some((self.sent? + self.duplicated) as i64 - known as i64)
    }
}

impl Testbed {
    /// Keeps what is lost from now on.
    pub(super) fn keep_losses(&mut self) {
        let owners: Arc<dyn Recognise> = self.owners.clone();
        let keeping = Keeping::new(owners, self.measuring.loss_bin, self.network.moments());
        self.network.world_mut().keep_losses(keeping);
    }

    /// Where a flow begins that is asked for; all nodes if all flows are.
    fn asked_origins(&self, only: Option<usize>) -> Vec<usize> {
        match only {
            Some(flow) => self.flows.get(flow).map(|flow| flow.spec.from).into_iter().collect(),
            None => self.ids().map(NodeId::index).collect(),
        }
    }

    fn known_losses(&self, only: Option<usize>) -> BTreeMap<Key, u64> {
        let is_asked = |flow: u32| only.is_none_or(|only| flow as usize == only);
        let nodes = 0..self.description().nodes.len();
        let beside = LazyCell::new(|| {
            nodes.filter_map(|node| Some((self.network.beside(node)?.0, node))).collect::<BTreeMap<_, _>>()
        });
        // The node of the description at which a device stands: its own, or the router that it is beside.
        let place_of = |id: NodeId| beside.get(&id).copied().unwrap_or(id.index());
        let mut rows: BTreeMap<Key, u64> = BTreeMap::new();
        for losses in self.network.world().losses() {
            let at = LazyCell::new(|| {
                let (place, to) = match losses.place {
                    LossPlace::Device => ("device", None),
                    LossPlace::Port => ("port", None),
                    LossPlace::Link => ("link", Some(place_of(losses.to))),
                };
                At { place, node: place_of(losses.node), port: Some(u32::from(losses.port.0)), to }
            });
            for (loss, count) in losses.book.losses() {
                let TestPacket { flow, dscp, class } = loss.packet;
                if !is_asked(flow) {
                    continue;
                }
                let at = *at;
                let tc = class.map(|class| u32::from(class.value()));
                *rows.entry((flow, Some(loss.start), dscp, tc, at, Some(loss.reason))).or_default() += count;
            }
        }
        for node in self.asked_origins(only) {
            let Some(instrument) = self.instrument(node) else { continue };
            let reason = instrument.unsent_reason();
            let at = At { place: "source", node, port: None, to: None };
            for (stream, start, count) in instrument.generator().sources().iter().flat_map(|s| s.unsent()) {
                let Some(&flow) = self.streams.get(stream.index()).filter(|flow| is_asked(**flow)) else {
                    continue;
                };
                let dscp = self.dscp_of(flow);
                *rows.entry((flow, Some(start), dscp, None, at, Some(reason))).or_default() += count;
            }
        }
        rows
    }

    fn dscp_of(&self, flow: u32) -> Dscp {
        self.flows.get(flow as usize).and_then(|flow| Dscp::new(flow.spec.dscp)).unwrap_or_default()
    }

    /// The flows by their numbers: all, or the one that is asked for.
    fn accounts(&self, lost: &BTreeMap<Key, u64>, only: Option<usize>) -> BTreeMap<u32, Account> {
        let asked = self.asked_flows(only).map(|(flow, _)| (flow as u32, Account::default()));
        let mut accounts: BTreeMap<u32, Account> = asked.collect();
        let mut add = |flow: u32, what: &dyn Fn(&mut Account)| {
            if let Some(account) = accounts.get_mut(&flow) {
                what(account);
            }
        };
        for node in self.asked_origins(only) {
            let sources = self.generator(node).into_iter().flat_map(|generator| generator.sources());
            for (stream, marks) in sources.flat_map(|source| source.sent()) {
                let Some(&flow) = self.streams.get(stream.index()) else { continue };
                let sent = marks.last().copied().unwrap_or(0);
                add(flow, &|account| account.sent = Some(account.sent.unwrap_or(0) + sent));
            }
        }
        let first = self.asked_flows(only).next().map_or(0, |(_, flow)| flow.first_stream as usize);
        let is_asked = |(_, flow): &(usize, &u32)| only.is_none_or(|only| **flow as usize == only);
        for (number, &flow) in self.streams.iter().enumerate().skip(first).take_while(is_asked) {
            let nodes = self.flows.get(flow as usize).into_iter().flat_map(|flow| flow.spec.receivers());
            for sink in nodes.filter_map(|node| self.sink(node)) {
                let arrived = sink.arrived(StreamId(number as u32));
                add(flow, &|account| account.received = Some(account.received.unwrap_or(0) + arrived));
            }
        }
        for (key, count) in lost {
            add(key.0, &|account| account.lost += count);
        }
        for losses in self.network.world().losses() {
            losses.book.copies().for_each(|(flow, count)| add(flow, &|account| account.duplicated += count));
            losses
                .book
                .unselected()
                .for_each(|(flow, count)| add(flow, &|account| account.unselected += count));
        }
        // To look for them means to look at each queue, link and device: not for one flow of which nothing is missing.
        // The accounts of all are there to show mistakes, so nothing is taken for granted.
        let is_whole = |account: &Account| account.unknown() == Some(0);
        if only.is_none() || !accounts.values().all(is_whole) {
            self.network.world().show_held(&mut |frame| {
                let of = self.owners.recognise(frame.header());
                if let Some(account) = of.and_then(|of| accounts.get_mut(&of.packet.flow)) {
                    account.in_flight += 1;
                }
            });
        }
        accounts
    }
}

/// Flow by flow, in order of time; what nobody knows comes last.
pub(super) fn losses(testbed: &Testbed, only: Option<usize>) -> Table {
    let mut rows = testbed.known_losses(only);
    let accounts = testbed.accounts(&rows, only);
    for (flow, account) in accounts {
        let Some(count) = account.unknown().and_then(|count| u64::try_from(count).ok()).filter(|&n| n > 0)
        else {
            continue;
        };
        let spec = &testbed.flows[flow as usize].spec;
        let at = At { place: "between", node: spec.from, port: None, to: Some(spec.to) };
        rows.insert((flow, None, testbed.dscp_of(flow), None, at, None), count);
    }
    // A time that is absent is before all others as a key.
    let (unknown, known): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(key, _)| key.5.is_none());
    let mut table = Rows::new();
    for ((flow, time_s, dscp, tc, at, reason), packets) in known.into_iter().chain(unknown) {
        table.push(LossRow {
            flow,
            phb: Phb::of_dscp(dscp).to_string(),
            tc,
            place: at.place,
            node: testbed.node_name(at.node),
            port: at.port,
            to: at.to.map(|node| testbed.node_name(node)),
            reason: reason.map_or_else(|| "unknown".into(), |reason| word(&reason)),
            time_s,
            packets,
        });
    }
    table.finish()
}

/// Flow by flow, in order of time.
pub(super) fn times(testbed: &Testbed) -> Table {
    let books = testbed.network.world().losses();
    let mut times: Vec<(u32, Stretch)> =
        books.flat_map(|losses| losses.book.times().collect::<Vec<_>>()).collect();
    for node in testbed.ids().map(NodeId::index) {
        let sources = testbed.generator(node).into_iter().flat_map(|generator| generator.sources());
        let unsent = sources.flat_map(|source| source.unsent_times());
        times.extend(unsent.filter_map(|(stream, lost)| Some((*testbed.streams.get(stream.index())?, lost))));
    }
    times.sort_by_key(|(flow, lost)| (*flow, lost.first, lost.last, lost.packets));
    let rows = times.into_iter().map(|(flow, lost)| TimeRow {
        flow,
        first_s: lost.first,
        last_s: lost.last,
        packets: lost.packets,
    });
    rows.collect()
}

/// Flow by flow.
pub(super) fn accounts(testbed: &Testbed) -> Table {
    let accounts = testbed.accounts(&testbed.known_losses(None), None);
    let rows = accounts.into_iter().map(|(flow, account)| AccountRow {
        flow,
        sent: account.sent,
        duplicated: account.duplicated,
        received: account.received,
        lost: account.lost,
        unselected: account.unselected,
        in_flight: account.in_flight,
        unknown: account.unknown(),
    });
    rows.collect()
}
