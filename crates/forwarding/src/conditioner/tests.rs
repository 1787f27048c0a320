use super::*;
use crate::queue::{Facts, Take, Tree, TreeSpec};
use base::device::DropReason;
use base::random::Streams;
use base::{Body, Phb, PortId, Rate};
use wire::checksum;

fn conditioner(json: &str) -> Conditioner {
    let spec: ConditionerSpec = serde_json::from_str(json).expect("well formed");
    Conditioner::new(&spec, "ingress").expect("right")
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
        {"name":"ef","match":{"phb":["EF"]},"meter":{"kind":"token-bucket","rate_bps":8000,"burst_bytes":2000}},
        {"name":"all","match":{"dscp":[46,10]},"green":{"kind":"mark","mark":7}}]}"#,
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
    let mut plain = conditioner(r#"{"rules":[{"name":"r","green":{"kind":"remark","phb":"AF12"}}]}"#);
    let mut below =
        conditioner(r#"{"rules":[{"name":"r","green":{"kind":"remark","phb":"AF12","below_labels":true}}]}"#);
    let mut given = conditioner(r#"{"rules":[{"name":"r","green":{"kind":"remark","phb":"AF22","tc":2}}]}"#);
    let mut unmapped = conditioner(r#"{"rules":[{"name":"r","green":{"kind":"remark","phb":"AF43"}}]}"#);
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
        "meter":{"kind":"two-rate","cir_bps":8000,"cbs_bytes":1500,"pir_bps":8000,"pbs_bytes":3500,"aware":true},
        "green":{"kind":"remark","phb":"AF11"},"yellow":{"kind":"remark","phb":"AF12"},"red":{"kind":"remark","phb":"AF13"}}]}"#,
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
    let refused = |json: &str| match serde_json::from_str::<ConditionerSpec>(json) {
        Ok(spec) => Conditioner::new(&spec, "ingress").expect_err(json).to_string(),
        Err(error) => error.to_string(),
    };
    for (json, part) in [
        (r#"{"rules":[{"name":"a"},{"name":"a"}]}"#, "ingress: rule 2 'a': another rule has that name"),
        (r#"{"rules":[{"name":""}]}"#, "rule 1 '': a rule needs a name"),
        (r#"{"rules":[{"name":"a","match":{"tc":[9]}}]}"#, "ingress: rule 1 'a': TC 9"),
        (
            r#"{"rules":[{"name":"a","meter":{"kind":"token-bucket","rate_bps":0,"burst_bytes":9}}]}"#,
            "rule 1 'a': rate_bps is 0",
        ),
        (r#"{"rules":[{"name":"a","green":{"kind":"remark","phb":"EF","tc":8}}]}"#, "rule 1 'a': TC 8"),
        (r#"{"rules":[{"name":"a","green":{"kind":"remark","phb":"XF"}}]}"#, "XF"),
        (r#"{"rules":[{"name":"a","green":{"kind":"remark"}}]}"#, "phb"),
        (r#"{"rules":[{"name":"a","green":{"kind":"paint"}}]}"#, "paint"),
        (
            r#"{"rules":[{"name":"a","meter":{"kind":"single-rate","cir_bps":1,"cbs_bytes":1,"ebs":1}}]}"#,
            "ebs",
        ),
    ] {
        assert!(refused(json).contains(part), "{json}: {}", refused(json));
    }
}

#[test]
fn a_specification_reads_what_it_writes() {
    let text = r#"{"rules":[{"name":"a","match":{"labels":[16,20],"inputs":[1]},
        "meter":{"kind":"single-rate","cir_bps":1,"cbs_bytes":1,"ebs_bytes":1},"yellow":{"kind":"mark","mark":3}}]}"#;
    let spec: ConditionerSpec = serde_json::from_str(text).expect("well formed");
    assert_eq!(spec.rules[0].red, ActionSpec::Drop);
    let again = serde_json::to_string(&spec).expect("writes");
    assert_eq!(serde_json::from_str::<ConditionerSpec>(&again).expect("reads"), spec);
}

#[test]
fn a_tree_counts_what_its_conditioner_drops() {
    let text = r#"{"conditioner":{"rules":[{"name":"all","match":{"inputs":[3]},
        "meter":{"kind":"token-bucket","rate_bps":8000,"burst_bytes":1014}}]},"root":{"discipline":"pfifo"}}"#;
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
