//! What a device tells the user.

use crate::label::Label;
use crate::plane::Table;
use crate::protocol_value::{ProtocolType, ProtocolValue};
use core::net::{IpAddr, Ipv6Addr};
use serde::Serialize;
use std::io;

/// Something that happened at a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// An answer to a probe.
    ProbeReply {
        /// Source address of the answer: the destination itself, or the router where the TTL ended.
        from: IpAddr,
        /// As given in [`Command::Probe`](crate::command::Command::Probe).
        sequence: u16,
        /// ICMP type of the answer: 0 is an echo reply, 3 unreachable, 11 time exceeded (RFC 792); the same numbers for
        /// the same messages of ICMPv6.
        kind: u8,
        /// Code of the message (RFC 792, RFC 4443): it says more about types 3 and 11, and is 0 in an echo reply.
        code: u8,
        /// The label stack that the answer quotes (RFC 4950), outermost first.
        labels: Vec<Label>,
    },
    /// A table of the forwarding plane was full when something was to be written. It is told again only after something
    /// was taken out of the table.
    TableFull {
        /// Which of the tables.
        table: Table,
    },
    /// A port can be used.
    PortUp {
        /// Number of the port at its device, as in [`PortId`](crate::PortId).
        port: u16,
    },
    /// A port can't be used.
    PortDown {
        /// Number of the port at its device, as in [`PortId`](crate::PortId).
        port: u16,
    },
    /// Somebody else on a link has an address that this device was to use there, and looked for first (RFC 4862, 5.4):
    /// it uses no IPv6 by that port until the port comes up again.
    AddressTaken {
        /// Number of the port at its device, as in [`PortId`](crate::PortId).
        port: u16,
        /// Which address.
        address: Ipv6Addr,
    },
    /// Something that only one protocol knows of. It is written as the protocol writes it, its name under `event`.
    #[serde(untagged, serialize_with = "ProtocolValue::serialize_bare")]
    Protocol(ProtocolValue),
}

impl Event {
    /// What a protocol told, if it is of this type.
    pub fn of<T: ProtocolType>(&self) -> Option<&T> {
        match self {
            Event::Protocol(value) => value.get(),
            _ => None,
        }
    }
}

/// A name of events, by which they are found without writing down what else they say.
#[derive(Clone, Debug)]
pub struct EventName {
    name: String,
    /// How an event of this name begins where it is written: its name stands first, as serde puts a tag.
    beginning: Vec<u8>,
}

impl EventName {
    /// The name as events have it under `event`, such as `port-down`.
    pub fn new(name: &str) -> EventName {
        let beginning = format!("{{\"event\":{}", serde_json::Value::from(name)).into_bytes();
        EventName { name: name.to_string(), beginning }
    }

    /// Is this an event of the name?
    pub fn is_of(&self, event: &Event) -> bool {
        let mut begun = Beginning { left: &self.beginning, differs: false };
        // Writing ends with an error as soon as it is known.
        let _ = match event {
            Event::Protocol(value) => match value.written() {
                Some(written) => {
                    return written.get("event").and_then(|name| name.as_str()) == Some(&self.name);
                }
                None => value.write_bare(&mut begun),
            },
            own => serde_json::to_writer(&mut begun, own),
        };
        begun.left.is_empty() && !begun.differs
    }
}

/// Takes what is written as long as it is what it should begin with, and no more.
struct Beginning<'a> {
    left: &'a [u8],
    differs: bool,
}

impl io::Write for Beginning<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (now, later) = self.left.split_at(bytes.len().min(self.left.len()));
        self.differs |= !bytes.starts_with(now);
        self.left = later;
        if self.differs || later.is_empty() { Err(io::ErrorKind::WriteZero.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ProtocolId;
    use serde::Deserialize;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "event", rename_all = "kebab-case")]
    enum Told {
        Seen { a: u8, code: u8 },
        SeenAgain,
    }

    impl ProtocolType for Told {
        const PROTOCOL: ProtocolId = ProtocolId::new("told");
    }

    #[test]
    fn events_are_found_by_the_names_that_they_are_written_with() {
        let told = [Told::Seen { a: 1, code: 2 }, Told::SeenAgain].map(ProtocolValue::new);
        let read = told.clone().map(|value| {
            serde_json::from_value::<ProtocolValue>(serde_json::to_value(&value).expect("JSON"))
                .expect("a value")
        });
        let own = [Event::PortUp { port: 3 }, Event::TableFull { table: Table::Fib }];
        let protocols = told.into_iter().chain(read).map(Event::Protocol);
        let all: Vec<Event> = own.into_iter().chain(protocols).collect();
        let written: Vec<_> = all.iter().map(|event| serde_json::to_value(event).expect("JSON")).collect();
        assert_eq!(written[2]["event"], "seen");
        for name in ["port-up", "table-full", "seen", "seen-again", "see", "", "port-\"up"] {
            let asked = EventName::new(name);
            for (event, written) in all.iter().zip(&written) {
                assert_eq!(asked.is_of(event), written["event"] == name, "{name} {written}");
            }
        }
    }
}
