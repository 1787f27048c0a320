//! What users write of the controllers of a switch.

use base::describe::{Describe, Schema, Schemas, Value, malformed};
use base::diagnostic::Diagnostic;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr};
use node::switch::Controller;
use wire::openflow::PORT;

/// A controller, as Open vSwitch writes it: `tcp:ADDRESS[:PORT]` to connect to, `ptcp:[PORT][:ADDRESS]` to listen at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerSpec(pub Controller);

const FORM: &str = "a controller such as tcp:127.0.0.1:6653, or ptcp:6653 to listen for one";

fn parse(text: &str) -> Option<Controller> {
    let (method, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut parts = rest.split(':');
    let (first, second) = (parts.next().unwrap_or(""), parts.next());
    if parts.next().is_some() {
        return None;
    }
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port != 0);
    let address = |text: &str| text.parse::<Ipv4Addr>().ok().map(IpAddr::from);
    match method {
        "tcp" => Some(Controller::Connect(address(first)?, second.map_or(Some(PORT), port)?)),
        "ptcp" => {
            let port = if first.is_empty() { PORT } else { port(first)? };
            let at = second.map(|text| address(text).ok_or(())).transpose().ok()?;
            Some(Controller::Listen(at, port))
        }
        _ => None,
    }
}

impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Controller::Connect(address, port) => write!(f, "tcp:{address}:{port}"),
            Controller::Listen(None, port) => write!(f, "ptcp:{port}"),
            Controller::Listen(Some(address), port) => write!(f, "ptcp:{port}:{address}"),
        }
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
        for text in ["tcp:10.0.0.1:6633", "ptcp:6653", "ptcp:6653:127.0.0.1"] {
            assert_eq!(read(text).as_deref(), Some(text));
        }
        assert_eq!(read("tcp:10.0.0.1").as_deref(), Some("tcp:10.0.0.1:6653"));
        assert_eq!(read("ptcp:").as_deref(), Some("ptcp:6653"));
        for wrong in ["tcp:", "tcp:10.0.0.1:0", "ssl:10.0.0.1", "ptcp:70000", "ptcp:1:2:3", "10.0.0.1"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
