//! Routes that come and go (RFC 4271, 4.3), and what becomes of those whose attributes are malformed (RFC 7606).

use super::attributes::attribute::{self, EXTENDED_LENGTH, OPTIONAL, PARTIAL, TRANSITIVE};
use super::attributes::{Aggregator, AsPath, Attributes, Origin, Unknown};
use super::notification::Code;
use super::{Family, HEADER_LEN, Malformed, NextHop, Nlri, Terms};
use crate::error::Error;
use core::net::Ipv4Addr;

/// Destinations that can be reached, of a family that says its own next hop (RFC 4760, 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Which family.
    pub family: Family,
    /// Where packets go.
    pub next_hop: NextHop,
    /// The destinations.
    pub nlri: Vec<Nlri>,
}

/// Destinations that can't be reached any more (RFC 4760, 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreach {
    /// Which family.
    pub family: Family,
    /// The destinations; none says that all routes have been told (RFC 4724, 2).
    pub nlri: Vec<Nlri>,
}

/// What becomes of a message with something malformed in it, the mildest first (RFC 7606, 2). What ends the session is
/// a [`Malformed`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Treatment {
    /// The attribute counts as absent.
    AttributeDiscard,
    /// All routes of the message count as withdrawn.
    TreatAsWithdraw,
}

/// Something malformed in an UPDATE that ends no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The type code of the attribute.
    pub attribute: u8,
    /// What becomes of the message.
    pub treatment: Treatment,
    /// What is wrong, as one clause.
    pub clause: &'static str,
}

/// UPDATE (RFC 4271, 4.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// IPv4 destinations that can't be reached any more.
    pub withdrawn: Vec<Nlri>,
    /// What is said of those that can be reached.
    pub attributes: Attributes,
    /// Destinations of another family that can be reached.
    pub reach: Option<Reach>,
    /// Destinations of another family that can't be reached any more.
    pub unreach: Option<Unreach>,
    /// IPv4 destinations that can be reached.
    pub nlri: Vec<Nlri>,
    /// What was malformed; never written.
    pub faults: Vec<Fault>,
}

/// What is being read.
struct Reader<'a> {
    terms: &'a Terms,
    update: Update,
    /// What the first error that is worth a withdrawal would say if it had to end the session.
    first: Option<(Code, Vec<u8>, Error)>,
    seen: [bool; 256],
    has_reach: bool,
}

/// An attribute as it is on the wire.
struct Found<'a> {
    flags: u8,
    kind: u8,
    value: &'a [u8],
    /// All of it, for a NOTIFICATION.
    whole: &'a [u8],
    /// Where it is in the message.
    at: usize,
}

impl<'a> Found<'a> {
    /// Splits the first one off; nothing if it does not fit (RFC 7606, 4).
    fn split(left: &'a [u8], at: usize) -> Option<(Found<'a>, &'a [u8])> {
        let (&[flags, kind], rest) = left.split_first_chunk::<2>()?;
        let (len, rest) = if flags & EXTENDED_LENGTH == 0 {
            let (len, rest) = rest.split_first()?;
            (usize::from(*len), rest)
        } else {
            let (len, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes(*len)), rest)
        };
        let (value, rest) = rest.split_at_checked(len)?;
        let whole = &left[..left.len() - rest.len()];
        Some((Found { flags, kind, value, whole, at }, rest))
    }

    fn number(&self) -> Option<u32> {
        Some(u32::from_be_bytes(self.value.try_into().ok()?))
    }

    fn address(&self) -> Option<Ipv4Addr> {
        self.number().map(Ipv4Addr::from_bits)
    }

    /// At least one of so many bytes.
    fn list<const N: usize, T>(&self, read: impl Fn(&[u8; N]) -> T) -> Option<Vec<T>> {
        match self.value.as_chunks::<N>() {
            ([], _) => None,
            (all, []) => Some(all.iter().map(read).collect()),
            _ => None,
        }
    }

    fn aggregator(&self, four_octet: bool) -> Option<Aggregator> {
        match (self.value, four_octet) {
            (&[a, b, w, x, y, z], false) => Some(Aggregator {
                asn: u32::from(u16::from_be_bytes([a, b])),
                address: Ipv4Addr::new(w, x, y, z),
            }),
            (&[a, b, c, d, w, x, y, z], true) => {
                Some(Aggregator { asn: u32::from_be_bytes([a, b, c, d]), address: Ipv4Addr::new(w, x, y, z) })
            }
            _ => None,
        }
    }
}

impl Reader<'_> {
    fn discard(&mut self, attribute: u8, clause: &'static str) {
        self.update.faults.push(Fault { attribute, treatment: Treatment::AttributeDiscard, clause });
    }

    fn withdraw(&mut self, found: &Found<'_>, code: Code, clause: &'static str) {
        self.withdraw_at(found.kind, code, found.whole, found.at, clause);
    }

    fn withdraw_at(&mut self, attribute: u8, code: Code, data: &[u8], at: usize, clause: &'static str) {
        self.update.faults.push(Fault { attribute, treatment: Treatment::TreatAsWithdraw, clause });
        let error = Error::invalid(super::LAYER, at, clause);
        self.first.get_or_insert_with(|| (code, data.to_vec(), error));
    }

    /// A value that is read, or a fault that is worth a withdrawal.
    fn value<T>(
        &mut self,
        found: &Found<'_>,
        value: Option<T>,
        code: Code,
        clause: &'static str,
    ) -> Option<T> {
        if value.is_none() {
            self.withdraw(found, code, clause);
        }
        value
    }

    fn attributes(&mut self, mut left: &[u8], begin: usize) -> Result<(), Malformed> {
        let total = left.len();
        while !left.is_empty() {
            let at = begin + total - left.len();
            // RFC 7606, 4: the length of all attributes says where destinations begin.
            let Some((found, rest)) = Found::split(left, at) else {
                let kind = left.get(1).copied().unwrap_or(0);
                let clause = "an attribute that ends behind all attributes";
                // RFC 7606, 3 j: its destinations are not read.
                if matches!(kind, attribute::MP_REACH_NLRI | attribute::MP_UNREACH_NLRI) {
                    return Err(Malformed::new(Code::AttributeList, &[], at, clause));
                }
                self.seen[usize::from(kind)] = true;
                self.withdraw_at(kind, Code::AttributeList, &[], at, clause);
                break;
            };
            left = rest;
            let was_seen = core::mem::replace(&mut self.seen[usize::from(found.kind)], true);
            let is_mp = matches!(found.kind, attribute::MP_REACH_NLRI | attribute::MP_UNREACH_NLRI);
            // RFC 7606, 3 g.
            if was_seen && is_mp {
                let clause = "destinations of another family twice";
                return Err(Malformed::new(Code::AttributeList, &[], at, clause));
            }
            if was_seen {
                self.discard(found.kind, "an attribute that is there twice");
                continue;
            }
            self.one(&found)?;
        }
        Ok(())
    }

    /// Reads an attribute that is there for the first time.
    fn one(&mut self, found: &Found<'_>) -> Result<(), Malformed> {
        let Some(flags) = attribute::flags(found.kind) else {
            if found.flags & OPTIONAL == 0 {
                let clause = "a well-known attribute that nobody knows";
                return Err(Malformed::new(Code::UnknownWellKnown, found.whole, found.at, clause));
            }
            self.update.attributes.unknown.push(Unknown {
                // RFC 4271, 4.3: the other bits are ignored, and zero in what is sent.
                flags: found.flags & (OPTIONAL | TRANSITIVE | PARTIAL),
                kind: found.kind,
                value: found.value.into(),
            });
            return Ok(());
        };
        if found.flags & (OPTIONAL | TRANSITIVE) != flags {
            let clause = "an attribute with flags that it can't have";
            if matches!(found.kind, attribute::MP_REACH_NLRI | attribute::MP_UNREACH_NLRI) {
                // RFC 7606, 5.3: then its destinations are not known for sure.
                return Err(Malformed::new(Code::AttributeFlags, found.whole, found.at, clause));
            }
            // RFC 7606, 3 c.
            self.withdraw(found, Code::AttributeFlags, clause);
            return Ok(());
        }
        let faults = self.update.faults.len();
        self.known(found)?;
        let is_read = self.update.faults.len() == faults;
        // RFC 4271, 4.3: a well-known one never is, nor one that nobody passes on.
        if is_read && flags == OPTIONAL | TRANSITIVE && found.flags & PARTIAL != 0 {
            self.update.attributes.partial |= 1 << found.kind;
        }
        Ok(())
    }

    fn known(&mut self, found: &Found<'_>) -> Result<(), Malformed> {
        const LENGTH: Code = Code::AttributeLength;
        match found.kind {
            attribute::ORIGIN => {
                let value = match *found.value {
                    [number] => self.value(
                        found,
                        Origin::of(number),
                        Code::InvalidOrigin,
                        "an origin that is not defined",
                    ),
                    _ => self.value(found, None, LENGTH, "an origin that has not one byte"),
                };
                self.update.attributes.origin = value;
            }
            attribute::AS_PATH => match AsPath::read(found.value, self.terms.four_octet, false) {
                Ok(path) => self.update.attributes.as_path = Some(path),
                Err(clause) => self.withdraw_at(found.kind, Code::MalformedAsPath, &[], found.at, clause),
            },
            attribute::NEXT_HOP => {
                let value = self.value(found, found.address(), LENGTH, "a next hop that has not four bytes");
                self.update.attributes.next_hop = value;
            }
            attribute::MULTI_EXIT_DISC => {
                let clause = "a discriminator that has not four bytes";
                self.update.attributes.med = self.value(found, found.number(), LENGTH, clause);
            }
            attribute::LOCAL_PREF if !self.terms.is_internal => {
                self.discard(found.kind, "a local preference from another AS");
            }
            attribute::LOCAL_PREF => {
                let clause = "a local preference that has not four bytes";
                self.update.attributes.local_pref = self.value(found, found.number(), LENGTH, clause);
            }
            attribute::ATOMIC_AGGREGATE if found.value.is_empty() => {
                self.update.attributes.atomic_aggregate = true;
            }
            attribute::ATOMIC_AGGREGATE => self.discard(found.kind, "an ATOMIC_AGGREGATE with a value"),
            attribute::AGGREGATOR => match found.aggregator(self.terms.four_octet) {
                Some(one) => self.update.attributes.aggregator = Some(one),
                None => self.discard(found.kind, "an aggregator of another length"),
            },
            attribute::COMMUNITIES => {
                let all = found.list(|bytes: &[u8; 4]| u32::from_be_bytes(*bytes));
                let clause = "communities that are no multiple of four bytes";
                let all = self.value(found, all, Code::OptionalAttribute, clause);
                self.update.attributes.communities = all.unwrap_or_default();
            }
            attribute::ORIGINATOR_ID | attribute::CLUSTER_LIST if !self.terms.is_internal => {
                self.discard(found.kind, "an attribute of route reflection from another AS");
            }
            attribute::ORIGINATOR_ID => {
                let clause = "an originator that has not four bytes";
                self.update.attributes.originator = self.value(found, found.address(), LENGTH, clause);
            }
            attribute::CLUSTER_LIST => {
                let all = found.list(|bytes: &[u8; 4]| Ipv4Addr::from(*bytes));
                let clause = "clusters that are no multiple of four bytes";
                let all = self.value(found, all, LENGTH, clause);
                self.update.attributes.cluster_list = all.unwrap_or_default();
            }
            attribute::EXTENDED_COMMUNITIES => {
                let clause = "extended communities that are no multiple of eight bytes";
                let all = found.list(|bytes: &[u8; 8]| *bytes);
                let all = self.value(found, all, Code::OptionalAttribute, clause);
                self.update.attributes.extended_communities = all.unwrap_or_default();
            }
            attribute::LARGE_COMMUNITIES => {
                let all = found.list(|&[a, b, c, d, e, f, g, h, i, j, k, l]: &[u8; 12]| {
                    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_be_bytes)
                });
                let clause = "large communities that are no multiple of twelve bytes";
                let all = self.value(found, all, Code::OptionalAttribute, clause);
                self.update.attributes.large_communities = all.unwrap_or_default();
            }
            // RFC 6793, 6: nothing that a speaker of four octets sends.
            attribute::AS4_PATH | attribute::AS4_AGGREGATOR if self.terms.four_octet => {
                self.discard(found.kind, "an attribute of speakers of two octets");
            }
            attribute::AS4_PATH if found.value.len() < 6 => {
                self.discard(found.kind, "a path that is too short")
            }
            attribute::AS4_PATH => match AsPath::read(found.value, true, true) {
                Ok(path) => self.update.attributes.as4_path = Some(path),
                Err(clause) => self.discard(found.kind, clause),
            },
            attribute::AS4_AGGREGATOR => match found.aggregator(true) {
                Some(one) => self.update.attributes.as4_aggregator = Some(one),
                None => self.discard(found.kind, "an aggregator that has not eight bytes"),
            },
            attribute::MP_REACH_NLRI => self.reach(found)?,
            _ => self.unreach(found)?,
        }
        Ok(())
    }

    fn reach(&mut self, found: &Found<'_>) -> Result<(), Malformed> {
        self.has_reach = true;
        let wrong = |clause| Malformed::new(Code::OptionalAttribute, found.whole, found.at, clause);
        // RFC 7606, 5.3 and 7.11: without a next hop of the right length nobody knows where destinations begin.
        let ([a, b, safi, len], rest) =
            found.value.split_first_chunk::<4>().ok_or(wrong("an MP_REACH_NLRI that ends too early"))?;
        let (next, rest) =
            rest.split_at_checked(usize::from(*len)).ok_or(wrong("a next hop that ends too early"))?;
        let (_, nlri) = rest.split_first().ok_or(wrong("an MP_REACH_NLRI that ends too early"))?;
        let Some(family) = Family::of(u16::from_be_bytes([*a, *b]), *safi) else {
            self.discard(found.kind, "destinations of a family that nobody knows");
            return Ok(());
        };
        let next_hop = NextHop::read(next, family);
        let next_hop = next_hop.ok_or(wrong("a next hop of a length that its family does not have"))?;
        let at = found.at + found.whole.len() - nlri.len();
        let nlri = Nlri::read(nlri, family, self.terms, false, at);
        let (nlri, has_too_many) =
            nlri.map_err(|error| Malformed { error, ..wrong("destinations that can't be read") })?;
        if has_too_many {
            // RFC 8277, 2.1.
            self.withdraw(found, Code::OptionalAttribute, "more labels than this end has said that it takes");
        }
        self.update.reach = Some(Reach { family, next_hop, nlri });
        Ok(())
    }

    fn unreach(&mut self, found: &Found<'_>) -> Result<(), Malformed> {
        let wrong = |clause| Malformed::new(Code::OptionalAttribute, found.whole, found.at, clause);
        let ([a, b, safi], nlri) =
            found.value.split_first_chunk::<3>().ok_or(wrong("an MP_UNREACH_NLRI that ends too early"))?;
        let Some(family) = Family::of(u16::from_be_bytes([*a, *b]), *safi) else {
            self.discard(found.kind, "destinations of a family that nobody knows");
            return Ok(());
        };
        let at = found.at + found.whole.len() - nlri.len();
        let nlri = Nlri::read(nlri, family, self.terms, true, at);
        let (nlri, _) =
            nlri.map_err(|error| Malformed { error, ..wrong("destinations that can't be read") })?;
        self.update.unreach = Some(Unreach { family, nlri });
        Ok(())
    }

    /// RFC 7606, 3 d: what has to be there.
    fn mandatory(&mut self) {
        let is_told = !self.update.nlri.is_empty() || self.has_reach;
        let wanted = [
            (attribute::ORIGIN, is_told),
            (attribute::AS_PATH, is_told),
            (attribute::NEXT_HOP, !self.update.nlri.is_empty()),
        ];
        for (kind, is_wanted) in wanted {
            if is_wanted && !self.seen[usize::from(kind)] {
                let clause = "a mandatory attribute that is not there";
                self.withdraw_at(kind, Code::MissingWellKnown, &[kind], HEADER_LEN, clause);
            }
        }
    }
}

impl Update {
    /// The family of which it says that all routes have been told (RFC 4724, 2); nothing if it says something else.
    pub fn end_of_rib(&self) -> Option<Family> {
        let is_bare = self.withdrawn.is_empty()
            && self.nlri.is_empty()
            && self.reach.is_none()
            && self.attributes == Attributes::default();
        match &self.unreach {
            _ if !is_bare || !self.faults.is_empty() => None,
            None => Some(Family::Ipv4),
            Some(unreach) => unreach.nlri.is_empty().then_some(unreach.family),
        }
    }

    /// What is to become of its routes; nothing if all is well.
    pub fn treatment(&self) -> Option<Treatment> {
        self.faults.iter().map(|fault| fault.treatment).max()
    }

    pub(super) fn parse(body: &[u8], terms: &Terms) -> Result<Update, Malformed> {
        let lengths = |at| Malformed::new(Code::AttributeList, &[], at, "lengths that exceed the message");
        let part = |from: usize| -> Result<(&[u8], usize), Malformed> {
            let field = body.get(from..).and_then(|rest| rest.split_first_chunk::<2>());
            let (len, rest) = field.ok_or(lengths(HEADER_LEN + from))?;
            let len = usize::from(u16::from_be_bytes(*len));
            Ok((rest.get(..len).ok_or(lengths(HEADER_LEN + from))?, from + 2 + len))
        };
        let (withdrawn, middle) = part(0)?;
        let (attributes, end) = part(middle)?;
        let mut reader =
            Reader { terms, update: Update::default(), first: None, seen: [false; 256], has_reach: false };
        reader.attributes(attributes, HEADER_LEN + middle + 2)?;
        let networks = |error| Malformed { error, ..Malformed::new(Code::InvalidNetwork, &[], 0, "") };
        let read = |bytes, is_withdrawn, at| {
            let read = Nlri::read(bytes, Family::Ipv4, terms, is_withdrawn, HEADER_LEN + at);
            read.map(|(all, _)| all).map_err(networks)
        };
        reader.update.withdrawn = read(withdrawn, true, 2)?;
        reader.update.nlri = read(&body[end..], false, end)?;
        reader.mandatory();
        // RFC 7606, 5.2: without a destination nobody knows whether those that are meant were all read.
        let others =
            (0..=u8::MAX).any(|kind| kind != attribute::MP_UNREACH_NLRI && reader.seen[usize::from(kind)]);
        let is_told = !reader.update.nlri.is_empty() || reader.has_reach;
        match reader.first {
            Some((code, data, error)) if !is_told && others => {
                Err(Malformed { notification: super::Notification::with(code, &data), error })
            }
            _ => Ok(reader.update),
        }
    }

    pub(super) fn emit(&self, to: &mut Vec<u8>, terms: &Terms) {
        let counted = |to: &mut Vec<u8>, write: &dyn Fn(&mut Vec<u8>)| {
            let begin = to.len();
            to.extend([0, 0]);
            write(to);
            let len = u16::try_from(to.len() - begin - 2).unwrap_or(u16::MAX);
            to[begin..begin + 2].copy_from_slice(&len.to_be_bytes());
        };
        counted(to, &|to| self.withdrawn.iter().for_each(|nlri| nlri.emit(to, Family::Ipv4)));
        counted(to, &|to| {
            // RFC 7606, 5.1: destinations come first.
            if let Some(reach) = &self.reach {
                let mut value = family(reach.family);
                reach.next_hop.emit(&mut value);
                value.push(0);
                reach.nlri.iter().for_each(|nlri| nlri.emit(&mut value, reach.family));
                put(to, OPTIONAL, attribute::MP_REACH_NLRI, &value);
            }
            if let Some(unreach) = &self.unreach {
                let mut value = family(unreach.family);
                unreach.nlri.iter().for_each(|nlri| nlri.emit(&mut value, unreach.family));
                put(to, OPTIONAL, attribute::MP_UNREACH_NLRI, &value);
            }
            self.attributes.emit(to, terms);
        });
        self.nlri.iter().for_each(|nlri| nlri.emit(to, Family::Ipv4));
    }
}

fn family(family: Family) -> Vec<u8> {
    let (afi, safi) = family.numbers();
    let [a, b] = afi.to_be_bytes();
    vec![a, b, safi]
}

fn put(to: &mut Vec<u8>, flags: u8, kind: u8, value: &[u8]) {
    match u8::try_from(value.len()) {
        Ok(len) => to.extend([flags, kind, len]),
        Err(_) => {
            let [a, b] = u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes();
            to.extend([flags | EXTENDED_LENGTH, kind, a, b]);
        }
    }
    to.extend(value);
}

/// Writes an attribute with a value that is written in place.
fn put_with(to: &mut Vec<u8>, flags: u8, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let begin = to.len();
    to.extend([flags, kind, 0]);
    write(to);
    let len = to.len() - begin - 3;
    match u8::try_from(len) {
        Ok(len) => to[begin + 2] = len,
        Err(_) => {
            let [a, b] = u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes();
            to[begin] |= EXTENDED_LENGTH;
            to[begin + 2] = a;
            to.insert(begin + 3, b);
        }
    }
}

impl Attributes {
    /// Writes them behind what is there, in the order of their types, and those that nobody knows last.
    pub(super) fn emit(&self, to: &mut Vec<u8>, terms: &Terms) {
        let put = |to: &mut Vec<u8>, kind: u8, write: &dyn Fn(&mut Vec<u8>)| {
            let partial = if self.partial >> kind & 1 == 0 { 0 } else { PARTIAL };
            if let Some(flags) = attribute::flags(kind) {
                put_with(to, flags | partial, kind, write);
            }
        };
        let aggregator = |to: &mut Vec<u8>, kind: u8, one: &Aggregator, four_octet: bool| {
            put(to, kind, &|to| {
                match four_octet {
                    true => to.extend(one.asn.to_be_bytes()),
                    false => to.extend(u16::try_from(one.asn).unwrap_or(super::AS_TRANS).to_be_bytes()),
                }
                to.extend(one.address.octets());
            });
        };
        if let Some(origin) = self.origin {
            put(to, attribute::ORIGIN, &|to| to.push(origin as u8));
        }
        if let Some(path) = &self.as_path {
            put(to, attribute::AS_PATH, &|to| path.emit(to, terms.four_octet));
        }
        if let Some(address) = self.next_hop {
            put(to, attribute::NEXT_HOP, &|to| to.extend(address.octets()));
        }
        if let Some(med) = self.med {
            put(to, attribute::MULTI_EXIT_DISC, &|to| to.extend(med.to_be_bytes()));
        }
        if let Some(preference) = self.local_pref {
            put(to, attribute::LOCAL_PREF, &|to| to.extend(preference.to_be_bytes()));
        }
        if self.atomic_aggregate {
            put(to, attribute::ATOMIC_AGGREGATE, &|_| ());
        }
        if let Some(one) = &self.aggregator {
            aggregator(to, attribute::AGGREGATOR, one, terms.four_octet);
        }
        if !self.communities.is_empty() {
            put(to, attribute::COMMUNITIES, &|to| {
                self.communities.iter().for_each(|one| to.extend(one.to_be_bytes()));
            });
        }
        if let Some(id) = self.originator {
            put(to, attribute::ORIGINATOR_ID, &|to| to.extend(id.octets()));
        }
        if !self.cluster_list.is_empty() {
            put(to, attribute::CLUSTER_LIST, &|to| {
                self.cluster_list.iter().for_each(|id| to.extend(id.octets()));
            });
        }
        if !self.extended_communities.is_empty() {
            put(to, attribute::EXTENDED_COMMUNITIES, &|to| {
                self.extended_communities.iter().for_each(|one| to.extend(one));
            });
        }
        if let Some(path) = &self.as4_path {
            put(to, attribute::AS4_PATH, &|to| path.emit(to, true));
        }
        if let Some(one) = &self.as4_aggregator {
            aggregator(to, attribute::AS4_AGGREGATOR, one, true);
        }
        if !self.large_communities.is_empty() {
            put(to, attribute::LARGE_COMMUNITIES, &|to| {
                let parts = self.large_communities.iter().flatten();
                parts.for_each(|part| to.extend(part.to_be_bytes()));
            });
        }
        self.unknown.iter().for_each(|one| put_with(to, one.flags, one.kind, |to| to.extend(&one.value.0)));
    }

    /// Writes them behind what is there as they go to a neighbour of the same AS that reads four octets: nothing gets
    /// lost.
    pub fn pack(&self, to: &mut Vec<u8>) {
        self.emit(to, &PACKED);
    }

    /// Writes them behind what is there as they go to a neighbour.
    pub fn pack_for(&self, terms: &Terms, to: &mut Vec<u8>) {
        self.emit(to, terms);
    }

    /// Reads what [`Attributes::pack`] has written.
    pub fn unpack(bytes: &[u8]) -> Attributes {
        let mut reader = Reader {
            terms: &PACKED,
            update: Update::default(),
            first: None,
            seen: [false; 256],
            has_reach: false,
        };
        let read = reader.attributes(bytes, 0);
        debug_assert!(read.is_ok() && reader.update.faults.is_empty(), "packed attributes are in order");
        reader.update.attributes
    }
}

/// How attributes are packed.
const PACKED: Terms = Terms {
    four_octet: true,
    is_internal: true,
    add_path: [false; Family::ALL.len()],
    labels_max: [0; Family::ALL.len()],
};
