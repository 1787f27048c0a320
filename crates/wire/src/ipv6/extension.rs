//! Extension headers (RFC 8200, 4): walked one by one, and what they lead to.
//!
//! A walk ends at the first header that is no extension header, at an encapsulating security payload, whose inside
//! nobody else can read, and behind a fragment header with an offset, since what follows is the middle of something.

use super::fragment::Fragment;
use super::{LAYER, Protocol};
use crate::error::{Error, Reason};

/// Numbers of extension headers (RFC 8200, 4.1).
impl Protocol {
    /// Options that every node on the way may look at, 0 (RFC 8200, 4.3).
    pub const HOP_BY_HOP: Protocol = Protocol(0);
    /// Nodes that the packet has to visit, 43 (RFC 8200, 4.4).
    pub const ROUTING: Protocol = Protocol(43);
    /// A fragment of a larger packet, 44 (RFC 8200, 4.5).
    pub const FRAGMENT: Protocol = Protocol(44);
    /// Encapsulating security payload, 50 (RFC 8200, 4).
    pub const ESP: Protocol = Protocol(50);
    /// Authentication header, 51 (RFC 8200, 4).
    pub const AUTHENTICATION: Protocol = Protocol(51);
    /// ICMPv6, 58 (RFC 4443).
    pub const ICMPV6: Protocol = Protocol(58);
    /// Nothing follows, 59 (RFC 8200, 4.7).
    pub const NO_NEXT_HEADER: Protocol = Protocol(59);
    /// Options for the destination, 60 (RFC 8200, 4.6).
    pub const DESTINATION_OPTIONS: Protocol = Protocol(60);

    /// Is it an extension header that can be walked over?
    pub const fn is_extension(self) -> bool {
        matches!(
            self,
            Protocol::HOP_BY_HOP
                | Protocol::ROUTING
                | Protocol::FRAGMENT
                | Protocol::AUTHENTICATION
                | Protocol::DESTINATION_OPTIONS
        )
    }
}

/// Least bytes of an extension header, and the unit of their lengths.
pub const UNIT: usize = 8;
/// The option type of Router Alert (RFC 2711, 2.1), the two bits for what is not known included.
pub const ROUTER_ALERT: u8 = 5;
/// The value of Router Alert in what tests LSPs (RFC 7506, 3).
pub const ALERT_MPLS_OAM: u16 = 69;
const PAD1: u8 = 0;
const PADN: u8 = 1;

/// A header of options for every node on the way with Router Alert alone (RFC 2711, 2.1): who has the `value` in hand
/// is to look at the packet.
pub const fn router_alert(next: Protocol, value: u16) -> [u8; UNIT] {
    let [high, low] = value.to_be_bytes();
    [next.0, 0, ROUTER_ALERT, 2, high, low, PADN, 0]
}

/// An extension header, its contents untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Which header it is.
    pub kind: Protocol,
    /// Where it begins, in bytes behind the IPv6 header.
    pub offset: usize,
    /// All its bytes: the number of the next header comes first.
    pub bytes: &'a [u8],
}

impl<'a> Header<'a> {
    /// What follows it.
    pub fn next_header(&self) -> Protocol {
        Protocol(self.bytes.first().copied().unwrap_or(Protocol::NO_NEXT_HEADER.0))
    }

    /// The options of a hop-by-hop or destination options header; nothing if it is another one.
    pub fn options(&self) -> Options<'a> {
        let holds_options = matches!(self.kind, Protocol::HOP_BY_HOP | Protocol::DESTINATION_OPTIONS);
        Options { bytes: if holds_options { self.bytes.get(2..).unwrap_or_default() } else { &[] }, at: 0 }
    }

    /// The fragment header, if it is one.
    pub fn fragment(&self) -> Option<Fragment> {
        let bytes = self.bytes.first_chunk().filter(|_| self.kind == Protocol::FRAGMENT);
        bytes.map(Fragment::parse)
    }
}

/// The extension headers of a packet in order; ends behind an error.
#[derive(Clone, Debug)]
pub struct Headers<'a> {
    bytes: &'a [u8],
    next: Protocol,
    at: usize,
    ended: bool,
}

impl<'a> Headers<'a> {
    /// The headers in `payload`, what follows the IPv6 header, whose next header is `next`.
    pub const fn new(next: Protocol, payload: &'a [u8]) -> Headers<'a> {
        Headers { bytes: payload, next, at: 0, ended: false }
    }
    /// What follows the headers that were read.
    pub const fn next_header(&self) -> Protocol {
        self.next
    }
    /// Bytes of the headers that were read.
    pub const fn offset(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Result<Header<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || !self.next.is_extension() {
            return None;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = match (self.next, rest) {
            (Protocol::FRAGMENT, _) | (_, [] | [_]) => UNIT,
            // The one header that counts words of four bytes, less two.
            (Protocol::AUTHENTICATION, [_, words, ..]) => (usize::from(*words) + 2) * 4,
            (_, [_, units, ..]) => (usize::from(*units) + 1) * UNIT,
        };
        let Some(bytes) = rest.get(..len) else {
            self.ended = true;
            return Some(Err(Error::truncated(LAYER, len, rest.len()).at(super::HEADER_LEN + self.at)));
        };
        let header = Header { kind: self.next, offset: self.at, bytes };
        self.next = header.next_header();
        self.at += len;
        self.ended = header.fragment().is_some_and(|fragment| fragment.offset != 0);
        Some(Ok(header))
    }
}

/// What the extension headers of a packet lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upper {
    /// The first header that is no extension header.
    pub protocol: Protocol,
    /// Where it begins, in bytes behind the IPv6 header.
    pub offset: usize,
    /// The fragment header, if there is one.
    pub fragment: Option<Fragment>,
    /// Is there a Router Alert option among the hop-by-hop options (RFC 2711)?
    pub router_alert: bool,
}

/// Walks over the extension headers in `payload`, what follows an IPv6 header whose next header is `next`.
pub fn upper(next: Protocol, payload: &[u8]) -> Result<Upper, Error> {
    let mut headers = Headers::new(next, payload);
    let (mut fragment, mut router_alert) = (None, false);
    for header in headers.by_ref() {
        let header = header?;
        fragment = fragment.or(header.fragment());
        for option in header.options() {
            let (_, option) = option.map_err(|error| error.at(super::HEADER_LEN + header.offset + 2))?;
            router_alert |= header.kind == Protocol::HOP_BY_HOP && option.kind == ROUTER_ALERT;
        }
    }
    Ok(Upper { protocol: headers.next_header(), offset: headers.offset(), fragment, router_alert })
}

/// An option of a hop-by-hop or destination options header (RFC 8200, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderOption<'a> {
    /// The type; zero is one byte of padding, which has no length and no data.
    pub kind: u8,
    /// What follows type and length.
    pub data: &'a [u8],
}

/// What a node does that does not know an option: the upper two bits of its type (RFC 8200, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Go on as if it were not there.
    Skip,
    /// Discard the packet.
    Discard,
    /// Discard the packet, and send a parameter problem with code 2 to its source.
    Report,
    /// As that, but not if the packet was for a group.
    ReportUnlessGroup,
}

impl HeaderOption<'_> {
    /// What a node does that does not know it.
    pub const fn unknown(&self) -> Unknown {
        match self.kind >> 6 {
            0 => Unknown::Skip,
            1 => Unknown::Discard,
            2 => Unknown::Report,
            _ => Unknown::ReportUnlessGroup,
        }
    }
    /// Is it padding (RFC 8200, 4.2)?
    pub const fn is_padding(&self) -> bool {
        matches!(self.kind, 0 | 1)
    }
}

/// Reads options one by one, each with its offset among them; ends behind an error.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<(usize, HeaderOption<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, rest) = (self.at, self.bytes.get(self.at..)?);
        let &kind = rest.first()?;
        if kind == PAD1 {
            self.at += 1;
            return Some(Ok((start, HeaderOption { kind, data: &[] })));
        }
        let len = rest.get(1).map_or(0, |len| usize::from(*len));
        let Some(data) = rest.get(2..2 + len) else {
            self.at = self.bytes.len();
            let (found, max) = (len as u64, rest.len().saturating_sub(2) as u64);
            let reason = Reason::OutOfRange { field: "option length", found, min: 0, max };
            return Some(Err(Error::new(LAYER, start + 1, reason)));
        };
        self.at += 2 + len;
        Some(Ok((start, HeaderOption { kind, data })))
    }
}
