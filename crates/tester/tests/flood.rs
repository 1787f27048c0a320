//! A hundred thousand frames that no router should get: it goes on signalling and forwarding, and counts each of them.

use twinplane_tester::flood::siege::Siege;

#[test]
fn a_flooded_router_goes_on_and_accounts_for_every_frame() {
    let mut siege = Siege::new(1).expect("a network");
    siege.run(50_000).expect("no device fails");
    let half = siege.report().expect("a report");
    siege.run(50_000).expect("no device fails");
    siege.settle().expect("no device fails");
    let report = siege.report().expect("a report");
    assert_eq!((report.sent, report.received), (100_000, 100_000));
    assert!(report.is_balanced(), "{report:#?}");
    assert!(report.balance.delivered > 1_000 && report.balance.dropped.iter().count() >= 10, "{report:#?}");
    // Signalling and forwarding went on.
    assert_eq!(report.down, 0, "{report:#?}");
    assert!(report.lsps.0 == report.lsps.1 && report.moved > half.moved && half.moved > 0, "{report:#?}");
    assert!(report.traffic.0 > 1_000 && report.traffic_lost() == 0, "{report:#?}");
    // What a flood can make a router hold is bounded, and goes.
    let (neighbors, waiting, lsps, messages) = half.held;
    assert!(neighbors <= 800 && waiting <= 16_384 && lsps <= 2_000 && messages <= 1_000, "{half:#?}");
    assert!(report.balance.waiting == 0 && report.held.0 <= 800 && report.held.2 <= 500, "{report:#?}");
}
