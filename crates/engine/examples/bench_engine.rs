//! The engine's own cost: packet-hops per second over a chain of devices that do next to nothing.
//!
//! `cargo run --release -p twinplane-engine --example bench_engine -- [routers] [milliseconds]` prints one line of
//! JSON.

use base::device::DropReason;
use base::{Body, Command, Device, Frame, Output, PortId, Rate, Span, Time, Verdict};
use twinplane_engine::{LinkSpec, World};

/// Swaps a label and forwards.
struct Swap;

impl Device for Swap {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        for (frame, verdict) in frames.iter_mut().zip(verdicts) {
            if let Some(label) = frame.header_mut().get_mut(14..18) {
                label[3] = label[3].wrapping_sub(1);
            }
            *verdict = Verdict::Transmit { port: PortId(port.0 ^ 1), ready: now };
        }
    }
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {}
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

/// A frame each `interval`.
struct Source {
    next: Time,
    interval: Span,
    due: Option<Frame>,
    sent: u64,
}

impl Device for Source {
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {}
    fn handle_timeout(&mut self, now: Time) {
        if now >= self.next {
            let mut header = [0u8; 60];
            header[..8].copy_from_slice(&self.sent.to_be_bytes());
            self.due = Some(Frame::new(&header, Body::Empty));
            self.sent += 1;
            self.next += self.interval;
        }
    }
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        let frame = self.due.take()?;
        Some(Output::Transmit { port: PortId(0), frame, ready: Time::ZERO })
    }
    fn poll_timeout(&self) -> Option<Time> {
        Some(self.next)
    }
}

#[derive(Default)]
struct Sink {
    frames: u64,
}

impl Device for Sink {
    fn forward_batch(&mut self, _: Time, _: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        self.frames += frames.len() as u64;
        verdicts.fill(Verdict::Drop(DropReason::Discard));
    }
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {}
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let routers: usize = args.next().map_or(Ok(32), |a| a.parse())?;
    let ms: i64 = args.next().map_or(Ok(300), |a| a.parse())?;
    let gap_ns: i64 = args.next().map_or(Ok(672), |a| a.parse())?;
    let delay_ns: i64 = args.next().map_or(Ok(10_000), |a| a.parse())?;
    let mut world = World::new(1);
    let source = Source { next: Time::ZERO, interval: Span::from_ns(gap_ns), due: None, sent: 0 };
    let mut last = world.add_device(Box::new(source));
    for i in 0..=routers {
        let next = if i < routers {
            world.add_device(Box::new(Swap))
        } else {
            world.add_device(Box::new(Sink::default()))
        };
        world.add_link(LinkSpec::new(last, next, Rate::from_gbps(1), Span::from_ns(delay_ns)))?;
        last = next;
    }
    world.run_until(Time::ZERO + Span::from_ms(5))?;
    let hops = |w: &World| {
        (0..=routers as u32)
            .map(|l| w.link_counters(base::LinkId(l)))
            .try_fold(0, |n, c| Ok::<_, twinplane_engine::EngineError>(n + c?[0].received_frames))
    };
    let before = hops(&world)?;
    let begin = std::time::Instant::now();
    world.run_until(Time::ZERO + Span::from_ms(5 + ms))?;
    let seconds = begin.elapsed().as_secs_f64();
    let done = hops(&world)? - before;
    println!(
        "{{\"bench\":\"engine-chain\",\"routers\":{routers},\"packet_hops\":{done},\"seconds\":{seconds:.4},\"packet_hops_per_s\":{:.0},\"digest\":\"{}\"}}",
        done as f64 / seconds,
        world.digest()
    );
    Ok(())
}
