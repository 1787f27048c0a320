use super::*;
use base::describe::{Dscps, LabelRange, PortRange, Protocol, Several};
use base::flow::FlowKey;
use base::plane::{IpPrefix, Prefix, Prefix6};
use base::{Body, Label, Phb};
use base::{Dscp, PortId, TrafficClass};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// A packet before it is one.
#[derive(Clone, Debug)]
struct Sent {
    /// Label and TC, outermost first.
    labels: Vec<(u32, u8)>,
    ip: Option<FlowKey>,
    phb: Option<Phb>,
    mark: u32,
    input: Option<u16>,
    held: usize,
}

impl Sent {
    fn frame(&self) -> Frame {
        let mut bytes = vec![2; 12];
        let ethertype: u16 = match (self.labels.is_empty(), self.ip) {
            (false, _) => 0x8847,
            (true, Some(FlowKey { src: IpAddr::V6(_), .. })) => 0x86dd,
            (true, Some(_)) => 0x0800,
            (true, None) => 0x0806,
        };
        bytes.extend(ethertype.to_be_bytes());
        for (n, (label, tc)) in self.labels.iter().enumerate() {
            let bottom = u32::from(n + 1 == self.labels.len());
            bytes.extend((label << 12 | u32::from(*tc) << 9 | bottom << 8 | 64).to_be_bytes());
        }
        let mut headers = bytes.len() + 20;
        match self.ip {
            Some(flow) => {
                let fragment = if flow.ports.is_none() { 7 } else { 0 };
                let tos = flow.dscp.to_tos(1);
                match (flow.src, flow.dst) {
                    (IpAddr::V4(src), IpAddr::V4(dst)) => {
                        bytes.extend([0x45, tos, 0, 60, 0, 0, 0, fragment, 9, flow.protocol, 0, 0]);
                        bytes.extend(src.octets());
                        bytes.extend(dst.octets());
                    }
                    (IpAddr::V6(src), IpAddr::V6(dst)) => {
                        let next = if fragment == 0 { flow.protocol } else { 44 };
                        bytes.extend([0x60 | tos >> 4, tos << 4, 0, 0, 0, 40, next, 9]);
                        bytes.extend(src.octets());
                        bytes.extend(dst.octets());
                        if fragment != 0 {
                            bytes.extend([flow.protocol, 0, 0, fragment << 3, 0, 0, 0, 1]);
                        }
                        headers = bytes.len();
                    }
                    _ => panic!("{flow:?} is of two families"),
                }
                let (source, destination) = flow.ports.unwrap_or_default();
                bytes.extend(source.to_be_bytes());
                bytes.extend(destination.to_be_bytes());
                bytes.extend([0; 36]);
            }
            None => bytes.extend([0; 46]),
        }
        let held = (headers + self.held).min(bytes.len());
        let mut frame = Frame::new(&bytes[..held], Body::owned(&bytes[held..]));
        frame.set_phb(self.phb);
        if self.mark != 0 {
            frame.set_mark(self.mark);
        }
        if let Some(port) = self.input {
            frame.set_input(PortId(port));
        }
        frame
    }

    /// What the documentation of [`Match`] says, word for word.
    fn is_taken(&self, filter: &Match) -> bool {
        let said = match (self.labels.first(), self.ip) {
            (Some((_, tc)), _) => [0, 10, 12, 18, 26, 46, 48, 56][usize::from(*tc)],
            (None, Some(flow)) => flow.dscp.value(),
            (None, None) => 0,
        };
        let phb = self.phb.or(Phb::new(said)).unwrap_or_default();
        let outer = self.labels.first();
        filter.phb.is_none_or(|set| set.contains(phb))
            && filter.dscp.as_ref().is_none_or(|list| self.ip.is_some_and(|flow| list.0.contains(&flow.dscp)))
            && filter
                .tc
                .as_ref()
                .is_none_or(|list| outer.is_some_and(|(_, tc)| list.0.contains(&TrafficClass::truncate(*tc))))
            && filter
                .labels
                .is_none_or(|r| outer.is_some_and(|(label, _)| (r.first..=r.last).contains(label)))
            && filter.labelled.is_none_or(|labelled| outer.is_some() == labelled)
            && filter.flow().is_none_or(|flow| self.ip.is_some_and(|key| flow.takes(&key)))
            && filter.mark.is_none_or(|mark| mark == self.mark)
            && filter.inputs.as_ref().is_none_or(|ports| {
                self.input.is_some_and(|port| ports.0.contains(&Input::Port(PortId(port))))
            })
    }
}

fn dscp() -> impl Strategy<Value = Dscp> {
    prop_oneof![Just(0u8), Just(10), Just(12), Just(46), 0u8..64]
        .prop_map(|d| Dscp::new(d).unwrap_or_default())
}
fn phb() -> impl Strategy<Value = Phb> {
    dscp().prop_map(Phb::of_dscp)
}
fn label() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 16u32..30, 1 => Just(0u32), 1 => 0xf_fff0u32..=0xf_ffff]
}
fn address() -> impl Strategy<Value = Ipv4Addr> {
    (0u8..3, 0u8..3).prop_map(|(a, b)| Ipv4Addr::new(10, 0, a, b))
}
/// The same address, or one of IPv6 for it.
fn of_family(six: bool, address: Ipv4Addr) -> IpAddr {
    if six { Ipv6Addr::from_bits(u128::from(address.to_bits()) << 64).into() } else { address.into() }
}
fn prefix_of_family(six: bool, prefix: Prefix) -> IpPrefix {
    match of_family(six, prefix.address()) {
        IpAddr::V4(_) => prefix.into(),
        IpAddr::V6(address) if prefix.len() == 0 => Prefix6::new(address, 0).into(),
        IpAddr::V6(address) => Prefix6::new(address, 32 + prefix.len()).into(),
    }
}
fn flow_key() -> impl Strategy<Value = FlowKey> {
    let ports = (0u16..6, 0u16..6);
    (any::<bool>(), address(), address(), prop_oneof![Just(6u8), Just(17), Just(1)], of(ports), dscp())
        .prop_map(|(six, src, dst, protocol, ports, dscp)| {
            let ports = if protocol == 1 { None } else { ports };
            FlowKey { src: of_family(six, src), dst: of_family(six, dst), protocol, ports, dscp }
        })
}
fn sent() -> impl Strategy<Value = Sent> {
    let tags = (of(phb()), 0u32..3, of(0u16..4));
    (vec((label(), 0u8..8), 0..4), of(flow_key()), tags, 0usize..8)
        .prop_map(|(labels, ip, (phb, mark, input), held)| Sent { labels, ip, phb, mark, input, held })
}
fn flow_filter() -> impl Strategy<Value = FlowFilter> {
    let prefix = || of((address(), prop_oneof![Just(0u8), 28u8..=32]).prop_map(|(a, n)| Prefix::new(a, n)));
    let range = || of((0u16..6, 0u16..6).prop_map(|(a, b)| (a.min(b), a.max(b))));
    let ports = (range(), range());
    (any::<bool>(), prefix(), prefix(), of(prop_oneof![Just(6u8), Just(17)]), ports, of(dscp())).prop_map(
        |(six, src, dst, protocol, (src_ports, dst_ports), dscp)| {
            let [src, dst] = [src, dst].map(|given| given.map(|prefix| prefix_of_family(six, prefix)));
            let (src_ports, dst_ports) =
                if protocol.is_some() { (src_ports, dst_ports) } else { (None, None) };
            FlowFilter { src, dst, protocol, src_ports, dst_ports, dscp }
        },
    )
}
/// Each field is seldom given, so that filters take something.
fn filter() -> impl Strategy<Value = Match> {
    let sets = (
        proptest::option::weighted(
            0.3,
            prop_oneof![vec(phb(), 1..4).prop_map(|v| v.into_iter().collect::<PhbSet>()), Just(PhbSet::ALL)],
        ),
        proptest::option::weighted(
            0.2,
            prop_oneof![vec(dscp(), 1..4), Just((0..64).filter_map(Dscp::new).collect::<Vec<_>>())],
        ),
        proptest::option::weighted(0.2, prop_oneof![vec(0u8..8, 1..9), Just((0..8).collect::<Vec<_>>())]),
    );
    let range = prop_oneof![
        label().prop_map(|a| (a, a)),
        (label(), label()).prop_map(|(a, b)| (a.min(b), a.max(b))),
        Just((0, Label::MAX.value())),
    ];
    let labels = (proptest::option::weighted(0.2, range), proptest::option::weighted(0.2, any::<bool>()));
    let tags = (
        proptest::option::weighted(0.2, 0u32..3),
        proptest::option::weighted(0.2, vec((0u16..5).prop_map(PortId), 1..40)),
    );
    (sets, labels, proptest::option::weighted(0.3, flow_filter()), tags).prop_map(
        |((phb, dscp, tc), (labels, labelled), flow, (mark, inputs))| Match {
            phb,
            dscp: dscp.map(Dscps),
            tc: tc.map(|tc| Several(tc.into_iter().map(TrafficClass::truncate).collect())),
            labels: labels.map(|(first, last)| LabelRange { first, last }),
            labelled,
            mark,
            inputs: inputs.map(|ports| Several(ports.into_iter().map(Input::Port).collect())),
            ..flow.map(|flow| of_flow(&flow)).unwrap_or_default()
        },
    )
}

/// The addresses, protocol and ports of a filter.
fn of_flow(flow: &FlowFilter) -> Match {
    let ports = |range: Option<(u16, u16)>| range.map(|(first, last)| PortRange { first, last });
    Match {
        src: flow.src,
        dst: flow.dst,
        protocol: flow.protocol.map(Protocol),
        src_ports: ports(flow.src_ports),
        dst_ports: ports(flow.dst_ports),
        ..Match::default()
    }
}

fn compile(filters: &[Match]) -> Matcher {
    Matcher::new(filters).expect("checked before")
}

proptest! {
    #![proptest_config(testing::cases(256))]
    /// The first in a list that takes the packet.
    #[test]
    fn finds_what_a_list_finds(
        filters in vec(filter(), 0..40),
        kind in 0u8..8,
        packets in vec(sent(), 1..60),
    ) {
        let mut filters: Vec<Match> = filters.into_iter().filter(|f| Condition::new(f).is_ok()).collect();
        for filter in &mut filters {
            // Many of one kind; from 4 on one number decides.
            match kind {
                1 => *filter = Match { phb: filter.phb, ..Match::default() },
                2 => *filter = Match { labels: filter.labels, phb: filter.phb, ..Match::default() },
                3 => *filter = Match {
                    labels: filter.labels,
                    ..filter.flow().map(|flow| of_flow(&flow)).unwrap_or_default()
                },
                4 => *filter = Match { mark: filter.mark, ..Match::default() },
                5 => *filter = Match { inputs: filter.inputs.take(), ..Match::default() },
                6 => *filter = Match { dscp: filter.dscp.take(), ..Match::default() },
                7 => *filter = Match { labels: filter.labels, ..Match::default() },
                _ => {}
            }
        }
        filters.retain(|filter| Condition::new(filter).is_ok());
        let matcher = compile(&filters);
        for packet in &packets {
            let naive = filters.iter().position(|filter| packet.is_taken(filter));
            prop_assert_eq!(matcher.find(&packet.frame()).map(|n| n as usize), naive, "{:?}", packet);
        }
        for shadow in shadowed(&filters) {
            let earlier = |packet: &Sent| filters[..shadow.filter].iter().any(|f| packet.is_taken(f));
            prop_assert!(packets.iter().all(|p| !p.is_taken(&filters[shadow.filter]) || earlier(p)));
            prop_assert!(!shadow.by.is_empty() && shadow.by.iter().all(|n| *n < shadow.filter));
        }
    }

    /// What is refused takes nothing.
    #[test]
    fn only_filters_that_take_nothing_are_refused(filter in filter(), packets in vec(sent(), 1..60)) {
        if Condition::new(&filter).is_err() {
            prop_assert!(packets.iter().all(|packet| !packet.is_taken(&filter)));
        }
    }
}

#[test]
fn classes_are_found_by_name() {
    let filters: Vec<ClassFilter> = crate::queue::testing::spec(
        r#"[{"phb":["EF"],"class":"gold"},{"dscp":[10,12],"class":"silver"},
            {"dst":"10.0.0.0/24","class":"gold"}]"#,
    )
    .expect("well formed");
    let classifier = Classifier::new(&filters, Some("rest"), &["rest", "silver", "gold"]).expect("right");
    let packet = |dscp: u8, to: [u8; 4]| {
        let flow = FlowKey {
            src: Ipv4Addr::LOCALHOST.into(),
            dst: to.into(),
            protocol: 17,
            ports: None,
            dscp: Dscp::new(dscp).unwrap_or_default(),
        };
        Sent { labels: vec![], ip: Some(flow), phb: None, mark: 0, input: None, held: 0 }.frame()
    };
    let found = [
        classifier.find(&packet(46, [9; 4])),
        classifier.find(&packet(10, [10, 0, 0, 1])),
        classifier.find(&packet(0, [10, 0, 0, 1])),
        classifier.find(&packet(0, [9; 4])),
    ];
    assert_eq!(found, [Some(2), Some(1), Some(2), Some(0)]);
    let error = Classifier::new(&filters, None, &["rest", "gold"]).expect_err("no silver");
    assert_eq!(error.to_string(), "filters/1/class: there is no class 'silver' (one of rest, gold)");
    let error = Classifier::new(&filters, Some("none"), &["gold", "silver"]).expect_err("no such default");
    assert!(error.to_string().contains("default: there is no class 'none'"), "{error}");
}

#[test]
fn errors_name_the_filter_and_the_reason() {
    let refused = |json: &str| {
        let text = format!(r#"[{{"class":"a"}},{{{json},"class":"a"}}]"#);
        let filters: Vec<ClassFilter> = match crate::queue::testing::spec(&text) {
            Ok(filters) => filters,
            Err(error) => return error.to_string(),
        };
        Classifier::new(&filters, None, &["a"]).expect_err(json).to_string()
    };
    for (json, part) in [
        (r#""phb":[]"#, "1/phb: the list is empty: at least one per-hop behaviour is needed"),
        (r#""phb":["AF14"]"#, "1/phb/0: 'AF14' is not a PHB"),
        (r#""dscp":[64]"#, "1/dscp/0: 64 is not a code point"),
        (r#""dscp":[]"#, "the list is empty: at least one code point is needed"),
        (r#""tc":[8]"#, "1/tc/0: 8 is not a TC"),
        (r#""tc":[]"#, "1/tc: the list is empty: at least one"),
        (r#""exp":1"#, "1/exp: 'exp' is called 'tc' now"),
        (r#""labels":[20,19]"#, "1/labels: a list is not a label"),
        (r#""labels":[0,1048576]"#, "1/labels: a list is not a label"),
        (r#""labels":[3,3]"#, "implicit null"),
        (r#""labelled":false,"tc":[1]"#, "1/tc: it can take nothing: a packet without a label has no tc"),
        (r#""labelled":false,"labels":[16,17]"#, "1/labels: it can take nothing"),
        (r#""inputs":[]"#, "1/inputs: the list is empty"),
        (r#""dst_ports":[80,80]"#, "ports need a protocol"),
        (
            r#""dst_ports":80,"protocol":"icmp""#,
            "1/protocol: it can take nothing: protocol icmp has no ports",
        ),
        (r#""colour":1"#, "1/colour: unknown field 'colour'"),
        (r#""inputs":["east"]"#, "filters/1/inputs/0: 'east': a name of a neighbour"),
    ] {
        assert!(refused(json).contains(part), "{json}: {}", refused(json));
    }
}

#[test]
fn shadows_are_found_even_where_several_filters_throw_them() {
    let filters: Vec<Match> = crate::queue::testing::spec(
        r#"[{"phb":["EF"]}, {"phb":["AF11","AF12"]}, {"phb":["EF","AF11"]}, {"phb":["EF","AF13"]},
            {"src":"0.0.0.0/1"}, {"src":"128.0.0.0/1"}, {"src":"::/0"}, {"dscp":[0]}, {"src":"0.0.0.0/0"},
            {"labelled":false}, {"tc":[0,1,2,3]}, {"tc":[4,5,6,7],"labels":[0,100]}, {"labels":[16,17]}, {"inputs":[1]},
            {}, {"mark":7}]"#,
    )
    .expect("well formed");
    let found: Vec<_> = shadowed(&filters).into_iter().map(|s| (s.filter, s.by)).collect();
    assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [2, 7, 8, 12, 15]);
    assert_eq!(found[0].1, [0, 1]);
    assert!(found[1].1.ends_with(&[4, 5, 6]), "{:?}", found[1]);
}

#[test]
fn a_look_up_does_not_grow_with_the_filters_of_a_kind() {
    // Not in time, which tests do not measure, but in what is compared: no filter is left to be looked at one by one.
    for n in [4u32, 1000] {
        let of_kind: [Box<dyn Fn(u32) -> Match>; 4] = [
            Box::new(|i| Match {
                labels: Some(LabelRange { first: 16 + i, last: 16 + i }),
                ..Match::default()
            }),
            Box::new(|i| Match { mark: Some(i), ..Match::default() }),
            Box::new(|i| Match {
                inputs: Some(Several(vec![Input::Port(PortId(i as u16))])),
                ..Match::default()
            }),
            Box::new(|i| {
                let dst = Some(Prefix::host(Ipv4Addr::from_bits(0x0a00_0000 + i)).into());
                Match { dst, ..Match::default() }
            }),
        ];
        for kind in of_kind {
            let matcher = compile(&(0..n).map(&kind).collect::<Vec<_>>());
            assert_eq!(matcher.table.compared_one_by_one(), 0);
        }
    }
}
