//! HTB against what its parameters promise.

use super::super::testing::{close, dscp, extra, fast_tree, frame, rate, saturate, wait};
use super::super::{Take, Tree};
use base::Time;
use proptest::prelude::*;

const S: u64 = 1_000_000_000_000;

/// A tree at 100 Mbit/s, with classes `a` to `d` for DSCP 1 to 4, which all must be there.
fn tree(classes: &str) -> Result<Tree, String> {
    let filter =
        |(at, name): (usize, char)| format!(r#"{{"match": {{"dscp": [{}]}}, "class": "{name}"}}"#, at + 1);
    let there = |(_, name): &(usize, char)| classes.contains(&format!(r#""name": "{name}""#));
    let filters: Vec<String> = "abcd".chars().enumerate().filter(there).map(filter).collect();
    fast_tree(&format!(
        r#"{{"discipline": "htb", "classes": [{classes}], "filters": [{}]}}"#,
        filters.join(", ")
    ))
}

#[test]
fn each_gets_its_rate_and_the_rest_by_quantum() {
    let mut tree = tree(
        r#"{"name": "all", "rate": 10000000},
        {"name": "a", "parent": "all", "rate": 1000000, "ceil": 10000000, "quantum": 2000},
        {"name": "b", "parent": "all", "rate": 3000000, "ceil": 10000000, "quantum": 4000},
        {"name": "c", "parent": "all", "rate": 500000}"#,
    )
    .expect("a tree");
    let sent = saturate(&mut tree, &[(1, 1500), (2, 300), (3, 1000)], 0, 5 * S);
    // Of 10 Mbit/s, 4.5 are guaranteed, and what is left goes to those that may borrow as 1 to 2.
    close(rate(sent[3], 5 * S), 5e5, 0.01);
    close(rate(sent[1], 5 * S), 1e6 + 5.5e6 / 3.0, 0.01);
    close(rate(sent[2], 5 * S), 3e6 + 11e6 / 3.0, 0.01);
    assert!(extra(&tree, 5 * S, "root/all", "lent_packets") > 0.0);
}

#[test]
fn the_more_urgent_borrows_first_but_takes_nobody_s_rate() {
    let mut tree = tree(
        r#"{"name": "all", "rate": 10000000},
        {"name": "a", "parent": "all", "rate": 1000000, "ceil": 8000000, "prio": 0},
        {"name": "b", "parent": "all", "rate": 1000000, "ceil": 10000000, "prio": 1},
        {"name": "c", "parent": "all", "rate": 500000, "ceil": 10000000, "prio": 2}"#,
    )
    .expect("a tree");
    let sent = saturate(&mut tree, &[(1, 1000), (2, 1000), (3, 1000)], 0, 5 * S);
    close(rate(sent[1], 5 * S), 8e6, 0.01);
    close(rate(sent[2], 5 * S), 1.5e6, 0.01);
    close(rate(sent[3], 5 * S), 5e5, 0.01);
}

#[test]
fn three_levels_share_from_the_inside_out() {
    let mut tree = tree(
        r#"{"name": "all", "rate": 20000000},
        {"name": "x", "parent": "all", "rate": 12000000, "ceil": 20000000},
        {"name": "y", "parent": "all", "rate": 8000000, "ceil": 20000000},
        {"name": "a", "parent": "x", "rate": 2000000, "ceil": 20000000, "quantum": 3000},
        {"name": "b", "parent": "x", "rate": 4000000, "ceil": 20000000, "quantum": 3000},
        {"name": "c", "parent": "y", "rate": 1000000, "ceil": 20000000},
        {"name": "d", "parent": "y", "rate": 1000000, "ceil": 6000000}"#,
    )
    .expect("a tree");
    // All are busy: what one branch has goes to its own leaves.
    let sent = saturate(&mut tree, &[(1, 1000), (2, 1000), (3, 1000), (4, 1000)], 0, 5 * S);
    for (class, expected) in [(1, 5e6), (2, 7e6), (3, 4e6), (4, 4e6)] {
        close(rate(sent[class], 5 * S), expected, 0.015);
    }
    let mut alone = self::tree(
        r#"{"name": "all", "rate": 20000000}, {"name": "x", "parent": "all", "rate": 12000000, "ceil": 15000000},
        {"name": "a", "parent": "x", "rate": 2000000, "ceil": 20000000}, {"name": "b", "parent": "x", "rate": 1}"#,
    )
    .expect("a tree");
    // Nobody gets beyond a ceiling on the way.
    let sent = saturate(&mut alone, &[(1, 1000)], 0, 5 * S);
    close(rate(sent[1], 5 * S), 15e6, 0.01);
}

#[test]
fn packets_without_a_class_go_first() {
    let mut tree = tree(r#"{"name": "a", "rate": 8000, "burst": 100}"#).expect("a tree");
    for (dscp, len) in [(1, 1000), (1, 500), (7, 900)] {
        tree.offer(Time(0), frame(dscp << 2, len));
    }
    let mut next = || match tree.take(Time(0)) {
        Take::Frame(taken) => Some(dscp(&taken)),
        _ => None,
    };
    assert_eq!([next(), next(), next()], [Some(7), Some(1), None]);
    // 900 bytes of debt at 1000 bytes/s.
    assert_eq!(wait(&mut tree, 0), Some(9 * S / 10));
    assert_eq!(tree.report(Time(0))[1].counters.sent.packets, 1);
    assert_eq!(tree.audit(Time(0)), [""; 0]);
}

#[test]
fn bursts_and_quanta_are_those_of_tc() {
    let tree = tree(
        r#"{"name": "a", "rate": 8000000}, {"name": "b", "rate": 80000000, "ceil": 90000000},
        {"name": "c", "rate": 9000000000}"#,
    )
    .expect("a tree");
    close(extra(&tree, 0, "root/a", "tokens_s"), 2600e-6, 1e-9);
    close(extra(&tree, 0, "root/b", "ceil_tokens_s"), (11250.0 + 1600.0) * 8.0 / 9e7, 1e-9);
    let quanta = ["a", "b", "c"].map(|class| extra(&tree, 0, &format!("root/{class}"), "quantum_bytes"));
    assert_eq!(quanta, [100_000.0, 200_000.0, 200_000.0]);
}

#[test]
fn what_is_wrong_is_named() {
    let of = |class: &str| tree(&format!(r#"{{"name": "a", "rate": 1000{class}}}"#)).expect_err("an error");
    assert_eq!(of(r#", "prio": 8"#), "classes/a/prio: 8: it should be 0 to 7");
    assert_eq!(of(r#", "ceil": 999"#), "classes/a/ceil: 999 bit/s has to be at least rate=1 kbit/s");
    assert_eq!(of(r#", "parent": "a""#), "classes/a/parent: the classes are a cycle: 'a' is in 'a'");
    assert_eq!(of(r#", "quantum": 0"#), "classes/a/quantum: 0: it is not above zero");
}

/// When packets of these (gap before, length) leave, found the naive way: tokens are counted after every packet, and
/// the next goes as soon as there is one, there are tokens, and the link has sent the last.
fn reference(arrivals: &[(u64, u32)], ps_per_byte: i128, burst: u64) -> Vec<u64> {
    let depth = i128::from(burst) * ps_per_byte;
    let (mut tokens, mut at, mut arrived, mut free) = (depth, 0i128, 0i128, 0i128);
    let mut out = Vec::new();
    for &(gap, len) in arrivals {
        arrived += i128::from(gap);
        let now = arrived.max(free).max(at - tokens.min(0));
        tokens = (tokens + now - at).min(depth) - i128::from(len) * ps_per_byte;
        (at, free) = (now, now + i128::from(len) * 80_000);
        out.push(now as u64);
    }
    out
}

/// When they leave the tree.
fn departures(tree: &mut Tree, arrivals: &[(u64, u32)]) -> Vec<u64> {
    let (mut now, mut arrived, mut free, mut out) = (0, 0, 0, Vec::new());
    let mut next = arrivals.iter().map(|&(gap, len)| {
        arrived += gap;
        (arrived, len)
    });
    let mut coming = next.next();
    while out.len() < arrivals.len() {
        while let Some((at, len)) = coming.filter(|(at, _)| *at <= now) {
            tree.offer(Time(at), frame(4, len));
            coming = next.next();
        }
        let at = coming.map_or(u64::MAX, |(at, _)| at);
        now = if now < free {
            free.min(at)
        } else {
            match tree.take(Time(now)) {
                Take::Frame(taken) => {
                    free = now + u64::from(taken.len()) * 80_000;
                    out.push(now);
                    now
                }
                Take::Wait(until) => until.0.min(at),
                Take::Empty => at,
            }
        };
    }
    out
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn a_class_leaves_as_a_token_bucket_says(
        arrivals in prop::collection::vec((0u64..2_000_000_000, 64u32..1514), 1..150),
        burst in 1u64..20_000,
    ) {
        let class = format!(r#"{{"name": "a", "rate": 8000000, "burst": {burst}, "cburst": 1000000}}"#);
        let mut tree = tree(&class).expect("a tree");
        let out = departures(&mut tree, &arrivals);
        prop_assert_eq!(&out, &reference(&arrivals, 1_000_000, burst));
        prop_assert_eq!(tree.audit(Time(out[out.len() - 1])), [""; 0]);
    }

    #[test]
    fn a_borrower_never_exceeds_its_ceiling(
        arrivals in prop::collection::vec((0u64..500_000_000, 64u32..1514), 1..150),
        cburst in 1u64..20_000,
    ) {
        let classes = format!(
            r#"{{"name": "all", "rate": 100000000, "burst": 100000}},
            {{"name": "a", "parent": "all", "rate": 1000000, "ceil": 16000000, "cburst": {cburst}}}"#
        );
        let mut tree = tree(&classes).expect("a tree");
        let out = departures(&mut tree, &arrivals);
        prop_assert_eq!(&out, &reference(&arrivals, 500_000, cburst));
        // Over no time did more leave than the curve and the packet that overdraws it.
        for (first, from) in out.iter().enumerate() {
            let mut bytes = 0;
            for (last, to) in out.iter().enumerate().skip(first) {
                prop_assert!(bytes * 500_000 <= cburst * 500_000 + (to - from));
                bytes += u64::from(arrivals[last].1);
            }
        }
    }
}
