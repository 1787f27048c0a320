//! What is true of one discipline.

use crate::queue::testing::{dscp, frame, tree};
use crate::queue::{Take, Tree};
use base::Time;
use base::time::PS_PER_S;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The longest packet offered here.
const LONGEST: u32 = 1514;

/// Classes `0`, `1` and so on, for packets of the code points of the same numbers.
fn by_dscp(discipline: &str, classes: &[Value]) -> Tree {
    let filter = |n: usize| json!({ "dscp": [n], "class": n.to_string() });
    let filters: Vec<Value> = (0..classes.len()).map(filter).collect();
    let json = json!({ "discipline": discipline, "classes": classes, "filters": filters });
    tree(&json.to_string()).expect("a tree")
}

/// The times at which packets (time of arrival, bytes) leave a token bucket at best: by the definition of its curve,
/// over all intervals.
///
/// The k-th leaves when it has come, its predecessor has left, and for every i up to k the bytes from the i-th to the
/// k-th are at most `burst + rate t`, with t from when the i-th left.
fn reference(packets: &[(u64, u32)], buckets: &[(u64, u64)]) -> Vec<u64> {
    let mut left: Vec<u64> = Vec::new();
    for (k, &(came, len)) in packets.iter().enumerate() {
        let mut at = came.max(left.last().copied().unwrap_or(0));
        for &(rate, burst) in buckets {
            let mut bytes = u128::from(len);
            for i in (0..k).rev() {
                bytes += u128::from(packets[i].1);
                let bits = 8 * bytes.saturating_sub(u128::from(burst)) * u128::from(PS_PER_S);
                at = at.max(left[i] + bits.div_ceil(u128::from(rate)) as u64);
            }
        }
        left.push(at);
    }
    left
}

/// Sends packets through a tree as soon as it lets them.
fn departures(tree: &mut Tree, packets: &[(u64, u32)]) -> Vec<u64> {
    let (mut out, mut now, mut next) = (Vec::new(), 0, 0);
    while out.len() < packets.len() {
        while let Some(&(_, len)) = packets.get(next).filter(|(came, _)| *came <= now) {
            tree.offer(Time(now), frame(0, len));
            next += 1;
        }
        let arrival = packets.get(next).map_or(u64::MAX, |packet| packet.0);
        now = match tree.take(Time(now)) {
            Take::Frame(_) => {
                out.push(now);
                now
            }
            Take::Wait(until) => until.0.min(arrival),
            Take::Empty => arrival,
        };
    }
    out
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn a_token_bucket_sends_as_early_as_its_curve_allows_and_no_earlier(
        rate in 1_000..400_000_000_000u64, burst in 1514..20_000u64, peak in proptest::option::of((1_000..400_000_000_000u64, 1514..5000u64)),
        gaps in proptest::collection::vec((prop_oneof![Just(0), 0..1_000_000u64, 0..20_000_000_000u64], 60..=LONGEST), 1..60),
    ) {
        let peak = peak.map(|(more, bytes)| (rate + more, bytes));
        let mut now = 0;
        let packets: Vec<(u64, u32)> = gaps.iter().map(|&(gap, len)| { now += gap; (now, len) }).collect();
        let json = json!({ "discipline": "tbf", "rate": rate, "burst": burst, "limit": 1_000_000,
            "peakrate": peak.map(|p| p.0), "mtu": peak.map(|p| p.1) });
        let mut tree = tree(&json.to_string()).expect("a tree");
        let mut buckets = vec![(rate, burst)];
        buckets.extend(peak);
        prop_assert_eq!(departures(&mut tree, &packets), reference(&packets, &buckets));
    }

    #[test]
    fn what_leaves_a_token_bucket_conforms_over_any_interval(
        rate in 1_000..10_000_000_000u64, burst in 1514..20_000u64,
        steps in proptest::collection::vec((0..3_000_000_000u64, 60..=LONGEST, any::<bool>()), 1..100),
    ) {
        let json = json!({ "discipline": "tbf", "rate": rate, "burst": burst, "limit": 1_000_000 });
        let mut tree = tree(&json.to_string()).expect("a tree");
        let (mut now, mut sent) = (0u64, Vec::new());
        for (gap, len, offered) in steps {
            now += gap;
            if offered {
                tree.offer(Time(now), frame(0, len));
            }
            while let Take::Frame(frame) = tree.take(Time(now)) {
                sent.push((now, u128::from(frame.len())));
            }
        }
        for (first, &(from, _)) in sent.iter().enumerate() {
            let mut bytes = 0;
            for &(to, len) in &sent[first..] {
                bytes += len;
                let allowed = u128::from(burst) * 8 * u128::from(PS_PER_S) + u128::from(rate) * u128::from(to - from);
                prop_assert!(bytes * 8 * u128::from(PS_PER_S) <= allowed);
            }
        }
    }

    /// Shreedhar and Varghese 1995, lemma 2 and theorem 3: in quanta, what two backlogged classes have sent differs
    /// by at most one turn and what each carries over, in any interval.
    #[test]
    fn round_robin_is_fair(
        quanta in proptest::collection::vec(64..5000u32, 2..8), sizes in proptest::collection::vec(60..=LONGEST, 1..200),
        rounds in 50..400usize,
    ) {
        let class = |(n, quantum): (usize, &u32)| json!({ "name": n.to_string(), "quantum": quantum });
        let classes: Vec<Value> = quanta.iter().enumerate().map(class).collect();
        let mut tree = by_dscp("drr", &classes);
        let mut sizes = sizes.iter().cycle();
        let mut offer = |tree: &mut Tree, class: usize| {
            let len = sizes.next().copied().unwrap_or(LONGEST);
            tree.offer(Time(0), frame((class as u8) << 2, len));
        };
        for class in 0..quanta.len() {
            offer(&mut tree, class);
            offer(&mut tree, class);
        }
        let pairs: Vec<(usize, usize)> = (0..quanta.len()).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        let mut sent = vec![0i64; quanta.len()];
        // The least and the greatest difference so far: over any interval it changes by no more than the one from the
        // other.
        let mut extremes = vec![(0i64, 0i64); pairs.len()];
        for _ in 0..rounds {
            let Take::Frame(frame) = tree.take(Time(0)) else { return Err(TestCaseError::fail("nothing is sent")) };
            let class = usize::from(dscp(&frame));
            sent[class] += i64::from(frame.len());
            offer(&mut tree, class);
            for (&(i, j), (least, greatest)) in pairs.iter().zip(&mut extremes) {
                let (qi, qj) = (i64::from(quanta[i]), i64::from(quanta[j]));
                let difference = sent[i] * qj - sent[j] * qi;
                (*least, *greatest) = ((*least).min(difference), (*greatest).max(difference));
                let bound = qi * qj + i64::from(LONGEST) * (qi + qj);
                prop_assert!(*greatest - *least <= bound, "{i} and {j}: {least} to {greatest}, not within {bound}");
            }
        }
    }

    #[test]
    fn a_less_urgent_packet_never_leaves_while_a_more_urgent_one_waits(
        bands in 1..70usize, steps in proptest::collection::vec(proptest::option::of(0..64usize), 1..300),
    ) {
        let bands = bands.min(64);
        let classes: Vec<Value> = (0..bands).map(|n| json!({ "name": n.to_string() })).collect();
        let mut tree = by_dscp("prio", &classes);
        let mut waiting = vec![0u32; bands];
        for step in steps {
            match step {
                Some(band) => {
                    tree.offer(Time(0), frame(((band % bands) as u8) << 2, 100));
                    waiting[band % bands] += 1;
                }
                None => match tree.take(Time(0)) {
                    Take::Frame(frame) => {
                        let band = usize::from(dscp(&frame));
                        prop_assert_eq!(waiting.iter().position(|count| *count > 0), Some(band));
                        waiting[band] -= 1;
                    }
                    _ => prop_assert!(waiting.iter().all(|count| *count == 0)),
                },
            }
        }
    }
}
