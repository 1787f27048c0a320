//! Bursts: what is sent from the namespace of the interface itself.

use super::packet::{labelled, receive, spec, super_frame};
use std::collections::VecDeque;
use testing::Pair;
use twinplane_engine::external::burst::Burst;
use twinplane_engine::external::{Clock, Driver, ExternalSpec, Interface, netns, open};

/// A spec of the interface in the namespace where the thread is.
fn here(driver: Driver) -> ExternalSpec {
    ExternalSpec { driver, ..ExternalSpec::new("e0") }
}

#[test]
fn frames_arrive_in_order_whatever_way_they_are_sent() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    for driver in [Driver::Packet, Driver::Xdp] {
        let mut b = open(&spec(&pair, 1, Driver::Packet)).unwrap();
        netns::within(Some(&pair.netns(0)), || {
            let mut a = open(&here(driver)).unwrap();
            let mut got = Vec::new();
            let mut all = Vec::new();
            // Short, long and few frames after one another.
            for (turn, count) in [100, 3, 16, 15, 64, 129, 1, 250].into_iter().enumerate() {
                let frame = |i: u32| labelled(i, 60 + (i as usize * 37 + turn * 91) % 1455);
                let mut queue: VecDeque<_> = (0..count).map(frame).collect();
                all.extend(queue.iter().cloned());
                while !queue.is_empty() {
                    a.send(&mut queue).unwrap();
                    b.receive(&clock, &mut got, 1000).unwrap();
                }
            }
            got.extend(receive(&mut *b, &clock, all.len() - got.len()));
            assert!(got == all, "{driver:?} {:?} {:?}", a.counters(), b.counters());
            assert_eq!(a.counters().tx_frames, all.len() as u64);
            assert_eq!(a.counters().tx_bytes, b.counters().rx_bytes);
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn a_burst_ends_before_a_frame_that_is_not_for_it() {
    let Some(pair) = Pair::new(1500) else { return };
    netns::within(Some(&pair.netns(0)), || {
        let index = Interface::here("e0")?.index;
        let mut burst = Burst::new().unwrap();
        let mut queue: VecDeque<_> = (0..20).map(|i| labelled(i, 60)).collect();
        queue.push_back(super_frame(0, 3000));
        queue.extend((0..140).map(|i| labelled(i, 60)));
        assert_eq!(burst.send(index, &mut queue, 1514).unwrap().frames, 20);
        assert_eq!(burst.send(index, &mut queue, 1514).unwrap().frames, 0);
        queue.pop_front();
        assert_eq!(burst.send(index, &mut queue, 1514).unwrap().frames, 128);
        // Twelve are not worth it; a frame over the limit is never sent so.
        assert_eq!(burst.send(index, &mut queue, 1514).unwrap().frames, 0);
        queue.extend((0..140).map(|i| labelled(i, 60)));
        assert_eq!(burst.send(index, &mut queue, 59).unwrap().frames, 0);
        Ok(())
    })
    .unwrap();
}

#[test]
fn ports_used_elsewhere_send_one_by_one() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    let mut b = open(&spec(&pair, 1, Driver::Packet)).unwrap();
    let mut a = netns::within(Some(&pair.netns(0)), || open(&here(Driver::Packet))).unwrap();
    let mut send = |numbers: std::ops::Range<u32>| {
        let mut queue: VecDeque<_> = numbers.map(|i| labelled(i, 60)).collect();
        while !queue.is_empty() {
            a.send(&mut queue).unwrap();
        }
    };
    // Out of the namespace where the port was opened, and in another thread.
    send(0..100);
    std::thread::scope(|scope| scope.spawn(|| send(100..200)).join()).unwrap();
    let got = receive(&mut *b, &clock, 200);
    assert!(got.iter().zip(0..).all(|(frame, i)| frame.to_vec() == labelled(i, 60).to_vec()));
}

#[test]
fn a_switched_off_interface_refuses_and_says_so() {
    let Some(pair) = Pair::new(1500) else { return };
    pair.ip(0, &["link", "set", "e0", "down"]);
    netns::within(Some(&pair.netns(0)), || {
        let index = Interface::here("e0")?.index;
        let mut burst = Burst::new().unwrap();
        let mut queue: VecDeque<_> = (0..20).map(|i| labelled(i, 60)).collect();
        let sent = burst.send(index, &mut queue, 1514).unwrap();
        assert_eq!((sent.frames, sent.refused), (20, 20));
        Ok(())
    })
    .unwrap();
}
