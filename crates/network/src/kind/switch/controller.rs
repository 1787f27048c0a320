//! What users write of the controllers of a switch.

use base::describe::{Describe, Schema, Schemas, Value, malformed};
use base::diagnostic::Diagnostic;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr};
use node::switch::{Controller, Transport};
use wire::openflow::PORT;

/// A controller, as Open vSwitch writes it: `tcp:ADDRESS[:PORT]` to connect to, `ptcp:[PORT][:ADDRESS]` to listen at;
/// `ssl` and `pssl` are the same over TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerSpec(pub Controller);

const FORM: &str = "a controller such as tcp:127.0.0.1:6653, or ptcp:6653 to listen for one; ssl and pssl are the same over TLS";

fn parse(text: &str) -> Option<Controller> {
    let (method, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut parts = rest.split(':');
    let (first, second) = (parts.next().unwrap_or(""), parts.next());
    if parts.next().is_some() {
        return None;
    }
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port != 0);
    let address = |text: &str| text.parse::<Ipv4Addr>().ok().map(IpAddr::from);
    let (name, listens) = match method.strip_prefix('p') {
        Some(name) => (name, true),
        None => (method, false),
    };
    let transport = match name {
        "tcp" => Transport::Tcp,
        "ssl" => Transport::Tls,
        _ => return None,
    };
    match listens {
        false => Some(Controller::Connect(transport, address(first)?, second.map_or(Some(PORT), port)?)),
        true => {
            let port = if first.is_empty() { PORT } else { port(first)? };
            let at = second.map(|text| address(text).ok_or(())).transpose().ok()?;
            Some(Controller::Listen(transport, at, port))
        }
    }
}

impl ControllerSpec {
    /// Is it over TLS?
    pub fn is_secured(&self) -> bool {
        self.0.transport() == Transport::Tls
    }
}

impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Describe for ControllerSpec {
    fn read(value: &Value) -> Result<ControllerSpec, Diagnostic> {
        value.as_text().and_then(parse).map(ControllerSpec).ok_or_else(|| malformed(value, FORM))
    }
    fn write(&self) -> Value {
        self.to_string().into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: FORM, pattern: None }
    }
    fn example() -> Option<&'static str> {
        Some("tcp:127.0.0.1:6653")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_read_as_they_are_written() {
        let read = |text: &str| ControllerSpec::read(&text.into()).ok().map(|spec| spec.to_string());
        for text in [
            "tcp:10.0.0.1:6633",
            "ptcp:6653",
            "ptcp:6653:127.0.0.1",
            "ssl:10.0.0.1:6633",
            "pssl:6653:10.0.0.1",
        ] {
            assert_eq!(read(text).as_deref(), Some(text));
        }
        assert_eq!(read("tcp:10.0.0.1").as_deref(), Some("tcp:10.0.0.1:6653"));
        assert_eq!(read("ssl:10.0.0.1").as_deref(), Some("ssl:10.0.0.1:6653"));
        assert_eq!(read("ptcp:").as_deref(), Some("ptcp:6653"));
        for wrong in
            ["tcp:", "tcp:10.0.0.1:0", "tls:10.0.0.1", "pptcp:", "ptcp:70000", "ptcp:1:2:3", "10.0.0.1"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
