//! The router while it runs, and what clients ask of it.

use crate::captures::Captures;
use crate::channels::Channels;
use crate::drive;
use crate::log::Log;
use crate::lsp_tests::LspTests;
use crate::names;
use crate::probes::{Asked, Probes};
use crate::process;
use crate::protocol::{self, LspCommand, Request};
use crate::server::{ClientId, Reply};
use base::Time;
use base::describe::{self, Describe};
use base::table::Table;
use control::rsvp::Rsvp;
use engine::Fault;
use network::{Network, PacketSpec, TePathsSpec};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the router told that is kept for the table of events.
const EVENTS_KEPT: usize = 10_000;
/// Rows of an answer from which on the memory that it took is given back.
const LARGE_ROWS: usize = 1_000;

type Answer = Result<Value, String>;

/// One router as a process: its part of the network, and what clients wait for.
pub struct Instance {
    /// The network of which it is a part.
    pub network: Network,
    /// Its place in the description.
    pub node: usize,
    /// The last lines that it said on standard error, for table `log`.
    pub log: Log,
    /// Pings and traces whose answers clients wait for.
    pub probes: Probes,
    /// Tests of LSPs whose answers clients wait for.
    pub lsp_tests: LspTests,
    /// Captures whose files are being written.
    pub captures: Captures,
    /// Connections to controllers, if it is a switch.
    pub channels: Option<Channels>,
    /// Where it is recorded.
    pub recording: Option<PathBuf>,
    /// Calendar time of its start, in seconds since 1970.
    up_since: f64,
    /// A client wants it to end.
    pub stopped: bool,
    /// How many clients there are.
    pub clients: usize,
    /// There was a large answer: memory is to be given back.
    pub trim: bool,
    /// When what is old is to be forgotten.
    pub forget_at: Time,
}

/// What a client wrote, to be read as a description.
fn described(value: &Value) -> Result<describe::Value, String> {
    serde_json::to_value(value).and_then(serde_json::from_value).map_err(text)
}

fn text(error: impl ToString) -> String {
    crate::log::one_line(&error.to_string())
}

impl Instance {
    /// A router that has not run yet.
    pub fn new(network: Network, node: usize, log: Log) -> Instance {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Instance {
            network,
            node,
            log,
            probes: Probes::default(),
            lsp_tests: LspTests::default(),
            captures: Captures::default(),
            channels: None,
            recording: None,
            up_since: since.map_or(0.0, |since| since.as_secs_f64()),
            stopped: false,
            clients: 0,
            trim: false,
            forget_at: Time::ZERO,
        }
    }

    /// Name of its node in the description.
    pub fn name(&self) -> &str {
        &self.network.description().nodes[self.node].name
    }

    /// Takes what the router told since the last call.
    pub fn listen(&mut self) {
        let Instance { network, probes, .. } = self;
        network.hear(EVENTS_KEPT, |record| probes.hear(record));
    }

    /// Answers a request line of a client, at once or later.
    pub fn handle(&mut self, client: ClientId, line: &[u8]) -> Reply {
        let request = match protocol::parse(line) {
            Ok(request) => request,
            Err(sentence) => return Reply::Now(Err(sentence)),
        };
        let asked = match request {
            Request::Ping(ping) => self.address(&ping.to).map(|to| Asked {
                to,
                ttls: ping.ttl..=ping.ttl,
                tail: None,
                trace: false,
                timeout_s: ping.timeout_s,
            }),
            Request::Traceroute(trace) => self.end_of(&trace.to).map(|(to, tail)| Asked {
                to,
                ttls: 1..=trace.hops,
                tail,
                trace: true,
                timeout_s: trace.timeout_s,
            }),
            Request::TestLsp(asked) => return self.test_lsp(client, asked),
            Request::Table(name) if name == "log" => return Reply::Now(Ok(self.log.table())),
            Request::Table(name) => return Reply::Table(self.table(&name)),
            other => return Reply::Now(self.carry_out(other)),
        };
        match asked.and_then(|asked| self.probes.send(&mut self.network, self.node, client, asked)) {
            Ok(()) => Reply::Later,
            Err(sentence) => Reply::Now(Err(sentence)),
        }
    }

    fn test_lsp(&mut self, client: ClientId, asked: Map<String, Value>) -> Reply {
        let asked = described(&Value::Object(asked));
        let begun =
            asked.and_then(|asked| self.lsp_tests.begin(&mut self.network, self.node, client, &asked));
        match begun {
            Ok(()) => Reply::Later,
            Err(sentence) => Reply::Now(Err(sentence)),
        }
    }

    fn carry_out(&mut self, request: Request) -> Answer {
        match request {
            Request::Command(command) => self.command(command),
            Request::AddLsp(spec) => self.add_lsp(spec),
            Request::Fault(spec) => self.fault(spec),
            Request::Heal => {
                self.network.heal_all().map_err(text)?;
                Ok(Value::Null)
            }
            Request::Capture(asked) => {
                let calendar = drive::calendar_ns(&self.network);
                self.captures.begin(&mut self.network, &asked, calendar)
            }
            Request::CaptureStop(number) => self.captures.end(&mut self.network, number),
            Request::Path(packet) => self.path(packet),
            Request::TePaths(asked) => self.te_paths(asked),
            Request::Status => Ok(self.status()),
            Request::Stop => {
                self.stopped = true;
                Ok(Value::Null)
            }
            Request::BreakLabel(fault) => {
                self.network.break_label(self.node, fault.label, fault.out).map_err(text)?;
                Ok(Value::Null)
            }
            Request::Ping(_) | Request::Traceroute(_) | Request::TestLsp(_) | Request::Table(_) => {
                Ok(Value::Null)
            }
        }
    }

    fn table(&mut self, name: &str) -> Result<Table, String> {
        self.listen();
        let table = self.network.table(name, Some(self.node)).map_err(text)?;
        self.trim |= table.len() > LARGE_ROWS;
        Ok(table)
    }

    /// What decides on a packet that comes to this router.
    fn path(&mut self, packet: Map<String, Value>) -> Answer {
        let packet = PacketSpec::read(&described(&Value::Object(packet))?);
        let packet = packet.map_err(|error| format!("path: {error}"))?;
        let table = self.network.path(self.node, &packet).map_err(text)?;
        network::tables::json(&table).map_err(text)
    }

    /// The best paths from this router by what it knows of traffic engineering.
    fn te_paths(&mut self, asked: Map<String, Value>) -> Answer {
        let asked = TePathsSpec::read(&described(&Value::Object(asked))?);
        let asked = asked.map_err(|error| format!("te_paths: {error}"))?;
        let table = self.network.te_paths(self.node, &asked).map_err(text)?;
        network::tables::json(&table).map_err(text)
    }

    /// A group of LSPs that begins here.
    fn own_lsps(&self, name: &str) -> Result<usize, String> {
        let group = self.network.find_lsp(name).ok_or(format!("no LSP is named '{name}'"))?;
        match self.network.lsp_spec(group) {
            Some(spec) if spec.from != self.node => {
                let from = &self.network.description().nodes[spec.from].name;
                Err(format!("lsp '{name}' begins at '{from}', not at '{}'", self.name()))
            }
            _ => Ok(group),
        }
    }

    fn command(&mut self, command: LspCommand) -> Answer {
        let group = self.own_lsps(&command.lsp)?;
        let routes = match &command.routes {
            None if command.what == "route" => return Err("route: 'routes' is needed".into()),
            None => None,
            Some(_) if !matches!(command.what.as_str(), "route" | "signal") => {
                return Err(format!("{}: takes no routes", command.what));
            }
            Some(routes) => {
                let read = self.network.read_routes(&described(routes)?);
                Some(read.map_err(|error| format!("routes: {error}"))?)
            }
        };
        let at = command.at.map_or(self.network.now(), Time);
        self.network.lsp_command_at(at, group, &command.what, routes).map_err(text)?;
        Ok(Value::Null)
    }

    fn add_lsp(&mut self, mut spec: Map<String, Value>) -> Answer {
        spec.entry("from").or_insert_with(|| self.name().into());
        let spec = self.network.read_lsp(&described(&Value::Object(spec))?);
        let spec = spec.map_err(|error| format!("add-lsp: {error}"))?;
        if spec.from != self.node {
            return Err(format!("an LSP that is added here begins at '{}'", self.name()));
        }
        if self.network.find_lsp(&spec.name).is_some() {
            return Err(format!("lsp '{}': there is one of that name", spec.name));
        }
        let group = self.network.add_lsp(spec).map_err(text)?;
        Ok(json!({"lsps": group}))
    }

    /// A fault of the engine's, with its link or node by name or place, and perhaps `for_s` in place of an end. With
    /// `end` such a fault ends then; with a `mark` only the one that began with it. That a node in another process goes
    /// down or comes up is told here, too, since the links to it go with it.
    fn fault(&mut self, mut spec: Map<String, Value>) -> Answer {
        let now = self.network.world().now();
        if let Some(link) = spec.get("link") {
            let link = names::link(&self.network, link)?;
            let id = self.network.link_id(link).map_err(text)?;
            spec.insert("link".into(), Value::from(id.0));
        }
        let at = spec.entry("at").or_insert(Value::from(now.0)).as_u64().unwrap_or(now.0).max(now.0);
        if let Some(seconds) = spec.remove("for_s") {
            let span = seconds.as_f64().filter(|s| *s >= 0.0 && *s < 1e6);
            let span = span.ok_or(format!("for_s {seconds}: a number of seconds is needed"))?;
            spec.insert("until".into(), Value::from(at.saturating_add((span * 1e12) as u64)));
        }
        if let Some(node) = spec.get("node") {
            let node = names::node(&self.network, node)?;
            let what = spec.get("fault").and_then(Value::as_str);
            let takes_links = matches!(what, Some("node-down" | "node-up"));
            if node != self.node && !takes_links {
                return Err(format!("fault: '{}' is not in this process", self.network.node_name(node)));
            }
            spec.insert("node".into(), Value::from(node));
        }
        let ends = spec.remove("end").is_some_and(|end| end == Value::Bool(true));
        let mark = spec.remove("mark").and_then(|mark| mark.as_u64());
        let fault = Fault::deserialize(Value::Object(spec)).map_err(|error| format!("fault: {error}"))?;
        match (ends, mark) {
            (true, mark) => self.network.end_fault(fault.at, fault.kind, mark),
            (false, Some(mark)) => self.network.fault_marked(fault.at, fault.kind, fault.until, mark),
            (false, None) => self.network.fault(fault),
        }
        .map_err(text)?;
        Ok(Value::Null)
    }

    /// An address, as it is or of a node.
    fn address(&self, to: &str) -> Result<IpAddr, String> {
        if let Ok(address) = to.parse() {
            return Ok(address);
        }
        let node = names::named_node(&self.network, to);
        let node = node.map_err(|_| format!("'{to}' is neither an address nor the name of a node"))?;
        Ok(self.network.loopback(node).into())
    }

    /// Where packets to an address, to a node, or over an LSP go, and the router that the LSP ends at.
    fn end_of(&self, to: &str) -> Result<(IpAddr, Option<usize>), String> {
        if let Ok(address) = self.address(to) {
            return Ok((address, None));
        }
        if self.network.find_lsp(to).is_none() {
            return Err(format!("'{to}' is no address, and neither a node nor an LSP has that name"));
        }
        let group = self.own_lsps(to)?;
        let (_, address) = self.network.tunnel(group, 0).ok_or(format!("lsp '{to}': it is empty"))?;
        Ok((address.into(), self.network.lsp_spec(group).map(|spec| spec.to)))
    }

    fn status(&mut self) -> Value {
        let ports = drive::rows(&mut self.network, "interfaces");
        let lateness = drive::rows(&mut self.network, "lateness");
        let rsvp = self.network.protocol::<Rsvp>(self.node);
        let tunnels = || rsvp.into_iter().flat_map(Rsvp::tunnels);
        let up = tunnels().filter(|tunnel| tunnel.active.is_some()).count();
        let through = rsvp.map_or(0, |rsvp| rsvp.audit().lsps);
        json!({
            "node": self.name(),
            "pid": std::process::id(),
            "version": env!("CARGO_PKG_VERSION"),
            "up_since": self.up_since,
            "now_ps": self.network.now().0,
            "tunnels": {"up": up, "down": tunnels().count() - up},
            "lsps": through,
            "ports": ports,
            "lateness": lateness,
            "rss_bytes": process::resident_bytes(),
            "cpu_s": process::cpu_seconds(),
            "clients": self.clients,
            "recording": self.recording,
            "captures": self.captures.status(&self.network),
        })
    }
}
