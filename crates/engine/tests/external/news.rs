//! The kernel says at once that an interface has lost its other end.

use super::packet::spec;
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_engine::external::{Driver, News, open};

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
