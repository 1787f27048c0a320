//! The kernel says at once that an interface has lost its other end.

use super::packet::spec;
use crate::common::Forwarder;
use base::{PortId, Rate, Span};
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_engine::external::{Clock, Driver, News, open};
use twinplane_engine::real_time::{Control, PortState, Runner};
use twinplane_engine::{LinkSpec, World};

#[test]
fn a_link_that_goes_down_is_news_at_both_ends() {
    let Some(pair) = Pair::new(1500) else { return };
    let specs = [0, 1].map(|side| spec(&pair, side, Driver::Packet));
    let mut ports = specs.each_ref().map(|spec| open(spec).expect("a port"));
    let news = specs.each_ref().map(|spec| News::open(spec.netns.as_deref()).expect("news"));
    news.iter().for_each(|news| while news.take() {});
    for is_up in [false, true] {
        pair.ip(0, &["link", "set", "e0", if is_up { "up" } else { "down" }]);
        for (port, news) in ports.iter_mut().zip(&news) {
            // What the kernel has to do afterwards, it may do a moment later.
            let limit = Instant::now() + Duration::from_secs(5);
            let mut heard = false;
            while !(heard && port.link_up().expect("an interface") == is_up) {
                heard |= news.take();
                assert!(Instant::now() < limit, "no news that up is {is_up}");
                std::thread::yield_now();
            }
        }
    }
}

/// A router by the clock, of a world with nothing in it but a port, knows without looking, whether it sleeps or not.
#[test]
fn a_run_takes_note_of_news() {
    let Some(pair) = Pair::new(1500) else { return };
    let spec = spec(&pair, 1, Driver::Packet);
    for is_busy in [false, true] {
        let mut world = World::new(1);
        let [node, beyond] = [0, 1].map(|_| world.add_device(Box::new(Forwarder::new(&[u16::MAX]))));
        world.add_link(LinkSpec::new(node, beyond, Rate::from_gbps(1), Span::ZERO)).expect("a link");
        let mut runner = Runner::new(Clock::new());
        runner.set_busy(is_busy);
        runner.set_look(Span::from_secs(3600));
        runner.attach(&mut world, node, PortId(0), open(&spec).expect("a port")).expect("a free port");
        runner.hear(News::open(spec.netns.as_deref()).expect("news"));
        for state in [PortState::Down, PortState::Up] {
            let until = runner.clock().now() + Span::from_ms(20);
            runner.run_until(&mut world, until, &mut |_, _| Control::Continue).expect("a run");
            pair.ip(0, &["link", "set", "e0", if state == PortState::Up { "up" } else { "down" }]);
            let until = runner.clock().now() + Span::from_secs(10);
            let mut noted = None;
            while noted != Some(state) && runner.clock().now() < until {
                let next = runner.clock().now() + Span::from_ms(5);
                runner.run_until(&mut world, next, &mut |_, _| Control::Continue).expect("a run");
                noted = runner.take_changes().last().map(|change| change.state).or(noted);
            }
            assert_eq!(noted, Some(state), "busy: {is_busy}");
        }
    }
}
