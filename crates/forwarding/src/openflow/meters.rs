//! Meters: what is done with packets that are faster than a rate.

use crate::tokens::Tokens;
use base::{Rate, Time};
use std::collections::BTreeMap;
use wire::openflow::v1_3::{Band, Counter, Fault, meter_flags, meters};

/// Meters that a switch has at most.
pub const METERS_MAX: usize = 65_536;
/// Bands that a meter has at most.
pub const BANDS_MAX: u8 = 16;

/// All meters of a switch.
#[derive(Clone, Debug, Default)]
pub struct MeterTable {
    meters: BTreeMap<u32, Meter>,
}

/// A meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meter {
    /// Bits of `meter_flags`.
    pub flags: u16,
    /// Its bands.
    pub bands: Vec<Band>,
    /// When it was added.
    pub created: Time,
    /// All packets.
    pub total: Counter,
    /// Those that each band was applied to.
    pub counters: Vec<Counter>,
    /// The bucket of each band. Where packets are counted, a byte stands for a packet.
    buckets: Vec<Tokens>,
    /// When the buckets were filled last.
    filled: Time,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metered {
    /// It goes on as it is.
    Passes,
    /// It is dropped.
    Drops,
    /// It goes on with a drop precedence that is so much higher.
    Remarks(u8),
}

/// Rate and burst of a band, as it says them.
const fn rate_and_burst(band: &Band) -> (u32, u32) {
    match band {
        Band::Drop { rate, burst }
        | Band::DscpRemark { rate, burst, .. }
        | Band::Experimenter { rate, burst, .. } => (*rate, *burst),
    }
}

/// The bucket of a band, full: of its burst, or without one of what its rate has in a second.
fn bucket(flags: u16, band: &Band) -> Tokens {
    let (rate, burst) = rate_and_burst(band);
    let most = u64::from(if flags & meter_flags::BURST != 0 { burst } else { rate });
    // Bits and bytes of a kbit, or of what stands for a packet.
    let (bits, bytes) = if flags & meter_flags::KBPS != 0 { (1_000, 125) } else { (8, 1) };
    Tokens::full(Rate(u64::from(rate) * bits), most * bytes)
}

impl Meter {
    fn new(flags: u16, bands: Vec<Band>, now: Time) -> Result<Meter, Fault> {
        let unit = flags & (meter_flags::KBPS | meter_flags::PKTPS);
        if unit.count_ones() != 1 {
            return Err(Fault::BadMeterFlags);
        }
        if bands.len() > BANDS_MAX.into() {
            return Err(Fault::OutOfBands);
        }
        for band in &bands {
            match band {
                Band::Experimenter { .. } => return Err(Fault::BadBand),
                band if rate_and_burst(band).0 == 0 => return Err(Fault::BadRate),
                Band::DscpRemark { levels, .. } if *levels > 2 => return Err(Fault::BadBandValue),
                _ => {}
            }
        }
        let zero = Counter { packets: 0, bytes: 0 };
        let counters = vec![zero.clone(); bands.len()];
        let buckets = bands.iter().map(|band| bucket(flags, band)).collect();
        Ok(Meter { flags, bands, created: now, total: zero, counters, buckets, filled: now })
    }

    /// Passes a packet: the band of the highest rate that is exceeded is applied.
    fn take(&mut self, bytes: u32, now: Time) -> Metered {
        let span = now.0.saturating_sub(self.filled.0);
        self.filled = now.max(self.filled);
        let cost = if self.flags & meter_flags::KBPS != 0 { bytes } else { 1 };
        let mut exceeded: Option<(u32, usize)> = None;
        for (place, (bucket, band)) in self.buckets.iter_mut().zip(&self.bands).enumerate() {
            bucket.fill(span);
            if bucket.hold(cost) {
                bucket.take(cost);
                continue;
            }
            let (rate, _) = rate_and_burst(band);
            if exceeded.is_none_or(|(highest, _)| rate > highest) {
                exceeded = Some((rate, place));
            }
        }
        let count = |counter: &mut Counter| {
            counter.packets += 1;
            counter.bytes += u64::from(bytes);
        };
        count(&mut self.total);
        let Some((_, place)) = exceeded else { return Metered::Passes };
        count(&mut self.counters[place]);
        match self.bands[place] {
            Band::DscpRemark { levels, .. } => Metered::Remarks(levels),
            _ => Metered::Drops,
        }
    }
}

impl MeterTable {
    /// A meter.
    pub fn get(&self, id: u32) -> Option<&Meter> {
        self.meters.get(&id)
    }

    /// All meters, by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Meter)> {
        self.meters.iter().map(|(id, meter)| (*id, meter))
    }

    /// Adds a meter. Beside those of entries there may be one for the controller and one for the slow path.
    pub fn add(&mut self, id: u32, flags: u16, bands: Vec<Band>, now: Time) -> Result<(), Fault> {
        if id == 0 || id > meters::MAX && !matches!(id, meters::SLOWPATH | meters::CONTROLLER) {
            return Err(Fault::InvalidMeter);
        }
        if self.meters.contains_key(&id) {
            return Err(Fault::MeterExists);
        }
        if self.meters.len() >= METERS_MAX {
            return Err(Fault::OutOfMeters);
        }
        self.meters.insert(id, Meter::new(flags, bands, now)?);
        Ok(())
    }

    /// Gives a meter other bands, which begin full and count anew; what the meter has counted goes on.
    pub fn modify(&mut self, id: u32, flags: u16, bands: Vec<Band>, now: Time) -> Result<(), Fault> {
        let old = self.meters.get(&id).ok_or(Fault::UnknownMeter)?;
        let (created, total) = (old.created, old.total.clone());
        self.meters.insert(id, Meter { created, total, ..Meter::new(flags, bands, now)? });
        Ok(())
    }

    /// Deletes a meter, or all: the numbers of those that were there. Entries that pass them go with them, which is for
    /// the owner of the tables to do. A meter that is not there is no error.
    pub fn delete(&mut self, id: u32) -> Vec<u32> {
        if id == meters::ALL {
            return core::mem::take(&mut self.meters).into_keys().collect();
        }
        self.meters.remove(&id).map(|_| id).into_iter().collect()
    }

    /// Passes a packet of so many bytes, which counts it. Without the meter it passes.
    pub fn take(&mut self, id: u32, bytes: u32, now: Time) -> Metered {
        self.meters.get_mut(&id).map_or(Metered::Passes, |meter| meter.take(bytes, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::time::PS_PER_S;
    use wire::openflow::v1_3::meter_flags::{BURST, KBPS, PKTPS};

    fn seconds(seconds: u64) -> Time {
        Time(seconds * PS_PER_S)
    }

    #[test]
    fn a_band_of_packets_passes_its_burst_and_its_rate() {
        let mut table = MeterTable::default();
        let bands = vec![Band::Drop { rate: 10, burst: 3 }];
        table.add(1, PKTPS | BURST, bands, Time::ZERO).expect("a meter");
        let passed = |table: &mut MeterTable, now| {
            (0..20).filter(|_| table.take(1, 100, now) == Metered::Passes).count()
        };
        assert_eq!(passed(&mut table, Time::ZERO), 3);
        assert_eq!(passed(&mut table, Time(PS_PER_S / 5)), 2);
        assert_eq!(passed(&mut table, seconds(100)), 3);
        let meter = table.get(1).expect("the meter");
        assert_eq!((meter.total.packets, meter.counters[0].packets), (60, 52));
        table.modify(1, PKTPS, vec![Band::Drop { rate: 1, burst: 0 }], seconds(101)).expect("the meter");
        let meter = table.get(1).expect("the meter");
        assert_eq!((meter.total.packets, meter.counters[0].packets), (60, 0));
    }

    #[test]
    fn the_highest_rate_that_is_exceeded_is_applied() {
        let mut table = MeterTable::default();
        let remark = Band::DscpRemark { rate: 8, burst: 8, levels: 1 };
        let bands = vec![remark, Band::Drop { rate: 16, burst: 16 }];
        table.add(1, KBPS | BURST, bands, Time::ZERO).expect("a meter");
        // A packet is 8 kbit: one is in both bursts, two are in the greater one only.
        let all: Vec<Metered> = (0..3).map(|_| table.take(1, 1000, Time::ZERO)).collect();
        assert_eq!(all, [Metered::Passes, Metered::Remarks(1), Metered::Drops]);
    }

    #[test]
    fn what_a_meter_can_not_be_is_refused() {
        let mut table = MeterTable::default();
        let drop = || vec![Band::Drop { rate: 10, burst: 3 }];
        let mut add = |id, flags, bands| table.add(id, flags, bands, Time::ZERO);
        assert_eq!(add(1, KBPS, drop()), Ok(()));
        assert_eq!(add(1, KBPS, drop()), Err(Fault::MeterExists));
        assert_eq!(add(0, KBPS, drop()), Err(Fault::InvalidMeter));
        assert_eq!(add(meters::ALL, KBPS, drop()), Err(Fault::InvalidMeter));
        assert_eq!(add(2, KBPS | PKTPS, drop()), Err(Fault::BadMeterFlags));
        assert_eq!(add(2, 0, drop()), Err(Fault::BadMeterFlags));
        assert_eq!(add(2, KBPS, vec![Band::Drop { rate: 0, burst: 3 }]), Err(Fault::BadRate));
        let steep = Band::DscpRemark { rate: 1, burst: 1, levels: 3 };
        assert_eq!(add(2, KBPS, vec![steep]), Err(Fault::BadBandValue));
        assert_eq!(add(meters::CONTROLLER, KBPS, drop()), Ok(()));
        assert_eq!(table.modify(9, KBPS, drop(), Time::ZERO), Err(Fault::UnknownMeter));
        assert_eq!(table.delete(9), [0; 0]);
        assert_eq!(table.delete(meters::ALL), [1, meters::CONTROLLER]);
        let bands = |count| vec![Band::Drop { rate: 10, burst: 3 }; count];
        assert_eq!(table.add(1, KBPS, bands(17), Time::ZERO), Err(Fault::OutOfBands));
        for id in 1..=METERS_MAX as u32 {
            assert_eq!(table.add(id, KBPS, bands(usize::from(id == 1) * 16), Time::ZERO), Ok(()));
        }
        assert_eq!(table.add(1 << 20, KBPS, bands(1), Time::ZERO), Err(Fault::OutOfMeters));
        assert_eq!(table.modify(1, KBPS, bands(1), Time::ZERO), Ok(()));
    }
}
