//! A network, as the Python package sees it. Times are picoseconds; what has structure comes and goes as JSON.

use crate::capture;
use crate::describe::{object, value};
use crate::draft::PyDraft;
use crate::error::{diagnostic, input, network, of_network, run, warning};
use crate::table::PyTable;
use base::describe::{Describe, Value};
use base::diagnostic::{Diagnostic, os_text};
use base::plane::Prefix;
use base::{EventName, NodeId, Time};
use engine::external::Clock;
use engine::{Fault, Recording, ThreadsFor};
use network::kernels::Expectation;
use network::{Link, PacketSpec, Part, TePathsSpec};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tester::Testbed;
use tester::spec::NetworkFile;

/// Events between two looks at the interpreter's signals, at least and at most.
const EVENTS_A_LOOK: (u64, u64) = (1_000, 500_000);

/// So much time is to pass between them, at least and at most. An event may be a packet that is sent on, or a message
/// after which a thousand routes are chosen anew.
const LOOK: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));

/// A network. Python may use and drop it on any thread; two at once are refused.
#[pyclass(name = "Network")]
pub struct PyNetwork {
    /// Never locked: a method that changes the network has it to itself. The mutex only says so to the compiler.
    inner: Mutex<Testbed>,
    /// Events until the next look at signals.
    events_a_look: u64,
}

impl PyNetwork {
    fn inner(&mut self) -> &mut Testbed {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parse<T: DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| input(format!("{what}: {error}")))
}

#[pymethods]
impl PyNetwork {
    #[new]
    #[pyo3(signature = (description, placement=None))]
    fn new(py: Python<'_>, description: &Bound<'_, PyAny>, placement: Option<&str>) -> PyResult<PyNetwork> {
        let placement = placement.map(|text| parse("placement", text)).transpose()?;
        let make = |file: &NetworkFile| match placement {
            Some(placement) => Testbed::placed(file, placement),
            None => Testbed::new(file),
        };
        let made = match description.cast::<PyDraft>() {
            Ok(draft) => {
                let mut draft = draft.borrow_mut();
                let file = draft.lend();
                let made = py.detach(|| make(&file));
                draft.take_back(file);
                made
            }
            Err(_) => {
                let given = value(description)?;
                let file = NetworkFile::read_part(&given).map_err(|error| diagnostic(py, &given, &error))?;
                py.detach(|| make(&file))
            }
        };
        Ok(PyNetwork { inner: Mutex::new(made.map_err(network)?), events_a_look: EVENTS_A_LOOK.0 })
    }

    /// Runs to a time. Ctrl-C stops between two events and leaves the network as it is then.
    fn run_until(&mut self, py: Python<'_>, until_ps: u64) -> PyResult<()> {
        while !self.run_a_while(py, until_ps)? {}
        Ok(())
    }

    /// Runs for some tens of milliseconds towards a time; returns whether it is reached.
    fn run_a_while(&mut self, py: Python<'_>, until_ps: u64) -> PyResult<bool> {
        let begun = Instant::now();
        let reached = self.run_some(py, until_ps, self.events_a_look)?;
        let taken = begun.elapsed();
        if taken > LOOK.1 {
            self.events_a_look = (self.events_a_look / 2).max(EVENTS_A_LOOK.0);
        } else if taken < LOOK.0 && !reached {
            self.events_a_look = (2 * self.events_a_look).min(EVENTS_A_LOOK.1);
        }
        Ok(reached)
    }

    /// Runs a bounded number of events towards a time (or, in real time, a few milliseconds); returns whether it is
    /// reached.
    fn run_some(&mut self, py: Python<'_>, until_ps: u64, events: u64) -> PyResult<bool> {
        let inner = self.inner();
        let reached = py.detach(|| inner.run_some(Time(until_ps), events)).map_err(network)?;
        py.check_signals()?;
        Ok(reached)
    }

    /// Lets up to so many threads work on the network from now on, where they pay; with `always` wherever they can.
    fn set_threads(&mut self, most: usize, always: bool) {
        let least_events = if always { 0 } else { ThreadsFor::most(most).least_events };
        self.inner().world_mut().set_threads(ThreadsFor { most, least_events });
    }

    /// Lets as many threads as pay work on the network from now on, but so many at most: that is found by trying.
    fn try_threads(&mut self, most: usize) {
        self.inner().world_mut().try_threads(most, Clock::monotonic_ns);
    }

    /// How many threads worked on it at last, whether more were asked for in vain, and a sentence of why.
    fn threads(&mut self) -> (usize, bool, String) {
        let shared = self.inner().world().threads();
        (shared.count(), shared.is_refused(), shared.to_string())
    }

    fn now_ps(&mut self) -> u64 {
        self.inner().now().0
    }

    /// Time zero of a run in real time, on the system's monotonic clock.
    fn epoch_ns(&mut self) -> Option<u64> {
        self.inner().epoch_ns()
    }

    /// Lets a tester of switches speak by a connected socket of the kernel's TCP, of which it has a descriptor of its
    /// own.
    fn carry_openflow(&mut self, node: usize, socket: i32) -> PyResult<()> {
        // SAFETY: the caller holds the socket open until this has returned.
        let own = unsafe { BorrowedFd::borrow_raw(socket) }.try_clone_to_owned().map_err(run)?;
        self.inner().carry_openflow(node, own).map_err(network)
    }

    /// Forgets how late things happened so far.
    fn clear_lateness(&mut self) {
        self.inner().clear_lateness();
    }

    fn events_done(&mut self) -> u64 {
        self.inner().world().events_done()
    }

    fn add_lsp(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<usize> {
        let given = value(described)?;
        let spec = self.inner().read_lsp(&given).map_err(|error| alone(py, "lsps", given, error))?;
        self.inner().add_lsp(spec).map_err(network)
    }

    fn add_p2mp(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<usize> {
        let given = value(described)?;
        let spec = self.inner().read_p2mp(&given).map_err(|error| alone(py, "p2mp", given, error))?;
        self.inner().add_p2mp(spec).map_err(network)
    }

    /// Changes a point-to-multipoint LSP to what a description says of it.
    fn change_p2mp(&mut self, py: Python<'_>, tree: usize, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let spec = self.inner().read_p2mp(&given).map_err(|error| alone(py, "p2mp", given, error))?;
        self.inner().change_p2mp(tree, spec).map_err(network)
    }

    #[pyo3(signature = (lsps, command, routes=None))]
    fn lsp_command(
        &mut self,
        py: Python<'_>,
        lsps: usize,
        command: &str,
        routes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let routes = routes.map(value).transpose()?;
        let routes = routes.map(|given| {
            let read = self.inner().read_routes(&given);
            read.map_err(|error| diagnostic(py, &given, &error))
        });
        let routes = routes.transpose()?;
        self.inner().lsp_command(lsps, command, routes).map_err(network)
    }

    fn add_flow(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<usize> {
        let given = value(described)?;
        let spec = self.inner().read_flow(&given).map_err(|error| alone(py, "flows", given, error))?;
        self.inner().add_flow(spec).map_err(network)
    }

    fn add_tcp(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<usize> {
        let given = value(described)?;
        let spec = self.inner().read_tcp(&given).map_err(|error| alone(py, "tcp", given, error))?;
        self.inner().add_tcp(spec).map_err(network)
    }

    fn add_event(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let event = self.inner().read_event(&given);
        let event = event.map_err(|error| alone(py, "events", given.clone(), error))?;
        self.inner().add_event(&event).map_err(network)
    }

    /// Lets phases begin at these times, for flows that are added from now on.
    fn set_phases(&mut self, starts_ps: Vec<u64>) {
        self.inner().set_phases(starts_ps.into_iter().map(Time).collect());
    }

    /// Adds a step to the programme of an edge, as it is described.
    fn add_step(&mut self, py: Python<'_>, node: usize, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        self.inner().add_step(node, &given).map_err(|error| alone(py, "programme", given, error))
    }

    fn fail_link(&mut self, link: usize) -> PyResult<()> {
        self.inner().set_link(link, false).map_err(network)
    }

    fn repair_link(&mut self, link: usize) -> PyResult<()> {
        self.inner().set_link(link, true).map_err(network)
    }

    fn fault(&mut self, spec: &str) -> PyResult<()> {
        let fault: Fault = parse("fault", spec)?;
        self.inner().fault(fault).map_err(network)
    }

    /// Restarts one protocol of a router, down for so many picoseconds.
    fn restart_protocol(&mut self, node: usize, protocol: &str, down_ps: i64) -> PyResult<()> {
        self.inner().restart_protocol(node, protocol, base::Span(down_ps)).map_err(network)
    }

    fn heal_all(&mut self) -> PyResult<()> {
        self.inner().heal_all().map_err(network)
    }

    fn ping(&mut self, node: usize, to: &str, ttl: u8, sequence: u16) -> PyResult<()> {
        let to: std::net::IpAddr =
            to.parse().map_err(|_| input(format!("ping: '{to}' is neither an IPv4 nor an IPv6 address")))?;
        self.inner().ping(node, to, ttl, sequence).map_err(network)
    }

    /// Begins a test of an LSP: its number in table `lsp_probes`.
    fn test_lsp(&mut self, node: usize, asked: &str) -> PyResult<u32> {
        let asked = serde_json::from_str(asked).map_err(input)?;
        self.inner().test_lsp(node, &asked).map_err(|found| of_network(&found))
    }

    /// Has a test of an LSP ended?
    fn is_lsp_tested(&mut self, node: usize, number: u32) -> bool {
        self.inner().is_lsp_tested(node, number)
    }

    /// Has the tables of a router do something else with a label.
    #[pyo3(signature = (node, label, out=None))]
    fn break_label(&mut self, node: usize, label: u32, out: Option<u32>) -> PyResult<()> {
        self.inner().break_label(node, label, out).map_err(|found| of_network(&found))
    }

    #[pyo3(signature = (name, node=None))]
    fn table(&mut self, name: &str, node: Option<usize>) -> PyResult<PyTable> {
        self.inner().table(name, node).map(PyTable::new).map_err(network)
    }

    /// What decides on a packet from a node, as it is described, at each router of its way.
    fn path(&mut self, py: Python<'_>, node: usize, packet: &Bound<'_, PyAny>) -> PyResult<PyTable> {
        let given = value(packet)?;
        let packet = PacketSpec::read(&given).map_err(|error| diagnostic(py, &given, &error))?;
        self.inner().path(node, &packet).map(PyTable::new).map_err(network)
    }

    /// The best paths from a router by its traffic-engineering database, for what is asked.
    fn te_paths(&mut self, py: Python<'_>, node: usize, asked: &Bound<'_, PyAny>) -> PyResult<PyTable> {
        let given = value(asked)?;
        let asked = TePathsSpec::read(&given).map_err(|error| diagnostic(py, &given, &error))?;
        self.inner().te_paths(node, &asked).map(PyTable::new).map_err(network)
    }

    /// Those rows of a table that are of one flow or group of LSPs, by its place.
    fn part(&mut self, name: &str, of: usize) -> PyResult<PyTable> {
        let part = Part { of: Some(of), ..Part::default() };
        self.inner().part(name, &part).map(PyTable::new).map_err(network)
    }

    /// What happened from one time to before another, what one node told, or what has one name.
    #[pyo3(signature = (from_ps=None, until_ps=None, node=None, event=None))]
    fn events(
        &mut self,
        from_ps: Option<u64>,
        until_ps: Option<u64>,
        node: Option<usize>,
        event: Option<&str>,
    ) -> PyResult<PyTable> {
        let (from, until) = (from_ps.map(Time), until_ps.map(Time));
        let part = Part { from, until, node, event: event.map(EventName::new), ..Part::default() };
        self.inner().part("events", &part).map(PyTable::new).map_err(network)
    }

    /// The name of the node that has an address; nothing if none has.
    fn node_at(&mut self, address: &str) -> Option<String> {
        let network = &*self.inner();
        Some(network.node_name(network.node_at(address.parse().ok()?)?).to_string())
    }

    /// What is surprising about its queues, conditioners, LSPs and flows: with the data of an error each.
    fn warnings<'py>(&mut self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        self.inner().warnings().iter().map(|found| warning(py, found)).collect()
    }

    /// What only the run has shown: packets that were longer than buckets, next hops that nothing leads to; each once.
    fn found_out<'py>(&mut self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        self.inner().found_out().iter().map(|found| warning(py, found)).collect()
    }

    /// What was built at a node.
    fn node_info(&mut self, node: usize) -> PyResult<String> {
        let network = &*self.inner();
        let description = network.description();
        let spec = description.nodes.get(node);
        let spec = spec.ok_or_else(|| input(format!("node {node} of {}", description.nodes.len())))?;
        let ports = network.graph().links_of(node).map(|index| {
            let link = &network.links()[index];
            let side = link.side(node);
            json!({
                "link": index,
                "port": link.ports[side].0,
                "address": link.addresses[side].to_string(),
                "neighbor": link.addresses[1 - side].to_string(),
            })
        });
        let ports: Vec<_> = ports.collect();
        let loopback = network.loopback(node).to_string();
        let ipv6 = spec.ipv6.map(|address| address.to_string());
        Ok(json!({"name": spec.name, "loopback": loopback, "ipv6": ipv6, "ports": ports}).to_string())
    }

    /// What was built as a link.
    fn link_info(&mut self, link: usize) -> PyResult<String> {
        let links = self.inner().links();
        let known = links.get(link).ok_or_else(|| input(format!("link {link} of {}", links.len())))?;
        let mac = |node: usize, side: usize| {
            base::MacAddr::of_port(NodeId(node as u32), known.ports[side]).to_string()
        };
        let (a, b) = (known.spec.a, known.spec.b);
        Ok(json!({
            "a": a,
            "b": b,
            "link": known.id.0,
            "addresses": known.addresses.map(|address| address.to_string()),
            "ipv6": known.spec.ipv6.map(|ends| ends.map(|end| end.address.to_string())),
            "macs": [mac(a, 0), mac(b, 1)],
            "ports": known.ports.map(|port| port.0),
        })
        .to_string())
    }

    /// Begins to capture what both ports of a link send, to a pcapng file or to memory.
    #[pyo3(signature = (link, path=None, max_packets=None))]
    fn capture(&mut self, link: usize, path: Option<String>, max_packets: Option<u64>) -> PyResult<u32> {
        let link = self.inner().link_id(link).map_err(network)?;
        let spec = capture::spec(link, path, max_packets);
        Ok(self.inner().world_mut().capture(spec).map_err(run)?.0)
    }

    /// Ends a capture; returns the bytes of one to memory.
    fn capture_finish<'py>(&mut self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyBytes>> {
        let summary = self.inner().world_mut().finish_capture(engine::capture::CaptureId(id));
        Ok(capture::bytes_of(summary.map_err(run)?, py))
    }

    /// Links and nodes that are down now, by their places in the description. A node that fails takes its links along.
    fn down(&mut self) -> PyResult<(Vec<usize>, Vec<usize>)> {
        let inner = self.inner();
        let world = inner.world();
        let (mut links, mut nodes) = (Vec::new(), Vec::new());
        for (place, link) in inner.links().iter().enumerate() {
            if !world.link_is_up(link.id).map_err(run)? {
                links.push(place);
            }
        }
        for node in 0..inner.description().nodes.len() {
            if !world.node_is_up(base::NodeId(node as u32)).map_err(run)? {
                nodes.push(node);
            }
        }
        Ok((links, nodes))
    }

    /// Forgets events and counts of messages from before a time.
    fn forget_before(&mut self, time_ps: u64) {
        self.inner().forget_before(Time(time_ps));
    }

    fn digest(&mut self) -> String {
        self.inner().world().digest().to_string()
    }

    fn record(&mut self, node: usize) -> PyResult<()> {
        self.inner().record(node).map_err(network)
    }

    fn recording(&mut self, node: usize) -> PyResult<String> {
        let recording = self.inner().take_recording(node).map_err(network)?;
        serde_json::to_string(&recording).map_err(run)
    }

    /// Gives a recording to a fresh copy of its router; returns what it answered, and whether that is the same.
    fn replay(&mut self, recording: &str) -> PyResult<String> {
        let recording: Recording = parse("recording", recording)?;
        let replay = self.inner().replay(&recording).map_err(network)?;
        let outputs = replay.outputs.len() as u64;
        Ok(json!({"outputs": outputs, "digest": replay.digest, "same": replay.same}).to_string())
    }

    /// A network in which a router was given what a process recorded, and how that went.
    #[staticmethod]
    fn replay_file(py: Python<'_>, path: &str) -> PyResult<(PyNetwork, String)> {
        let failed = |error: std::io::Error| input(format!("{path}: cannot be read: {}", os_text(&error)));
        let file = std::io::BufReader::new(std::fs::File::open(path).map_err(failed)?);
        let done = py.detach(|| Testbed::replayed(file));
        let (network, done) = done.map_err(|error| input(format!("{path}: {error}")))?;
        let summary = json!({
            "node": done.node,
            "name": network.description().nodes[done.node].name,
            "inputs": done.inputs,
            "outputs": done.outputs,
            "digest": done.digest,
            "same": done.same,
            "whole": done.whole,
        });
        Ok((PyNetwork { inner: Mutex::new(network), events_a_look: EVENTS_A_LOOK.0 }, summary.to_string()))
    }

    fn peer_send(&mut self, node: usize, frame: &[u8]) -> PyResult<()> {
        self.inner().peer_send(node, frame).map_err(network)
    }

    fn peer_receive<'py>(
        &mut self,
        py: Python<'py>,
        node: usize,
    ) -> PyResult<Vec<(u64, Bound<'py, PyBytes>)>> {
        let frames = self.inner().peer_receive(node).map_err(network)?;
        Ok(frames.into_iter().map(|(at, bytes)| (at.0, PyBytes::new(py, &bytes))).collect())
    }
}

/// An error about something that is added to a network that runs.
fn alone(py: Python<'_>, group: &str, given: Value, error: Diagnostic) -> PyErr {
    let root = Value::Map(vec![(group.into(), Value::List(vec![given]))]);
    diagnostic(py, &root, &error.at(0).at(group))
}

/// A description as processes get it that do not measure: with the facts of its nodes, without what is measured.
/// How many processors this process may use.
#[pyfunction]
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

#[pyfunction]
pub fn for_processes<'py>(py: Python<'py>, description: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given = value(description)?;
    let made = tester::testbed::for_processes(given.clone());
    object(py, &made.map_err(|error| diagnostic(py, &given, &error))?)
}

/// What a lab sets a router of a kernel up with: `{"routes": [[prefix, gateway]], "expected": [{"link", "protocol",
/// "cost", "agreed": {what: value}}]}`, each of the latter for a router at the other end of a link.
fn kernel(planned: &Testbed, node: usize) -> serde_json::Value {
    let route = |(prefix, gateway): (Prefix, IpAddr)| [prefix.to_string(), gateway.to_string()];
    let expected = |one: Expectation| {
        let agreed = one.agreements.into_iter().map(|it| (it.what.to_string(), it.value.into()));
        let agreed: serde_json::Map<String, serde_json::Value> = agreed.collect();
        json!({"link": one.link, "protocol": one.protocol.name(), "cost": one.cost, "agreed": agreed})
    };
    let routes: Vec<_> = planned.kernel_routes(node).into_iter().map(route).collect();
    let expected: Vec<_> = planned.expectations(node).into_iter().map(expected).collect();
    json!({"routes": routes, "expected": expected})
}

/// What every process of a network gives its nodes and links: `{"nodes": [{"name", "loopback", "kernel"}], "links":
/// [{"addresses", "ipv6", "macs", "mtu", "longer", "ports"}]}`, addresses with the length of their prefixes, those of
/// IPv6 null where there are none, and `longer` the bytes that a frame of the medium has more than one of Ethernet; and
/// the warnings. Nothing is built that could run.
#[pyfunction]
pub fn plan<'py>(
    py: Python<'py>,
    description: &Bound<'py, PyAny>,
) -> PyResult<(String, Vec<Bound<'py, PyAny>>)> {
    let given = value(description)?;
    let file = NetworkFile::read_part(&given).map_err(|error| diagnostic(py, &given, &error))?;
    let planned = py.detach(|| Testbed::planned(&file)).map_err(network)?;
    let nodes: Vec<_> = (0..planned.description().nodes.len())
        .map(|node| {
            let kernel = planned.is_of_kernel(node).then(|| kernel(&planned, node));
            let loopback = planned.loopback(node).to_string();
            json!({"name": planned.node_name(node), "loopback": loopback, "kernel": kernel})
        })
        .collect();
    let link = |link: &Link| {
        let mac = |side: usize| base::MacAddr::of_port(NodeId(link.ends()[side] as u32), link.ports[side]);
        let macs = [0, 1].map(|side| mac(side).to_string());
        let framing = &link.spec.medium.framing;
        json!({
            "addresses": link.addresses.map(|address| format!("{address}/{}", link.prefix_len)),
            "ipv6": link.spec.ipv6.map(|ends| ends.map(|end| end.to_string())),
            "macs": macs,
            "mtu": link.spec.mtu,
            "longer": framing.typed.max(framing.llc).max(0),
            "ports": link.ports.map(|port| port.0),
        })
    };
    let links: Vec<_> = planned.links().iter().map(link).collect();
    let warnings = planned.warnings().iter().map(|found| warning(py, found)).collect();
    Ok((json!({"nodes": nodes, "links": links}).to_string(), warnings))
}
