//! How many bytes a packet counts for: published results depend on it.

use base::Frame;
use base::frame::FCS_LEN;
use serde::{Deserialize, Serialize};

const ETHERNET: u32 = 14;
const LABEL: u32 = 4;
const PREAMBLE_AND_GAP: u32 = 20;

/// Which bytes of a packet count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Those of the IP packet, without labels.
    Ip,
    /// Those behind the Ethernet header: labels and IP packet.
    Network,
    /// Ethernet header, labels and IP packet, without frame check sequence and padding: what Linux counts on an Ethernet interface.
    #[default]
    Link,
    /// The Ethernet frame with its padding and frame check sequence.
    Frame,
    /// The frame with preamble, start delimiter and gap: the time that it takes on the wire.
    Wire,
}

/// How many bytes a packet counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Accounting {
    /// Which of its bytes.
    pub layer: Layer,
    /// Bytes added to each packet (tc-stab's `overhead`); may be negative.
    pub overhead: i32,
    /// The least that a packet counts for (tc-stab's `mpu`).
    pub minimum: u32,
}

impl Accounting {
    /// What the frame counts for. Of a frame that is still to be cut, what all its pieces do.
    #[inline]
    pub fn bytes(&self, frame: &Frame) -> u32 {
        if frame.offload().is_some() {
            return self.of_pieces(frame);
        }
        self.adjusted(self.layer_bytes(frame, frame.len()))
    }

    /// What one of them counts for whose frame has `len` bytes without frame check sequence.
    #[inline]
    fn layer_bytes(&self, frame: &Frame, len: u32) -> u32 {
        match self.layer {
            Layer::Link => len,
            Layer::Network => len.saturating_sub(ETHERNET),
            Layer::Ip => len.saturating_sub(ETHERNET + LABEL * labels(frame.header())),
            Layer::Frame => (len + FCS_LEN).max(base::frame::MIN_FRAME_LEN),
            Layer::Wire => (len + FCS_LEN).max(base::frame::MIN_FRAME_LEN) + PREAMBLE_AND_GAP,
        }
    }

    #[inline]
    fn adjusted(&self, bytes: u32) -> u32 {
        bytes.saturating_add_signed(self.overhead).max(self.minimum).max(1)
    }

    #[cold]
    fn of_pieces(&self, frame: &Frame) -> u32 {
        let (whole, longest) = (frame.len(), frame.segment_len());
        let Some(offload) = frame.offload() else { return self.adjusted(self.layer_bytes(frame, whole)) };
        let header = u32::from(offload.header_len).min(whole);
        let size = longest - header.min(longest);
        if longest >= whole || size == 0 {
            return self.adjusted(self.layer_bytes(frame, whole));
        }
        let payload = whole - header;
        let one = |len| self.adjusted(self.layer_bytes(frame, len));
        let rest = payload % size;
        let last = if rest > 0 { one(header + rest) } else { 0 };
        (payload / size).saturating_mul(one(longest)).saturating_add(last)
    }
}

fn labels(header: &[u8]) -> u32 {
    crate::packet::labels_in(header) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Body;

    #[test]
    fn layers_differ_by_their_headers() {
        let mut header = vec![0; 12];
        header.extend([0x88, 0x47, 0, 1, 0, 9, 0, 1, 1, 9]);
        header.extend([0x45; 20]);
        let frame = Frame::new(&header, Body::Pattern { start: 0, len: 980 });
        let of = |layer| Accounting { layer, ..Accounting::default() }.bytes(&frame);
        assert_eq!(
            [of(Layer::Ip), of(Layer::Network), of(Layer::Link), of(Layer::Frame), of(Layer::Wire)],
            [1000, 1008, 1022, 1026, 1046]
        );
        let odd = Accounting { layer: Layer::Ip, overhead: -2000, minimum: 96 };
        assert_eq!(odd.bytes(&frame), 96);
    }
}
