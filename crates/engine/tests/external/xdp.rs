//! AF_XDP ports.

use super::packet::{eventually, labelled, receive, spec, super_frame};
use std::collections::VecDeque;
use testing::Pair;
use twinplane_engine::external::Clock;
use twinplane_engine::external::xdp::XdpPort;
use twinplane_engine::external::{Driver, ExternalSpec, PortError, open};

#[test]
fn frames_of_every_length_arrive_as_they_were_sent() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    for drivers in [[Driver::Xdp, Driver::Xdp], [Driver::Xdp, Driver::Packet], [Driver::Packet, Driver::Xdp]]
    {
        let [mut a, mut b] = [0, 1].map(|side| open(&spec(&pair, side, drivers[side])).unwrap());
        let mut queue: VecDeque<_> = (0..5000).map(|i| labelled(i, 60 + (i as usize * 37) % 1455)).collect();
        let sent: Vec<_> = queue.iter().cloned().collect();
        let mut got = Vec::new();
        while !queue.is_empty() {
            let mut some: VecDeque<_> = queue.drain(..queue.len().min(100)).collect();
            while !some.is_empty() {
                a.send(&mut some).unwrap();
                b.receive(&clock, &mut got, 1000).unwrap();
            }
        }
        got.extend(receive(&mut *b, &clock, sent.len() - got.len()));
        assert_eq!(got.len(), sent.len(), "{drivers:?} {:?} {:?}", a.counters(), b.counters());
        assert!(got == sent, "{drivers:?}");
    }
}

#[test]
fn veth_runs_the_program_itself_and_loses_it_with_the_port() {
    let Some(pair) = Pair::new(1500) else { return };
    let port = XdpPort::open(&spec(&pair, 0, Driver::Xdp)).unwrap();
    assert!(port.is_native());
    let link = |pair: &Pair| {
        let output = pair.exec(0, &["ip", "link", "show", "e0"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(link(&pair).contains("xdp"));
    let second = open(&spec(&pair, 0, Driver::Xdp)).map(|_| ()).unwrap_err();
    assert_eq!(second.to_string(), "interface e0: another program has its frames by XDP");
    drop(port);
    assert!(!link(&pair).contains("xdp"));
}

#[test]
fn super_frames_are_cut_for_it() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    let (mut a, mut b) =
        (open(&spec(&pair, 0, Driver::Packet)).unwrap(), open(&spec(&pair, 1, Driver::Xdp)).unwrap());
    for (labels, turn) in [(0, 0), (1, 1), (2, 2)] {
        // One way the kernel or the packet port cuts, the other way the XDP port.
        for (from, to) in [(0, 1), (1, 0)] {
            let mut queue = VecDeque::from([super_frame(labels, 14_000)]);
            let got = if (from, to) == (0, 1) {
                a.send(&mut queue).unwrap();
                receive(&mut *b, &clock, 10)
            } else {
                b.send(&mut queue).unwrap();
                receive(&mut *a, &clock, 10)
            };
            assert_eq!(got.len(), 10, "{labels} labels, turn {turn}: {:?} {:?}", a.counters(), b.counters());
            let mut expected = Vec::new();
            let count = twinplane_engine::offload::real_frames(super_frame(labels, 14_000), &mut |frame| {
                expected.push(frame);
            });
            assert_eq!(count, 10);
            assert!(
                got.iter().zip(&expected).all(|(got, expected)| got == expected),
                "{from} to {to}, {labels}"
            );
        }
    }
}

#[test]
fn too_long_an_mtu_is_refused_with_the_reason() {
    let Some(pair) = Pair::new(9000) else { return };
    let error = open(&spec(&pair, 0, Driver::Xdp)).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("interface e0: MTU 9000 is too long for AF_XDP"), "{error}");
    let Some(pair) = Pair::new(3600) else { return };
    let error = open(&spec(&pair, 0, Driver::Xdp)).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("interface e0: MTU 3600 is too long for AF_XDP"), "{error}");
    let Some(pair) = Pair::new(3498) else { return };
    open(&spec(&pair, 0, Driver::Xdp)).map(|_| ()).unwrap();
}

#[test]
fn interfaces_that_go_down_or_away_are_noticed() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    let mut a = open(&spec(&pair, 0, Driver::Xdp)).unwrap();
    let mut b = open(&ExternalSpec { busy_poll: true, ..spec(&pair, 1, Driver::Xdp) }).unwrap();
    pair.ip(0, &["link", "set", "e0", "down"]);
    assert!(!a.link_up().unwrap());
    eventually(|| !b.link_up().unwrap());
    let mut queue = VecDeque::from([labelled(0, 100)]);
    a.send(&mut queue).unwrap();
    assert!(queue.is_empty());
    pair.ip(0, &["link", "set", "e0", "up"]);
    eventually(|| a.link_up().unwrap());
    a.send(&mut VecDeque::from([labelled(1, 100)])).unwrap();
    assert_eq!(receive(&mut *b, &clock, 2).last(), Some(&labelled(1, 100)));
    pair.ip(0, &["link", "del", "e0"]);
    assert!(matches!(a.link_up(), Err(PortError::Gone { .. })));
    assert!(matches!(a.send(&mut VecDeque::from([labelled(2, 100)])), Err(PortError::Gone { .. })));
}
