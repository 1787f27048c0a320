//! A packet that was found by taking it, and has not been taken yet.

use super::Packet;

/// Room for the packet that a discipline has found to be the next.
///
/// Disciplines that can't name the next packet without taking it out of its queue (CoDel drops others on the way, a
/// classful one charges a class for it) answer [`super::Discipline::peek`] by taking it and keeping it here. It still
/// counts as waiting until [`super::Discipline::dequeue`] gives it away, and nothing overtakes it.
///
/// ```text
/// peek:     if held.is_empty() { held.put(self.next(cx)) }   held.len()
/// dequeue:  held.take().or_else(|| self.next(cx))            then counters.leave(now, &packet)
/// clear:    held.take() first, then all others
/// ```
#[derive(Debug, Default)]
pub struct Held(Option<Packet>);

impl Held {
    /// Does no packet wait?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Bytes that the packet counts for, if there is one.
    #[inline]
    pub fn len(&self) -> Option<u32> {
        self.0.as_ref().map(|packet| packet.len)
    }

    /// The packet, if there is one.
    pub fn get(&self) -> Option<&Packet> {
        self.0.as_ref()
    }

    /// Keeps a packet. One that was there already would be lost, so ask [`Held::is_empty`] before.
    #[inline]
    pub fn put(&mut self, packet: Option<Packet>) {
        debug_assert!(self.0.is_none(), "a packet is held already");
        self.0 = packet;
    }

    /// The packet, which is not held any more.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        self.0.take()
    }
}
