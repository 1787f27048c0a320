//! Packets that wait for a controller to say what becomes of them.

use base::Frame;
use wire::openflow::NO_BUFFER;

/// Packets by identifiers that rise; a new one takes the place of the oldest.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    slots: Vec<(u32, Option<(u32, Frame)>)>,
    next: u32,
    size: u32,
}

/// Why there is no packet with an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPacket {
    /// It was used before.
    Empty,
    /// There is no such identifier, or it was long ago.
    Unknown,
}

impl Buffers {
    pub(super) fn new(size: u32) -> Buffers {
        Buffers { slots: Vec::new(), next: 0, size }
    }

    /// Keeps a packet with its port of ingress; nothing if there is no room for any.
    pub(super) fn put(&mut self, in_port: u32, frame: Frame) -> Option<u32> {
        if self.size == 0 {
            return None;
        }
        let id = self.next;
        self.next = if id + 1 == NO_BUFFER { 0 } else { id + 1 };
        let slot = (id % self.size) as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, (NO_BUFFER, None));
        }
        self.slots[slot] = (id, Some((in_port, frame)));
        Some(id)
    }

    /// Takes a packet out.
    pub(super) fn take(&mut self, id: u32) -> Result<(u32, Frame), NoPacket> {
        let slot = id.checked_rem(self.size).map(|slot| slot as usize);
        match slot.and_then(|slot| self.slots.get_mut(slot)) {
            Some((own, packet)) if *own == id => packet.take().ok_or(NoPacket::Empty),
            _ => Err(NoPacket::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_used_once_and_the_oldest_make_room() {
        let mut buffers = Buffers::new(2);
        let frame = || Frame::from_bytes(&[1; 60]);
        let ids: Vec<_> = (0..3).map(|port| buffers.put(port, frame())).collect();
        assert_eq!(ids, [Some(0), Some(1), Some(2)]);
        assert_eq!(buffers.take(0), Err(NoPacket::Unknown));
        assert_eq!(buffers.take(2), Ok((2, frame())));
        assert_eq!(buffers.take(2), Err(NoPacket::Empty));
        assert_eq!(buffers.take(77), Err(NoPacket::Unknown));
        assert_eq!(Buffers::new(0).put(1, frame()), None);
    }
}
