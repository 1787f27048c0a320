//! How a description refers to its own nodes, interfaces and links.

use base::describe::{Describe, Name, Schema, Schemas, Value, malformed};
use base::diagnostic::Diagnostic;
use std::collections::BTreeMap;

/// A node by its name, and by its place once names are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRef {
    /// As it was written.
    pub name: Name,
    place: u32,
}

/// The place of a node that nobody has looked up yet.
const UNRESOLVED: u32 = u32::MAX;

impl NodeRef {
    /// A node that is known by name and place.
    pub fn new(name: Name, place: usize) -> NodeRef {
        NodeRef { name, place: place as u32 }
    }

    /// Its place among the nodes. Only of a description whose names are resolved.
    pub fn index(&self) -> usize {
        debug_assert_ne!(self.place, UNRESOLVED, "'{}' is not resolved", self.name);
        self.place as usize
    }

    /// Finds the node that is meant.
    pub fn resolve(&mut self, names: &Names) -> Result<(), Diagnostic> {
        let place = names.find(&self.name)?;
        self.place = place as u32;
        // The text of the name is in memory once, however many refer to the node.
        if let Some(name) = names.listed.get(place) {
            self.name.clone_from(name);
        }
        Ok(())
    }
}

impl Describe for NodeRef {
    fn read(value: &Value) -> Result<NodeRef, Diagnostic> {
        Ok(NodeRef { name: Name::read(value)?, place: UNRESOLVED })
    }
    fn write(&self) -> Value {
        self.name.write()
    }
    fn schema(known: &mut Schemas) -> Schema {
        Name::schema(known)
    }
    fn example() -> Option<&'static str> {
        Some("pe1")
    }
}

/// The names of all nodes.
#[derive(Clone, Debug, Default)]
pub struct Names {
    places: BTreeMap<Name, usize>,
    listed: Vec<Name>,
}

impl Names {
    /// The names in the order of the nodes.
    pub fn new(names: impl Iterator<Item = Name>) -> Names {
        let listed: Vec<Name> = names.collect();
        let places = listed.iter().cloned().enumerate().map(|(place, name)| (name, place)).collect();
        Names { places, listed }
    }

    /// Adds the name of one more node; false if another has it.
    pub fn push(&mut self, name: Name) -> bool {
        let place = self.listed.len();
        if self.places.contains_key(&name) {
            return false;
        }
        self.places.insert(name.clone(), place);
        self.listed.push(name);
        true
    }

    /// Has a node this name?
    pub fn has(&self, name: &str) -> bool {
        self.places.contains_key(&Name(name.into()))
    }

    /// The place of a node.
    pub fn find(&self, name: &Name) -> Result<usize, Diagnostic> {
        match self.places.get(name) {
            Some(place) => Ok(*place),
            None => Err(super::problem::unknown_node(name, &self.listed)),
        }
    }
}

/// One end of a link: `NODE`, or `NODE:INTERFACE` where the interface has a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The node.
    pub node: NodeRef,
    /// Name of the interface there; e0, e1 and so on in the order of the node's links if absent.
    pub interface: Option<String>,
}

/// The name of an interface of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceName(pub String);

impl Describe for InterfaceName {
    fn read(value: &Value) -> Result<InterfaceName, Diagnostic> {
        let form = "the name of an interface: 1 to 15 characters without '/', ':' and spaces";
        match value {
            Value::Text(text) if is_interface(text) => Ok(InterfaceName(text.clone())),
            other => Err(malformed(other, form)),
        }
    }
    fn write(&self) -> Value {
        self.0.as_str().into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: "the name of an interface", pattern: None }
    }
    fn example() -> Option<&'static str> {
        Some("eth1")
    }
}

/// Linux, `dev_valid_name()`: at most 15 bytes, no `/`, `:` or space.
const INTERFACE_MAX: usize = 15;

/// Is it a name that an interface can have?
pub fn is_interface(text: &str) -> bool {
    (1..=INTERFACE_MAX).contains(&text.len())
        && !text.chars().any(|c| c.is_whitespace() || c == '/' || c == ':')
        && text != "."
        && text != ".."
}

impl Endpoint {
    /// Finds the node that is meant: the whole text may be its name, though it looks like a name with an interface.
    pub fn resolve(&mut self, names: &Names) -> Result<(), Diagnostic> {
        if let Some(interface) = &self.interface {
            let whole = format!("{}:{interface}", self.node.name);
            if names.has(&whole) {
                self.node.name = Name(whole.into());
                self.interface = None;
            }
        }
        self.node.resolve(names)
    }
}

impl Describe for Endpoint {
    fn read(value: &Value) -> Result<Endpoint, Diagnostic> {
        let form = "NODE or NODE:INTERFACE: an interface has 1 to 15 characters without '/', ':' and spaces";
        let written;
        let text = match value {
            Value::Text(text) => text.as_str(),
            Value::Int(number) => {
                written = number.to_string();
                &written
            }
            other => return Err(malformed(other, form)),
        };
        let (node, interface) = match text.rsplit_once(':') {
            Some((node, interface)) if is_interface(interface) => (node, Some(interface)),
            _ => (text, None),
        };
        if node.is_empty() {
            return Err(malformed(value, form));
        }
        let node = NodeRef { name: node.into(), place: UNRESOLVED };
        Ok(Endpoint { node, interface: interface.map(String::from) })
    }
    fn write(&self) -> Value {
        match &self.interface {
            Some(interface) => format!("{}:{interface}", self.node.name).into(),
            None => self.node.write(),
        }
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: "NODE or NODE:INTERFACE", pattern: None }
    }
    fn example() -> Option<&'static str> {
        Some("pe1:e0")
    }
}

/// A hop of an explicit route: the next node (over the best link to it), `NODE:INTERFACE` for one link of several, or a
/// link by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HopSpec {
    /// The next node.
    Node(NodeRef),
    /// The link that leads to this interface of this node; resolved to [`HopSpec::Link`].
    Interface(Box<Endpoint>),
    /// The next link, by its place among the links.
    Link(usize),
}

impl Describe for HopSpec {
    fn read(value: &Value) -> Result<HopSpec, Diagnostic> {
        if let Some(link) = value.get("link") {
            return usize::read(link).map(HopSpec::Link).map_err(|error| error.at("link"));
        }
        let end = Endpoint::read(value)?;
        Ok(if end.interface.is_some() { HopSpec::Interface(Box::new(end)) } else { HopSpec::Node(end.node) })
    }
    fn write(&self) -> Value {
        match self {
            HopSpec::Node(node) => node.write(),
            HopSpec::Interface(end) => end.write(),
            HopSpec::Link(link) => Value::Map(vec![("link".into(), (*link).into())]),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        Endpoint::schema(known)
    }
    fn example() -> Option<&'static str> {
        Some("p")
    }
}
