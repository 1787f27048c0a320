//! Bundles: changes that a controller collects and has done together. No packet and no other message comes between
//! them, and if one of them fails all is as it was before.

use super::buffers::Buffers;
use super::ports::Port;
use super::{Agent, Switch};
use base::device::DropCounters;
use base::{Span, Time};
use forwarding::openflow::Datapath;
use std::collections::BTreeMap;
use wire::openflow::v1_3::{
    Body, BundleAdd, BundleControl, BundleFault, Experimenter, Fault, Message, bundle_control, bundle_flags,
    bundle_kinds,
};
use wire::openflow::{Code, HEADER_LEN, message_len};

/// Bundles that a connection has at most.
const BUNDLES_MAX: usize = 64;
/// Bytes of all messages in the bundles of a connection at most, with what it takes to keep them.
const BYTES_MAX: usize = 1 << 28;
/// What a message takes beside its bytes.
const KEPT: usize = size_of::<Vec<u8>>();
/// A bundle of which nothing is said for so long is forgotten, as by Open vSwitch.
const IDLE: Span = Span::from_secs(10);
/// Bytes of a message that an error about it has.
const QUOTED: usize = 64;
/// Where a message has its length.
const LEN: core::ops::Range<usize> = 2..4;
/// Where a message has its transaction number.
const XID: core::ops::Range<usize> = 4..8;

/// Messages of a controller that are to be done together.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    flags: u16,
    /// Nothing is added to it any more.
    is_closed: bool,
    messages: Vec<Vec<u8>>,
    bytes: usize,
    /// The beginning of the message that it began with.
    first: Vec<u8>,
    /// When something was said of it last.
    used: Time,
}

/// The bundles of a connection by their numbers.
pub(super) type Bundles = BTreeMap<u32, Bundle>;

/// All that messages of a bundle can change, as it was before them.
struct Before {
    datapath: Datapath,
    ports: Vec<Port>,
    buffers: Buffers,
    drops: DropCounters,
    left_out: u64,
    outputs: usize,
    /// By connection, how many bytes were to be sent.
    sent: BTreeMap<u32, usize>,
}

/// May a message be part of a bundle?
fn is_taken(body: &Body) -> bool {
    matches!(
        body,
        Body::FlowMod(_) | Body::GroupMod(_) | Body::MeterMod(_) | Body::PortMod(_) | Body::PacketOut(_)
    )
}

/// A message about bundles.
struct Said<'a> {
    now: Time,
    /// The connection that it came by.
    from: u32,
    xid: u32,
    message: &'a Experimenter,
}

impl Said<'_> {
    /// Its beginning, as it came.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // It has come, and so is not too long.
        let _ = Message { xid: self.xid, body: Body::Experimenter(self.message.clone()) }.emit(&mut bytes);
        bytes.truncate(QUOTED);
        bytes
    }
}

/// Begins a bundle, if there is room for it.
fn begin(bundles: &mut Bundles, number: u32, flags: u16, said: &Said<'_>) -> Result<(), Code> {
    if flags & !bundle_flags::ALL != 0 {
        return Err(BundleFault::BadFlags.numbers());
    }
    if bundles.len() >= BUNDLES_MAX {
        return Err(BundleFault::OutOfBundles.numbers());
    }
    let (messages, first) = (Vec::new(), said.bytes());
    bundles.insert(number, Bundle { flags, is_closed: false, messages, bytes: 0, first, used: said.now });
    Ok(())
}

/// An open bundle with these flags; another is forgotten.
fn open(bundles: &mut Bundles, number: u32, flags: u16) -> Result<(), Code> {
    let found = bundles
        .get(&number)
        .ok_or(BundleFault::BadId)
        .and_then(|bundle| if bundle.is_closed { Err(BundleFault::Closed) } else { Ok(bundle) })
        .and_then(|bundle| if bundle.flags == flags { Ok(()) } else { Err(BundleFault::BadFlags) });
    found.map_err(|fault| {
        bundles.remove(&number);
        fault.numbers()
    })
}

impl Agent {
    /// When bundles are forgotten of which nothing is said any more.
    pub(super) fn bundles_until(&self) -> Option<Time> {
        let all = self.connections.values().flat_map(|connection| connection.bundles.values());
        all.map(|bundle| bundle.used + IDLE).min()
    }

    /// Forgets bundles of which nothing was said for long; their controllers are told.
    pub(super) fn forget_bundles(&mut self, now: Time) {
        let mut gone = Vec::new();
        for (id, connection) in &mut self.connections {
            let old = connection.bundles.extract_if(.., |_, bundle| bundle.used + IDLE <= now);
            gone.extend(old.map(|(_, bundle)| (*id, bundle.first)));
        }
        for (id, first) in gone {
            self.refuse(id, &first, BundleFault::Timeout.numbers());
        }
    }

    fn bundles(&mut self, of: u32) -> Result<&mut Bundles, Code> {
        let connection = self.connections.get_mut(&of).ok_or(BundleFault::BadId.numbers())?;
        Ok(&mut connection.bundles)
    }
}

impl Switch {
    /// A message about bundles; what is said to it, if anything.
    pub(super) fn handle_bundle(
        &mut self,
        now: Time,
        (from, xid): (u32, u32),
        message: &Experimenter,
    ) -> Result<Option<Experimenter>, Code> {
        let said = Said { now, from, xid, message };
        match message.kind {
            bundle_kinds::CONTROL => {
                let ask = BundleControl::of(message).map_err(|malformed| malformed.answer)?;
                self.control_bundle(&said, &ask)?;
                let answer = BundleControl { kind: ask.kind + 1, properties: Default::default(), ..ask };
                Ok(Some(answer.message()))
            }
            bundle_kinds::ADD => {
                let add = BundleAdd::of(message).map_err(|malformed| malformed.answer)?;
                self.add_to_bundle(&said, &add)?;
                Ok(None)
            }
            _ => Err(Fault::BadExpType.numbers()),
        }
    }

    fn control_bundle(&mut self, said: &Said<'_>, ask: &BundleControl) -> Result<(), Code> {
        let BundleControl { bundle: number, kind, flags, .. } = *ask;
        let (now, from) = (said.now, said.from);
        let bundles = self.agent.bundles(from)?;
        match kind {
            bundle_control::OPEN => {
                if bundles.remove(&number).is_some() {
                    return Err(BundleFault::Exists.numbers());
                }
                begin(bundles, number, flags, said)?;
            }
            bundle_control::CLOSE => {
                open(bundles, number, flags)?;
                if let Some(bundle) = bundles.get_mut(&number) {
                    (bundle.is_closed, bundle.used) = (true, now);
                }
            }
            bundle_control::COMMIT => {
                let bundle = bundles.remove(&number).ok_or(BundleFault::BadId.numbers())?;
                if bundle.flags != flags {
                    return Err(BundleFault::BadFlags.numbers());
                }
                self.commit(now, from, &bundle.messages)?;
            }
            bundle_control::DISCARD => {
                bundles.remove(&number).ok_or(BundleFault::BadId.numbers())?;
            }
            _ => return Err(BundleFault::BadType.numbers()),
        }
        Ok(())
    }

    /// Adds a message to a bundle, which begins with its first message if the controller has not opened it.
    fn add_to_bundle(&mut self, said: &Said<'_>, add: &BundleAdd) -> Result<(), Code> {
        let bundles = self.agent.bundles(said.from)?;
        if bundles.contains_key(&add.bundle) {
            open(bundles, add.bundle, add.flags)?;
        }
        let held = &add.message.0;
        let bad_len = BundleFault::MessageBadLen.numbers();
        let message = &held[..message_len(held).ok_or(bad_len)?];
        if message[LEN] < (HEADER_LEN as u16).to_be_bytes()[..] {
            return Err(bad_len);
        }
        if message[XID] != said.xid.to_be_bytes() {
            return Err(BundleFault::MessageBadXid.numbers());
        }
        let parsed = Message::parse(message).map_err(|malformed| malformed.answer)?;
        if !is_taken(&parsed.body) {
            return Err(BundleFault::MessageUnsupported.numbers());
        }
        let takes = message.len() + KEPT;
        if bundles.values().map(|bundle| bundle.bytes).sum::<usize>() + takes > BYTES_MAX {
            return Err(BundleFault::TooManyMessages.numbers());
        }
        if !bundles.contains_key(&add.bundle) {
            begin(bundles, add.bundle, add.flags, said)?;
        }
        if let Some(bundle) = bundles.get_mut(&add.bundle) {
            bundle.bytes += takes;
            bundle.used = said.now;
            bundle.messages.push(message.to_vec());
        }
        Ok(())
    }

    /// Does messages one after the other, or none of them: the error of the first that fails is told, too.
    fn commit(&mut self, now: Time, from: u32, messages: &[Vec<u8>]) -> Result<(), Code> {
        let before = self.before();
        for message in messages {
            let done = match Message::parse(message) {
                Ok(parsed) => self.handle_1_3(now, from, parsed),
                Err(malformed) => Err(malformed.answer),
            };
            if let Err(code) = done {
                self.undo(before);
                self.agent.refuse(from, message, code);
                return Err(BundleFault::MessageFailed.numbers());
            }
        }
        Ok(())
    }

    fn before(&mut self) -> Before {
        let connections = self.agent.connections.iter();
        Before {
            datapath: self.datapath.clone(),
            ports: self.ports.clone(),
            buffers: self.agent.buffers.clone(),
            drops: self.drops.clone(),
            left_out: self.agent.left_out,
            outputs: self.outputs.len(),
            sent: connections.map(|(id, connection)| (*id, connection.channel.output_len())).collect(),
        }
    }

    fn undo(&mut self, before: Before) {
        let Before { datapath, ports, buffers, drops, left_out, outputs, sent } = before;
        (self.datapath, self.ports, self.drops) = (datapath, ports, drops);
        (self.agent.buffers, self.agent.left_out) = (buffers, left_out);
        self.outputs.truncate(outputs);
        for (id, len) in sent {
            if let Some(connection) = self.agent.connections.get_mut(&id) {
                connection.channel.output().truncate(len);
            }
        }
    }
}
