//! The faults of one direction of a link that act on single frames. Shared by both clocks.

use crate::fault::FaultKind;
use base::device::DropReason;
use base::random::Stream;
use base::{Body, Frame, Span, Streams, Time};
use rand::Rng;

/// What becomes of a frame.
#[derive(Debug)]
pub enum Fate {
    /// It never arrives, and is counted under this reason.
    Lost(DropReason, Frame),
    /// It arrives, perhaps later, changed or twice.
    Arrives {
        /// The time at which its last bit arrives.
        at: Time,
        /// The frame as the receiver gets it.
        frame: Frame,
        /// The frame as it was sent, if it has inverted bits. If the receiver does not check for them, it takes the
        /// frame.
        corrupted: Option<Frame>,
        /// Does a second copy arrive right behind it?
        copied: bool,
    },
}

/// An independent draw per frame.
#[derive(Debug)]
struct Chance {
    /// A draw of 64 bits below this is a hit.
    below: u128,
    stream: Stream,
}

impl Chance {
    fn new(stream: Stream) -> Chance {
        Chance { below: 0, stream }
    }
    fn set(&mut self, probability: f64) {
        self.below = (probability * 18_446_744_073_709_551_616.0) as u128;
    }
    fn hit(&mut self) -> bool {
        self.below > 0 && u128::from(self.stream.next_u64()) < self.below
    }
}

/// The state of all faults of one direction.
#[derive(Debug)]
pub struct Impairments {
    loss: Chance,
    corruption: Stream,
    /// Natural logarithm of the probability that a bit stays as it is.
    ln_intact: f64,
    deliver_corrupted: bool,
    delay: Stream,
    extra: Span,
    jitter: Span,
    /// Nothing that is kept in order arrives before this.
    floor: Time,
    reordering: Chance,
    held_back: Span,
    duplication: Chance,
}

impl Impairments {
    /// No faults yet, on the direction called `name`.
    pub fn new(streams: Streams, name: &str) -> Impairments {
        let stream = |fault: &str| streams.stream(&format!("{name} {fault}"));
        Impairments {
            loss: Chance::new(stream("loss")),
            corruption: stream("corruption"),
            ln_intact: 0.0,
            deliver_corrupted: false,
            delay: stream("delay"),
            extra: Span::ZERO,
            jitter: Span::ZERO,
            floor: Time::ZERO,
            reordering: Chance::new(stream("reordering")),
            held_back: Span::ZERO,
            duplication: Chance::new(stream("duplication")),
        }
    }

    /// Puts a fault on, or takes it away. Faults that don't act on single frames are none of this one's business.
    pub fn set(&mut self, fault: &FaultKind, on: bool) {
        let p = |probability: f64| if on { probability } else { 0.0 };
        match *fault {
            FaultKind::Loss { probability, .. } => self.loss.set(p(probability)),
            FaultKind::Corruption { bit_error_rate, deliver, .. } => {
                self.ln_intact = libm::log1p(-p(bit_error_rate));
                self.deliver_corrupted = deliver;
            }
            FaultKind::Duplication { probability, .. } => self.duplication.set(p(probability)),
            FaultKind::Reordering { probability, extra, .. } => {
                self.reordering.set(p(probability));
                self.held_back = extra;
            }
            FaultKind::Delay { extra, jitter, .. } => {
                (self.extra, self.jitter) = if on { (extra, jitter) } else { (Span::ZERO, Span::ZERO) };
            }
            FaultKind::HealAll => {
                for chance in [&mut self.loss, &mut self.reordering, &mut self.duplication] {
                    chance.below = 0;
                }
                (self.ln_intact, self.extra, self.jitter) = (0.0, Span::ZERO, Span::ZERO);
            }
            _ => {}
        }
    }

    /// Frames that were under way are gone: nothing has to be kept in order any more.
    pub fn clear(&mut self) {
        self.floor = Time::ZERO;
    }

    /// Does nothing disturb a frame that arrives at `now` or later?
    pub fn idle(&self, now: Time) -> bool {
        let chances = [&self.loss, &self.reordering, &self.duplication];
        let still = chances.iter().all(|chance| chance.below == 0);
        still
            && self.ln_intact == 0.0
            && self.extra == Span::ZERO
            && self.jitter == Span::ZERO
            && self.floor <= now
    }

    /// Decides on a frame that would arrive at `now`.
    pub fn decide(&mut self, now: Time, wire_len: u32, mut frame: Frame) -> Fate {
        if self.loss.hit() {
            return Fate::Lost(DropReason::LinkLoss, frame);
        }
        let errors = self.bit_errors(u64::from(wire_len) * 8);
        let mut corrupted = None;
        if !errors.is_empty() {
            // A medium without a check sequence has nothing to find wrong bits by: its receivers do.
            let is_checked = frame.framing().is_none_or(|framing| framing.trailer > 0);
            if is_checked && !self.deliver_corrupted {
                return Fate::Lost(DropReason::LinkCorruption, frame);
            }
            corrupted = Some(frame.clone());
            invert(&mut frame, &errors);
        }
        let mut at = now + self.extra;
        if self.jitter > Span::ZERO {
            let range = u128::from(self.jitter.0 as u64) + 1;
            at += Span(((u128::from(self.delay.next_u64()) * range) >> 64) as i64);
        }
        at = at.max(self.floor);
        if self.reordering.hit() {
            at += self.held_back;
        } else {
            self.floor = at;
        }
        Fate::Arrives { at, frame, corrupted, copied: self.duplication.hit() }
    }

    /// Which of `bits` bits are inverted: the gaps between errors are geometric.
    fn bit_errors(&mut self, bits: u64) -> Vec<u64> {
        let mut errors = Vec::new();
        if self.ln_intact == 0.0 {
            return errors;
        }
        let mut next = 0u64;
        loop {
            // Uniform in (0, 1] with 53 bits.
            let u = ((self.corruption.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
            // A float above what fits becomes the largest integer; a bit error rate of one gives zero.
            next = next.saturating_add((libm::log(u) / self.ln_intact) as u64);
            if next >= bits {
                return errors;
            }
            errors.push(next);
            next += 1;
        }
    }
}

/// Inverts bits, counted from the destination address on; those in padding and check sequence are not held.
fn invert(frame: &mut Frame, bits: &[u64]) {
    let header_bits = 8 * frame.header().len() as u64;
    let mut body = Vec::new();
    if bits.iter().any(|&bit| bit >= header_bits) {
        frame.body().write_to(&mut body);
    }
    for &bit in bits {
        let (bytes, bit) = if bit < header_bits {
            (&mut *frame.header_mut(), bit)
        } else {
            (&mut body[..], bit - header_bits)
        };
        if let Some(byte) = bytes.get_mut((bit / 8) as usize) {
            *byte ^= 0x80 >> (bit % 8);
        }
    }
    if !body.is_empty() {
        frame.set_body(Body::owned(body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Direction;
    use base::LinkId;

    fn corrupting(bit_error_rate: f64) -> Impairments {
        let mut impairments = Impairments::new(Streams::new(3), "test");
        let fault = FaultKind::Corruption {
            link: LinkId(0),
            direction: Direction::Both,
            bit_error_rate,
            deliver: true,
        };
        impairments.set(&fault, true);
        impairments
    }

    #[test]
    fn bit_errors_come_at_their_rate() {
        let mut some = corrupting(0.01);
        let errors: usize = (0..1_000).map(|_| some.bit_errors(1_000).len()).sum();
        // Binomial with mean 10,000 and standard deviation 99.5.
        assert!((9_500..10_500).contains(&errors), "{errors}");
        assert_eq!(corrupting(1.0).bit_errors(9), (0..9).collect::<Vec<_>>());
        assert!(corrupting(0.0).bit_errors(1 << 40).is_empty());
        assert!(corrupting(1e-300).bit_errors(1 << 40).is_empty());
    }

    #[test]
    fn inverted_bits_are_where_they_belong() {
        let mut frame = Frame::new(&[0; 14], Body::Pattern { start: 0, len: 3 });
        invert(&mut frame, &[0, 14 * 8 + 7, 16 * 8, 17 * 8]);
        let mut expected = vec![0x80];
        expected.extend([0; 13]);
        expected.extend([1, 1, 0x82]);
        assert_eq!(frame.to_vec(), expected);
    }

    #[test]
    fn only_a_check_sequence_finds_wrong_bits() {
        let (link, direction) = (LinkId(0), Direction::Both);
        let mut checked = corrupting(0.5);
        checked.set(&FaultKind::Corruption { link, direction, bit_error_rate: 0.5, deliver: false }, true);
        let mut frame = Frame::from_bytes(&[0; 53]);
        assert!(matches!(
            checked.decide(Time(0), 53, frame.clone()),
            Fate::Lost(DropReason::LinkCorruption, _)
        ));
        frame.set_framing(Some(crate::medium::ATM.framing));
        assert!(matches!(checked.decide(Time(0), 53, frame), Fate::Arrives { corrupted: Some(_), .. }));
    }

    #[test]
    fn a_delay_keeps_the_order_and_reordering_does_not() {
        let mut slow = Impairments::new(Streams::new(3), "test");
        let (link, direction) = (LinkId(0), Direction::Both);
        assert!(slow.idle(Time(0)));
        slow.set(&FaultKind::Delay { link, direction, extra: Span(50), jitter: Span(1_000) }, true);
        let arrivals = |slow: &mut Impairments| -> Vec<Time> {
            let fates = (0..200).map(|i| slow.decide(Time(10 * i), 64, Frame::from_bytes(&[0; 60])));
            fates.filter_map(|f| if let Fate::Arrives { at, .. } = f { Some(at) } else { None }).collect()
        };
        let times = arrivals(&mut slow);
        assert!(times.is_sorted() && times[0] >= Time(50) && times[199] <= Time(1990 + 1050));
        slow.set(&FaultKind::HealAll, false);
        slow.clear();
        assert!(slow.idle(Time(0)));
        slow.set(&FaultKind::Reordering { link, direction, probability: 0.3, extra: Span(95) }, true);
        let times = arrivals(&mut slow);
        assert!(!times.is_sorted());
        assert!(times.iter().enumerate().all(|(i, t)| [0, 95].contains(&(t.0 - 10 * i as u64))));
    }
}
