//! A switch that is asked and given frames: ours, or Open vSwitch.

use base::protocol_value::ProtocolValue;
use base::time::PS_PER_S;
use base::{Command, Device, Frame, MacAddr, Output, PortId, Rate, Time, Verdict};
use twinplane_node::switch::{ChannelInput, ChannelOutput, FIRST_INCOMING, FailMode, SwitchPort};
use twinplane_node::{Switch, SwitchConfig};
use wire::Hex;
use wire::openflow::{Version, message_len};

/// Ports of a switch that is compared; they have the numbers from 1 on.
pub const PORTS: usize = 4;
/// Tables of it: as many as Open vSwitch shows.
pub const TABLES: u8 = 254;

/// A switch with four ports that are up, 254 tables and no buffers, to which one controller is connected.
pub trait Subject {
    /// A controller connects, of whose HELLO the version follows. What others have written is gone.
    fn begin(&mut self, version: Version);
    /// The connection ends, and the controller connects again; tables stay as they are.
    fn reconnect(&mut self);
    /// It is killed and started again, with empty tables, and the controller connects.
    fn kill(&mut self);
    /// Gives it bytes of the controller.
    fn send(&mut self, bytes: &[u8]);
    /// The next message that it has sent to the controller.
    fn next_message(&mut self) -> Vec<u8>;
    /// Frames come by a port, all at once.
    fn frames(&mut self, port: u32, frames: &[&[u8]]);
    /// A frame comes by a port.
    fn frame(&mut self, port: u32, frame: &[u8]) {
        self.frames(port, &[frame]);
    }
    /// Lets milliseconds pass. From the first time on they pass in no other way.
    fn advance(&mut self, milliseconds: u64);
    /// What has left since this was asked last, and by which ports.
    fn left(&mut self) -> Vec<(u32, Vec<u8>)>;
    /// Waits until everything that frames have found is counted, and changes of tables are in force.
    fn settle(&mut self);
}

/// The switch of this project.
pub struct Ours {
    switch: Switch,
    sent: Vec<u8>,
    left: Vec<(u32, Vec<u8>)>,
    now: Time,
}

const CONNECTION: u32 = FIRST_INCOMING;

impl Ours {
    /// A switch to which a controller is connected.
    pub fn new() -> Ours {
        let port = |number: usize| SwitchPort {
            name: format!("p{number}"),
            address: MacAddr([0xaa, 0x55, 0xaa, 0x55, 0, number as u8]),
            rate: Some(Rate(1_000_000_000)),
            queues: Vec::new(),
        };
        let config = SwitchConfig {
            datapath_id: 1,
            name: "s".into(),
            versions: Version::ALL.to_vec(),
            controllers: Vec::new(),
            tls: None,
            fail: FailMode::Secure,
            tables: TABLES,
            max_entries: 1_000_000,
            buffers: 0,
            probe: None,
            ports: (1..=PORTS).map(port).collect(),
            seed: Default::default(),
        };
        let mut ours = Ours {
            switch: Switch::new(config, Time::ZERO),
            sent: Vec::new(),
            left: Vec::new(),
            now: Time::ZERO,
        };
        ours.switch.set_waker(Time::ZERO, Box::new(|| {}));
        ours.tell(ChannelInput::Opened { connection: CONNECTION });
        ours
    }

    fn tell(&mut self, input: ChannelInput) {
        self.switch.handle_command(self.now, Command::Protocol(ProtocolValue::new(input)));
    }

    fn take_outputs(&mut self) {
        while let Some(output) = self.switch.poll_output() {
            if let Output::Transmit { port, frame, .. } = output {
                self.left.push((u32::from(port.0) + 1, frame.to_vec()));
            }
        }
    }
}

impl Subject for Ours {
    fn begin(&mut self, _: Version) {
        *self = Ours::new();
    }

    fn reconnect(&mut self) {
        self.tell(ChannelInput::Closed { connection: CONNECTION });
        self.sent.clear();
        self.tell(ChannelInput::Opened { connection: CONNECTION });
    }

    fn kill(&mut self) {
        *self = Ours { now: self.now, ..Ours::new() };
    }

    fn send(&mut self, bytes: &[u8]) {
        self.tell(ChannelInput::Received { connection: CONNECTION, bytes: Hex(bytes.to_vec()) });
    }

    fn next_message(&mut self) -> Vec<u8> {
        while let Some(output) = self.switch.poll_channel() {
            match output {
                ChannelOutput::Send { bytes, .. } => self.sent.extend(bytes),
                other => panic!("{other:?}"),
            }
        }
        let len = message_len(&self.sent).expect("an answer");
        self.sent.drain(..len).collect()
    }

    fn frames(&mut self, port: u32, frames: &[&[u8]]) {
        let port = PortId(port as u16 - 1);
        for frame in frames {
            let (mut frames, mut verdicts) = ([Frame::from_bytes(frame)], [Verdict::Punt]);
            self.switch.forward_batch(self.now, port, &mut frames, &mut verdicts);
            let [frame] = frames;
            match verdicts[0] {
                Verdict::Transmit { port, .. } => self.left.push((u32::from(port.0) + 1, frame.to_vec())),
                Verdict::Replicate => self.switch.handle_packet(self.now, port, frame),
                _ => {}
            }
        }
    }

    fn advance(&mut self, milliseconds: u64) {
        self.now = Time(self.now.0 + milliseconds * PS_PER_S / 1000);
        while self.switch.poll_timeout().is_some_and(|at| at <= self.now) {
            self.switch.handle_timeout(self.now);
        }
    }

    fn left(&mut self) -> Vec<(u32, Vec<u8>)> {
        self.take_outputs();
        core::mem::take(&mut self.left)
    }

    fn settle(&mut self) {}
}
