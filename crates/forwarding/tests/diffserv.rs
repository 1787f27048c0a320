//! PHBs: identified by labels and code points, written into labels and code points, and what chooses by them (RFC
//! 3270).

use crate::support::*;
use base::device::DropReason;
use base::plane::{
    Encaps, Fec, LspClasses, NextHop, Nhlfe, TableError, TableOp, TcMap, TcSource, TtlModel, TunnelModel,
};
use base::{DiffServConfig, Dscp, DscpMap, Phb, PhbSet, Time, Verdict};
use proptest::prelude::*;
use twinplane_forwarding::conditioner::{Conditioner, ConditionerSpec};
use twinplane_forwarding::{Config, Forwarding};

const MODELS: [TunnelModel; 3] = [TunnelModel::Pipe, TunnelModel::ShortPipe, TunnelModel::Uniform];

fn phb(name: &str) -> Phb {
    name.parse().expect(name)
}
fn set(names: &[&str]) -> PhbSet {
    names.iter().map(|name| phb(name)).collect()
}
fn ip(name: &str) -> Ip {
    Ip { dscp: phb(name).code(), ..Ip::default() }
}
fn later(ip: Ip) -> Ip {
    Ip { ttl: ip.ttl - 1, ..ip }
}
fn e_lsp(model: TunnelModel) -> TcSource {
    TcSource::DiffServ(LspClasses { model, encaps: Encaps::ELsp(TcMap::PRECONFIGURED) })
}
fn l_lsp(model: TunnelModel, name: &str) -> TcSource {
    TcSource::DiffServ(LspClasses { model, encaps: Encaps::LLsp(phb(name).scheduling_class()) })
}
fn out(push: &[u32], tc: TcSource) -> Nhlfe {
    nhlfe(push, via(GATEWAY), TtlModel::Pipe, tc)
}
fn here(tc: TcSource) -> Nhlfe {
    nhlfe(&[], NextHop::Local, TtlModel::Pipe, tc)
}
fn ftn(nhlfe: Nhlfe) -> TableOp {
    TableOp::FtnSet { fec: fec("10.9.0.0/16"), nhlfe }
}
/// A node that supports DiffServ; time to live in labels is 255.
fn supporting(model: TunnelModel, ops: &[TableOp]) -> Forwarding {
    let diffserv = Some(DiffServConfig { model, ..DiffServConfig::default() });
    node_with(Config { diffserv, explicit_null_ttl: TtlModel::Pipe, ..Config::default() }, ops)
}

/// Demands that a frame leaves as given, with the PHB `treatment`.
#[track_caller]
fn treated(tables: &mut Forwarding, stack: &[Entry], ip: Ip, left: &[Entry], ip_left: Ip, treatment: &str) {
    let mut frame = frame(stack, ip);
    let told = tables.incoming_phb(&frame);
    assert_eq!(forward(tables, &mut frame), OUT);
    assert_eq!(frame, sent(left, ip_left));
    assert_eq!(frame.phb(), Some(phb(treatment)));
    assert!(told.is_some());
}

#[test]
fn labels_get_the_tc_of_their_phb() {
    for model in MODELS {
        for (class, name, tc) in [
            (e_lsp(model), "EF", 5),
            (e_lsp(model), "AF12", 2),
            (e_lsp(model), "default", 0),
            (l_lsp(model, "AF31"), "AF31", 1),
            (l_lsp(model, "AF31"), "AF32", 2),
            (l_lsp(model, "AF31"), "AF33", 3),
            (l_lsp(model, "EF"), "EF", 0),
            (l_lsp(model, "CS5"), "CS5", 0),
        ] {
            let ops = [ftn(out(&[100], class)), ilm(200, out(&[201], class))];
            for mut tables in [supporting(model, &ops), node(&ops)] {
                treated_push(&mut tables, name, tc);
                let ip = ip("CS1");
                treated(&mut tables, &[(200, tc, 9)], ip, &[(201, tc, 8)], ip, name);
            }
        }
    }
}

/// A node that supports no DiffServ, but was told of an LSP's, writes the same.
#[track_caller]
fn treated_push(tables: &mut Forwarding, name: &str, tc: u8) {
    let mut frame = frame(&[], ip(name));
    assert_eq!(forward(tables, &mut frame), OUT);
    assert_eq!(frame, sent(&[(100, tc, 255)], later(ip(name))));
    assert_eq!(frame.phb(), Some(phb(name)));
}

#[test]
fn what_an_lsp_has_no_place_for_is_default_or_dropped() {
    let no_place = Verdict::Drop(DropReason::NoPhb);
    let ops = [
        ftn(out(&[100], e_lsp(TunnelModel::Pipe))),
        ilm(200, out(&[201], l_lsp(TunnelModel::Pipe, "AF11"))),
        ilm(300, out(&[301], l_lsp(TunnelModel::Pipe, "EF"))),
    ];
    let mut tables = supporting(TunnelModel::Pipe, &ops);
    // RFC 2474, 3: as default.
    treated(&mut tables, &[], ip("AF43"), &[(100, 0, 255)], later(ip("AF43")), "default");
    // TC 0 and 4 of an L-LSP for AF1 mean nothing, and neither does TC 1 of one for EF.
    for stack in [(200, 0, 9), (200, 4, 9), (300, 1, 9)] {
        stays(&mut tables, frame(&[stack], ip("EF")), no_place);
    }
    tables.apply(&ftn(out(&[100], l_lsp(TunnelModel::Pipe, "AF11")))).expect("room");
    stays(&mut tables, frame(&[], ip("EF")), no_place);
    assert_eq!(tables.drops().iter().map(|(_, n)| n).sum::<u64>(), 4);
}

#[test]
fn an_lsp_that_ends_here_shows_or_hides_its_marking() {
    for (model, treatment, left) in [
        (TunnelModel::Pipe, "EF", "CS1"),
        (TunnelModel::ShortPipe, "CS1", "CS1"),
        (TunnelModel::Uniform, "EF", "EF"),
    ] {
        let mut tables = supporting(model, &[ilm(200, here(e_lsp(model))), ilm(201, here(TcSource::Copy))]);
        // By a label of its own; by one of which nothing was said; by explicit null.
        for label in [200, 201, 0] {
            treated(&mut tables, &[(label, 5, 9)], ip("CS1"), &[], later(ip(left)), treatment);
        }
        // Two of them.
        treated(&mut tables, &[(200, 5, 9), (0, 7, 9)], ip("CS1"), &[], later(ip(left)), treatment);
    }
}

/// RFC 3270, 2.3 and 2.6: what the conditioner makes of a packet is written where the marking stood that told its PHB.
#[test]
fn what_is_remarked_where_an_lsp_ends_shows_where_the_phb_was_determined() {
    let remark = r#"{"rules":[{"name":"r","green":"remark AF12"}]}"#;
    let remark: ConditionerSpec = serde_json::from_str(remark).expect("a conditioner");
    for (model, left) in
        [(TunnelModel::Pipe, "CS1"), (TunnelModel::ShortPipe, "AF12"), (TunnelModel::Uniform, "AF12")]
    {
        let ops = [ilm(200, here(e_lsp(model))), ilm(300, here(e_lsp(TunnelModel::Pipe)))];
        let mut tables = supporting(model, &ops);
        tables.set_conditioner(P0, Some(Conditioner::new(&remark).expect("sound")));
        for (label, left) in [(200, left), (0, left), (300, "CS1")] {
            let mut frame = frame(&[(label, 5, 9)], ip("CS1"));
            assert_eq!(forward(&mut tables, &mut frame), OUT);
            assert_eq!(frame, sent(&[], later(ip(left))), "{model:?} {label}");
            assert_eq!(frame.phb(), Some(phb("AF12")));
        }
        // Two that end: the inner one's packet is below.
        let mut frame = frame(&[(300, 0, 9), (200, 5, 9)], ip("CS1"));
        assert_eq!(forward(&mut tables, &mut frame), OUT);
        let left = if model == TunnelModel::Uniform { "EF" } else { "CS1" };
        assert_eq!(frame, sent(&[], later(ip(left))), "{model:?}, two");
        assert_eq!(frame.phb(), Some(phb("AF12")));
    }
}

#[test]
fn at_the_penultimate_hop_the_label_tells_the_treatment() {
    for (model, left, tc) in
        [(TunnelModel::Pipe, "CS1", 3), (TunnelModel::ShortPipe, "CS1", 3), (TunnelModel::Uniform, "EF", 5)]
    {
        let mut tables = supporting(model, &[ilm(200, out(&[], e_lsp(model)))]);
        treated(&mut tables, &[(200, 5, 9)], ip("CS1"), &[], ip(left), "EF");
        // What is exposed is a label of another LSP.
        let (stack, left) = ([(200, 5, 9), (900, 3, 7)], [(900, tc, 7)]);
        treated(&mut tables, &stack, ip("CS1"), &left, ip("CS1"), "EF");
    }
}

#[test]
fn an_lsp_inside_keeps_its_own_marking_unless_it_is_imposed() {
    // An LSP of AF1 inside one for all; the outer one ends here, the inner one goes on.
    for (model, tc) in [(TunnelModel::Pipe, 3), (TunnelModel::ShortPipe, 3), (TunnelModel::Uniform, 1)] {
        let ops = [ilm(200, here(e_lsp(model))), ilm(300, out(&[301], l_lsp(model, "AF11")))];
        let mut tables = supporting(model, &ops);
        let treatment = if model == TunnelModel::ShortPipe { "AF13" } else { "AF11" };
        treated(&mut tables, &[(200, 1, 9), (300, 3, 7)], ip("CS1"), &[(301, tc, 6)], ip("CS1"), treatment);
        // A label that is put on top of the inner one tells the treatment.
        let more = nhlfe(&[301, 400], via(GATEWAY), TtlModel::Pipe, e_lsp(model));
        tables.apply(&ilm(300, more)).expect("room");
        let inner = if model == TunnelModel::Uniform { 5 } else { 2 };
        let outer = if model == TunnelModel::ShortPipe { 2 } else { 5 };
        let mut moved = frame(&[(200, 5, 9), (300, 2, 7)], ip("CS1"));
        assert_eq!(forward(&mut tables, &mut moved), OUT);
        assert_eq!(moved, sent(&[(400, outer, 255), (301, inner, 6)], ip("CS1")));
    }
}

#[test]
fn code_points_mean_what_the_node_is_told() {
    let odd = Dscp::new(5).expect("six bits");
    let mut dscp = DscpMap::default();
    dscp.set(odd, Phb::EF);
    let model = TunnelModel::Uniform;
    let diffserv = Some(DiffServConfig { model, dscp, ..DiffServConfig::default() });
    let ops = [ftn(out(&[100], e_lsp(model))), ilm(200, out(&[], e_lsp(model)))];
    let mut tables = node_with(Config { diffserv, ..Config::default() }, &ops);
    let odd = Ip { dscp: 5, ..Ip::default() };
    treated(&mut tables, &[], odd, &[(100, 5, 255)], later(odd), "EF");
    // It is marked as EF already.
    treated(&mut tables, &[(200, 5, 9)], odd, &[], odd, "EF");
    treated(&mut tables, &[(200, 5, 9)], ip("CS1"), &[], ip("EF"), "EF");
}

#[test]
fn phbs_choose_among_the_lsps_of_the_longest_prefix() {
    let class = |prefix: &str, names: &[&str], order, label| TableOp::FtnSet {
        fec: Fec::ClassPrefix { prefix: crate::support::prefix(prefix), classes: set(names), order },
        nhlfe: nhlfe(&[label], via(GATEWAY), TtlModel::Pipe, TcSource::Copy),
    };
    let mut tables = node(&[
        class("10.9.0.0/16", &["EF", "AF11"], 5, 100),
        class("10.9.0.0/16", &["EF", "CS6"], 2, 200),
        class("10.9.0.0/24", &["AF41"], 1, 300),
    ]);
    let goes = |tables: &mut Forwarding, name: &str, stack: &[Entry]| {
        leaves(tables, &[], ip(name), stack, later(ip(name)));
    };
    goes(&mut tables, "EF", &[(200, 5, 255)]);
    goes(&mut tables, "AF11", &[(100, 1, 255)]);
    goes(&mut tables, "AF41", &[(300, 4, 255)]);
    // Nobody's: the route of the shorter prefix, since the longer one has only LSPs for others.
    goes(&mut tables, "CS3", &[]);
    tables.apply(&ftn(out(&[400], TcSource::Copy))).expect("room");
    goes(&mut tables, "CS3", &[(400, 3, 255)]);
    goes(&mut tables, "EF", &[(200, 5, 255)]);
    let rows: Vec<_> = tables.ftn().map(|row| (row.classes.map(|c| c.0), row.packets)).collect();
    assert_eq!(rows, [(Some(2), 2), (Some(5), 1), (None, 1), (Some(1), 1)]);
    let remove = |order| TableOp::FtnRemove {
        fec: Fec::ClassPrefix { prefix: prefix("10.9.0.0/16"), classes: PhbSet::default(), order },
    };
    assert_eq!(tables.apply(&remove(2)), Ok(()));
    assert_eq!(tables.apply(&remove(2)), Err(TableError::NoEntry));
    goes(&mut tables, "EF", &[(100, 5, 255)]);
    assert_eq!(tables.apply(&remove(5)), Ok(()));
    goes(&mut tables, "EF", &[(400, 5, 255)]);
    assert_eq!(tables.apply(&class("10.9.0.0/16", &[], 1, 100)), Err(TableError::Filter));
}

#[test]
fn what_the_ingress_remarks_goes_on_as_remarked() {
    let spec = r#"{"rules":[{"name":"down","phb":["EF"],"green":"remark AF12"}]}"#;
    let spec: ConditionerSpec = serde_json::from_str(spec).expect("a conditioner");
    for (model, label, left) in [(TunnelModel::Pipe, 200, "CS1"), (TunnelModel::Uniform, 200, "AF12")] {
        let ops = [ftn(out(&[100], e_lsp(model))), ilm(200, here(e_lsp(model)))];
        let mut tables = supporting(model, &ops);
        tables.set_conditioner(P0, Some(Conditioner::new(&spec).expect("well formed")));
        treated(&mut tables, &[], ip("EF"), &[(100, 2, 255)], later(ip("AF12")), "AF12");
        treated(&mut tables, &[], ip("CS6"), &[(100, 6, 255)], later(ip("CS6")), "CS6");
        // Its label says EF, and so does what a uniform LSP leaves behind.
        tables.apply(&TableOp::FtnRemove { fec: fec("10.9.0.0/16") }).expect("there");
        treated(&mut tables, &[(label, 5, 9)], ip("CS1"), &[], later(ip(left)), "AF12");
    }
}

/// RFC 3270, 3.5 and 4.5: a conditioner before the egress queue writes the TC bits that the LSP of the label gives a
/// meaning.
#[test]
fn what_the_egress_remarks_has_the_bits_of_its_lsp() {
    let spec = r#"{"rules":[{"name":"down","phb":["AF21"],"green":"remark AF22"},
        {"name":"out","phb":["AF23"],"green":"remark EF"}]}"#;
    let spec: ConditionerSpec = serde_json::from_str(spec).expect("a conditioner");
    let signalled = ["default", "default", "default", "AF23", "AF21", "EF", "AF22", "default"].map(phb);
    let model = TunnelModel::Pipe;
    let e_lsp = TcSource::DiffServ(LspClasses { model, encaps: Encaps::ELsp(TcMap::new(signalled)) });
    // The node's own mapping has no AF22, and EF is 5 in both; an L-LSP of another class has no bits for it.
    for (class, [af21, af22], [af23, ef]) in [(l_lsp(model, "AF21"), [1, 2], [3, 3]), (e_lsp, [4, 6], [3, 5])]
    {
        let mut tables = supporting(model, &[ftn(out(&[100], class)), ilm(200, out(&[201], class))]);
        tables.note_encaps(true);
        let mut conditioner = Conditioner::new(&spec).expect("well formed");
        conditioner.set_diffserv(&DiffServConfig::default());
        for (name, before, after, treatment) in [("AF21", af21, af22, "AF22"), ("AF23", af23, ef, "EF")] {
            let mut pushed = frame(&[], ip(name));
            assert_eq!(forward(&mut tables, &mut pushed), OUT);
            assert_eq!(pushed, sent(&[(100, before, 255)], later(ip(name))));
            conditioner.condition(Time(0), &mut pushed).expect("passes");
            assert_eq!(pushed, sent(&[(100, after, 255)], later(ip(name))), "{class:?}");
            assert_eq!(pushed.phb(), Some(phb(treatment)));
        }
        let mut swapped = frame(&[(200, af21, 9)], ip("CS1"));
        assert_eq!(forward(&mut tables, &mut swapped), OUT);
        conditioner.condition(Time(0), &mut swapped).expect("passes");
        assert_eq!(swapped, sent(&[(201, af22, 8)], ip("CS1")));
    }
    // Nothing of it stays on a frame that leaves without such a label.
    let mut tables =
        supporting(model, &[ilm(200, out(&[201], l_lsp(model, "AF21"))), ilm(300, out(&[], e_lsp))]);
    tables.note_encaps(true);
    let mut frame = frame(&[(200, 1, 9)], ip("CS1"));
    assert_eq!((forward(&mut tables, &mut frame), frame.encaps().is_some()), (OUT, true));
    let mut frame = self::frame(&[(300, 4, 9)], ip("CS1"));
    frame.set_encaps(Some(Encaps::ELsp(TcMap::PRECONFIGURED)));
    assert_eq!((forward(&mut tables, &mut frame), frame.encaps()), (OUT, None));
}

#[test]
fn what_the_node_sends_itself_is_treated_by_its_code_point() {
    let mut tables = supporting(TunnelModel::Pipe, &[ftn(out(&[100], e_lsp(TunnelModel::Pipe)))]);
    let mut own = frame(&[], ip("CS6"));
    assert_eq!(tables.originate(&mut own), Ok(P1));
    assert_eq!((own.phb(), own == sent(&[(100, 6, 255)], ip("CS6"))), (Some(phb("CS6")), true));
    let mut own = frame(&[], ip("CS6"));
    assert_eq!(tables.transmit_via(P1, GATEWAY.into(), &mut own), Ok(P1));
    assert_eq!(own.phb(), Some(phb("CS6")));
}

#[test]
fn a_node_without_diffserv_determines_nothing() {
    let mut tables = node(&[
        ftn(out(&[100], TcSource::Copy)),
        ilm(200, out(&[201], TcSource::Copy)),
        ilm(300, here(TcSource::Copy)),
    ]);
    for stack in [&[][..], &[(200, 5, 9)], &[(300, 5, 9)], &[(0, 5, 9)]] {
        let mut frame = frame(stack, ip("EF"));
        assert_eq!(tables.incoming_phb(&frame), None);
        assert_eq!((forward(&mut tables, &mut frame), frame.phb()), (OUT, None));
    }
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn a_uniform_lsp_leaves_a_sound_header(tc in 0u8..8, dscp in 0u8..64, hidden in any::<bool>(), ttl in 2u8..) {
        let nhlfe = if hidden { out(&[], e_lsp(TunnelModel::Uniform)) } else { here(e_lsp(TunnelModel::Uniform)) };
        let mut tables = supporting(TunnelModel::Uniform, &[ilm(200, nhlfe)]);
        let before = Ip { dscp, ttl, ..Ip::default() };
        let told = TcMap::PRECONFIGURED.phb(base::TrafficClass::truncate(tc));
        let after = Ip { dscp: told.code(), ttl: if hidden { ttl } else { ttl - 1 }, ..before };
        // Made anew, its checksum in full.
        leaves(&mut tables, &[(200, tc, 9)], before, &[], after);
    }

    #[test]
    fn what_is_told_on_arrival_is_how_it_is_treated(
        model in proptest::sample::select(MODELS.to_vec()),
        entries in proptest::collection::vec((0usize..4, 0usize..5), 6),
        stack in proptest::collection::vec((prop_oneof![6 => 200u32..206, 1 => Just(0), 1 => Just(1)], 0u8..8, 2u8..), 0..4),
        dscp in 0u8..64,
        marked in proptest::option::of(0u8..64),
    ) {
        let classes = ["AF11", "EF", "CS1"].map(|name| l_lsp(model, name));
        let class = |n: usize| classes.get(n).copied().unwrap_or(if n == 3 { e_lsp(model) } else { TcSource::Copy });
        let nhlfe = |(kind, n): (usize, usize)| match kind {
            0 => here(class(n)),
            1 => out(&[], class(n)),
            2 => out(&[300], class(n)),
            _ => out(&[300, 301], class(n)),
        };
        let mut ops: Vec<TableOp> = (200..).zip(entries).map(|(at, entry)| ilm(at, nhlfe(entry))).collect();
        ops.push(ftn(out(&[100], e_lsp(model))));
        let mut tables = supporting(model, &ops);
        let mut moved = frame(&stack, Ip { dscp, ..Ip::default() });
        let before = moved.clone();
        let told = tables.incoming_phb(&moved);
        // As a conditioner would have it.
        let marked = marked.and_then(Phb::new);
        moved.set_phb(marked);
        let wanted = marked.or(told);
        match forward(&mut tables, &mut moved) {
            // What an E-LSP has no place for goes as default.
            OUT => prop_assert!(moved.phb() == wanted || moved.phb() == Some(Phb::DEFAULT)),
            verdict => {
                prop_assert!(matches!(verdict, Verdict::Punt | Verdict::Drop(_)));
                prop_assert_eq!(&moved, &before);
            }
        }
        if moved.header().get(12..14) == Some(&[8, 0]) {
            prop_assert_eq!(wire::checksum::sum(&moved.header()[14..34]), 0xffff);
        }
    }
}
