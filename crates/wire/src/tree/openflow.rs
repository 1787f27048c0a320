//! OpenFlow in a TCP segment: the messages that are there as a whole.

use crate::error::Error;
use crate::hex::Hex;
use crate::openflow::v1_0::Fault as OldFault;
use crate::openflow::v1_3::Fault;
use crate::openflow::{Any, ErrorMessage, message_len, v1_0, v1_3};
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

/// The messages of a segment. A message that goes on in another segment is not among them: its bytes follow as payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFlow {
    /// The messages in their order.
    pub messages: Vec<OpenFlowMessage>,
}

/// A message of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OpenFlowMessage {
    /// What the message says.
    Read(Any),
    /// A message that would not be the same if it were written again: zeros that are none, for example.
    Raw {
        /// Its bytes, in hexadecimal.
        bytes: Hex,
    },
}

impl OpenFlow {
    /// Reads whole messages from the beginning of a segment: them, how many bytes they have, and what is wrong with the
    /// next one, if it is malformed. Nothing if the segment does not begin with a message.
    pub(super) fn read(data: &[u8]) -> Option<(OpenFlow, usize, Option<Error>)> {
        let (mut messages, mut at) = (Vec::new(), 0);
        let mut wrong = None;
        while Any::is_header(&data[at..]) {
            let Some(len) = message_len(&data[at..]) else { break };
            let bytes = &data[at..at + len];
            match Any::parse(bytes) {
                Some(Ok(message)) => {
                    let mut again = Vec::new();
                    let is_same = message.emit(&mut again).is_ok() && again == bytes;
                    messages.push(if is_same {
                        OpenFlowMessage::Read(message)
                    } else {
                        OpenFlowMessage::Raw { bytes: bytes.into() }
                    });
                }
                Some(Err(malformed)) => {
                    wrong = Some(malformed.error.at(at));
                    break;
                }
                None => break,
            }
            at += len;
        }
        (at > 0 || wrong.is_some()).then_some((OpenFlow { messages }, at, wrong))
    }

    /// The bytes of all messages.
    pub(super) fn write(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for message in &self.messages {
            match message {
                OpenFlowMessage::Read(message) => message.emit(&mut bytes)?,
                OpenFlowMessage::Raw { bytes: raw } => bytes.extend(&raw.0),
            }
        }
        Ok(bytes)
    }

    pub(super) fn summarise(&self, out: &mut String) -> fmt::Result {
        for (place, message) in self.messages.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            match message {
                OpenFlowMessage::Read(message) => {
                    let (word, xid) = message.word();
                    write!(out, "{comma}OpenFlow {} {word} xid {xid}", message.version().name())?;
                    if let Some((error, words)) = error_of(message) {
                        let unknown = format!("type {} code {}", error.kind, error.code);
                        write!(out, ": {}", words.map_or(unknown, str::to_owned))?;
                    }
                }
                OpenFlowMessage::Raw { bytes } => write!(out, "{comma}OpenFlow, {} bytes", bytes.0.len())?,
            }
        }
        Ok(())
    }
}

/// The error that a message tells, and what it means.
fn error_of(message: &Any) -> Option<(&ErrorMessage, Option<&'static str>)> {
    match message {
        Any::V1_0(v1_0::Message { body: v1_0::Body::Error(error), .. }) => {
            Some((error, OldFault::of(error.numbers()).map(OldFault::words)))
        }
        Any::V1_3(v1_3::Message { body: v1_3::Body::Error(error), .. }) => {
            Some((error, Fault::of(error.numbers()).map(Fault::words)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::Hex;
    use crate::openflow::{PORT, sample::Dice, v1_3};
    use crate::tree::{Layer, decode, encode, summary};
    use base::MacAddr;

    fn frame(payload: &[u8], port: u16) -> Vec<u8> {
        let json = format!(
            r#"[{{"layer": "ethernet", "src": "{0}", "dst": "{0}", "tags": []}},
                {{"layer": "ipv4", "src": "10.0.0.1", "dst": "10.0.0.2", "ttl": 64}},
                {{"layer": "tcp", "src_port": 40000, "dst_port": {port}, "sequence": 1, "acknowledgment": 1,
                  "flags": ["ACK"], "window": 100}},
                {{"layer": "payload", "bytes": "{1}"}}]"#,
            MacAddr([2, 0, 0, 0, 0, 1]),
            Hex(payload.to_vec())
        );
        encode(&serde_json::from_str(&json).expect("layers")).expect("a frame")
    }

    #[test]
    fn segments_hold_whole_messages_and_pieces() {
        let error = "0401000c0000000700040009";
        let bytes = format!("0414000800000001{error}0400001000000002").parse::<Hex>().expect("bytes").0;
        let frame = frame(&bytes, PORT);
        let tree = decode(&frame);
        assert_eq!(tree.layers.len(), 5, "{tree:?}");
        assert!(
            summary(&tree).contains(
                "OpenFlow 1.3 barrier-request xid 1, OpenFlow 1.3 error xid 7: prerequisite not met"
            ),
            "{}",
            summary(&tree)
        );
        assert_eq!(encode(&tree).expect("a frame"), frame);
    }

    #[test]
    fn what_is_malformed_is_named_and_kept() {
        let bytes = "0414000800000001041400090000000200".parse::<Hex>().expect("bytes").0;
        let frame = frame(&bytes, 6633);
        let tree = decode(&frame);
        let named =
            tree.layers.iter().any(|layer| matches!(layer, Layer::Malformed { of, .. } if of == "openflow"));
        assert!(named, "{tree:?}");
        assert_eq!(encode(&tree).expect("a frame"), frame);
    }

    #[test]
    fn messages_survive_as_json() {
        for seed in 0..40 {
            for body in v1_3::Body::samples(&mut Dice(seed)) {
                let mut bytes = Vec::new();
                v1_3::Message { xid: 3, body }.emit(&mut bytes).expect("short enough");
                let frame = frame(&bytes, PORT);
                let tree = decode(&frame);
                let json = serde_json::to_string(&tree).expect("JSON");
                assert!(json.contains("openflow"), "{json}");
                let again = serde_json::from_str(&json).expect("layers");
                assert_eq!(encode(&again).expect("a frame"), frame, "{json}");
            }
        }
    }
}
