use super::*;
use base::time::PS_PER_S;

fn seconds(seconds: u64) -> Time {
    Time(seconds * PS_PER_S)
}

fn channel(versions: &[Version]) -> Channel {
    let config = ChannelConfig { versions: versions.to_vec(), probe: Some(Span::from_secs(5)) };
    let mut channel = Channel::new(config, true, Time::ZERO);
    assert!(channel.handle_timeout(Time::ZERO));
    channel.opened(Time::ZERO);
    channel
}

fn hello(version: u8, elements: &[u8]) -> Vec<u8> {
    let len = (8 + elements.len()) as u8;
    [&[version, 0, 0, len, 0, 0, 0, 9], elements].concat()
}

fn told(channel: &mut Channel, bytes: &[u8]) -> Vec<Told> {
    channel.receive(Time::ZERO, bytes);
    core::iter::from_fn(|| channel.poll()).collect()
}

#[test]
fn the_states_are_these() {
    let expected = "\
Waiting --Due--> Connecting
Waiting --Opened--> Greeting
Connecting --Opened--> Greeting
Connecting --Closed--> Waiting
Connecting --Silent--> Waiting
Greeting --Agreed--> Up
Greeting --Refused--> Waiting
Greeting --Malformed--> Waiting
Greeting --Closed--> Waiting
Greeting --Silent--> Waiting
Up --Silent--> Probing
Up --Heard--> Up
Up --Malformed--> Waiting
Up --Closed--> Waiting
Probing --Heard--> Up
Probing --Malformed--> Waiting
Probing --Silent--> Waiting
Probing --Closed--> Waiting";
    assert_eq!(ChannelState::CHART.lines().join("\n"), expected);
}

#[test]
fn the_highest_version_that_both_speak_is_taken() {
    let both = [Version::V1_0, Version::V1_3];
    let agreed = |ours: &[Version], bytes: &[u8]| told(&mut channel(ours), bytes);
    assert_eq!(agreed(&both, &hello(4, &[])), [Told::Up(Version::V1_3)]);
    assert_eq!(agreed(&both, &hello(1, &[])), [Told::Up(Version::V1_0)]);
    assert_eq!(agreed(&[Version::V1_0], &hello(4, &[])), [Told::Up(Version::V1_0)]);
    // 1.5 in the header, and a list that has 1.3 and 1.5.
    assert_eq!(agreed(&both, &hello(6, &[0, 1, 0, 8, 0, 0, 0, 0x50])), [Told::Up(Version::V1_3)]);
    assert_eq!(agreed(&[Version::V1_3], &hello(1, &[])), [Told::Close]);
    assert_eq!(agreed(&both, &hello(6, &[0, 1, 0, 8, 0, 0, 0, 0x40])), [Told::Close]);
    assert_eq!(agreed(&both, &[4, 5, 0, 8, 0, 0, 0, 1]), [Told::Close], "no HELLO");
}

#[test]
fn who_speaks_no_common_version_is_told_so() {
    let mut channel = channel(&[Version::V1_3]);
    channel.take_output();
    told(&mut channel, &hello(1, &[]));
    let error = v1_3::Message::parse(&channel.take_output()).expect("a message");
    let v1_3::Body::Error(error) = error.body else { panic!("an error") };
    assert_eq!(error.numbers(), v1_3::Fault::Incompatible.numbers());
    assert_eq!(error.data.0, b"versions spoken here: 1.3");
}

#[test]
fn messages_are_put_together_and_echoes_answered() {
    let mut channel = channel(&[Version::V1_3]);
    channel.take_output();
    let stream =
        [hello(4, &[]), vec![4, 2, 0, 10, 0, 0, 0, 5, 7, 7], vec![4, 20, 0, 8, 0, 0, 0, 6], vec![4]].concat();
    let mut got = Vec::new();
    for byte in stream {
        got.extend(told(&mut channel, &[byte]));
    }
    assert_eq!(got, [Told::Up(Version::V1_3), Told::Message(vec![4, 20, 0, 8, 0, 0, 0, 6])]);
    assert_eq!(channel.take_output(), [4, 3, 0, 10, 0, 0, 0, 5, 7, 7]);
}

#[test]
fn a_controller_that_is_silent_is_asked_and_left() {
    let mut channel = channel(&[Version::V1_0]);
    told(&mut channel, &hello(1, &[]));
    channel.take_output();
    channel.handle_timeout(seconds(5));
    assert_eq!((channel.state(), channel.take_output()[1]), (ChannelState::Probing, ECHO_REQUEST));
    assert_eq!(channel.poll(), None);
    channel.handle_timeout(seconds(10));
    assert_eq!((channel.state(), channel.poll()), (ChannelState::Waiting, Some(Told::Close)));
}

#[test]
fn a_message_that_is_shorter_than_its_header_ends_the_connection() {
    let short = [4, 20, 0, 7, 0, 0, 0, 6];
    let close = [Told::Malformed(short.to_vec()), Told::Close];
    let mut greeting = channel(&[Version::V1_3]);
    assert_eq!(told(&mut greeting, &short), close);
    let mut up = channel(&[Version::V1_3]);
    told(&mut up, &hello(4, &[]));
    assert_eq!(told(&mut up, &[short, [4, 20, 0, 8, 0, 0, 0, 7]].concat()), close);
    assert_eq!((up.state(), up.version()), (ChannelState::Waiting, Some(Version::V1_3)));
}

#[test]
fn who_says_no_version_is_left_even_if_nobody_is_probed() {
    let config = ChannelConfig { versions: vec![Version::V1_3], probe: None };
    let mut silent = Channel::new(config, false, Time::ZERO);
    silent.opened(Time::ZERO);
    let mut greeted = silent.clone();
    assert_eq!(told(&mut silent, &hello(4, &[])[..7]), []);
    silent.handle_timeout(seconds(8));
    assert_eq!((silent.state(), silent.poll()), (ChannelState::Waiting, Some(Told::Close)));
    assert_eq!(told(&mut silent, &hello(4, &[])), [], "it is over");
    told(&mut greeted, &hello(4, &[]));
    assert_eq!(greeted.poll_timeout(), None);
}

#[test]
fn a_controller_that_takes_what_waits_for_it_is_there() {
    let mut channel = channel(&[Version::V1_0]);
    told(&mut channel, &hello(1, &[]));
    channel.handle_timeout(seconds(5));
    channel.taken(seconds(7));
    assert_eq!((channel.state(), channel.poll_timeout()), (ChannelState::Up, Some(seconds(12))));
}

#[test]
fn attempts_come_less_and_less_often_until_one_succeeds() {
    let config = ChannelConfig { versions: vec![Version::V1_0], probe: None };
    let mut channel = Channel::new(config, true, Time::ZERO);
    let mut now = Time::ZERO;
    let mut waits = Vec::new();
    for _ in 0..6 {
        assert!(channel.handle_timeout(now));
        channel.closed(now, true);
        let due = channel.poll_timeout().expect("another attempt");
        waits.push((due.0 - now.0) / PS_PER_S);
        now = due;
    }
    assert_eq!(waits, [1, 2, 4, 8, 8, 8]);
    channel.handle_timeout(now);
    channel.opened(now);
    told(&mut channel, &hello(1, &[]));
    channel.closed(now, true);
    assert_eq!(channel.poll_timeout(), Some(now + Span::from_secs(1)));
}
