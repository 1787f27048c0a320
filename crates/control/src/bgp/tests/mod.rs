mod choice;
mod labels;
mod limits;
mod liveness;
mod peers;
mod restarting;
mod several;

use super::decision::{Candidate, choose};
use super::session::SessionState;
use super::table::{Entry, Path};
use super::{Set, Sets};
use crate::machine::State;
use core::cmp::Reverse;
use core::net::{IpAddr, Ipv4Addr};
use proptest::collection::vec;
use proptest::prelude::*;
use wire::bgp::Origin;

/// The machine as it is: whoever changes it changes this text, too.
#[test]
fn the_states_of_a_connection() {
    let expected = "\
Idle --Start--> Connect
Idle --Listen--> Active
Connect --TcpUp--> OpenSent
Connect --TcpFails--> Idle
Connect --Stop--> Idle
Active --RetryExpired--> Connect
Active --TcpUp--> OpenSent
Active --Stop--> Idle
OpenSent --OpenGood--> OpenConfirm
OpenSent --TcpFails--> Active
OpenSent --Notified--> Idle
OpenSent --Refused--> Idle
OpenSent --HoldExpired--> Idle
OpenSent --Stop--> Idle
OpenConfirm --KeepAlive--> Established
OpenConfirm --TcpFails--> Idle
OpenConfirm --Notified--> Idle
OpenConfirm --Refused--> Idle
OpenConfirm --HoldExpired--> Idle
OpenConfirm --Stop--> Idle
Established --KeepAlive--> Established
Established --Update--> Established
Established --TcpFails--> Idle
Established --Notified--> Idle
Established --Refused--> Idle
Established --HoldExpired--> Idle
Established --Stop--> Idle";
    assert_eq!(SessionState::CHART.lines().join("\n"), expected);
}

/// Values of a candidate, in the order in which they count.
type Values = (u32, usize, u8, u32, u32, bool, u32, u32, usize);

fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let one = (0..2u32, 0..2usize, 0..3u8, 1..3u32, 0..3u32, any::<bool>(), 0..2u32, 0..3u32, 0..2usize);
    vec(one, 0..7).prop_map(|all| {
        let of = |(place, one): (usize, Values)| Candidate {
            at: place,
            is_own: false,
            path_id: 0,
            local_pref: one.0,
            steps: one.1,
            origin: Origin::of(one.2).expect("an origin"),
            neighbor_as: Some(one.3),
            med: one.4,
            is_external: one.5,
            metric: one.6,
            id: Ipv4Addr::from_bits(one.7),
            clusters: one.8,
            address: Ipv4Addr::from_bits(place as u32).into(),
        };
        all.into_iter().enumerate().map(of).collect()
    })
}

/// RFC 4271, 9.1.2.2, read again: a route is out if one that is still in has a better value, step by step.
fn by_the_rfc(all: &[Candidate]) -> Option<usize> {
    let mut left: Vec<&Candidate> = all.iter().collect();
    type Rank = fn(&Candidate) -> (Reverse<u32>, u64);
    let rank = |rank: Rank, left: &mut Vec<&Candidate>| {
        left.sort_by_key(|one| rank(one));
        if let Some(best) = left.first().map(|one| rank(one)) {
            left.retain(|one| rank(one) == best);
        }
    };
    rank(|one| (Reverse(one.local_pref), 0), &mut left);
    rank(|one| (Reverse(0), one.steps as u64), &mut left);
    rank(|one| (Reverse(0), one.origin as u64), &mut left);
    let mut out = Vec::new();
    for m in &left {
        for n in &left {
            if m.neighbor_as == n.neighbor_as && n.med < m.med {
                out.push(m.at);
            }
        }
    }
    left.retain(|one| !out.contains(&one.at));
    if left.iter().any(|one| one.is_external) {
        left.retain(|one| one.is_external);
    }
    rank(|one| (Reverse(0), u64::from(one.metric)), &mut left);
    rank(|one| (Reverse(0), u64::from(one.id.to_bits())), &mut left);
    rank(|one| (Reverse(0), one.clusters as u64), &mut left);
    fn bits(address: IpAddr) -> u64 {
        match address {
            IpAddr::V4(address) => u64::from(address.to_bits()),
            IpAddr::V6(_) => u64::MAX,
        }
    }
    rank(|one| (Reverse(0), bits(one.address)), &mut left);
    left.first().map(|one| one.at)
}

#[test]
fn a_neighbour_has_so_many_paths_to_a_prefix_and_no_more() {
    let (mut sets, mut entry) = (Sets::default(), Entry::default());
    let set = sets.intern(&Set::default());
    let path = |peer, id| Path { set, id, label: Path::UNLABELLED, peer, is_stale: false };
    for peer in 0..300u16 {
        for id in 0..300u32 {
            if entry.has_room(&path(peer, id)) {
                sets.hold(set);
                entry.put(path(peer, id), &mut sets);
            }
        }
        let count = entry.paths.as_slice().iter().filter(|one| one.peer == peer).count();
        assert_eq!(
            count,
            if peer < 255 {
                Entry::PATHS_OF_ONE
            } else if peer == 255 {
                254
            } else {
                0
            }
        );
    }
    assert!(entry.has_room(&path(0, 255)) && !entry.has_room(&path(0, 256)), "one may be another");
    // The last of all, and this router's own behind it, can be taken.
    sets.hold(set);
    entry.put(path(Path::OWN, 0), &mut sets);
    entry.choose(Some(entry.paths.as_slice().len() - 1));
    assert_eq!(entry.best().map(|best| best.peer), Some(Path::OWN));
}

proptest! {
    #[test]
    fn the_best_route_is_that_of_the_rfc_in_any_order(all in candidates(), turn in 0..7usize) {
        let best = choose(all.clone()).map(|best| best.at);
        prop_assert_eq!(best, by_the_rfc(&all));
        let mut turned = all;
        let len = turned.len();
        turned.rotate_left(turn.min(len));
        prop_assert_eq!(choose(turned).map(|best| best.at), best);
    }
}
