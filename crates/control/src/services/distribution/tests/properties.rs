//! Whatever happens to links and routers: in the end every way is labelled from end to end, none is a circle, and no
//! label, entry or request is left over.

use super::*;

/// What has to be so when nothing happens any more.
fn assert_settled(net: &Net) {
    let settings = &net.settings;
    let on_demand = settings.advertise == LabelAdvertisement::OnDemand;
    for (number, node) in net.nodes.iter().enumerate() {
        let bound = node.labels.fecs().filter_map(|(_, known)| match known.binding {
            Some(Binding::Label { label, is_written }) => Some((label, is_written)),
            _ => None,
        });
        let bound: BTreeMap<Label, bool> = bound.collect();
        assert!(bound.values().all(|is_written| *is_written), "router {number} waits for an entry");
        let entries: BTreeSet<Label> = node.ilm.keys().copied().collect();
        assert_eq!(entries, bound.keys().copied().collect(), "entries and labels of router {number}");
        assert_eq!(net.taken(number) as usize, bound.len(), "router {number} has leaked a label");
        assert!(node.labels.fecs().all(|(_, known)| known.old.is_empty()), "{number} waits for a release");
        let several = node.labels.fecs().filter(|(_, known)| known.used.len() > 1).count();
        assert_eq!(node.groups.len(), several, "groups of router {number}");
        for (far, peer) in node.labels.peers() {
            assert!(peer.requests.is_empty() && peer.asked.is_empty(), "{number} waits for {far:?}");
            let other = &net.nodes[(0..net.nodes.len()).find(|other| key(*other) == far).expect("a router")];
            let mirror = other.labels.peer(key(number)).expect("the other end");
            assert!(peer.given.iter().eq(mirror.sent.iter()), "what {far:?} has told {number}");
            for (prefix, label) in peer.sent.iter() {
                let known = node.labels.fec(prefix).and_then(|known| known.binding);
                assert_eq!(known.and_then(Binding::told), Some(*label));
            }
            if settings.retention == LabelRetention::Conservative {
                for prefix in peer.given.ordered_keys() {
                    let hops = node.services.rib.next_hops(prefix);
                    assert!(hops.iter().any(|hop| peer.is_at(hop)), "{number} keeps {prefix} of {far:?}");
                }
            }
        }
    }
    for to in 0..net.nodes.len() {
        let far = net.distances(to);
        for from in (0..net.nodes.len()).filter(|from| *from != to) {
            let used = net.used(from, to);
            let Some(hops) = far[from] else {
                assert!(used.is_empty(), "{from} has no way to {to}");
                continue;
            };
            // All ways that are as good have a label, and lead nearer.
            let ways = net.nodes[from].services.rib.next_hops(Prefix::host(id(to))).len();
            assert_eq!(used.len(), ways, "labels from {from} to {to}");
            for (next, label) in used {
                assert_eq!(far[next], Some(hops - 1), "{from} to {to} by {next}");
                let binding = net.nodes[next].labels.fec(Prefix::host(id(to))).and_then(|one| one.binding);
                assert_eq!(binding.and_then(Binding::told), Some(label));
            }
            if settings.loop_detection {
                let said = net.nodes[from].labels.fec(Prefix::host(id(to))).expect("known");
                let is_told = said.binding.is_some();
                // RFC 5036, 2.8.2: the egress says 1, and each router one more.
                assert!(!is_told || said.attributes.hops == Some(hops as u8 + 1), "{from} to {to}");
            }
            if !on_demand {
                assert!(
                    net.nodes[from].labels.fec(Prefix::host(id(to))).is_some_and(|one| one.binding.is_some())
                );
            }
        }
    }
}

/// Two neighbours that use each other for a prefix while routes change: what path vectors find and hop counts alone
/// would find late.
fn all_settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for control in [LabelControl::Independent, LabelControl::Ordered] {
        for advertise in [LabelAdvertisement::Unsolicited, LabelAdvertisement::OnDemand] {
            for retention in [LabelRetention::Liberal, LabelRetention::Conservative] {
                for loop_detection in [false, true] {
                    all.push(Settings { control, advertise, retention, loop_detection, ..settings() });
                }
            }
        }
    }
    all
}

#[test]
fn every_mode_labels_every_way() {
    // A square with a tail: two ways that are as good.
    let links = [(0, 1), (1, 2), (0, 3), (3, 2), (2, 4)];
    for settings in all_settings() {
        let mut net = Net::new(5, &links, &settings);
        net.settle();
        assert_settled(&net);
        net.set(1, false);
        net.settle();
        assert_settled(&net);
        net.set(1, true);
        net.settle();
        assert_settled(&net);
    }
}

proptest::proptest! {
    #![proptest_config(testing::cases(60))]

    #[test]
    fn no_label_is_leaked_and_no_way_is_a_circle(
        mode in 0usize..16,
        count in 2usize..6,
        more in proptest::collection::vec((0usize..6, 0usize..6), 0..5),
        faults in proptest::collection::vec((0usize..4, 0usize..12, 0usize..60), 0..12),
        chance in 1u64..u64::MAX,
    ) {
        let mut links: Vec<(usize, usize)> = (1..count).map(|node| (node - 1, node)).collect();
        let more = more.into_iter().map(|(a, b)| (a % count, b % count)).filter(|(a, b)| a != b);
        links.extend(more);
        let settings = all_settings().swap_remove(mode);
        let mut net = Net::new(count, &links, &settings);
        net.chance = chance;
        for (kind, which, steps) in faults {
            match kind {
                0 => net.restart(which % count),
                1 => net.set(which % links.len(), false),
                2 => net.set(which % links.len(), true),
                _ => net.now += Span::from_secs(7),
            }
            for _ in 0..steps {
                if !net.step() {
                    break;
                }
            }
        }
        (0..links.len()).for_each(|link| net.set(link, true));
        net.settle();
        assert_settled(&net);
    }
}
