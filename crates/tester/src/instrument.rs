//! What sends and takes test packets, whatever device it is.

use crate::checks::Whose;
use crate::edge::Edge;
use crate::generator::Generator;
use crate::packet::Stamp;
use crate::probe::{Probe, StreamSpec};
use crate::sink::{Receipt, Sink};
use crate::source::Source;
use crate::station::Station;
use base::device::DropReason;
use base::{Device, Frame, NodeId, Time, Verdict};
use engine::World;

/// A device with sources and a sink.
pub trait Instrument: Device {
    /// The sources, which share the instrument's schedule.
    fn generator(&self) -> &Generator;
    /// The sources, to be paused and resumed.
    fn generator_mut(&mut self) -> &mut Generator;
    /// The sink, to read what has arrived.
    fn sink(&self) -> &Sink;
    /// The sink, to announce streams to.
    fn sink_mut(&mut self) -> &mut Sink;
    /// Why a stream can't send, where its turn passes without a packet.
    fn unsent_reason(&self) -> DropReason;
    /// Adds a source for these streams, which take turns.
    fn add_source(&mut self, now: Time, source: Source, streams: Vec<StreamSpec>);
}

/// Takes the test packets of a batch: `take` consumes them, drops those that are none of the instrument's, and punts
/// every other frame, for the device to look at.
#[inline]
pub(crate) fn take_all(frames: &[Frame], verdicts: &mut [Verdict], mut take: impl FnMut(&Frame) -> Verdict) {
    for (frame, verdict) in frames.iter().zip(verdicts) {
        *verdict = take(frame);
    }
}

/// What becomes of a test packet that has, or had, no label of which the instrument knows whose it is. The sink counts
/// one of a flow that it does not expect as unknown.
#[inline]
pub(crate) fn receive(sink: &mut Sink, now: Time, stamp: Stamp, frame: &Frame) -> Verdict {
    verdict(sink.receive(now, stamp, frame, 0, |_| Whose::Unknown))
}

/// What becomes of the frame of a test packet.
#[inline]
pub(crate) fn verdict(receipt: Receipt) -> Verdict {
    match receipt {
        Receipt::Taken => Verdict::Consume,
        Receipt::Misdelivered => Verdict::Drop(DropReason::Misdelivered),
        Receipt::Returned => Verdict::Drop(DropReason::NoRoute),
        Receipt::UnknownLabel => Verdict::Drop(DropReason::UnknownLabel),
    }
}

/// How to look at a device as an instrument, if it is one of a certain type.
#[derive(Clone, Copy)]
struct View {
    of: fn(&World, NodeId) -> Option<&dyn Instrument>,
    of_mut: fn(&mut World, NodeId) -> Option<&mut dyn Instrument>,
}

impl View {
    const fn of<T: Instrument>() -> View {
        View {
            of: |world, id| Some(world.device::<T>(id)?),
            of_mut: |world, id| Some(world.device_mut::<T>(id)?),
        }
    }
}

/// All devices that are instruments.
const VIEWS: [View; 3] = [View::of::<Edge>(), View::of::<Station>(), View::of::<Probe>()];

/// A device as an instrument, if it is one.
pub fn instrument(world: &World, id: NodeId) -> Option<&dyn Instrument> {
    VIEWS.iter().find_map(|view| (view.of)(world, id))
}

/// The same, to be changed.
pub fn instrument_mut(world: &mut World, id: NodeId) -> Option<&mut dyn Instrument> {
    let view = VIEWS.iter().find(|view| (view.of)(world, id).is_some())?;
    (view.of_mut)(world, id)
}
