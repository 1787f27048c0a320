//! How many bytes a packet counts for: published results depend on it.

use base::Frame;
use base::frame::Framing;

const ETHERNET: u32 = 14;
const LABEL: u32 = 4;
/// The least overhead, as tc-cake has it.
const OVERHEAD_MIN: i32 = -64;
/// Bytes of the shortest IPv4 header: no packet has fewer.
const SHORTEST: u32 = 20;

base::words! {
    /// Which bytes of a packet count.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Layer {
        /// Those of the IP packet, without labels.
        Ip = "ip",
        /// Those behind the Ethernet header: labels and IP packet.
        Network = "network",
        /// The medium's header (that of Ethernet), labels and IP packet, without frame check sequence and padding: what
        /// Linux counts on an Ethernet interface.
        Link = "link",
        /// The frame of the link's medium, with padding and frame check sequence.
        Frame = "frame",
        /// The frame with what the medium needs between two, on Ethernet preamble, start delimiter and gap: the time
        /// that it takes on the wire.
        Wire = "wire",
    }
    default Link;
}

base::record! {
    /// How many bytes a packet counts for; published results depend on it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Accounting {
        /// Which of its bytes.
        pub layer: Layer = Layer::Link;
        /// Bytes added to each packet (tc-stab's `overhead`); no headers that one would not count are longer than 64.
        pub overhead: i32 = 0, in -64..=65_535;
        /// The least that a packet counts for (tc-stab's `mpu`).
        pub minimum: u32 = 0, in 0..=65_535;
    }
}

impl Accounting {
    /// What a packet of IP with `len` bytes counts for behind so many labels, on a medium.
    pub fn of_packet(&self, len: u32, labels: u32, framing: &Framing) -> u32 {
        self.adjusted(self.packet_bytes(len, labels, framing))
    }

    fn packet_bytes(&self, len: u32, labels: u32, framing: &Framing) -> u32 {
        if self.layer == Layer::Ip {
            return len;
        }
        let packet = len.saturating_add(LABEL.saturating_mul(labels));
        let frame = packet.saturating_add(ETHERNET).saturating_add_signed(framing.typed);
        match self.layer {
            Layer::Ip | Layer::Network => packet,
            Layer::Link => frame,
            Layer::Frame => framing.framed_len(frame),
            Layer::Wire => framing.framed_len(frame).saturating_add(framing.gap),
        }
    }

    /// The longest packets of IP that count for one byte only, since `overhead` takes away all that they have; 0 if
    /// there are none.
    pub fn vanishing(&self) -> u32 {
        let gone = |len: &u32| {
            self.packet_bytes(*len, 0, &Framing::ETHERNET).saturating_add_signed(self.overhead) <= 1
        };
        if self.minimum > 1 {
            0
        } else {
            (SHORTEST..=OVERHEAD_MIN.unsigned_abs() + 1).rev().find(gone).unwrap_or(0)
        }
    }

    #[inline]
    fn adjusted(&self, bytes: u32) -> u32 {
        bytes.saturating_add_signed(self.overhead).max(self.minimum).max(1)
    }
}

/// How many bytes a packet counts for at a port whose medium is known.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    accounting: Accounting,
    framing: Framing,
    /// Does a frame count for the bytes that it has inside the node, before anything is added?
    plain: bool,
}

impl Default for Counting {
    fn default() -> Counting {
        Accounting::default().into()
    }
}

impl From<Accounting> for Counting {
    /// The same accounting, of frames with the header of Ethernet.
    fn from(accounting: Accounting) -> Counting {
        let mut counting = Counting { accounting, framing: Framing::ETHERNET, plain: false };
        counting.set_framing(Framing::ETHERNET);
        counting
    }
}

impl Counting {
    /// Counts as the packets are on this medium.
    pub fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
        self.plain = self.accounting.layer == Layer::Link && framing.typed == 0 && framing.llc == 0;
    }

    /// What the frame counts for. Of a frame that is still to be cut, what all its pieces do.
    #[inline]
    pub fn bytes(&self, frame: &Frame) -> u32 {
        if frame.offload().is_some() {
            return self.of_pieces(frame);
        }
        let len = frame.len();
        self.accounting.adjusted(if self.plain { len } else { self.layer_bytes(frame, len) })
    }

    /// What one of them counts for whose frame has `len` bytes inside the node.
    fn layer_bytes(&self, frame: &Frame, len: u32) -> u32 {
        let framing = &self.framing;
        match self.accounting.layer {
            Layer::Link => len.saturating_add_signed(framing.added(frame.header())),
            Layer::Network => len.saturating_sub(ETHERNET),
            Layer::Ip => len.saturating_sub(ETHERNET + LABEL * labels(frame.header())),
            Layer::Frame => framing.len(frame.header(), len),
            Layer::Wire => framing.len(frame.header(), len) + framing.gap,
        }
    }

    #[cold]
    fn of_pieces(&self, frame: &Frame) -> u32 {
        let (whole, longest) = (frame.len(), frame.segment_len());
        let Some(offload) = frame.offload() else {
            return self.accounting.adjusted(self.layer_bytes(frame, whole));
        };
        let header = u32::from(offload.header_len).min(whole);
        let size = longest - header.min(longest);
        if longest >= whole || size == 0 {
            return self.accounting.adjusted(self.layer_bytes(frame, whole));
        }
        let payload = whole - header;
        let one = |len| self.accounting.adjusted(self.layer_bytes(frame, len));
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
    use base::describe::Describe;

    #[test]
    fn packets_count_as_their_frames_do() {
        for layer in [Layer::Ip, Layer::Network, Layer::Link, Layer::Frame, Layer::Wire] {
            for (overhead, minimum) in [(0, 0), (-14, 0), (24, 200)] {
                let accounting = Accounting { layer, overhead, minimum };
                for (len, labels) in [(20, 0), (40, 1), (1500, 0), (1500, 3), (9216, 2)] {
                    let mut header = vec![0; 12];
                    header.extend(if labels > 0 { [0x88, 0x47] } else { [8, 0] });
                    for label in 1..=labels {
                        header.extend([0, 1, u8::from(label == labels), 9]);
                    }
                    header.extend([0x45; 20]);
                    let frame = Frame::new(&header, Body::Pattern { start: 0, len: len - 20 });
                    let hdlc = Framing { typed: -10, llc: -10, trailer: 2, least: 6, most: 9000, gap: 1 };
                    for framing in [Framing::ETHERNET, Framing { typed: 8, ..Framing::ETHERNET }, hdlc] {
                        let mut counting = Counting::from(accounting);
                        counting.set_framing(framing);
                        assert_eq!(
                            accounting.of_packet(len, labels, &framing),
                            counting.bytes(&frame),
                            "{counting:?} {len} {labels}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn packets_that_would_count_for_nothing_are_known() {
        let of = |layer, overhead, minimum| Accounting { layer, overhead, minimum };
        assert_eq!(of(Layer::Ip, -40, 0).vanishing(), 41);
        assert_eq!(of(Layer::Link, -40, 0).vanishing(), 27);
        assert_eq!(of(Layer::Ip, -40, 64).vanishing(), 0);
        assert_eq!(of(Layer::Frame, -62, 0).vanishing(), 0);
        let read = |json| Accounting::read(&serde_json::from_str(json).expect("well formed"));
        assert_eq!(read(r#"{"overhead": -64}"#).map(|accounting| accounting.overhead).ok(), Some(-64));
        let error = read(r#"{"overhead": -65}"#).expect_err("too little").to_string();
        assert_eq!(error, "overhead: -65: it should be -64 to 65535");
    }

    #[test]
    fn layers_differ_by_their_headers() {
        let mut header = vec![0; 12];
        header.extend([0x88, 0x47, 0, 1, 0, 9, 0, 1, 1, 9]);
        header.extend([0x45; 20]);
        let frame = Frame::new(&header, Body::Pattern { start: 0, len: 980 });
        let of = |layer| Counting::from(Accounting { layer, ..Accounting::default() }).bytes(&frame);
        assert_eq!(
            [of(Layer::Ip), of(Layer::Network), of(Layer::Link), of(Layer::Frame), of(Layer::Wire)],
            [1000, 1008, 1022, 1026, 1046]
        );
        let odd = Counting::from(Accounting { layer: Layer::Ip, overhead: -2000, minimum: 96 });
        assert_eq!(odd.bytes(&frame), 96);
    }
}
