//! What tables and tests look at.

use super::{Awake, ControlPlane, Speaker};
use crate::messages::MessageBin;
use crate::owner::Owner;
use crate::protocol::Protocol;
use crate::services::Services;
use crate::services::te::Engineering;
use base::{ProtocolId, Time};
use core::any::Any;

impl ControlPlane {
    /// What all protocols share, to be looked at.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// What the node knows of traffic engineering, to be asked for paths: a search uses memory that is kept for the
    /// next.
    pub fn engineering(&mut self) -> &mut Engineering {
        &mut self.services.engineering
    }

    /// What keeps protocols from their work now, in words.
    pub fn complaints(&self, now: Time) -> impl Iterator<Item = (ProtocolId, String)> {
        self.speakers.iter().flat_map(move |speaker| {
            let said = speaker.protocol.complaints(now).into_iter();
            said.map(|one| (speaker.protocol.id(), one))
        })
    }

    /// The name of a protocol.
    pub fn name_of(&self, owner: Owner) -> Option<ProtocolId> {
        self.speakers.get(usize::from(owner.0)).map(|speaker| speaker.protocol.id())
    }

    /// A protocol by its name, to be looked at; nothing if this node does not speak it.
    pub fn speaker(&self, id: ProtocolId) -> Option<&dyn Protocol> {
        let mut all = self.speakers.iter().map(|speaker| &*speaker.protocol);
        all.find(|protocol| protocol.id() == id)
    }

    /// The protocol of a type, to be looked at; nothing if this node does not speak it.
    pub fn protocol<P: Protocol>(&self) -> Option<&P> {
        self.speakers.iter().find_map(|speaker| (&*speaker.protocol as &dyn Any).downcast_ref())
    }

    /// The protocol of a type, to change what it keeps for tables.
    pub fn protocol_mut<P: Protocol>(&mut self) -> Option<&mut P> {
        self.quiet = false;
        self.awake = Awake::ALL;
        let any = |speaker| -> &mut dyn Any { &mut *Speaker::protocol_mut(speaker) };
        self.speakers.iter_mut().find_map(|speaker| any(speaker).downcast_mut())
    }

    /// Messages over time, those of one protocol after those of another: each with the name of its kind.
    pub fn messages(&self) -> impl Iterator<Item = (MessageBin, &'static str)> {
        self.speakers.iter().flat_map(|speaker| {
            speaker.messages.iter().map(|bin| (bin, speaker.protocol.kind_name(bin.kind)))
        })
    }

    /// Forgets the counts of messages from before a time.
    pub fn forget_messages(&mut self, before: Time) {
        self.speakers.iter_mut().for_each(|speaker| speaker.messages.forget_before(before));
    }

    /// The control processor, to be looked at: the most messages that ever waited, and the seconds that it was busy.
    pub fn processor_load(&self) -> (usize, f64) {
        (self.processor.peak(), self.processor.busy().as_secs_f64())
    }

    /// How many states the protocols hold, all together.
    pub fn state_count(&self) -> usize {
        self.speakers.iter().map(|speaker| speaker.protocol.state_count()).sum()
    }

    /// Messages that wait for the control processor.
    pub fn waiting(&self) -> usize {
        self.processor.waiting()
    }
}
