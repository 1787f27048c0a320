//! Class-based queueing, as Linux had it from 2.2 to 6.2 (`sch_cbq`).
//!
//! Sources: Floyd and Jacobson, *Link-sharing and Resource Management Models for Packet Networks*, 1995 (below: the
//! paper); Floyd, *Notes on Class-Based Queueing: Setting Parameters*, 1996; the behaviour of Linux and of tc-cbq(8),
//! from which no text is taken.
//!
//! # How it works
//!
//! Every class has an [`Estimator`]: a class that has used its rate or more is over its limit until a time,
//! `undertime`. A leaf with packets may send if it is under its limit, or if a class is that it may borrow from: its
//! parent, its parent's parent and so on, up to a class that is `bounded`, which does not borrow. Of those that may,
//! the ones of the most urgent priority take turns, weighted: a turn is worth `allot` times the weight, relative to
//! the mean weight of that priority. What a leaf sends is charged to it and to all classes that it is in, up to one
//! that is `isolated`.
//!
//! The device does not say when a packet's last bit has left. Its end is computed from the time at which it was taken
//! and `bandwidth_bps`, and charged when the next packet is asked for. An idle class has an average of idle time of
//! at most `maxidle`: so it may send `maxburst` packets, and the one that ends its idleness, at the speed of the
//! link.
//!
//! # Where Linux departs from the paper
//!
//! - Link-sharing. The paper's formal guideline lets a class go on if it is not over its limit, or has an ancestor
//!   that isn't at a level at which nobody is unsatisfied; it approximates that by *ancestor-only* (any ancestor
//!   under its limit lends) and *top-level* (only ancestors up to a level that a variable keeps). Linux has top-level
//!   with rules of its own. The level falls to that of a class under its limit when a packet comes for it or for one
//!   below it; it is set anew when a packet has been sent whose class has more, and rises to infinity when nobody may
//!   send.
//! - The root never holds back: when nobody may send, its limit is forgiven and all are asked again. A leaf with an
//!   unbroken chain to the root may always take what the link has left.
//! - When a leaf finds that it and all its lenders are over their limits it waits, but the debt in its average is
//!   forgiven (`classic`): a class that had borrowed much gets its own rate at once when there is nothing more to
//!   borrow. In the paper it pays back.
//! - `isolated` means that a class's packets are not charged to its parent. In the paper an isolated class neither
//!   borrows nor lends. In Linux it borrows unless it is `bounded`, too; and what the others may borrow of the parent
//!   is the parent's rate whether the isolated class is idle or not, so that its idleness lends them nothing. For
//!   that the parent's rate must not count the isolated class's, and some class above must be bounded, since the root
//!   lends all that the link has.
//! - Quanta may be smaller than packets; the paper's round robin gives a class at least a packet a round.
//!
//! # Where this departs from Linux
//!
//! - Times are picoseconds and costs of packets are exact to one (rounded up); Linux has ticks of 64 ns, tables of
//!   256 sizes, and takes a class that has been idle for more than 2^27 ticks as idle for ever.
//! - The clock is that of Linux since 3.11, which sets it at each packet. Before, packets of a device faster than
//!   `bandwidth_bps` made the clock run ahead, so that classes got less than their rates.
//! - Classes of one priority take turns in the order of the tree, not in that in which they last got a packet. Leaves
//!   that can't send are not visited: the state of 64 is read at once.
//! - A leaf gets its quantum when its turn comes. Linux gives it when the turn of the class before it is over, also
//!   to one that is over its limit, and whose deficit so grows without bound.
//! - The mean weight is that of the leaves of a priority. Linux counts inner classes and the root, too, so that small
//!   weights make quanta of zero, which it replaces by half a frame: shares are lost.
//! - Packets without a class are dropped (Linux has a queue at the root); only leaves have queues. Overlimit actions
//!   other than `classic`, and `split`/`defmap` are not there: filters do what the latter did.

mod build;
mod discipline;
mod estimator;
mod leaves;
#[cfg(test)]
mod tests;

use super::classify::Classifier;
use super::cost::Cost;
use super::parking::Parking;
use super::spec::CbqSpec;
use super::{Context, Discipline, Facts, Held, Inner, Packet};
use base::Time;
use base::diagnostic::Diagnostic;
use estimator::{Estimator, UNDER};
use leaves::{Leaves, Words};

/// A cutoff above all levels.
const NO_CUTOFF: u8 = u8::MAX;

/// The discipline. See the [module](self).
#[derive(Debug)]
pub struct Cbq {
    classifier: Classifier,
    /// Leaves, then inner classes, then the root.
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// Leaves that each class lends to.
    reaches: Vec<Words>,
    names: Vec<String>,
    /// The class that each is in, if it is in one.
    parents: Vec<Option<u32>>,
    sets: Leaves,
    /// Classes that are over their limits, by when they are not any more.
    parking: Parking,
    /// Leaves whose own queues hold back.
    stalled: Parking,
    /// The highest level that lends.
    toplevel: u8,
    transmitting: Option<Sent>,
    /// What bytes cost on the link.
    link: Cost,
    mpu: u32,
    held: Held,
    inner: Inner,
}

/// A class, in two lines of cache.
#[derive(Debug)]
#[repr(align(64))]
struct Node {
    estimator: Estimator,
    /// Place of the parent, which is charged for what this class sends; absent for the root.
    share: Option<u32>,
    /// Place of the class that lends to this one; absent for a bounded class and the root.
    borrow: Option<u32>,
    level: u8,
    /// Is it known to the sets as under its limit? If not, it is parked.
    open: bool,
    sent_packets: u64,
    sent_bytes: u64,
    /// Packets that were sent at a lender's expense; of an inner class, that others sent at its expense.
    borrowed: u64,
    overlimits: u64,
}

/// What only a leaf has.
#[derive(Debug)]
struct Leaf {
    queue: Box<dyn Discipline>,
    /// Packets in its queue.
    waits: u64,
    deficit: i64,
    quantum: i64,
    band: u8,
}

/// The packet on the link.
#[derive(Clone, Copy, Debug)]
struct Sent {
    leaf: u32,
    /// Who was under its limit: the leaf, or who lent.
    payer: u32,
    len: u32,
    at: Time,
}

impl Cbq {
    /// What a user described, with the queues below.
    pub fn new(spec: &CbqSpec, facts: &Facts) -> Result<Cbq, Diagnostic> {
        let mut cbq = build::new(spec, facts)?;
        cbq.open_all();
        Ok(cbq)
    }

    fn open_all(&mut self) {
        for at in 0..self.nodes.len() {
            self.set_under(at, true);
        }
    }

    fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Tells the sets whether the class is under its limit.
    #[inline]
    fn set_under(&mut self, at: usize, value: bool) {
        let Some(node) = self.nodes.get_mut(at) else { return };
        node.open = value;
        if at < self.leaves.len() {
            self.sets.set_under(at, value);
        } else if let Some(reach) = self.reaches.get(at) {
            self.sets.set_lent(node.level, reach, value);
        }
    }

    /// Files the class by its undertime, after a change.
    fn file(&mut self, at: usize, now: Time) {
        let Some(node) = self.nodes.get(at) else { return };
        let (open, over, until) = (node.open, node.estimator.over(now.0), node.estimator.undertime);
        if open == over {
            self.set_under(at, !over);
        }
        if over {
            self.parking.park(at as u32, Time(until));
        } else if !open {
            self.parking.release(at as u32);
        }
    }

    /// Charges the packet that was taken last, which has left by now.
    fn charge(&mut self, now: Time) {
        let Some(Sent { leaf, payer, len, at }) = self.transmitting.take() else { return };
        let counted = len.max(self.mpu);
        let on_link = self.link.of(counted);
        let end = at.0.saturating_add_signed(on_link);
        let mut next = Some(leaf);
        while let Some(at) = next {
            let Some(node) = self.nodes.get_mut(at as usize) else { break };
            node.estimator.sent(end, counted, on_link);
            node.sent_packets += 1;
            node.sent_bytes += u64::from(len);
            next = node.share;
            // One that was under its limit and still is stays where it is filed.
            if node.estimator.over(now.0) || !node.open {
                self.file(at as usize, now);
            }
        }
        // The cutoff is set anew by a class that has more to send, to the level of its first lender that is under its
        // limit.
        let payer_level = self.nodes.get(payer as usize).map_or(0, |node| node.level);
        if self.toplevel >= payer_level && self.waits(leaf as usize) > 1 {
            let mut next = Some(payer);
            while let Some(node) = next.and_then(|at| self.nodes.get(at as usize)) {
                if node.estimator.undertime == UNDER {
                    self.toplevel = node.level;
                    return;
                }
                next = node.borrow;
            }
        }
    }

    #[inline]
    fn waits(&self, leaf: usize) -> u64 {
        self.leaves.get(leaf).map_or(0, |leaf| leaf.waits)
    }

    /// A packet has come for a leaf: lending is cut off above the first class of its chain that is under its limit.
    fn lower_cutoff(&mut self, leaf: usize, now: Time) {
        if self.sets.stalled(leaf) {
            return;
        }
        let mut next = Some(leaf as u32);
        while let Some(node) = next.and_then(|at| self.nodes.get(at as usize)) {
            if self.toplevel <= node.level {
                return;
            }
            if node.estimator.undertime == UNDER || node.estimator.undertime < now.0 {
                self.toplevel = node.level;
                return;
            }
            next = node.borrow;
        }
    }

    /// Who pays for the leaf's next packet: the first of its chain that is under its limit.
    #[inline]
    fn payer(&mut self, leaf: usize, now: Time) -> u32 {
        if let Some(node) = self.nodes.get_mut(leaf).filter(|node| !node.estimator.over(now.0)) {
            if node.estimator.delayed {
                node.estimator.delayed = false;
                self.sets.set_delayed(leaf, false);
            }
            return leaf as u32;
        }
        let mut next = self.nodes.get(leaf).and_then(|node| node.borrow);
        while let Some((at, node)) = next.and_then(|at| Some((at, self.nodes.get(at as usize)?))) {
            if !node.estimator.over(now.0) {
                return at;
            }
            next = node.borrow;
        }
        leaf as u32
    }

    /// The leaf has found that it and all its lenders are over their limits.
    fn delay(&mut self, leaf: usize, now: Time) {
        let Some(node) = self.nodes.get_mut(leaf) else { return };
        node.overlimits += 1;
        node.estimator.delay(now.0);
        self.sets.set_delayed(leaf, true);
        self.file(leaf, now);
    }

    /// The next packet of a band, which takes turns from where it was.
    #[inline]
    fn serve(&mut self, band: usize, cursor: usize, cx: &mut Context<'_>) -> Option<Packet> {
        if self.sets.width() == 1 {
            self.serve_few(band, cursor, cx)
        } else {
            self.serve_many(band, cursor, cx)
        }
    }

    /// The same if there are no more leaves than bits of a word, which is turned until that of the turn is the lowest.
    #[inline]
    fn serve_few(&mut self, band: usize, turn: usize, cx: &mut Context<'_>) -> Option<Packet> {
        // Rounds that are granted at once: as many as nobody would send in.
        let mut grant = 1;
        loop {
            let mut missing: Option<i64> = None;
            // Asking a leaf changes no bits but its own.
            let (may, stuck) = self.sets.candidates(band, 0, self.toplevel);
            let may = may.rotate_right(turn as u32);
            let mut visits = may | stuck.rotate_right(turn as u32);
            while visits != 0 {
                let place = visits.trailing_zeros();
                let leaf = (place as usize + turn) % 64;
                visits &= visits - 1;
                if may >> place & 1 == 0 {
                    self.delay(leaf, cx.now);
                    continue;
                }
                match self.visit(leaf, grant, cx) {
                    Visit::Sent(packet) => return Some(packet),
                    Visit::Short(rounds) => {
                        missing = Some(missing.map_or(rounds, |least| least.min(rounds)));
                    }
                    Visit::Nothing => {}
                }
            }
            grant = missing?.max(1);
        }
    }

    /// The same of any number of leaves.
    #[inline(never)]
    fn serve_many(&mut self, band: usize, cursor: usize, cx: &mut Context<'_>) -> Option<Packet> {
        // Rounds that are granted at once: as many as nobody would send in.
        let mut grant = 1;
        loop {
            let mut missing: Option<i64> = None;
            let (width, start, shift) = (self.sets.width(), cursor / 64, cursor as u32 % 64);
            // Asking a leaf changes no bits but its own.
            let turn = self.sets.candidates(band, start, self.toplevel);
            // The word in which the turn is comes twice: its upper part first, its lower part last.
            let later = u64::MAX << shift;
            for step in 0..width + 1 {
                let word = if start + step < width { start + step } else { start + step - width };
                let (may, stuck) = match step {
                    0 => (turn.0 & later, turn.1 & later),
                    _ if step == width => (turn.0 & !later, turn.1 & !later),
                    _ => self.sets.candidates(band, word, self.toplevel),
                };
                let mut visits = may | stuck;
                while visits != 0 {
                    let (place, one) = (visits.trailing_zeros(), visits & visits.wrapping_neg());
                    let leaf = word * 64 + place as usize;
                    visits ^= one;
                    if may & one == 0 {
                        self.delay(leaf, cx.now);
                        continue;
                    }
                    match self.visit(leaf, grant, cx) {
                        Visit::Sent(packet) => return Some(packet),
                        Visit::Short(rounds) => {
                            missing = Some(missing.map_or(rounds, |least| least.min(rounds)))
                        }
                        Visit::Nothing => {}
                    }
                }
            }
            grant = missing?.max(1);
        }
    }

    /// A leaf that may send is asked.
    #[inline]
    fn visit(&mut self, leaf: usize, grant: i64, cx: &mut Context<'_>) -> Visit {
        let payer = self.payer(leaf, cx.now);
        let Some(class) = self.leaves.get_mut(leaf) else { return Visit::Nothing };
        if class.deficit <= 0 {
            class.deficit = class.deficit.saturating_add(class.quantum.saturating_mul(grant));
            if class.deficit <= 0 {
                self.sets.pass_turn(usize::from(class.band), leaf);
                return Visit::Short(-class.deficit / class.quantum + 1);
            }
        }
        let before = cx.losses();
        let (packet, until) = cx.ask(|cx| class.queue.dequeue(cx));
        self.inner.follow(before, cx);
        class.waits = class.queue.backlog().packets;
        let (empty, band) = (class.waits == 0, class.band);
        if empty {
            self.sets.set_backlogged(leaf, band, false);
        }
        let Some(packet) = packet else {
            if !empty {
                self.sets.set_stalled(leaf, true);
                self.stalled.park(leaf as u32, until);
            }
            return Visit::Nothing;
        };
        class.deficit -= i64::from(packet.len) * build::BYTE;
        if class.deficit <= 0 {
            self.sets.pass_turn(usize::from(band), leaf);
        }
        if payer as usize != leaf {
            for at in [leaf, payer as usize] {
                self.nodes[at].borrowed += 1;
            }
        }
        self.transmitting = Some(Sent { leaf: leaf as u32, payer, len: packet.len, at: cx.now });
        Visit::Sent(packet)
    }

    /// The next packet of all.
    fn next(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        self.charge(cx.now);
        while let Some(at) = self.parking.due(cx.now) {
            self.set_under(at as usize, true);
        }
        while let Some(leaf) = self.stalled.due(cx.now) {
            self.sets.set_stalled(leaf as usize, false);
        }
        loop {
            let mut bands = self.sets.bands();
            while bands != 0 {
                let band = bands.trailing_zeros() as usize;
                bands &= bands - 1;
                let packet = self.serve(band, self.sets.turn(band), cx);
                if packet.is_some() {
                    return packet;
                }
            }
            // Nobody may send. That is so for sure only without a cutoff, and if the link itself, which can send now,
            // is not over its limit.
            let root = self.root();
            let link = &mut self.nodes[root].estimator;
            if self.toplevel == NO_CUTOFF && link.undertime == UNDER {
                break;
            }
            link.undertime = UNDER;
            self.toplevel = NO_CUTOFF;
            self.file(root, cx.now);
        }
        if self.inner.counters.backlog.packets > 0 {
            self.inner.counters.overlimits += 1;
            [self.parking.next(), self.stalled.next()].into_iter().flatten().for_each(|at| cx.wake_at(at));
        }
        None
    }
}

/// What came of asking a leaf.
enum Visit {
    Sent(Packet),
    /// It has to wait for so many more quanta.
    Short(i64),
    Nothing,
}
