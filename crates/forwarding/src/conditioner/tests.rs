use super::*;
use crate::queue::{Facts, Take, Tree, TreeSpec};
use base::device::DropReason;
use base::random::Streams;
use base::{Body, Phb, PortId, Rate};
use wire::checksum;

fn conditioner(json: &str) -> Conditioner {
    let spec: ConditionerSpec = crate::queue::testing::spec(json).expect("well formed");
    Conditioner::new(&spec).expect("right")
}

/// 1000 bytes of IP with these TC values on labels in front.
fn packet(dscp: u8, tcs: &[u8]) -> Frame {
    let mut bytes = vec![2; 12];
    bytes.extend(if tcs.is_empty() { [0x08, 0] } else { [0x88, 0x47] });
    for (n, tc) in tcs.iter().enumerate() {
        bytes.extend([0, 1, 0x40 | tc << 1 | u8::from(n + 1 == tcs.len()), 64]);
    }
    let at = bytes.len();
    bytes.extend([0x45, dscp << 2 | 1, 3, 232, 0, 9, 0, 0, 64, 17, 0, 0, 10, 1, 0, 2, 10, 2, 0, 2]);
    let check = !checksum::sum(&bytes[at..]);
    bytes[at + 10..at + 12].copy_from_slice(&check.to_be_bytes());
    Frame::new(&bytes, Body::Pattern { start: 0, len: 980 })
}

/// TC of the outermost label, code point, ECN bits; the checksum has to hold.
fn marks(frame: &Frame) -> (Option<u8>, u8, u8) {
    let header = frame.header();
    let ip = &header[header.len() - 20..];
    assert_eq!(checksum::sum(ip), 0xffff, "checksum");
    let tc = (header.len() > 34).then(|| header[16] >> 1 & 7);
    (tc, ip[1] >> 2, ip[1] & 3)
}

fn phb(name: &str) -> Phb {
    name.parse().expect(name)
}

#[test]
fn the_first_rule_that_takes_a_packet_decides() {
    let mut conditioner = conditioner(
        r#"{"accounting":{"layer":"ip"},"rules":[
        {"name":"ef","phb":["EF"],"meter":{"kind":"token-bucket","rate":8000,"burst":2000}},
        {"name":"all","dscp":[46,10],"green":"mark 7"}]}"#,
    );
    let mut said = Vec::new();
    // A token for a byte comes in each millisecond.
    for (ms, dscp) in [(0, 46), (0, 46), (0, 46), (999, 46), (1000, 46), (1000, 10), (1000, 0)] {
        let mut frame = packet(dscp, &[]);
        let result = conditioner.condition(Time(ms * 1_000_000_000), &mut frame);
        said.push((result.is_ok(), frame.mark()));
        assert_eq!(marks(&frame).1, dscp, "not remarked");
    }
    let (pass, drop) = ((true, 0), (false, 0));
    assert_eq!(said, [pass, pass, drop, drop, pass, (true, 7), pass]);
    let rows: Vec<_> = conditioner
        .report()
        .into_iter()
        .map(|row| (row.rule, row.colour, row.action, row.counted.packets, row.counted.bytes))
        .collect();
    assert_eq!(
        rows,
        [
            ("ef".into(), Colour::Green, "pass".into(), 3, 3000),
            ("ef".into(), Colour::Red, "drop".into(), 2, 2000),
            ("all".into(), Colour::Green, "mark 7".into(), 1, 1000),
        ]
    );
    assert_eq!(conditioner.unmatched(), Backlog { packets: 1, bytes: 1000 });
}

#[test]
fn a_remarked_packet_says_so_in_its_outermost_header() {
    let mut plain = conditioner(r#"{"rules":[{"name":"r","green":"remark AF12"}]}"#);
    let mut below = conditioner(r#"{"rules":[{"name":"r","green":"remark AF12 below labels"}]}"#);
    let mut given = conditioner(r#"{"rules":[{"name":"r","green":"remark AF22 as TC 2"}]}"#);
    let mut unmapped = conditioner(r#"{"rules":[{"name":"r","green":"remark AF43"}]}"#);
    let remark = |conditioner: &mut Conditioner, tcs: &[u8]| {
        let mut frame = packet(46, tcs);
        assert_eq!(conditioner.condition(Time(0), &mut frame), Ok(()));
        (marks(&frame), frame.phb().expect("set").to_string())
    };
    let set = |tc, dscp, name: &str| ((tc, dscp, 1), name.to_string());
    assert_eq!(remark(&mut plain, &[]), set(None, 12, "AF12"));
    assert_eq!(remark(&mut plain, &[5]), set(Some(2), 46, "AF12"));
    assert_eq!(remark(&mut plain, &[5, 1]), set(Some(2), 46, "AF12"));
    assert_eq!(remark(&mut below, &[]), set(None, 12, "AF12"));
    assert_eq!(remark(&mut below, &[5, 1]), set(Some(2), 12, "AF12"));
    assert_eq!(remark(&mut given, &[5]), set(Some(2), 46, "AF22"));
    // No TC value means AF43 in the standard mapping: the label stays as it is.
    assert_eq!(remark(&mut unmapped, &[5]), set(Some(5), 46, "AF43"));
    let text = r#"{"tc_map":["AF43","AF12","AF12","AF12","AF12","AF12","AF12","AF12"],"dscp":[[63,"AF43"],[38,"EF"]]}"#;
    unmapped.set_diffserv(&serde_json::from_str(text).expect("well formed"));
    assert_eq!(remark(&mut unmapped, &[5]), set(Some(0), 46, "AF43"));
    assert_eq!(remark(&mut unmapped, &[]), set(None, 63, "AF43"));
}

#[test]
fn an_aware_meter_starts_from_the_drop_precedence() {
    let mut conditioner = conditioner(
        r#"{"accounting":{"layer":"ip"},"rules":[{"name":"af1",
        "meter":{"kind":"two-rate","cir":8000,"cbs":1500,"pir":8000,"pbs":3500,"aware":true},
        "green":"remark AF11","yellow":"remark AF12","red":"remark AF13"}]}"#,
    );
    let mut out = |frame: &mut Frame| {
        assert_eq!(conditioner.condition(Time(0), frame), Ok(()));
        frame.phb().expect("remarked").to_string()
    };
    // AF13 stays, AF12 can't be better, the node's own judgement is worth more than the header's, a label's more than
    // what is below.
    assert_eq!(out(&mut packet(14, &[])), "AF13");
    assert_eq!(out(&mut packet(12, &[])), "AF12");
    let mut judged = packet(10, &[]);
    judged.set_phb(Some(phb("AF13")));
    assert_eq!(out(&mut judged), "AF13");
    assert_eq!(out(&mut packet(10, &[2])), "AF12");
    assert_eq!(out(&mut packet(10, &[])), "AF11");
    assert_eq!(out(&mut packet(10, &[])), "AF13");
}

#[test]
fn errors_name_the_rule() {
    let refused = |json: &str| match crate::queue::testing::spec::<ConditionerSpec>(json) {
        Ok(spec) => Conditioner::new(&spec).expect_err(json).to_string(),
        Err(error) => error.to_string(),
    };
    for (json, part) in [
        (r#"{"rules":[{"name":"a"},{"name":"a"}]}"#, "rules/1/name: another rule is called 'a'"),
        (r#"{"rules":[{"name":""}]}"#, "rules/0/name: '' is not a name"),
        (r#"{"rules":[{"name":"a","tc":[9]}]}"#, "rules/0/tc/0: 9 is not a TC"),
        (
            r#"{"rules":[{"name":"a","meter":{"kind":"token-bucket","rate":0,"burst":9}}]}"#,
            "rules/0/meter/rate: 0: it is not above zero",
        ),
        (
            r#"{"rules":[{"name":"a","green":"remark EF as TC 8"}]}"#,
            "rules/0/green: 'remark EF as TC 8': the TC bits of a label are 0 to 7",
        ),
        (r#"{"rules":[{"name":"a","green":"remark XF"}]}"#, "XF"),
        (r#"{"rules":[{"name":"a","green":"remark"}]}"#, "'remark' is no action"),
        (
            r#"{"rules":[{"name":"a","green":"remark EF as EXP 5 below labels"}]}"#,
            "are called TC now: 'remark EF as TC 5 below labels'",
        ),
        (
            r#"{"rules":[{"name":"a","meter":{"kind":"single-rate","cir":1,"cbs":1}}]}"#,
            "rules/0/meter: ebs is missing",
        ),
    ] {
        assert!(refused(json).contains(part), "{json}: {}", refused(json));
    }
}

#[test]
fn a_specification_reads_what_it_writes() {
    let text = r#"{"rules":[{"name":"a","labels":[16,20],"inputs":[1],
        "meter":{"kind":"single-rate","cir":1,"cbs":1,"ebs":1},"yellow":"mark 3"}]}"#;
    let spec: ConditionerSpec = serde_json::from_str(text).expect("well formed");
    assert_eq!(spec.rules[0].red, ActionSpec::Drop);
    let again = serde_json::to_string(&spec).expect("writes");
    assert_eq!(serde_json::from_str::<ConditionerSpec>(&again).expect("reads"), spec);
}

#[test]
fn a_tree_counts_what_its_conditioner_drops() {
    let text = r#"{"conditioner":{"rules":[{"name":"all","inputs":[3],
        "meter":{"kind":"token-bucket","rate":8000,"burst":1014}}]},"root":{"discipline":"pfifo"}}"#;
    let spec: TreeSpec = serde_json::from_str(text).expect("well formed");
    let facts = Facts { rate: Rate::from_mbps(1), mtu: 1500 };
    let mut tree = Tree::new(&spec, &facts, Streams::new(1).stream("queue")).expect("right");
    for input in [3, 3, 4, 3] {
        let mut frame = packet(0, &[]);
        frame.set_input(PortId(input));
        tree.offer(Time(5), frame);
    }
    assert_eq!((tree.backlog().packets, tree.totals().offered.packets), (2, 4));
    assert_eq!(tree.totals().dropped.packets.get(DropReason::Policed), 2);
    assert!(matches!(tree.take(Time(9)), Take::Frame(_)));
    assert_eq!(tree.audit(Time(9)), Vec::<String>::new());
    assert_eq!(tree.conditioner().map(|c| c.report().len()), Some(2));
}
