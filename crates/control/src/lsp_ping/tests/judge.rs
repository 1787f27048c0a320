//! What is replied, by the steps of RFC 8029, 4.4.

use super::super::judge::{Case, Judgement, Part};
use crate::inquiry::{Fec, FecMapping, GivenBy};
use base::plane::{LabelStack, LabelUse, Leg};
use base::{Label, PortId};
use core::net::Ipv4Addr;
use proptest::prelude::*;
use wire::lsp_ping::{ALL_ROUTERS, MappedLabel, Mapping, MappingPart, Place};

const ROUTER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const INTERFACE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

fn label(value: u32) -> Label {
    Label::truncate(value)
}

fn leg(labels: &[u32]) -> Leg {
    let labels: Vec<Label> = labels.iter().map(|value| label(*value)).collect();
    let labels = LabelStack::new(&labels).expect("few");
    Leg { labels, port: PortId(1), gateway: Ipv4Addr::new(10, 0, 1, 2).into() }
}

fn ldp() -> Fec {
    Fec::LdpIpv4 { prefix: Ipv4Addr::new(192, 0, 2, 9), length: 32 }
}

fn nil(value: u32) -> Fec {
    Fec::Nil { label: value }
}

fn transit(given: u32) -> Option<FecMapping> {
    let legs = vec![leg(&[30])];
    Some(FecMapping::transit(GivenBy::Ldp, Some(label(given)), legs))
}

fn egress(given: u32) -> Option<FecMapping> {
    Some(FecMapping::egress(GivenBy::Ldp, Some(label(given))))
}

fn way(address: Ipv4Addr, interface: Ipv4Addr, labels: &[u32]) -> Mapping {
    let of = |label: &u32| MappedLabel { label: *label, tc: 0, bottom: false, protocol: 3 };
    Mapping {
        mtu: 1500,
        flags: 0,
        place: Place::Ipv4 { address, interface },
        return_code: 0,
        return_subcode: 0,
        parts: vec![MappingPart::Labels { labels: labels.iter().map(of).collect() }],
    }
}

struct Given {
    stack: Vec<u32>,
    uses: Vec<LabelUse>,
    fecs: Vec<Fec>,
    mappings: Vec<Option<FecMapping>>,
    way: Option<Mapping>,
    validate: bool,
}

impl Given {
    fn new(labels: Vec<(u32, LabelUse)>, fecs: Vec<(Fec, Option<FecMapping>)>) -> Given {
        let (stack, uses) = labels.into_iter().unzip();
        let (fecs, mappings) = fecs.into_iter().unzip();
        Given { stack, uses, fecs, mappings, way: None, validate: true }
    }

    fn with(self, way: Mapping) -> Given {
        Given { way: Some(way), ..self }
    }

    fn judge_where(&self, knows_labels: bool) -> Judgement {
        let stack: Vec<Label> = self.stack.iter().map(|value| label(*value)).collect();
        let case = Case {
            stack: &stack,
            uses: &self.uses,
            fecs: &self.fecs,
            mappings: &self.mappings,
            way: self.way.as_ref(),
            router: ROUTER,
            interface: INTERFACE,
            validate: self.validate,
            part: Part::Both,
        };
        case.judge(&|leg| knows_labels || leg.labels.as_slice().is_empty())
    }

    fn code(&self) -> (u8, u8) {
        let found = self.judge_where(true);
        (found.code, found.depth)
    }
}

fn swap() -> LabelUse {
    LabelUse::Switched(vec![leg(&[30])])
}

#[test]
fn labels_are_validated_first() {
    let unknown = Given::new(vec![(20, LabelUse::Unknown)], vec![(ldp(), transit(20))]);
    assert_eq!(unknown.code(), (11, 1), "no label entry");
    let below = Given::new(
        vec![(0, LabelUse::Below), (20, LabelUse::Unknown), (21, swap())],
        vec![(ldp(), transit(20))],
    );
    assert_eq!(below.code(), (11, 2), "the second from the bottom");
    let dropped = Given::new(vec![(20, LabelUse::Discarded)], vec![(ldp(), transit(20))]);
    assert_eq!(dropped.code(), (9, 1));
}

#[test]
fn a_label_that_is_switched() {
    let plain = Given::new(vec![(20, swap())], vec![(ldp(), None)]);
    assert_eq!(plain.code(), (8, 1), "the FEC is not looked at");
    assert_eq!(plain.judge_where(true).switched, None, "the way on is not asked for");
    assert_eq!(plain.judge_where(false).code, 9, "beyond is somebody without labels");
    let deeper = Given::new(vec![(20, swap()), (21, swap())], vec![(ldp(), None)]);
    assert_eq!(deeper.code(), (8, 2));
    let sound =
        Given::new(vec![(20, swap())], vec![(ldp(), transit(20))]).with(way(ROUTER, INTERFACE, &[20]));
    let found = sound.judge_where(true);
    assert_eq!((found.code, found.depth, found.switched), (8, 1, Some(0)));
    for (place, labels) in [
        ((ROUTER, INTERFACE), &[21][..]),
        ((ROUTER, INTERFACE), &[20, 21][..]),
        ((ROUTER, ROUTER), &[20][..]),
        ((INTERFACE.to_bits().wrapping_add(1).into(), INTERFACE), &[20][..]),
    ] {
        let other =
            Given::new(vec![(20, swap())], vec![(ldp(), transit(20))]).with(way(place.0, place.1, labels));
        let found = other.judge_where(true);
        assert_eq!((found.code, found.tells_received, found.switched), (5, true, None), "{labels:?}");
    }
    // RFC 8029, 3.4: nobody's address, and that of all routers.
    let nobody = Mapping {
        place: Place::Ipv4Unnumbered { address: Ipv4Addr::LOCALHOST, index: 0 },
        ..way(ROUTER, INTERFACE, &[20])
    };
    let given = Given::new(vec![(20, swap())], vec![(ldp(), transit(20))]).with(nobody);
    assert!(matches!(given.judge_where(true), Judgement { code: 6, depth: 1, tells_received: true, .. }));
    let all = Mapping {
        place: Place::Ipv4Unnumbered { address: ALL_ROUTERS, index: 0 },
        ..way(ROUTER, INTERFACE, &[99])
    };
    let given = Given::new(vec![(20, swap())], vec![(ldp(), None)]).with(all);
    assert_eq!(given.code(), (8, 1), "nothing is verified");
    assert_eq!(given.judge_where(true).switched, Some(0), "and the way on is told");
}

#[test]
fn what_a_label_stands_for_is_checked_on_the_way() {
    let case = |mapping, validate| {
        let given =
            Given::new(vec![(20, swap())], vec![(ldp(), mapping)]).with(way(ROUTER, INTERFACE, &[20]));
        Given { validate, ..given }.code()
    };
    assert_eq!(case(None, true), (4, 1), "no mapping");
    assert_eq!(case(None, false), (8, 1));
    assert_eq!(case(transit(21), true), (10, 1), "another label");
    assert_eq!(case(egress(3), true), (10, 1), "implicit null is no label with which it comes");
    let unspoken = transit(20).map(|known| FecMapping { is_spoken: false, ..known });
    assert_eq!(case(unspoken, true), (12, 1));
    // An FEC whose label has been taken off before: the one above it goes with the label.
    let given = Given::new(vec![(20, swap())], vec![(ldp(), transit(20)), (ldp(), None)]).with(way(
        ROUTER,
        INTERFACE,
        &[20, 3],
    ));
    assert_eq!(given.code(), (8, 1));
    let given = Given::new(vec![(20, swap())], vec![(ldp(), None), (ldp(), transit(20))]).with(way(
        ROUTER,
        INTERFACE,
        &[3, 20],
    ));
    assert_eq!(given.code(), (8, 1));
    // What is hidden is not checked.
    let given = Given::new(vec![(20, swap())], vec![(nil(0), None), (ldp(), None)]).with(way(
        ROUTER,
        INTERFACE,
        &[20],
    ));
    assert_eq!(given.code(), (8, 1));
}

#[test]
fn the_end_of_an_lsp() {
    let none = Vec::new;
    assert_eq!(Given::new(none(), vec![(ldp(), egress(3))]).code(), (3, 1), "the label was taken off before");
    assert_eq!(Given::new(none(), vec![(ldp(), egress(20))]).code(), (10, 1), "and should not have been");
    assert_eq!(Given::new(none(), vec![(ldp(), None)]).code(), (4, 1));
    let own = || vec![(20, LabelUse::Below)];
    assert_eq!(Given::new(own(), vec![(ldp(), egress(20))]).code(), (3, 1));
    assert_eq!(Given::new(own(), vec![(ldp(), egress(21))]).code(), (10, 1));
    assert_eq!(
        Given::new(own(), vec![(ldp(), transit(20))]).code(),
        (9, 1),
        "the LSP goes on, and the label ends"
    );
    let null = || vec![(0, LabelUse::Below)];
    assert_eq!(Given::new(null(), vec![(ldp(), egress(0))]).code(), (3, 1));
    assert_eq!(Given::new(null(), vec![(nil(0), None)]).code(), (3, 1));
    assert_eq!(Given::new(own(), vec![(nil(0), None)]).code(), (10, 1), "no null");
    // Two FECs: each has its label, or none.
    let two = || vec![(21, LabelUse::Below), (20, LabelUse::Below)];
    assert_eq!(Given::new(two(), vec![(ldp(), egress(21)), (ldp(), egress(20))]).code(), (3, 2));
    assert_eq!(Given::new(two(), vec![(ldp(), egress(22)), (ldp(), egress(20))]).code(), (10, 2));
    assert_eq!(Given::new(own(), vec![(ldp(), egress(3)), (ldp(), egress(20))]).code(), (3, 1));
    // By a way that is not the one.
    let given = Given::new(none(), vec![(ldp(), egress(3))]).with(way(ROUTER, INTERFACE, &[3]));
    assert_eq!(given.code(), (3, 1));
    let given = Given::new(none(), vec![(ldp(), egress(3))]).with(way(ROUTER, INTERFACE, &[20]));
    assert_eq!((given.code(), given.judge_where(true).tells_received), ((5, 1), true));
}

/// An implicit null has an FEC and no label: so many of them that their number fits into no byte are beyond the FECs.
#[test]
fn nulls_without_end_are_beyond_the_fecs() {
    for nulls in [254, 255, 256, 1000] {
        let labels: Vec<u32> = core::iter::once(20).chain(core::iter::repeat_n(3, nulls)).collect();
        let way = way(ROUTER, INTERFACE, &labels);
        let given = Given::new(vec![(20, swap())], vec![(ldp(), transit(21))]).with(way);
        assert_eq!(given.code(), (8, 1), "{nulls}");
    }
    let all = Given::new(Vec::new(), vec![(ldp(), egress(20)); 256]);
    assert_eq!(all.code(), (10, 1), "more FECs than a return subcode can tell");
}

proptest! {
    #![proptest_config(testing::cases(512))]

    /// Whatever a request says, the depth is one of the labels or FECs, or none.
    #[test]
    fn any_request_is_judged(
        labels in proptest::collection::vec((0u32..24, 0u8..4), 0..5),
        fecs in proptest::collection::vec((0u8..4, prop::option::of((0u32..24, any::<bool>()))), 0..300),
        said in proptest::option::of((proptest::collection::vec(0u32..24, 0..4), 0usize..600, 0u8..4)),
        validate in any::<bool>(),
    ) {
        let uses = labels.iter().map(|&(value, what)| (value, match what {
            0 => LabelUse::Unknown,
            1 => LabelUse::Discarded,
            2 => LabelUse::Below,
            _ => swap(),
        }));
        let of = |&(kind, given): &(u8, Option<(u32, bool)>)| {
            let mapping = given.and_then(|(given, ends)| if ends { egress(given) } else { transit(given) });
            (if kind == 0 { nil(0) } else { ldp() }, mapping)
        };
        let mut given = Given::new(uses.collect(), fecs.iter().map(of).collect());
        if let Some((more, nulls, place)) = said {
            // Most say the labels with which they come, with nulls that stand for no label anywhere below.
            let own = labels.iter().map(|label| label.0).filter(|_| place > 0);
            let all: Vec<u32> = own.chain(more.into_iter().filter(|_| place < 2)).collect();
            let all: Vec<u32> = all.into_iter().chain(core::iter::repeat_n(3, nulls)).collect();
            given = given.with(way(ROUTER, INTERFACE, &all));
        }
        let found = Given { validate, ..given }.judge_where(true);
        prop_assert!(usize::from(found.depth) <= labels.len().max(fecs.len()).max(1));
    }
}
