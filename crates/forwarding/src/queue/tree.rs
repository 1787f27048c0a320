//! A tree of disciplines at an egress port: one way in, one way out.

use super::accounting::Counting;
use super::counters::QueueRow;
use super::spec::TreeSpec;
use super::{Backlog, Context, Discipline, Dropped, Packet, build};
use crate::conditioner::Conditioner;
use base::device::DropReason;
use base::diagnostic::{At, Diagnostic};
use base::diffserv::DiffServConfig;
use base::frame::Framing;
use base::losses::Keeping;
use base::random::Stream;
use base::{Frame, LossBook, Rate, Span, Time};

/// What a tree must know of the port that it is at.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// How fast the port sends; zero is in no time.
    pub rate: Rate,
    /// The longest packet (Ethernet payload) that it takes, in bytes.
    pub mtu: u32,
}

impl Facts {
    /// The longest frame as [`super::accounting::Layer::Link`] counts it.
    pub fn longest(&self) -> u32 {
        self.mtu.saturating_add(14)
    }
}

/// What a tree has to send.
#[derive(Debug)]
pub enum Take {
    /// The frame that is sent now.
    Frame(Frame),
    /// Nothing before this time.
    Wait(Time),
    /// Nothing until something is offered.
    Empty,
}

/// What went through a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// All that was to be sent.
    pub offered: Backlog,
    /// All that the port took to send it.
    pub taken: Backlog,
    /// All that was dropped, on arrival or out of a queue.
    pub dropped: Dropped,
}

/// A tree of queue disciplines. Offer and take in order of time.
#[derive(Debug)]
pub struct Tree {
    root: Box<dyn Discipline>,
    conditioner: Option<Conditioner>,
    counting: Counting,
    random: Stream,
    totals: Totals,
    losses: LossBook,
}

impl Tree {
    /// Builds what a user described, at a port of which `facts` are known; its randomness comes from `random`.
    pub fn new(spec: &TreeSpec, facts: &Facts, random: Stream) -> Result<Tree, Diagnostic> {
        spec.resolved()?;
        let root = build(&spec.root, facts)?;
        let conditioner = spec.conditioner().map(Conditioner::new).transpose().at("conditioner")?;
        let (counting, totals) = (spec.accounting.into(), Totals::default());
        Ok(Tree { root, conditioner, counting, random, totals, losses: LossBook::default() })
    }

    /// Says on which medium the port sends; on Ethernet if it is never told.
    pub fn set_framing(&mut self, framing: Framing) {
        self.counting.set_framing(framing);
        self.totals.dropped.framing = framing;
        if let Some(conditioner) = &mut self.conditioner {
            conditioner.set_framing(framing);
        }
    }

    /// A frame is to be sent.
    #[inline]
    pub fn offer(&mut self, now: Time, mut frame: Frame) {
        let len = self.counting.bytes(&frame);
        self.totals.offered.packets += 1;
        self.totals.offered.bytes += u64::from(len);
        if let Some(conditioner) = &mut self.conditioner
            && let Err(reason) = conditioner.condition(now, &mut frame)
        {
            self.totals.dropped.packets.count(reason);
            self.totals.dropped.bytes += u64::from(len);
            self.totals.dropped.wire_bytes += u64::from(self.totals.dropped.framing.of(&frame));
            self.losses.lost(now, &frame, reason);
            return;
        }
        let mut cx = Context::new(now, &mut self.random, &mut self.totals.dropped, &mut self.losses);
        self.root.enqueue(Packet { frame, len, entered: now }, &mut cx);
    }

    /// What the port is to send, which is free at `now`.
    pub fn take(&mut self, now: Time) -> Take {
        let mut cx = Context::new(now, &mut self.random, &mut self.totals.dropped, &mut self.losses);
        let packet = self.root.dequeue(&mut cx);
        let wake = cx.wake;
        match packet {
            Some(packet) => {
                self.totals.taken.packets += 1;
                self.totals.taken.bytes += u64::from(packet.len);
                Take::Frame(packet.frame)
            }
            None if self.root.backlog().packets == 0 => Take::Empty,
            None => Take::Wait(wake.max(now)),
        }
    }

    /// What waits in all queues of the tree together.
    pub fn backlog(&self) -> Backlog {
        self.root.backlog()
    }

    /// Drops all packets that wait, each counted with `reason`.
    pub fn clear(&mut self, now: Time, reason: DropReason) {
        let mut cx = Context::new(now, &mut self.random, &mut self.totals.dropped, &mut self.losses);
        self.root.clear(&mut cx, reason);
    }

    /// What packets go through before they are queued.
    pub fn conditioner(&self) -> Option<&Conditioner> {
        self.conditioner.as_ref()
    }

    /// Sets what code points and TC mean at the node of the tree, for what its conditioner writes.
    pub fn set_diffserv(&mut self, config: &DiffServConfig) {
        if let Some(conditioner) = &mut self.conditioner {
            conditioner.set_diffserv(config);
        }
    }

    /// Keeps whose packets are dropped, from now on.
    pub fn keep_losses(&mut self, keeping: &Keeping) {
        self.losses = LossBook::new(keeping.clone());
    }

    /// Whose packets were dropped.
    pub fn losses(&self) -> &LossBook {
        &self.losses
    }

    /// Shows each packet that waits, in any order.
    pub fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.root.show_held(see);
    }

    /// What was offered, taken and dropped since the tree was built.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Every queue and class, parents first.
    pub fn report(&self, now: Time) -> Vec<QueueRow> {
        let mut rows = Vec::new();
        self.root.report("root", now, &mut rows);
        rows
    }

    /// Keeps series of all backlogs.
    pub fn watch(&mut self, bin: Span) {
        self.root.watch(bin);
    }

    /// What should be true of the tree at `now` and of every queue in it, and is not: nothing, unless a discipline is
    /// wrong.
    pub fn audit(&self, now: Time) -> Vec<String> {
        let mut wrong = Vec::new();
        let Totals { offered, taken, dropped } = &self.totals;
        let waits = self.root.backlog();
        if offered.packets != taken.packets + dropped.packets.total() + waits.packets
            || offered.bytes != taken.bytes + dropped.bytes + waits.bytes
        {
            wrong.push(format!(
                "tree: {offered:?} offered, {taken:?} taken, {dropped:?} dropped, {waits:?} wait"
            ));
        }
        for row in self.report(now) {
            if !row.counters.balanced() {
                wrong.push(format!("{}: in is not out, dropped and waiting: {:?}", row.path, row.counters));
            } else if !row.counters.obeys_little(now) {
                wrong.push(format!("{}: Little's law does not hold: {:?}", row.path, row.counters));
            }
        }
        wrong
    }
}
