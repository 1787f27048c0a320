//! A live OpenFlow switch, two of whose controllers send whatever the fuzzer makes up, while a third one is well.

use base::protocol_value::ProtocolValue;
use base::{Command, Device, Frame, MacAddr, PortId, Time, Verdict};
use node::switch::{ChannelInput, ChannelOutput, FIRST_INCOMING, FailMode, SwitchPort};
use node::{Switch, SwitchConfig};
use wire::Hex;
use wire::openflow::{Version, message_len};

const MS: u64 = 1_000_000_000;
/// The controller that is well.
const WELL: u32 = FIRST_INCOMING;
/// Types of HELLO and of the answer to an echo request, in both versions.
const HELLO: u8 = 0;
const ECHO_REPLY: u8 = 3;

struct Bench {
    switch: Switch,
    now: Time,
    /// What the controller that is well has got.
    heard: Vec<u8>,
}

impl Bench {
    fn tell(&mut self, input: ChannelInput) {
        self.switch.handle_command(self.now, Command::Protocol(ProtocolValue::new(input)));
        while let Some(output) = self.switch.poll_channel() {
            match output {
                ChannelOutput::Send { connection, bytes } if connection == WELL => self.heard.extend(bytes),
                ChannelOutput::Close { connection } if connection == WELL => panic!("it was closed"),
                _ => {}
            }
        }
    }

    fn give(&mut self, connection: u32, bytes: Vec<u8>) {
        self.tell(ChannelInput::Received { connection, bytes: Hex(bytes) });
    }

    fn frame(&mut self, port: u16, bytes: &[u8]) {
        let (mut frames, mut verdicts) = ([Frame::from_bytes(bytes)], [Verdict::Punt]);
        self.switch.forward_batch(self.now, PortId(port), &mut frames, &mut verdicts);
        let [frame] = frames;
        if verdicts[0] == Verdict::Replicate {
            self.switch.handle_packet(self.now, PortId(port), frame);
        }
        while self.switch.poll_output().is_some() {}
    }
}

fn header(version: Version, kind: u8, len: usize) -> [u8; 8] {
    let [a, b] = (8 + len as u16).to_be_bytes();
    [version as u8, kind, a, b, 0, 0, 0, 7]
}

/// The input is what happens: what kind of thing, its length, its bytes.
pub fn switch(mut input: &[u8]) {
    let port = |number: u8| SwitchPort {
        name: format!("s-eth{number}"),
        address: MacAddr([2, 0, 0, 0, 1, number]),
        rate: None,
        queues: Vec::new(),
    };
    let config = SwitchConfig {
        datapath_id: 1,
        name: "s".into(),
        versions: Version::ALL.to_vec(),
        controllers: Vec::new(),
        tls: None,
        fail: FailMode::Standalone,
        tables: 4,
        max_entries: 1000,
        buffers: 4,
        probe: None,
        ports: (1..=3).map(port).collect(),
        seed: Default::default(),
    };
    let mut bench = Bench { switch: Switch::new(config, Time::ZERO), now: Time::ZERO, heard: Vec::new() };
    bench.switch.set_waker(Time::ZERO, Box::new(|| {}));
    for (connection, version) in [(WELL, Version::V1_3), (WELL + 1, Version::V1_3), (WELL + 2, Version::V1_0)]
    {
        bench.tell(ChannelInput::Opened { connection });
        bench.give(connection, header(version, HELLO, 0).to_vec());
    }
    while let [kind, len, rest @ ..] = input {
        let (bytes, after) = rest.split_at(rest.len().min(usize::from(*len)));
        input = after;
        let (from, version) =
            if kind & 1 == 0 { (WELL + 1, Version::V1_3) } else { (WELL + 2, Version::V1_0) };
        match kind >> 1 & 7 {
            // Bytes of a stream, whatever the lengths in them say.
            0 => bench.give(from, bytes.to_vec()),
            1 => bench.frame(u16::from(kind >> 4) % 3, bytes),
            2 => bench.tell(ChannelInput::Closed { connection: from }),
            3 => {
                bench.now = Time(bench.now.0 + u64::from(*len) * 10 * MS);
                bench.switch.handle_timeout(bench.now);
            }
            // A message with a header that is right.
            _ => {
                let Some((kind, body)) = bytes.split_first() else { continue };
                bench.give(from, [&header(version, kind % 30, body.len())[..], body].concat());
            }
        }
    }
    bench.heard.clear();
    bench.give(WELL, header(Version::V1_3, 2, 0).to_vec());
    let mut answers = Vec::new();
    while let Some(len) = message_len(&bench.heard) {
        answers.push(bench.heard.drain(..len).collect::<Vec<u8>>());
    }
    assert!(
        answers.iter().any(|answer| answer[1] == ECHO_REPLY),
        "no answer to an echo request: {answers:?}"
    );
    let drops = bench.switch.drops();
    let _ = (drops, bench.switch.errors().count());
}
