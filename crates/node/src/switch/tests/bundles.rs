//! Bundles: what is done together, what is undone, and which errors answer what is wrong.

use super::*;
use wire::openflow::ErrorMessage;
use wire::openflow::v1_3::{
    BundleAdd, BundleControl, BundleFault, Experimenter, FlowStatsRequest, PacketOut, bundle_control,
    bundle_flags,
};

const BOTH: u16 = bundle_flags::ALL;
/// The transaction number of all messages of these tests.
const XID: u32 = 5;

fn control(kind: u16, bundle: u32, flags: u16) -> v1_3::Body {
    v1_3::Body::Experimenter(BundleControl { bundle, kind, flags, properties: Rest::default() }.message())
}

fn bytes(xid: u32, body: v1_3::Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    v1_3::Message { xid, body }.emit(&mut bytes).expect("a message");
    bytes
}

fn within(bundle: u32, flags: u16, message: &[u8]) -> v1_3::Body {
    v1_3::Body::Experimenter(BundleAdd { bundle, flags, message: Rest::from(message) }.message())
}

fn adding(bundle: u32, body: v1_3::Body) -> v1_3::Body {
    within(bundle, BOTH, &bytes(XID, body))
}

impl Bench {
    /// What answers a message about bundles: the type of the answer or the error; nothing where nothing is to be said.
    fn bundle(&mut self, to: u32, body: v1_3::Body) -> Result<Option<u16>, Option<BundleFault>> {
        match &self.ask(to, body)[..] {
            [] => Ok(None),
            [v1_3::Body::Experimenter(answer)] => {
                Ok(Some(BundleControl::of(answer).expect("an answer about a bundle").kind))
            }
            [v1_3::Body::Error(error)] => Err(fault_of(error)),
            other => panic!("{other:?}"),
        }
    }

    /// Outputs of all entries, in order of their priorities.
    fn entries(&mut self, to: u32) -> Vec<u16> {
        let ask = RequestBody::Flow(FlowStatsRequest {
            table: 0xff,
            out_port: ports::ANY,
            out_group: groups::ANY,
            cookie: 0,
            cookie_mask: 0,
            matching: Match { fields: vec![] },
        });
        let ReplyBody::Flow(rows) = self.stats(to, ask) else { panic!("rows") };
        let mut priorities: Vec<u16> = rows.iter().map(|row| row.priority).collect();
        priorities.sort_unstable();
        priorities
    }
}

fn fault_of(error: &ErrorMessage) -> Option<BundleFault> {
    use BundleFault::*;
    let all = [
        BadId,
        Exists,
        Closed,
        OutOfBundles,
        BadType,
        BadFlags,
        MessageBadLen,
        MessageBadXid,
        MessageUnsupported,
        TooManyMessages,
        MessageFailed,
        Timeout,
    ];
    let found = all.into_iter().find(|fault| fault.numbers() == error.numbers());
    if found.is_some() {
        assert_eq!(error.data.0[..4], *b"ONF\0", "the experimenter is named before the message at fault");
    }
    found
}

fn entry(priority: u16, actions: Vec<Action>) -> v1_3::Body {
    v1_3::Body::FlowMod(FlowMod { priority, ..flow(FlowCommand::Add, vec![], apply(actions)) })
}

#[test]
fn messages_of_a_bundle_are_done_when_it_is_committed_and_not_before() {
    let mut bench = Bench::new();
    let to_switch = bench.connect(Version::V1_3);
    assert_eq!(bench.bundle(to_switch, control(bundle_control::OPEN, 1, BOTH)), Ok(Some(1)));
    for priority in [1, 2, 3] {
        assert_eq!(bench.bundle(to_switch, adding(1, entry(priority, vec![to(2)]))), Ok(None));
    }
    assert_eq!(bench.entries(to_switch), [0; 0]);
    assert_eq!(bench.bundle(to_switch, control(bundle_control::CLOSE, 1, BOTH)), Ok(Some(3)));
    assert_eq!(bench.entries(to_switch), [0; 0]);
    assert_eq!(bench.bundle(to_switch, control(bundle_control::COMMIT, 1, BOTH)), Ok(Some(5)));
    assert_eq!(bench.entries(to_switch), [1, 2, 3]);
    assert_eq!(
        bench.bundle(to_switch, control(bundle_control::COMMIT, 1, BOTH)),
        Err(Some(BundleFault::BadId)),
        "it is gone"
    );
}

#[test]
fn a_bundle_of_which_a_message_fails_has_changed_nothing() {
    let mut bench = Bench::new();
    let (first, other) = (bench.connect(Version::V1_3), bench.connect(Version::V1_3));
    let kept = FlowMod {
        flags: FlowFlags(flow_flags::SEND_FLOW_REM),
        ..flow(FlowCommand::Add, vec![], apply(vec![to(3)]))
    };
    assert_eq!(bench.fault(first, v1_3::Body::FlowMod(kept)), None);
    let out = v1_3::Body::PacketOut(PacketOut {
        buffer_id: NO_BUFFER,
        in_port: ports::CONTROLLER,
        actions: vec![to(2)],
        data: Rest::from(&FRAME[..]),
    });
    let group = v1_3::Body::GroupMod(GroupMod {
        command: GroupCommand::Add,
        kind: GroupType::Indirect,
        group: 7,
        buckets: Buckets(vec![Bucket {
            weight: 0,
            watch_port: ports::ANY,
            watch_group: groups::ANY,
            actions: vec![to(2)],
        }]),
    });
    let fails = bytes(XID, entry(9, vec![Action::Group { group: 8 }]));
    bench.bundle(first, control(bundle_control::OPEN, 1, BOTH)).expect("a bundle");
    for body in [
        v1_3::Body::FlowMod(flow(FlowCommand::Delete, vec![], vec![])),
        group.clone(),
        out,
        entry(2, vec![to(2)]),
    ] {
        assert_eq!(bench.bundle(first, adding(1, body)), Ok(None));
    }
    assert_eq!(bench.bundle(first, within(1, BOTH, &fails)), Ok(None));
    let heard = bench.ask(first, control(bundle_control::COMMIT, 1, BOTH));
    match &heard[..] {
        [v1_3::Body::Error(message), v1_3::Body::Error(commit)] => {
            assert_eq!(Fault::of(message.numbers()), Some(Fault::BadOutGroup));
            assert_eq!(message.data.0, fails[..fails.len().min(64)]);
            assert_eq!(fault_of(commit), Some(BundleFault::MessageFailed));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.heard(other), [], "nobody is told of an entry that is still there");
    assert_eq!(bench.left(), [0; 0], "no packet has left");
    assert_eq!(bench.entries(first), [5]);
    assert_eq!(bench.frame(1), [3]);
    assert!(
        matches!(bench.stats(first, RequestBody::GroupDescription), ReplyBody::GroupDescription(rows) if rows.is_empty())
    );
    // Without the message that fails all of it is done, and in its order: the group is there when an entry needs it.
    bench.bundle(first, control(bundle_control::OPEN, 1, BOTH)).expect("a bundle");
    for body in [
        v1_3::Body::FlowMod(flow(FlowCommand::Delete, vec![], vec![])),
        group,
        entry(2, vec![Action::Group { group: 7 }]),
    ] {
        assert_eq!(bench.bundle(first, adding(1, body)), Ok(None));
    }
    let told = bench.ask(first, control(bundle_control::COMMIT, 1, BOTH));
    assert!(matches!(&told[..], [v1_3::Body::FlowRemoved(_), v1_3::Body::Experimenter(_)]), "{told:?}");
    assert_eq!(bench.entries(first), [2]);
    assert_eq!(bench.frame(1), [2]);
}

#[test]
fn what_is_wrong_with_a_bundle_is_told() {
    use BundleFault::*;
    let mut bench = Bench::new();
    let to_switch = bench.connect(Version::V1_3);
    let good = || entry(1, vec![to(2)]);
    let mut say = |body| bench.bundle(to_switch, body);
    let (open, close) = (bundle_control::OPEN, bundle_control::CLOSE);
    let (commit, discard) = (bundle_control::COMMIT, bundle_control::DISCARD);
    for kind in [close, commit, discard] {
        assert_eq!(say(control(kind, 1, BOTH)), Err(Some(BadId)));
    }
    assert_eq!(say(control(1, 1, BOTH)), Err(Some(BadType)));
    assert_eq!(say(control(8, 1, BOTH)), Err(Some(BadType)));
    assert_eq!(say(control(open, 1, 4)), Err(Some(BadFlags)));
    assert_eq!(say(control(open, 1, BOTH)), Ok(Some(1)));
    assert_eq!(say(control(open, 1, BOTH)), Err(Some(Exists)));
    assert_eq!(say(control(commit, 1, BOTH)), Err(Some(BadId)), "it was forgotten");
    // Flags are the same in all messages about a bundle.
    for change in [control(close, 1, 0), within(1, 0, &bytes(XID, good())), control(commit, 1, 0)] {
        assert_eq!(say(control(open, 1, BOTH)), Ok(Some(1)));
        assert_eq!(say(change), Err(Some(BadFlags)));
        assert_eq!(say(control(discard, 1, BOTH)), Err(Some(BadId)), "it was forgotten");
    }
    // What is closed takes no more.
    for change in [control(close, 1, BOTH), adding(1, good())] {
        assert_eq!(say(control(open, 1, BOTH)), Ok(Some(1)));
        assert_eq!(say(control(close, 1, BOTH)), Ok(Some(3)));
        assert_eq!(say(change), Err(Some(Closed)));
    }
    // Messages that can't be part of one; the bundle stays, and is discarded.
    assert_eq!(say(adding(2, good())), Ok(None), "it begins with its first message");
    assert_eq!(say(adding(2, v1_3::Body::BarrierRequest)), Err(Some(MessageUnsupported)));
    assert_eq!(say(within(2, BOTH, &bytes(XID + 1, good()))), Err(Some(MessageBadXid)));
    let whole = bytes(XID, good());
    assert_eq!(say(within(2, BOTH, &whole[..whole.len() - 1])), Err(Some(MessageBadLen)));
    assert_eq!(say(within(2, BOTH, &[4, 14, 0, 7, 0, 0, 0, 5])), Err(Some(MessageBadLen)));
    assert_eq!(say(control(discard, 2, BOTH)), Ok(Some(7)));
    for bundle in 0..64 {
        assert_eq!(say(control(open, bundle, 0)), Ok(Some(1)));
    }
    assert_eq!(say(control(open, 64, 0)), Err(Some(OutOfBundles)));
    assert_eq!(bench.entries(to_switch), [0; 0]);
    let unknown = |kind| {
        v1_3::Body::Experimenter(Experimenter { experimenter: v1_3::ONF, kind, data: Rest::default() })
    };
    assert_eq!(bench.fault(to_switch, unknown(2302)), Some(Fault::BadExpType));
    assert_eq!(bench.fault(to_switch, unknown(2300)), Some(Fault::RequestBadLen));
    let wrong = [4u8, 14, 0, 16, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(
        bench.fault(to_switch, within(70, BOTH, &wrong)),
        Some(Fault::RequestBadLen),
        "it can't be read"
    );
}

#[test]
fn a_bundle_ends_with_its_connection_and_is_not_for_slaves() {
    let mut bench = Bench::new();
    let to_switch = bench.connect(Version::V1_3);
    bench.bundle(to_switch, control(bundle_control::OPEN, 1, BOTH)).expect("a bundle");
    bench.bundle(to_switch, adding(1, entry(1, vec![to(2)]))).expect("a message");
    bench.tell(ChannelInput::Closed { connection: to_switch });
    let again = bench.connect(Version::V1_3);
    assert_eq!(bench.bundle(again, control(bundle_control::COMMIT, 1, BOTH)), Err(Some(BundleFault::BadId)));
    assert_eq!(bench.entries(again), [0; 0]);
    let role = RoleMessage { role: Role::Slave, generation: 1 };
    assert_eq!(bench.ask(again, v1_3::Body::RoleRequest(role)).len(), 1);
    assert_eq!(bench.fault(again, control(bundle_control::OPEN, 1, BOTH)), Some(Fault::IsSlave));
}

#[test]
fn a_bundle_that_nothing_is_said_of_for_long_is_forgotten() {
    let mut bench = Bench::new();
    let to_switch = bench.connect(Version::V1_3);
    let opening = control(bundle_control::OPEN, 1, BOTH);
    assert_eq!(bench.bundle(to_switch, opening.clone()), Ok(Some(1)));
    assert_eq!(bench.bundle(to_switch, adding(2, entry(1, vec![to(2)]))), Ok(None));
    bench.now = seconds(6);
    assert_eq!(bench.bundle(to_switch, adding(1, entry(2, vec![to(2)]))), Ok(None));
    // The switch begins to listen.
    bench.switch.handle_timeout(bench.now);
    assert_eq!(bench.switch.poll_timeout(), Some(seconds(10)), "nothing is said of the second");
    for (at, number) in [(10, 2), (16, 1)] {
        bench.now = seconds(at);
        bench.switch.handle_timeout(bench.now);
        let [v1_3::Body::Error(error)] = &bench.heard(to_switch)[..] else {
            panic!("an error, of bundle {number}")
        };
        assert_eq!(fault_of(error), Some(BundleFault::Timeout));
        if number == 1 {
            assert_eq!(error.data.0[4..], bytes(XID, opening.clone()), "it says how the bundle began");
        }
        assert_eq!(
            bench.bundle(to_switch, control(bundle_control::COMMIT, number, BOTH)),
            Err(Some(BundleFault::BadId))
        );
    }
    assert_eq!((bench.switch.agent.bundles_until(), bench.entries(to_switch)), (None, vec![]));
}
