//! What rules are written with: ranges of prefixes, communities, and patterns of AS paths.

use base::describe::{Describe, Schema, Schemas, Value, malformed};
use base::diagnostic::Diagnostic;
use base::plane::IpPrefix;
use core::fmt;
use core::net::Ipv4Addr;
use core::str::FromStr;
use wire::bgp::AsPath;

/// Prefixes within one, of some lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixRange {
    within: IpPrefix,
    /// The least length and the greatest.
    lengths: (u8, u8),
}

impl PrefixRange {
    /// Is a prefix one of them?
    pub fn contains(&self, prefix: IpPrefix) -> bool {
        self.within.contains(prefix.address())
            && (self.lengths.0..=self.lengths.1).contains(&len_of(prefix).0)
    }
}

/// How many bits a prefix fixes, and how many its addresses have.
fn len_of(prefix: IpPrefix) -> (u8, u8) {
    match prefix {
        IpPrefix::V4(prefix) => (prefix.len(), 32),
        IpPrefix::V6(prefix) => (prefix.len(), 128),
    }
}

/// `10.0.0.0/8` is itself; `le 24` adds longer ones up to that length, `ge 16` takes those of less out.
impl FromStr for PrefixRange {
    type Err = ();
    fn from_str(text: &str) -> Result<PrefixRange, ()> {
        let mut words = text.split_whitespace();
        let written = words.next().ok_or(())?;
        let within = IpPrefix::read(&Value::from(written)).map_err(|_| ())?;
        let (own, longest) = len_of(within);
        let (mut least, mut most) = (None, None);
        while let Some(word) = words.next() {
            let place = match word {
                "ge" => &mut least,
                "le" => &mut most,
                _ => return Err(()),
            };
            let len: u8 = words.next().and_then(|len| len.parse().ok()).ok_or(())?;
            if place.replace(len).is_some() {
                return Err(());
            }
        }
        let lengths = match (least, most) {
            (None, None) => (own, own),
            (least, most) => (least.unwrap_or(own), most.unwrap_or(longest)),
        };
        let is_one = own <= lengths.0 && lengths.0 <= lengths.1 && lengths.1 <= longest;
        is_one.then_some(PrefixRange { within, lengths }).ok_or(())
    }
}

impl fmt::Display for PrefixRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((least, most), (own, _)) = (self.lengths, len_of(self.within));
        write!(f, "{}", self.within)?;
        if (least, most) == (own, own) {
            return Ok(());
        }
        if least > own {
            write!(f, " ge {least}")?;
        }
        write!(f, " le {most}")
    }
}

/// A community of one of the three kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Community {
    /// Of 32 bits (RFC 1997).
    Plain(u32),
    /// Of 96 bits (RFC 8092).
    Large([u32; 3]),
    /// With a type (RFC 4360).
    Extended([u8; 8]),
}

/// Communities with a meaning of their own (RFC 1997).
const KNOWN: [(&str, u32); 3] =
    [("no-export", 0xffff_ff01), ("no-advertise", 0xffff_ff02), ("no-export-subconfed", 0xffff_ff03)];

/// Types of extended communities that have a name: the second byte (RFC 4360, 4 and 5).
const EXTENDED: [(&str, u8); 2] = [("rt", 2), ("ro", 3)];

impl Community {
    /// One of a named type: of an AS of two octets (RFC 4360, 3.1), of an address (3.2), or of an AS of four (RFC
    /// 5668).
    fn extended(kind: u8, administrator: &str, number: &str) -> Option<Community> {
        let mut bytes = [0, kind, 0, 0, 0, 0, 0, 0];
        if let Ok(asn) = administrator.parse::<u16>() {
            bytes[2..4].copy_from_slice(&asn.to_be_bytes());
            bytes[4..].copy_from_slice(&number.parse::<u32>().ok()?.to_be_bytes());
            return Some(Community::Extended(bytes));
        }
        let (first, whole) = match administrator.parse::<Ipv4Addr>() {
            Ok(address) => (1, address.octets()),
            Err(_) => (2, administrator.parse::<u32>().ok()?.to_be_bytes()),
        };
        bytes[0] = first;
        bytes[2..6].copy_from_slice(&whole);
        bytes[6..].copy_from_slice(&number.parse::<u16>().ok()?.to_be_bytes());
        Some(Community::Extended(bytes))
    }
}

impl FromStr for Community {
    type Err = ();
    fn from_str(text: &str) -> Result<Community, ()> {
        if let Some((_, number)) = KNOWN.iter().find(|(name, _)| *name == text) {
            return Ok(Community::Plain(*number));
        }
        let parts: Vec<&str> = text.split(':').collect();
        let found = match parts[..] {
            [asn, number] => {
                let both = asn.parse::<u16>().ok().zip(number.parse::<u16>().ok());
                both.map(|(asn, number)| Community::Plain(u32::from(asn) << 16 | u32::from(number)))
            }
            [name, administrator, number] => match EXTENDED.iter().find(|(known, _)| *known == name) {
                Some((_, kind)) => Community::extended(*kind, administrator, number),
                None => {
                    let parts: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
                    parts.and_then(|parts| parts.try_into().ok()).map(Community::Large)
                }
            },
            _ => None,
        };
        found.ok_or(())
    }
}

impl fmt::Display for Community {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Community::Plain(number) => match KNOWN.iter().find(|(_, known)| *known == number) {
                Some((name, _)) => f.write_str(name),
                None => write!(f, "{}:{}", number >> 16, number & 0xffff),
            },
            Community::Large([a, b, c]) => write!(f, "{a}:{b}:{c}"),
            Community::Extended([first, kind, a, b, c, d, y, z]) => {
                let name = EXTENDED.iter().find(|(_, known)| *known == kind).map(|(name, _)| *name);
                match (first, name) {
                    (0, Some(name)) => {
                        let (asn, number) = (u16::from_be_bytes([a, b]), u32::from_be_bytes([c, d, y, z]));
                        write!(f, "{name}:{asn}:{number}")
                    }
                    (1, Some(name)) => {
                        write!(f, "{name}:{}:{}", Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([y, z]))
                    }
                    (2, Some(name)) => {
                        write!(
                            f,
                            "{name}:{}:{}",
                            u32::from_be_bytes([a, b, c, d]),
                            u16::from_be_bytes([y, z])
                        )
                    }
                    _ => write!(f, "{:#018x}", u64::from_be_bytes([first, kind, a, b, c, d, y, z])),
                }
            }
        }
    }
}

/// A step of a pattern of AS paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// An AS whose number is in a range.
    One(u32, u32),
    /// As many ASes as there are, or none.
    Any,
}

/// What the AS path of a route has to be from the nearest AS to the one that it is of: numbers, ranges of numbers, `?`
/// for any one AS and `*` for any number of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern(Vec<Step>);

impl PathPattern {
    /// Is it true of a path? ASes in no order count as if they were passed in the order in which they stand.
    pub fn matches(&self, path: &AsPath) -> bool {
        let numbers = path.0.iter().flat_map(|segment| segment.numbers());
        // Which places of the pattern can have been reached so far.
        let mut reached = vec![false; self.0.len() + 1];
        reached[0] = true;
        self.skip(&mut reached);
        for asn in numbers {
            let mut next = vec![false; reached.len()];
            for (place, step) in self.0.iter().enumerate().filter(|(place, _)| reached[*place]) {
                match step {
                    Step::One(first, last) if (first..=last).contains(&asn) => next[place + 1] = true,
                    Step::One(..) => {}
                    Step::Any => next[place] = true,
                }
            }
            self.skip(&mut next);
            reached = next;
        }
        reached[self.0.len()]
    }

    /// `*` stands for none, too.
    fn skip(&self, reached: &mut [bool]) {
        for (place, step) in self.0.iter().enumerate() {
            if reached[place] && *step == Step::Any {
                reached[place + 1] = true;
            }
        }
    }
}

impl FromStr for PathPattern {
    type Err = ();
    fn from_str(text: &str) -> Result<PathPattern, ()> {
        let step = |word: &str| match word {
            "*" => Ok(Step::Any),
            "?" => Ok(Step::One(0, u32::MAX)),
            word => {
                let (first, last) = word.split_once('-').unwrap_or((word, word));
                let ends = first.parse().ok().zip(last.parse().ok());
                ends.filter(|(first, last)| first <= last)
                    .map(|(first, last)| Step::One(first, last))
                    .ok_or(())
            }
        };
        text.split_whitespace().map(step).collect::<Result<_, _>>().map(PathPattern)
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            f.write_str(if place > 0 { " " } else { "" })?;
            match step {
                Step::Any => f.write_str("*")?,
                Step::One(0, u32::MAX) => f.write_str("?")?,
                Step::One(first, last) if first == last => write!(f, "{first}")?,
                Step::One(first, last) => write!(f, "{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// Words that are read from a text, and written as they would be shown.
macro_rules! worded {
    ($type:ty, $form:literal, $example:literal) => {
        impl Describe for $type {
            fn read(value: &Value) -> Result<$type, Diagnostic> {
                let text = value.as_text().ok_or_else(|| malformed(value, $form))?;
                text.parse().map_err(|()| malformed(value, $form))
            }
            fn write(&self) -> Value {
                self.to_string().into()
            }
            fn schema(_: &mut Schemas) -> Schema {
                Schema::Text { form: $form, pattern: None }
            }
            fn example() -> Option<&'static str> {
                Some($example)
            }
        }
    };
}
worded!(
    PrefixRange,
    "a prefix, and perhaps which lengths within it: '10.0.0.0/8', '10.0.0.0/8 le 24' or '10.0.0.0/8 ge 16 le 24'",
    "10.0.0.0/8 le 24"
);
worded!(
    Community,
    "a community: 65001:7, no-export, no-advertise, no-export-subconfed, large as 65001:1:2, or extended as rt:65001:7 or ro:65001:7",
    "65001:7"
);
worded!(
    PathPattern,
    "a pattern of AS paths: numbers, ranges such as 64512-65534, ? for any one AS and * for any number of them, as in '65001 *'",
    "65001 *"
);
