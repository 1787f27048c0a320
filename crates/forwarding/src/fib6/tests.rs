//! The table beside a list of prefixes that is searched from end to end.

use super::*;
use proptest::prelude::*;

impl Fib6 {
    /// Makes a large table of a small one, or the other way round, whatever it holds.
    fn turn(&mut self) {
        if self.wide.is_some() { self.narrow() } else { self.widen() }
    }

    /// Does every address lead to nothing, and is nothing kept?
    fn is_empty(&self) -> bool {
        let is_empty = self.wide.as_ref().is_none_or(|wide| wide.is_empty());
        is_empty && (self.root, self.default) == (NOTHING, NOTHING) && self.below.used() == (0, 0)
    }
}

fn set(fib: &mut Fib6, prefix: Prefix6, kind: Kind) {
    fib.update(prefix, |known| known.route.kind = kind);
}

fn at(bits: u128, len: u8) -> Prefix6 {
    Prefix6::new(Ipv6Addr::from_bits(bits), len)
}

#[test]
fn what_is_kept_goes_with_what_is_held() {
    const NETWORK: u128 = 0x2001_0db8 << 96;
    let site = |n: u128| at(NETWORK | n << 80, 48);
    let mut fib = Fib6::default();
    fib.turn();
    (0..15).for_each(|n| set(&mut fib, site(n), Kind::Local));
    assert_eq!(fib.below.used(), (0, 32), "a bucket of the root");
    set(&mut fib, at(NETWORK, 32), Kind::Local);
    assert_eq!(fib.below.used(), (1, 32), "a block, a node for the network, and a bucket that it covers");
    (7..15).for_each(|n| set(&mut fib, site(n), Kind::Empty));
    assert_eq!(fib.below.used(), (1, 16), "eight are too many for what was a block");
    set(&mut fib, site(6), Kind::Empty);
    assert_eq!(fib.below.used(), (0, 16), "six sites and their network: a bucket of the root again");
    (0..3).for_each(|n| set(&mut fib, at(NETWORK | n << 64, 64), Kind::Local));
    assert!(fib.below.nodes() > 0, "a bucket has no more than two that it cannot tell by their bits");
    (0..3).for_each(|n| set(&mut fib, at(NETWORK | n << 64, 64), Kind::Empty));
    (0..6).for_each(|n| set(&mut fib, site(n), Kind::Empty));
    assert_eq!(fib.below.used(), (0, 4));
    set(&mut fib, at(NETWORK, 32), Kind::Empty);
    assert!(fib.is_empty());
}

/// The leaf of the longest prefix of an address, asked for by length.
fn asked_for(fib: &Fib6, address: Ipv6Addr) -> Slot {
    let leaves = (0..=128).rev().map(|len| fib.prefixes.get(Prefix6::new(address, len)));
    leaves.into_iter().find(|leaf| *leaf != NOTHING).unwrap_or(NOTHING)
}

#[test]
fn a_table_grows_large_and_small_again() {
    let mut fib = Fib6::default();
    // Prefixes that share all of their beginning, or little of it.
    let near = |n: usize| at(0x2001_0db8 << 96 | (n as u128) << 64, 64);
    let far = |n: usize| {
        let drawn = (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        at(0x2a00 << 112 | drawn >> 12, [29, 32, 40, 44, 48, 48, 48, 64, 127, 128][n % 10])
    };
    (0..2 * LARGE_NODES).for_each(|n| set(&mut fib, near(n), Kind::Local));
    assert!(fib.wide.is_none(), "many prefixes, and few nodes");
    (0..2 * LARGE_NODES).for_each(|n| set(&mut fib, near(n), Kind::Empty));
    let grown = (0..).take_while(|n| {
        set(&mut fib, far(*n), Kind::Local);
        fib.wide.is_none()
    });
    let grown = grown.count();
    assert!((LARGE_NODES / 2..2 * LARGE_NODES).contains(&grown), "{grown} prefixes");
    (grown..grown + 500).for_each(|n| set(&mut fib, far(n), Kind::Local));
    let to: Vec<Ipv6Addr> =
        (0..grown + 500).step_by(7).flat_map(|n| edges(&far(n))).map(Ipv6Addr::from_bits).collect();
    let agrees = |fib: &Fib6| {
        let mut found = vec![0; to.len()];
        fib.find_all(&to, &mut found);
        let expected: Vec<Slot> = to.iter().map(|to| asked_for(fib, *to)).collect();
        let one_by_one = to.iter().map(|to| fib.find(*to).unwrap_or_default());
        found == expected && one_by_one.eq(expected.iter().map(|leaf| slot::place(*leaf)))
    };
    assert!(agrees(&fib));
    let mut n = 0;
    while fib.len() > SMALL {
        assert!(fib.wide.is_some());
        set(&mut fib, far(n), Kind::Empty);
        n += 1;
    }
    assert!(fib.wide.is_none() && agrees(&fib));
}

fn prefix() -> impl Strategy<Value = Prefix6> {
    // Few distinct bits, so that prefixes nest, collide and share long beginnings.
    let address = prop_oneof![
        any::<u128>(),
        (0u128..4, 0u128..4, 0u128..8).prop_map(|(a, b, c)| 0x2001_0db8 << 96 | a << 70 | b << 61 | c),
    ];
    let len = prop_oneof![0u8..=128, Just(48), Just(64), Just(63), Just(128), Just(127)];
    // Close together: where buckets become nodes, and where one of the root becomes a block.
    let sites = (0u128..64, 17u8..=60).prop_map(|(site, len)| (0x2001_0db8 << 96 | site << 78, len));
    let networks = (0u128..64, 12u8..=40).prop_map(|(network, len)| (0x2001 << 112 | network << 100, len));
    prop_oneof![(address, len), sites, networks].prop_map(|(bits, len)| at(bits, len))
}

fn edges(prefix: &Prefix6) -> [u128; 4] {
    let first = prefix.address().to_bits();
    let last = first | u128::MAX.checked_shr(prefix.len().into()).unwrap_or(0);
    [first.wrapping_sub(1), first, last, last.wrapping_add(1)]
}

/// Carries out steps, and compares with a list after each. Before some of them the table becomes a large one, or a
/// small one again.
fn agrees(
    steps: &[(Prefix6, bool, prop::sample::Index)],
    probes: &[u128],
    turns: &[usize],
) -> Result<(), TestCaseError> {
    let (mut fib, mut list) = (Fib6::default(), Vec::<Prefix6>::new());
    let edges = steps.iter().flat_map(|(prefix, ..)| edges(prefix));
    let probed: Vec<Ipv6Addr> = edges.chain(probes.iter().copied()).map(Ipv6Addr::from_bits).collect();
    for (step, (prefix, add, which)) in steps.iter().enumerate() {
        if turns.contains(&step) {
            fib.turn();
        }
        if *add || list.is_empty() {
            set(&mut fib, *prefix, Kind::Local);
            if !list.contains(prefix) {
                list.push(*prefix);
            }
        } else {
            let victim = list.swap_remove(which.index(list.len()));
            set(&mut fib, victim, Kind::Empty);
        }
        prop_assert_eq!(fib.len(), list.len());
        // A prefix needs a node, and a branch above it.
        prop_assert!(fib.below.nodes() <= 2 * list.len());
        let mut leaves = vec![0; probed.len()];
        fib.find_all(&probed, &mut leaves);
        for way in machine::Way::all() {
            let Some(wide) = &mut fib.wide else { break };
            wide.way = way;
            let mut same = vec![0; probed.len()];
            fib.find_all(&probed, &mut same);
            prop_assert_eq!(&leaves, &same);
        }
        for (address, leaf) in probed.iter().zip(leaves) {
            let naive =
                list.iter().filter(|prefix| prefix.contains(*address)).max_by_key(|prefix| prefix.len());
            let expected = naive.map_or(NOTHING, |prefix| fib.prefixes.get(*prefix));
            prop_assert_eq!(leaf, expected);
            prop_assert_eq!(slot::rank(leaf), naive.map_or(0, |prefix| u32::from(prefix.len()) + 1));
            prop_assert_eq!(fib.find(*address), (expected != NOTHING).then(|| slot::place(expected)));
        }
    }
    for prefix in list {
        set(&mut fib, prefix, Kind::Empty);
    }
    prop_assert_eq!(fib.len(), 0);
    prop_assert!(fib.is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn finds_what_a_list_finds(
        steps in proptest::collection::vec((prefix(), any::<bool>(), any::<prop::sample::Index>()), 1..60),
        probes in proptest::collection::vec(any::<u128>(), 20),
    ) {
        agrees(&steps, &probes, &[])?;
    }
}

proptest! {
    #![proptest_config(testing::cases(32))]
    #[test]
    fn a_large_table_finds_what_a_list_finds(
        steps in proptest::collection::vec(
            (prefix(), prop::bool::weighted(0.7), any::<prop::sample::Index>()), 20..80),
        probes in proptest::collection::vec(any::<u128>(), 20),
        turns in (0usize..20, 20usize..60, 20usize..60),
    ) {
        agrees(&steps, &probes, &[turns.0, turns.1, turns.2])?;
    }
}
