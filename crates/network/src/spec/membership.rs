//! Groups that hosts want, as users write them.

use base::describe::{Describe, Schema, Schemas, Value, malformed};
use base::diagnostic::Diagnostic;
use base::plane::is_link_local_group;
use core::fmt;
use core::net::IpAddr;

/// A group, and the sources that packets may come from: `232.1.1.1 from 10.0.0.1 10.0.0.2`, or `239.1.1.1` for all. Of
/// IPv6 it is the same: `ff3e::1 from 2001:db8::1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The group.
    pub group: IpAddr,
    /// The sources, of the same family; all if there are none.
    pub sources: Vec<IpAddr>,
}

const FORM: &str = "a group beyond 224.0.0.255 such as 239.1.1.1, or one of IPv6 of scope 3 or more such as ff3e::1, and \
                    perhaps its sources: 232.1.1.1 from 10.0.0.1";

impl Membership {
    fn parse(text: &str) -> Option<Membership> {
        let mut words = text.split_whitespace();
        let group: IpAddr = words.next()?.parse().ok()?;
        let sources: Vec<IpAddr> = match words.next() {
            None => Vec::new(),
            Some("from") => words.map(|word| word.parse().ok()).collect::<Option<Vec<_>>>()?,
            Some(_) => return None,
        };
        let is_host = |source: &IpAddr| {
            source.is_ipv4() == group.is_ipv4() && !source.is_multicast() && !source.is_unspecified()
        };
        let is_one = group.is_multicast() && !is_link_local_group(group);
        let named = !text.contains("from") || !sources.is_empty();
        (is_one && named && sources.iter().all(is_host)).then_some(Membership { group, sources })
    }
}

impl fmt::Display for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.group)?;
        if !self.sources.is_empty() {
            write!(f, " from")?;
        }
        self.sources.iter().try_for_each(|source| write!(f, " {source}"))
    }
}

impl Describe for Membership {
    fn read(value: &Value) -> Result<Membership, Diagnostic> {
        value.as_text().and_then(Membership::parse).ok_or_else(|| malformed(value, FORM))
    }
    fn write(&self) -> Value {
        self.to_string().into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: FORM, pattern: None }
    }
    fn example() -> Option<&'static str> {
        Some("232.1.1.1 from 10.0.0.1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_and_written() {
        for text in [
            "239.1.1.1",
            "232.1.1.1 from 10.0.0.1",
            "232.1.1.1 from 10.0.0.1 10.0.0.2",
            "ff3e::1",
            "ff3e::1 from 2001:db8::1",
        ] {
            let read = Membership::parse(text).expect("a group");
            assert_eq!(read.to_string(), text);
        }
        for text in [
            "10.1.1.1",
            "224.0.0.5",
            "239.1.1.1 of 10.0.0.1",
            "239.1.1.1 from",
            "232.1.1.1 from 239.0.0.1",
            "ff02::5",
            "2001:db8::1",
            "ff3e::1 from 10.0.0.1",
            "232.1.1.1 from 2001:db8::1",
        ] {
            assert_eq!(Membership::parse(text), None, "{text}");
        }
    }
}
