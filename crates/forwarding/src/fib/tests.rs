//! The table beside a list of prefixes that is searched from end to end.

use super::*;
use proptest::prelude::*;

fn mark(known: &mut Known, kind: Kind) {
    known.route.kind = kind;
}

#[test]
fn prefixes_share_what_is_known_until_a_packet_takes_one() {
    let (mut fib, at) = (Fib::default(), |n: u32| Ipv4Addr::from_bits(0x0a00_0000 + n));
    for n in 0..64 {
        fib.update(Prefix::host(at(n)), |known| mark(known, Kind::Discard));
    }
    assert_eq!((fib.known.len(), fib.shared.len()), (0, 1));
    let place = fib.find(at(20)).expect("a route");
    let own = fib.own(place, at(20));
    fib.get_mut(own).expect("its own").route.count(64);
    let packets = |fib: &Fib, n| fib.find(at(n)).and_then(|place| fib.get(place)).map(|k| k.route.packets);
    assert_eq!((fib.find(at(20)), fib.own(own, at(20))), (Some(own), own));
    assert_eq!((packets(&fib, 20), packets(&fib, 19), packets(&fib, 21)), (Some(1), Some(0), Some(0)));
    // Another route: what has been counted stays; the others share again.
    (0..64).for_each(|n| fib.update(Prefix::host(at(n)), |known| mark(known, Kind::Local)));
    assert_eq!((fib.known.len(), fib.shared.len() - fib.free_shared.len()), (1, 1));
    assert_eq!((packets(&fib, 20), packets(&fib, 63)), (Some(1), Some(0)));
    (0..64).for_each(|n| fib.update(Prefix::host(at(n)), |known| mark(known, Kind::Empty)));
    assert_eq!((fib.len(), fib.tree.is_empty(), fib.free_shared.len()), (0, true, fib.shared.len()));
}

#[test]
fn what_is_kept_goes_with_what_is_held() {
    let (mut fib, host) = (Fib::default(), |n: u32| Prefix::host(Ipv4Addr::from_bits(0x0a01_0200 + n)));
    let set = |fib: &mut Fib, n, kind| fib.update(host(n), |known| mark(known, kind));
    (0..8).for_each(|n| set(&mut fib, n * 8, Kind::Local));
    assert_eq!(fib.tree.used(), (0, 8), "few stand in a bucket");
    (0..64).for_each(|n| set(&mut fib, n, Kind::Local));
    assert_eq!(fib.tree.used(), (9, 0), "one node for each four bits, and four at the end");
    (5..64).for_each(|n| set(&mut fib, n, Kind::Empty));
    assert_eq!(fib.tree.used(), (6, 0), "five are too many for a bucket that was a node");
    set(&mut fib, 4, Kind::Empty);
    assert_eq!(fib.tree.used(), (0, 4), "a bucket again");
    (0..4).for_each(|n| set(&mut fib, n, Kind::Empty));
    assert!(fib.tree.is_empty());
}

fn prefix() -> impl Strategy<Value = Prefix> {
    // Few distinct bits, so that prefixes nest and collide.
    let address = prop_oneof![any::<u32>(), (0u32..8, 0u32..8).prop_map(|(a, b)| a << 29 | b << 12 | a)];
    let any_length = (address, 0u8..=32);
    // Close together: where buckets become nodes, and where a line of a large table is full.
    let hosts = (0u32..64, 25u8..=32).prop_map(|(host, len)| (0x0a01_0200 | host << 1, len));
    let networks = (0u32..64, 17u8..=24).prop_map(|(network, len)| (0x0a01_0000 | network << 8, len));
    prop_oneof![any_length, hosts, networks].prop_map(|(a, len)| Prefix::new(Ipv4Addr::from_bits(a), len))
}

fn edges(prefix: &Prefix) -> [u32; 4] {
    let first = prefix.address().to_bits();
    let last = first | u32::MAX.checked_shr(prefix.len().into()).unwrap_or(0);
    [first.wrapping_sub(1), first, last, last.wrapping_add(1)]
}

/// Carries out steps, and compares with a list after each. Before some of them the table becomes a large one, or a
/// small one again.
fn agrees(steps: &[(Prefix, bool)], probes: &[u32], turns: &[usize]) -> Result<(), TestCaseError> {
    let (mut fib, mut list) = (Fib::default(), Vec::<Prefix>::new());
    for (step, (prefix, add)) in steps.iter().enumerate() {
        if turns.contains(&step) {
            fib.turn();
        }
        // A packet takes a route now and then.
        if prefix.len() % 3 == 0
            && let Some(place) = fib.find(prefix.address())
        {
            let own = fib.own(place, prefix.address());
            prop_assert_eq!(fib.find(prefix.address()), Some(own));
            prop_assert!(fib.get_mut(own).is_some());
        }
        if *add {
            fib.update(*prefix, |k| mark(k, Kind::Local));
            if !list.contains(prefix) {
                list.push(*prefix);
            }
        } else {
            let victim = list.pop().unwrap_or(*prefix);
            fib.update(victim, |k| mark(k, Kind::Empty));
        }
        prop_assert_eq!(fib.len(), list.len());
        let edges = steps.iter().flat_map(|(prefix, _)| edges(prefix));
        let probed: Vec<Ipv4Addr> = edges.chain(probes.iter().copied()).map(Ipv4Addr::from_bits).collect();
        let mut leaves = vec![0; probed.len()];
        fib.find_all(&probed, &mut leaves);
        for way in machine::Way::all() {
            let mut same = vec![0; probed.len()];
            fib.tree.set_way(way);
            fib.find_all(&probed, &mut same);
            prop_assert_eq!(&leaves, &same);
        }
        for (address, leaf) in probed.into_iter().zip(leaves) {
            let naive = list.iter().filter(|p| p.contains(address)).max_by_key(|p| p.len());
            prop_assert_eq!(fib.find(address).map(Fib::len_at), naive.map(|p| p.len()));
            let place = naive.and_then(|p| fib.place(*p));
            prop_assert_eq!(fib.find(address), place);
            prop_assert_eq!(is_something(leaf), place);
        }
    }
    for prefix in list {
        fib.update(prefix, |k| mark(k, Kind::Empty));
    }
    prop_assert_eq!(fib.len(), 0);
    prop_assert!(fib.tree.is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn finds_what_a_list_finds(
        steps in proptest::collection::vec((prefix(), any::<bool>()), 1..60),
        probes in proptest::collection::vec(any::<u32>(), 20),
    ) {
        agrees(&steps, &probes, &[])?;
    }
}

proptest! {
    #![proptest_config(testing::cases(6))]
    #[test]
    fn a_large_table_finds_what_a_list_finds(
        steps in proptest::collection::vec((prefix(), prop::bool::weighted(0.7)), 40..80),
        probes in proptest::collection::vec(any::<u32>(), 20),
        turns in (0usize..20, 20usize..60, 20usize..60),
    ) {
        agrees(&steps, &probes, &[turns.0, turns.1, turns.2])?;
    }
}
