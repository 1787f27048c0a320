//! Conditioners at ingress ports: what they see, what they change, and what comes of it.

use crate::support::*;
use base::device::DropReason;
use base::flow::FlowFilter;
use base::plane::{Fec, TableOp, TtlModel};
use base::{DiffServConfig, Dscp, Frame, PortId, Time, Verdict};
use twinplane_forwarding::conditioner::{Conditioner, ConditionerSpec};
use twinplane_forwarding::{Config, Forwarding};

fn conditioned(mut tables: Forwarding, json: &str) -> Forwarding {
    let spec: ConditionerSpec = serde_json::from_str(json).expect("well formed");
    tables.set_conditioner(P0, Some(Conditioner::new(&spec).expect("right")));
    tables
}

/// A packet has 18 bytes of payload and 34 of headers; two fit in the bucket.
const POLICE: &str = r#"{"rules":[{"name":"ef","phb":["EF"],
    "meter":{"kind":"token-bucket","rate":1,"burst":104}}]}"#;
const REMARK: &str = r#"{"rules":[{"name":"all","green":"remark AF12"}]}"#;

#[test]
fn a_policer_drops_what_its_meter_refuses() {
    let mut tables = conditioned(node(&[]), POLICE);
    for _ in 0..2 {
        leaves(&mut tables, &[], Ip::default(), &[], Ip { ttl: 63, ..Ip::default() });
    }
    stays(&mut tables, frame(&[], Ip::default()), Verdict::Drop(DropReason::Policed));
    // Others pass, and those that come in by another port.
    leaves(&mut tables, &[], Ip { dscp: 0, ..Ip::default() }, &[], Ip { dscp: 0, ttl: 63, ..Ip::default() });
    let mut other = framed(mac(P1), neighbour_mac(P1), &[], Ip::default());
    let mut verdicts = [Verdict::Punt];
    tables.forward_batch(Time(7), P1, core::slice::from_mut(&mut other), &mut verdicts);
    assert_eq!(verdicts, [OUT]);
    assert_eq!(tables.drops().get(DropReason::Policed), 1);
    let rows = tables.conditioner(P0).expect("there").report();
    assert_eq!(rows.iter().map(|row| row.counted.packets).collect::<Vec<_>>(), [2, 1]);
    // Without it everything is as before.
    tables.set_conditioner(P0, None);
    leaves(&mut tables, &[], Ip::default(), &[], Ip { ttl: 63, ..Ip::default() });
}

#[test]
fn labels_are_swapped_with_and_without_a_conditioner() {
    let tables = node(&[ilm(100, to_gateway(&[200], TtlModel::Uniform))]);
    let mut plain = tables.clone();
    leaves(&mut plain, &[(100, 5, 64)], Ip::default(), &[(200, 5, 63)], Ip::default());
    let mut remarked = conditioned(tables.clone(), REMARK);
    // The TC value of AF12 in the standard mapping is 2; what is below the label stays.
    leaves(&mut remarked, &[(100, 5, 64)], Ip::default(), &[(200, 2, 63)], Ip::default());
    let mut policed = conditioned(tables, &POLICE.replace("EF", "AF11"));
    for drop in [false, true] {
        let mut frame = frame(&[(100, 1, 64)], Ip { payload: 60, ..Ip::default() });
        let verdict = forward(&mut policed, &mut frame);
        assert_eq!(verdict == Verdict::Drop(DropReason::Policed), drop);
    }
}

#[test]
fn filters_of_lsps_see_what_a_conditioner_wrote() {
    let filter = FlowFilter { dscp: Dscp::new(12), ..FlowFilter::default() };
    let fec = Fec::Flow { order: 1, filter };
    let mut tables = node(&[TableOp::FtnSet { fec, nhlfe: to_gateway(&[300], TtlModel::Uniform) }]);
    leaves(&mut tables, &[], Ip::default(), &[], Ip { ttl: 63, ..Ip::default() });
    let mut tables = conditioned(tables, REMARK);
    // RFC 3032 copies the upper three bits of the code point, 1, if the node does not support DiffServ.
    let out = Ip { dscp: 12, ttl: 63, ..Ip::default() };
    leaves(&mut tables, &[], Ip::default(), &[(300, 1, 63)], out);
}

#[test]
fn a_node_that_supports_diffserv_encapsulates_the_new_phb() {
    let text = r#"{"tc_map":["default","AF11","AF11","AF11","AF12","EF","CS6","CS7"],"dscp":[[63,"EF"]]}"#;
    let diffserv: DiffServConfig = serde_json::from_str(text).expect("well formed");
    let config = Config { diffserv: Some(diffserv), ..Config::default() };
    let ops = [
        ilm(100, to_gateway(&[200], TtlModel::Uniform)),
        TableOp::FtnSet { fec: fec("10.9.0.0/16"), nhlfe: to_gateway(&[300], TtlModel::Uniform) },
    ];
    let mut tables = conditioned(node_with(config, &ops), REMARK);
    leaves(&mut tables, &[(100, 5, 64)], Ip::default(), &[(200, 4, 63)], Ip::default());
    let out = Ip { dscp: 12, ttl: 63, ..Ip::default() };
    leaves(&mut tables, &[], Ip::default(), &[(300, 4, 63)], out);
    // A rule asks for the PHB that a packet has here, not for its code point: 63 is EF.
    let mut tables = conditioned(node_with(config, &ops), &POLICE.replace("104", "1"));
    let mut frame = frame(&[], Ip { dscp: 63, ..Ip::default() });
    assert_eq!(forward(&mut tables, &mut frame), Verdict::Drop(DropReason::Policed));
}

#[test]
fn a_punted_frame_went_through_its_rule_once() {
    let mut tables = conditioned(node(&[]), REMARK);
    let mut punted = frame(&[], Ip { ttl: 1, ..Ip::default() });
    assert_eq!(forward(&mut tables, &mut punted), Verdict::Punt);
    assert_eq!(punted, frame(&[], Ip { ttl: 1, dscp: 12, ..Ip::default() }));
    let mut ours = frame(&[], Ip { to: OURS, ..Ip::default() });
    assert_eq!(forward(&mut tables, &mut ours), Verdict::Punt);
    let passed = |tables: &Forwarding| tables.conditioner(P0).expect("there").report()[0].counted.packets;
    assert_eq!(passed(&tables), 2);
    let mut again = frame(&[], Ip::default());
    assert_eq!(tables.forward_again(Time(9), P0, &mut again), Verdict::Transmit { port: P1, ready: Time(9) });
    assert_eq!((passed(&tables), again), (2, sent(&[], Ip { ttl: 63, ..Ip::default() })));
    // What is not for this node on Ethernet's level is nobody's to condition.
    let other = framed(mac(P1), mac(P0), &[], Ip::default());
    stays(&mut tables, other, Verdict::Drop(DropReason::NotForUs));
    assert_eq!(passed(&tables), 2);
}

#[test]
fn frames_are_told_by_which_port_they_came_where_that_is_wanted() {
    let input = |tables: &mut Forwarding, stack: &[Entry]| {
        let mut frame: Frame = frame(stack, Ip::default());
        assert_eq!(forward(tables, &mut frame), OUT);
        frame.input()
    };
    let mut tables = node(&[ilm(100, to_gateway(&[200], TtlModel::Uniform))]);
    assert_eq!((input(&mut tables, &[]), input(&mut tables, &[(100, 5, 64)])), (None, None));
    tables.note_inputs(true);
    assert_eq!((input(&mut tables, &[]), input(&mut tables, &[(100, 5, 64)])), (Some(P0), Some(P0)));
    tables.note_inputs(false);
    assert_eq!(input(&mut tables, &[(100, 5, 64)]), None);
    let mut tables = conditioned(tables, &POLICE.replace(r#""phb":["EF"]"#, r#""inputs":[0]"#));
    assert_eq!(input(&mut tables, &[]), Some(P0));
    assert_eq!(tables.conditioner(P0).expect("there").report()[0].counted.packets, 1);
    assert!(tables.conditioner(PortId(9)).is_none());
}

#[test]
fn a_conditioner_may_be_there_before_its_port() {
    let mut tables = conditioned(Forwarding::new(Config::default()), &POLICE.replace("104", "60"));
    let config = node(&[]).port(P0).expect("there");
    tables.apply(&TableOp::PortSet { port: P0, config }).expect("applies");
    let mut verdicts = [Verdict::Punt; 3];
    let mut frames = [(); 3].map(|()| frame(&[(100, 5, 64)], Ip::default()));
    tables.forward_batch(Time(0), P0, &mut frames, &mut verdicts);
    let (unknown, policed) = (Verdict::Drop(DropReason::UnknownLabel), Verdict::Drop(DropReason::Policed));
    assert_eq!(verdicts, [unknown, policed, policed]);
}
