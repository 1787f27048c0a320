//! What an ICMP error quotes, and the extension structure behind it (RFC 4884), with the MPLS label stack (RFC 4950).

use super::{HEADER_LEN, LAYER, MAX_ERROR_LEN, field};
use crate::error::{Error, Reason};
use crate::{checksum, ipv4, mpls};

/// With extensions the quoted packet takes at least this many bytes, zeros behind it (RFC 4884, 5).
pub const MIN_ORIGINAL_LEN: usize = 128;
/// What the length field can say: 255 words (RFC 4884, 5.1).
const MAX_WORDS: usize = 255;
/// Bytes of the header of an extension structure, and of one of its objects (RFC 4884, 7 and 8).
pub const EXTENSION_HEADER_LEN: usize = 4;
/// The version of extension structures (RFC 4884, 7).
const VERSION: u8 = 2;
/// Class of the MPLS label stack object (RFC 4950, 3).
pub const MPLS_STACK_CLASS: u8 = 1;
/// C-type of the label stack that came in (RFC 4950, 3).
pub const MPLS_STACK_INCOMING: u8 = 1;

/// The packet that caused an error, as far as it is quoted, and extension objects.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |          Original Datagram (with objects: 128 bytes or more)  |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |Version|      (Reserved)       |           Checksum            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |             Length            |   Class-Num   |   C-Type      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                        (Object payload)                       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quote<'a> {
    /// The packet from its IP header on. With objects it is read with its padding, and padded when written.
    pub original: &'a [u8],
    /// The bytes of the extension objects; none means that there is no extension structure.
    pub objects: &'a [u8],
    /// Is the length field zero although objects follow? So it was before RFC 4884: the original datagram has 128
    /// bytes.
    pub without_length: bool,
}

/// How messages of a family say how long the quoted packet is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// The layer that errors name.
    pub(crate) layer: &'static str,
    /// Bytes of a word in which the length field counts.
    pub(crate) word: usize,
    /// Where the length field is in the message.
    pub(crate) field: usize,
}

/// ICMP for IPv4: words of 32 bits in the second byte behind the checksum (RFC 4884, 4).
pub(super) const FORM: Form = Form { layer: LAYER, word: 4, field: field::LENGTH };

/// An extension object, its contents untouched (RFC 4884).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Object<'a> {
    /// Class-Num, such as 1 for the label stack of RFC 4950.
    pub class: u8,
    /// The type within the class.
    pub c_type: u8,
    /// What follows the object's header.
    pub data: &'a [u8],
}

impl<'a> Quote<'a> {
    /// A quote of `datagram`, cut so that the error, `objects` included, fits in 576 bytes (RFC 1812, 4.3.2.3).
    pub fn of(datagram: &'a [u8], objects: &'a [u8]) -> Quote<'a> {
        let structure = if objects.is_empty() { 0 } else { EXTENSION_HEADER_LEN + objects.len() };
        let room = (MAX_ERROR_LEN - ipv4::MIN_HEADER_LEN - HEADER_LEN).saturating_sub(structure);
        // RFC 4884, 5: whole words only; a quote that is cut short to the word needs no padding.
        Quote { original: &datagram[..datagram.len().min(room & !3)], objects, without_length: false }
    }

    /// Reads what follows the header of an error whose length field is `words`.
    pub(crate) fn parse(form: Form, words: u8, data: &'a [u8]) -> Result<Quote<'a>, Error> {
        if words == 0 {
            return Ok(Quote { original: data, ..Quote::default() });
        }
        // RFC 4884, 5: the original datagram has at least 128 bytes; a structure with an object follows.
        let (original_len, max) =
            (usize::from(words) * form.word, data.len().saturating_sub(2 * EXTENSION_HEADER_LEN));
        if original_len < MIN_ORIGINAL_LEN || original_len > max {
            let least = (MIN_ORIGINAL_LEN / form.word) as u64;
            let (found, min, max) = (u64::from(words), least, (max / form.word) as u64);
            let reason = Reason::OutOfRange { field: "length", found, min, max };
            return Err(Error::new(form.layer, form.field, reason));
        }
        Quote::split(form, original_len, data)
    }

    /// Reads what follows the header of an error whose length field is zero: the packet, and behind 128 bytes of it the
    /// extension structure of a sender that knows nothing of the length field (RFC 4884), if there is a whole one
    /// with a checksum that is right.
    pub(crate) fn parse_without_length(form: Form, data: &'a [u8]) -> Quote<'a> {
        let plain = Quote { original: data, ..Quote::default() };
        let has_checksum = matches!(data.get(MIN_ORIGINAL_LEN..), Some([_, _, high, low, _, _, _, _, ..])
            if [*high, *low] != [0, 0]);
        if !has_checksum {
            return plain;
        }
        match Quote::split(form, MIN_ORIGINAL_LEN, data) {
            Ok(quote) => Quote { without_length: true, ..quote },
            Err(_) => plain,
        }
    }

    /// A packet of `original_len` bytes and the extension structure behind it.
    fn split(form: Form, original_len: usize, data: &'a [u8]) -> Result<Quote<'a>, Error> {
        let (original, structure) = data.split_at(original_len);
        let at = HEADER_LEN + original_len;
        let (header, objects) = structure.split_at(EXTENSION_HEADER_LEN);
        if header[0] >> 4 != VERSION {
            let (found, expected) = (u64::from(header[0] >> 4), u64::from(VERSION));
            let reason = Reason::Unexpected { field: "extension version", found, expected };
            return Err(Error::new(form.layer, at, reason));
        }
        // RFC 4884, 7: a checksum of zero says that there is none.
        let found = u16::from_be_bytes([header[2], header[3]]);
        if found != 0 && checksum::sum(structure) != 0xffff {
            let computed = structure_checksum(&header[..2], objects);
            return Err(Error::new(form.layer, at + 2, Reason::Checksum { found, computed }));
        }
        for object in Objects::new(objects) {
            object.map_err(|e| Error { layer: form.layer, ..e.at(at + EXTENSION_HEADER_LEN) })?;
        }
        Ok(Quote { original, objects, without_length: false })
    }

    /// The extension objects in order.
    pub fn iter(&self) -> impl Iterator<Item = Object<'a>> + use<'a> {
        Objects::new(self.objects).map_while(Result::ok)
    }

    /// The label stack that the packet came in with, if the error says (RFC 4950).
    pub fn mpls_stack(&self) -> Option<mpls::Stack<'a>> {
        self.iter()
            .find(|o| (o.class, o.c_type) == (MPLS_STACK_CLASS, MPLS_STACK_INCOMING))
            .map(|o| mpls::Stack::new(o.data))
    }

    /// Bytes that the original datagram takes.
    fn original_len(&self, word: usize) -> usize {
        if self.objects.is_empty() {
            return self.original.len();
        }
        if self.without_length {
            return MIN_ORIGINAL_LEN;
        }
        self.original.len().next_multiple_of(word).clamp(MIN_ORIGINAL_LEN, MAX_WORDS * word)
    }

    /// Bytes of the quote with padding and extension structure, in an ICMP message for IPv4.
    pub fn buffer_len(&self) -> usize {
        self.len_in(FORM)
    }

    /// Bytes of the quote with padding and extension structure.
    pub(crate) fn len_in(&self, form: Form) -> usize {
        let structure = if self.objects.is_empty() { 0 } else { EXTENSION_HEADER_LEN + self.objects.len() };
        self.original_len(form.word) + structure
    }

    /// Writes the quote to all of `buffer`; returns the length field.
    pub(crate) fn emit(&self, form: Form, buffer: &mut [u8]) -> u8 {
        let original_len = self.original_len(form.word);
        let (original, structure) = buffer.split_at_mut(original_len);
        let quoted = self.original.len().min(original_len);
        original[..quoted].copy_from_slice(&self.original[..quoted]);
        original[quoted..].fill(0);
        if structure.is_empty() {
            return 0;
        }
        let (header, objects) = structure.split_at_mut(EXTENSION_HEADER_LEN);
        objects.copy_from_slice(self.objects);
        header[..2].copy_from_slice(&[VERSION << 4, 0]);
        let value = structure_checksum(&header[..2], objects);
        header[2..].copy_from_slice(&value.to_be_bytes());
        if self.without_length { 0 } else { (original_len / form.word) as u8 }
    }
}

fn structure_checksum(version: &[u8], objects: &[u8]) -> u16 {
    !checksum::combine(&[checksum::sum(version), checksum::sum(objects)])
}

impl Object<'_> {
    /// Appends the object to `objects`. Its data is cut to what the length field can say.
    pub fn append_to(&self, objects: &mut Vec<u8>) {
        let data = &self.data[..self.data.len().min(usize::from(u16::MAX) - EXTENSION_HEADER_LEN)];
        objects.extend(((data.len() + EXTENSION_HEADER_LEN) as u16).to_be_bytes());
        objects.extend([self.class, self.c_type]);
        objects.extend(data);
    }
}

/// The MPLS label stack object for a packet that came in with the label stack `stack`, in wire format (RFC 4950, 3).
pub fn mpls_stack_object(stack: &[u8]) -> Vec<u8> {
    let mut objects = Vec::with_capacity(EXTENSION_HEADER_LEN + stack.len());
    Object { class: MPLS_STACK_CLASS, c_type: MPLS_STACK_INCOMING, data: stack }.append_to(&mut objects);
    objects
}

/// Reads objects one by one; ends behind an error.
struct Objects<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Objects<'a> {
    const fn new(bytes: &'a [u8]) -> Objects<'a> {
        Objects { bytes, at: 0 }
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Result<Object<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (at, rest) = (self.at, self.bytes.get(self.at..)?);
        if rest.is_empty() {
            return None;
        }
        self.at = self.bytes.len();
        let Some(&[high, low, class, c_type]) = rest.first_chunk() else {
            return Some(Err(Error::truncated(LAYER, EXTENSION_HEADER_LEN, rest.len()).at(at)));
        };
        let len = usize::from(u16::from_be_bytes([high, low]));
        let Some(data) = rest.get(EXTENSION_HEADER_LEN..len) else {
            let (found, max) = (len as u64, rest.len() as u64);
            let reason = Reason::OutOfRange { field: "object length", found, min: 4, max };
            return Some(Err(Error::new(LAYER, at, reason)));
        };
        self.at = at + len;
        Some(Ok(Object { class, c_type, data }))
    }
}
