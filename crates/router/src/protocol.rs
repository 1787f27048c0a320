//! What goes over the control socket: a request is a line with a JSON object that has one key, an answer a line with
//! `{"ok": …}` or `{"error": "sentence"}`. `docs/reference/control-socket.md` describes it for users.
//!
//! A client sends as many requests as it likes; they are answered in order. Nodes and links may be given by place in
//! the description or by name, a link by the names of its ends.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Bytes of the longest request.
pub const REQUEST_MAX: usize = 1 << 20;
/// Bytes of the longest answer.
pub const ANSWER_MAX: usize = 256 << 20;

/// What a client asks for.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// A table of the router by name: columns of equal length.
    Table(String),
    /// Does something to a group of LSPs that begins here.
    Command(LspCommand),
    /// Adds a group of LSPs that begins here: a group of the description, in which `from` may be left out.
    AddLsp(serde_json::Map<String, Value>),
    /// Sends one ICMP echo request; the answer comes when its answer has come, or too late.
    Ping(Ping),
    /// Sends echo requests with growing TTL; the answer comes when the destination has answered, or too late.
    Traceroute(Traceroute),
    /// What decides here on a packet: a table. The fields are those of a packet in `path` of a network.
    Path(serde_json::Map<String, Value>),
    /// The best paths from this router by its traffic-engineering database, for what is asked.
    TePaths(serde_json::Map<String, Value>),
    /// Tests an LSP (RFC 8029) as a description of the network has it; the answer comes when the test has ended.
    TestLsp(serde_json::Map<String, Value>),
    /// Has the tables do something else with a label, without telling the control plane.
    BreakLabel(BreakLabel),
    /// Puts a fault on a link.
    Fault(serde_json::Map<String, Value>),
    /// Takes all faults away.
    Heal,
    /// Begins to capture a link.
    Capture(Capture),
    /// Ends a capture by its number.
    CaptureStop(u32),
    /// What the process is, and how it fares.
    Status,
    /// Ends the process, its files complete.
    Stop,
}

/// A command to a group of LSPs.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LspCommand {
    /// Name of the group of LSPs in the description.
    pub lsp: String,
    /// `signal`, `tear`, `reoptimise`, or `route`.
    #[serde(rename = "do")]
    pub what: String,
    /// With `route` (or `signal`): explicit routes in order of preference, without this node.
    #[serde(default)]
    pub routes: Option<Value>,
    /// When, in picoseconds; now if absent.
    #[serde(default)]
    pub at: Option<u64>,
}

/// An echo request (ICMP) that the router sends to an address or to a node.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// An address, or the name of a node.
    pub to: String,
    /// TTL of the request's IP header; 255 if not given.
    #[serde(default = "ttl_max")]
    pub ttl: u8,
    /// Seconds to wait for replies; 2 if not given, at most 60.
    #[serde(default = "two")]
    pub timeout_s: f64,
}

/// A trace of the route to an address, to a node, or along an LSP.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traceroute {
    /// An address, or the name of a node or of a group of LSPs that begins here.
    pub to: String,
    /// Greatest TTL that is tried; 30 if not given.
    #[serde(default = "thirty")]
    pub hops: u8,
    /// Seconds to wait for replies; 2 if not given, at most 60.
    #[serde(default = "two")]
    pub timeout_s: f64,
}

/// A fault of the tables that the control plane does not see.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakLabel {
    /// The label with which packets come.
    pub label: u32,
    /// The label with which they leave; without one, its entry is taken out.
    #[serde(default)]
    pub out: Option<u32>,
}

fn ttl_max() -> u8 {
    255
}
fn thirty() -> u8 {
    30
}
fn two() -> f64 {
    2.0
}

/// A capture of the frames of one link at this router, both ways.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The link, by its place in the description or by the names of its two ends.
    pub link: Value,
    /// The pcapng file; the process writes it.
    pub path: String,
    /// After how many packets it ends.
    #[serde(default)]
    pub max_packets: Option<u64>,
}

/// A sentence for people.
pub type Sentence = String;

/// Reads a request line: an object with one key, which names the request.
pub fn parse(line: &[u8]) -> Result<Request, Sentence> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("request: not JSON: {error}"))?;
    match &value {
        Value::Object(map) if map.len() == 1 => {}
        _ => return Err(r#"request: an object with one key is needed, such as {"status": null}"#.into()),
    }
    let key = value.as_object().and_then(|map| map.keys().next()).cloned().unwrap_or_default();
    Request::deserialize(value).map_err(|error| {
        let text = error.to_string();
        if text.starts_with("unknown variant") {
            format!("request: {text}")
        } else {
            format!("{key}: {text}")
        }
    })
}

/// The line of an answer. Large tables are written as they stand, since packets wait meanwhile.
pub fn answer<T: Serialize>(result: &Result<T, Sentence>) -> Vec<u8> {
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Answer<'a, T> {
        Ok(&'a T),
        Error(&'a str),
    }
    let answer = match result {
        Ok(value) => Answer::Ok(value),
        Err(sentence) => Answer::Error(sentence),
    };
    let mut line = match serde_json::to_vec(&answer) {
        Ok(line) => line,
        Err(error) => json!({"error": error.to_string()}).to_string().into_bytes(),
    };
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let parsed = |text: &str| parse(text.as_bytes());
        assert_eq!(parsed(r#"{"table": "ilm"}"#), Ok(Request::Table("ilm".into())));
        assert_eq!(parsed(r#"{"status": null}"#), Ok(Request::Status));
        assert_eq!(parsed(r#"{"stop":null}"#), Ok(Request::Stop));
        let asked = Ping { to: "p".into(), ttl: 255, timeout_s: 2.0 };
        assert_eq!(parsed(r#"{"ping": {"to": "p"}}"#), Ok(Request::Ping(asked)));
        let asked = LspCommand { lsp: "east".into(), what: "tear".into(), routes: None, at: None };
        assert_eq!(parsed(r#"{"command": {"lsp": "east", "do": "tear"}}"#), Ok(Request::Command(asked)));
    }

    #[test]
    fn what_is_no_request_is_told_so() {
        for (text, sentence) in [
            ("", "request: not JSON: EOF"),
            ("{\"table\": ", "request: not JSON: EOF"),
            ("[]", "request: an object with one key is needed"),
            (r#"{"status": null, "stop": null}"#, "request: an object with one key is needed"),
            (r#"{"reboot": null}"#, "request: unknown variant `reboot`, expected one of `table`, "),
            (r#"{"table": 3}"#, "table: invalid type: integer `3`, expected a string"),
            (r#"{"command": {"lsp": "east"}}"#, "command: missing field `do`"),
            (r#"{"ping": {"to": "p", "size": 3}}"#, "ping: unknown field `size`"),
        ] {
            let error = parse(text.as_bytes()).expect_err(text);
            assert!(error.starts_with(sentence), "{text}: {error}");
        }
    }

    #[test]
    fn answers_are_lines() {
        assert_eq!(answer(&Ok(json!([1]))), b"{\"ok\":[1]}\n");
        assert_eq!(answer::<()>(&Err("a\nb".into())), b"{\"error\":\"a\\nb\"}\n");
    }
}
