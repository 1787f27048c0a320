//! A network while it is described by calls: each is read and checked at once.

use crate::describe::{object, value};
use crate::error::diagnostic;
use base::Time;
use base::describe::{Describe, Record, Value};
use base::diagnostic::Diagnostic;
use core::mem::take;
use network::spec::protocols::Protocols;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use tester::kind::KINDS;
use tester::spec::NetworkFile;
use tester::spec::draft::Draft;

/// A description that grows.
#[pyclass(name = "Draft")]
pub struct PyDraft {
    /// Never locked: a method that changes the draft has it to itself. The mutex only says so to the compiler.
    inner: Mutex<Draft>,
}

/// What stands at an end of a link: link, node, `queue` or `ingress`, and what it is.
type Placed<'py> = (usize, String, &'static str, Bound<'py, PyAny>);

/// An error about an element of a group, with the element in its place: that gives the error its words.
fn placed(py: Python<'_>, group: &str, place: usize, given: Value, error: &Diagnostic) -> PyErr {
    let mut elements = vec![Value::Null; place];
    elements.push(given);
    diagnostic(py, &Value::Map(vec![(group.into(), Value::List(elements))]), error)
}

impl PyDraft {
    fn inner(&mut self) -> &mut Draft {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends what has been described so far, which is not copied: until it is given back, nothing is.
    pub fn lend(&mut self) -> NetworkFile {
        let Draft { network, flows, tcp, events, demands, measuring } = self.inner();
        NetworkFile {
            network: network.lend(),
            flows: take(flows),
            tcp: take(tcp),
            events: take(events),
            demands: demands.take(),
            measuring: take(measuring),
        }
    }

    /// Takes back what was lent.
    pub fn take_back(&mut self, file: NetworkFile) {
        let inner = self.inner();
        inner.network.take_back(file.network);
        (inner.flows, inner.tcp, inner.events) = (file.flows, file.tcp, file.events);
        (inner.demands, inner.measuring) = (file.demands, file.measuring);
    }

    fn lent<T>(&mut self, work: impl FnOnce(&NetworkFile) -> T) -> T {
        let file = self.lend();
        let done = work(&file);
        self.take_back(file);
        done
    }

    fn of(draft: Draft) -> PyDraft {
        PyDraft { inner: Mutex::new(draft) }
    }
}

#[pymethods]
impl PyDraft {
    /// Nothing yet but what is said of the whole.
    #[new]
    fn new(py: Python<'_>, whole: &Bound<'_, PyAny>) -> PyResult<PyDraft> {
        let given = value(whole)?;
        let file = NetworkFile::read_part(&given).map_err(|error| diagnostic(py, &given, &error))?;
        Ok(PyDraft::of(Draft::of(file)))
    }

    /// What a file says.
    #[staticmethod]
    fn read(py: Python<'_>, written: &Bound<'_, PyAny>) -> PyResult<PyDraft> {
        let given = value(written)?;
        let file = py.detach(|| NetworkFile::read(&given)).map_err(|error| diagnostic(py, &given, &error))?;
        Ok(PyDraft::of(Draft::of(file)))
    }

    fn add_node(&mut self, py: Python<'_>, name: &str, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let added = self.inner().network.add_node(name, &given);
        added.map_err(|error| diagnostic(py, &Value::Null, &error))
    }

    fn set_node(&mut self, py: Python<'_>, node: usize, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let set = self.inner().network.set_node(node, &given);
        set.map_err(|error| diagnostic(py, &Value::Null, &error))
    }

    /// Adds an element to a list that is said of a node, such as its routes.
    fn extend_node(
        &mut self,
        py: Python<'_>,
        node: usize,
        key: &str,
        described: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let given = value(described)?;
        let extended = self.inner().network.extend_node(node, key, &given);
        extended.map_err(|error| diagnostic(py, &Value::Null, &error))
    }

    fn add_link(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let place = self.inner().network.ends().len();
        let added = self.inner().network.add_link(&given);
        added.map_err(|error| placed(py, "links", place, given, &error))
    }

    fn set_link(&mut self, py: Python<'_>, link: usize, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let set = self.inner().network.set_link(link, &given);
        set.map_err(|error| placed(py, "links", link, given, &error))
    }

    fn add_lsp(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let place = self.inner().network.network().spec.lsps.len();
        let added = self.inner().network.add_lsp(&given);
        added.map_err(|error| placed(py, "lsps", place, given, &error))
    }

    fn add_p2mp(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let place = self.inner().network.network().spec.p2mp.len();
        let added = self.inner().network.add_p2mp(&given);
        added.map_err(|error| placed(py, "p2mp", place, given, &error))
    }

    fn set_p2mp(&mut self, py: Python<'_>, place: usize, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let set = self.inner().network.set_p2mp(place, &given);
        set.map_err(|error| placed(py, "p2mp", place, given, &error))
    }

    fn add_flow(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let place = self.inner().flows.len();
        let added = self.inner().add_flow(&given);
        added.map_err(|error| placed(py, "flows", place, given, &error))
    }

    fn add_tcp(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let place = self.inner().tcp.len();
        let added = self.inner().add_tcp(&given);
        added.map_err(|error| placed(py, "tcp", place, given, &error))
    }

    fn add_event(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let place = self.inner().events.len();
        let added = self.inner().add_event(&given);
        added.map_err(|error| placed(py, "events", place, given, &error))
    }

    fn clear_events(&mut self) {
        self.inner().events.clear();
    }

    /// What its events ask of the routers of a lab up to a time, as JSON ([`tester::testbed::agenda`]).
    fn agenda(&mut self, until_ps: u64) -> String {
        let told = self.lent(|file| tester::testbed::agenda(file, Time(until_ps)));
        serde_json::Value::from(told).to_string()
    }

    /// Refuses events after the end of a run, and those that would do nothing.
    fn check_events(&mut self, py: Python<'_>, end_ps: u64) -> PyResult<()> {
        self.lent(|file| {
            file.check_events()
                .and_then(|()| file.check_within(Time(end_ps)))
                .map_err(|error| diagnostic(py, &file.write(), &error))
        })
    }

    fn set_flow(&mut self, py: Python<'_>, flow: usize, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let set = self.inner().set_flow(flow, &given);
        set.map_err(|error| placed(py, "flows", flow, given, &error))
    }

    /// Says which demands there are; there are none any more if nothing is given.
    #[pyo3(signature = (described=None))]
    fn set_demands(&mut self, py: Python<'_>, described: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let given = described.map(value).transpose()?;
        let set = self.inner().set_demands(given.as_ref());
        set.map_err(|error| {
            let root = Value::Map(given.map(|given| ("demands".to_string(), given)).into_iter().collect());
            diagnostic(py, &root, &error)
        })
    }

    /// How many flows the demands are in a network of so many routers.
    fn demand_flows(&mut self, routers: usize) -> u64 {
        self.inner().demands.as_ref().map_or(0, |demands| demands.flow_count(routers))
    }

    /// How many LSPs there are, how many links their routes have (one, where that is not said), those of the routes
    /// that are recorded, and the sum of the squares of the latter.
    fn lsp_sums(&mut self) -> [u64; 4] {
        let mut sums = [0; 4];
        for lsp in &self.inner().network.network().spec.lsps {
            let links = lsp.route.len().max(1) as u64;
            let recorded = if lsp.record_route { links } else { 0 };
            for (sum, one) in sums.iter_mut().zip([1, links, recorded, recorded * recorded]) {
                *sum += u64::from(lsp.count) * one;
            }
        }
        sums
    }

    /// How many routers find their routes themselves, and how many of them give labels for these.
    fn routed_sums(&mut self) -> [u64; 2] {
        let read = self.inner().network.network();
        let mut sums = [0; 2];
        for (_, node) in &read.nodes {
            let Ok(protocols) = Protocols::read_record(&node.fields, "") else { continue };
            let finds = protocols.find_routes();
            let gives = finds && protocols.setups().any(|setup| setup.gives_labels());
            sums[0] += u64::from(finds);
            sums[1] += u64::from(gives);
        }
        sums
    }

    /// Of which classes the demands are: nothing if there are none.
    fn demands(&mut self) -> Option<Vec<String>> {
        let demands = self.inner().demands.as_ref()?;
        Some(
            demands
                .classes()
                .into_iter()
                .map(|(name, _)| name.map_or_else(String::new, |name| name.to_string()))
                .collect(),
        )
    }

    /// Forgets all flows over TCP but the first.
    fn keep_tcp(&mut self, count: usize) {
        self.inner().tcp.truncate(count);
    }

    /// Forgets all flows but the first.
    fn keep_flows(&mut self, count: usize) {
        self.inner().flows.truncate(count);
    }

    /// What has been described so far, with defaults filled in: what could have been written.
    fn described<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &self.lent(NetworkFile::write))
    }

    /// The same of one element of `nodes`, `links`, `lsps`, `p2mp`, `flows`, `tcp` or `events`.
    fn element<'py>(&mut self, py: Python<'py>, group: &str, place: usize) -> PyResult<Bound<'py, PyAny>> {
        let inner = self.inner();
        let read = inner.network.network();
        let found = match group {
            "nodes" => read.nodes.get(place).map(|node| node.1.fields.clone()),
            "links" => read.spec.links.get(place).map(Describe::write),
            "lsps" => read.spec.lsps.get(place).map(Describe::write),
            "p2mp" => read.spec.p2mp.get(place).map(Describe::write),
            "flows" => inner.flows.get(place).map(Describe::write),
            "tcp" => inner.tcp.get(place).map(Describe::write),
            "events" => inner.events.get(place).map(Describe::write),
            _ => None,
        };
        object(py, &found.ok_or_else(|| PyKeyError::new_err(format!("{group} {place}")))?)
    }

    /// Says something of the whole: `seed`, `queue_bin`, `routes` or `measuring`.
    fn set_whole(&mut self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = value(described)?;
        let failed = |error: Diagnostic| diagnostic(py, &given, &error);
        let inner = self.inner();
        let whole = NetworkFile::read_part(&given).map_err(failed)?;
        inner.network.whole().seed = whole.network.spec.seed;
        inner.network.whole().queue_bin = whole.network.spec.queue_bin;
        inner.network.whole().routes = whole.network.spec.routes;
        inner.measuring = whole.measuring;
        Ok(())
    }

    /// What stands at the ends of links, with ports in the place of names: link, node, `queue` or `ingress`, and what
    /// it is.
    fn placed<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Placed<'py>>> {
        let read = self.inner().network.network();
        let mut found = Vec::new();
        for (index, link) in read.spec.links.iter().enumerate() {
            for (side, end) in link.endpoints.iter().enumerate() {
                let failed = |error: Diagnostic| placed(py, "links", index, link.write(), &error);
                let queue = read.queue_at(index, side, KINDS).map_err(failed)?.map(|tree| tree.write());
                let ingress = read.ingress_at(index, side, KINDS).map_err(failed)?.map(|spec| spec.write());
                for (key, value) in [("queue", queue), ("ingress", ingress)] {
                    if let Some(value) = value {
                        found.push((index, end.node.name.to_string(), key, object(py, &value)?));
                    }
                }
            }
        }
        Ok(found)
    }

    /// What nothing refers to: the keys that lead to it, and why.
    fn unused(&mut self) -> Vec<(Vec<String>, String)> {
        let found = self.inner().network.network().unused();
        found.iter().map(|one| (one.path().map(ToString::to_string).collect(), one.words())).collect()
    }

    /// What is said of the whole.
    fn whole<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inner = self.inner();
        let spec = &inner.network.network().spec;
        let mut whole =
            Value::Map(vec![("name".into(), spec.name.write()), ("seed".into(), spec.seed.into())]);
        if let Some(width) = spec.queue_bin {
            whole.set("queue_bin", width.write());
        }
        if let Some(routes) = spec.routes {
            whole.set("routes", routes.write());
        }
        whole.set("measuring", inner.measuring.write());
        object(py, &whole)
    }

    #[getter]
    fn event_count(&mut self) -> usize {
        self.inner().events.len()
    }

    #[getter]
    fn seed(&mut self) -> u64 {
        self.inner().network.network().spec.seed
    }

    #[getter]
    fn convention(&mut self) -> &'static str {
        self.inner().measuring.convention.word()
    }

    /// Width of the bins of queues over time, in picoseconds; nothing if none are kept.
    #[getter]
    fn queue_bin_ps(&mut self) -> Option<i64> {
        self.inner().network.network().spec.queue_bin.map(|width| width.0)
    }

    /// The links between two nodes, by their places.
    fn between(&mut self, a: usize, b: usize) -> Vec<usize> {
        self.inner().network.between(a, b).to_vec()
    }

    /// Both ends of a link as `NODE:INTERFACE`.
    fn ends(&mut self, link: usize) -> Vec<String> {
        let ends = self.inner().network.ends().get(link);
        let text =
            |end: &network::spec::reference::Endpoint| end.write().as_text().unwrap_or_default().to_string();
        ends.into_iter().flatten().map(text).collect()
    }
}
