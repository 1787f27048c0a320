//! The labels of a destination (RFC 8277, 2.2 and 2.3).

use base::Label;
use base::plane::LabelStack;
use core::fmt;

/// Bytes of a label in front of a prefix: label, three bits that say nothing, and the S bit.
const LEN: usize = 3;
/// The S bit, in the last byte of a label: the prefix is behind it.
const S: u8 = 1;
/// What stands for a label in what is withdrawn (RFC 8277, 2.4).
const WITHDRAWN: [u8; LEN] = [0x80, 0, 0];

/// The labels that packets to a destination are to have, the outermost first: as many as one entry can push. There are
/// none where the family has none, and in what is withdrawn.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels {
    /// As they are on the wire, without S bits.
    octets: [[u8; LEN]; LabelStack::MAX],
    len: u8,
}

impl Labels {
    /// The most that there can be.
    pub const MAX: usize = LabelStack::MAX;
    /// No label.
    pub const NONE: Labels = Labels { octets: [[0; LEN]; Labels::MAX], len: 0 };

    /// A label alone.
    pub const fn one(label: Label) -> Labels {
        let [_, a, b, c] = (label.value() << 4).to_be_bytes();
        let mut labels = Labels::NONE;
        labels.octets[0] = [a, b, c];
        labels.len = 1;
        labels
    }

    /// Labels, the outermost first; nothing if there are more than [`Labels::MAX`].
    pub fn new(all: &[Label]) -> Option<Labels> {
        let mut labels = Labels::NONE;
        for (to, label) in labels.octets.get_mut(..all.len())?.iter_mut().zip(all) {
            let [_, a, b, c] = (label.value() << 4).to_be_bytes();
            *to = [a, b, c];
        }
        labels.len = all.len() as u8;
        Some(labels)
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Is there none?
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The labels, the outermost first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Label> + '_ {
        let used = self.octets.iter().take(self.len());
        used.map(|&[a, b, c]| Label::truncate(u32::from_be_bytes([0, a, b, c]) >> 4))
    }

    /// The outermost label.
    pub fn first(&self) -> Option<Label> {
        self.iter().next()
    }

    /// Splits off what is in front of a prefix, and says how many labels that are: those behind the first
    /// [`Labels::MAX`] are left out. Nothing if the last one does not end there.
    pub(super) fn read(mut left: &[u8], takes_several: bool) -> Option<(Labels, usize, &[u8])> {
        let (mut labels, mut count) = (Labels::NONE, 0);
        loop {
            let (&[a, b, c], rest) = left.split_first_chunk::<LEN>()?;
            if let Some(to) = labels.octets.get_mut(count) {
                *to = [a, b, c & 0xf0];
                labels.len += 1;
            }
            (left, count) = (rest, count + 1);
            // RFC 8277, 2.2: the S bit of a single label says nothing; 2.3: that of the last of several is set.
            if !takes_several || c & S != 0 {
                return Some((labels, count, left));
            }
        }
    }

    /// Writes them behind what is there.
    pub(super) fn emit(&self, to: &mut Vec<u8>) {
        match self.octets.get(..self.len()).and_then(<[_]>::split_last) {
            Some((&[a, b, c], others)) => {
                // RFC 8277, 2.3: the S bit of the last one is set, and that of no other.
                others.iter().for_each(|octets| to.extend(octets));
                to.extend([a, b, c | S]);
            }
            None => to.extend(WITHDRAWN),
        }
    }

    /// Bytes that they have in a message.
    pub(super) const fn buffer_len(&self) -> usize {
        if self.is_empty() { LEN } else { LEN * self.len() }
    }

    /// Bits of so many labels.
    pub(super) const fn bits(count: usize) -> usize {
        8 * LEN * count
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(Label::value)).finish()
    }
}
