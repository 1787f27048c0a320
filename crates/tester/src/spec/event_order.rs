//! Events beside each other: in the order of time, nothing healed that did not fail, nothing after the run.

use super::NetworkFile;
use super::event::{EventSpec, What, When, shown};
use super::problem::EventProblem;
use base::Time;
use base::describe::Name;
use base::diagnostic::{At, Diagnostic};
use network::spec::NodeWritten;

impl EventSpec {
    /// Refuses to start a flow before its own start: it would send nothing until then.
    pub(crate) fn check_start(&self, own: impl Fn(&Name) -> Option<Time>) -> Result<(), Diagnostic> {
        let (What::Start(flow), When::At(at)) = (self.what(), self.when()) else { return Ok(()) };
        match own(&flow).filter(|start| at < *start) {
            Some(start) => {
                let (flow, start) = (flow.to_string(), shown(start));
                Err(Diagnostic::new(EventProblem::StartsLater { flow, start }).at("start"))
            }
            None => Ok(()),
        }
    }

    /// When it may happen for the last time.
    pub(crate) fn last(&self) -> Time {
        self.at.or(self.until).unwrap_or(Time::MAX)
    }

    /// Refuses to heal what nothing has happened to by then, as `harmed` says; `node` and `ends` give names.
    pub(crate) fn check_heal(
        &self,
        harmed: impl Fn(&What) -> bool,
        node: impl Fn(usize) -> String,
        ends: impl Fn(usize) -> [String; 2],
    ) -> Result<(), Diagnostic> {
        let heal = self.what();
        if !heal.is_heal() || harmed(&heal) {
            return Ok(());
        }
        let what = match heal {
            What::LinkHeal(link) => {
                let [a, b] = ends(link);
                format!("the link between '{a}' and '{b}'")
            }
            What::NodeUp(place) => format!("'{}'", node(place)),
            _ => "the network".into(),
        };
        Err(Diagnostic::new(EventProblem::NothingToHeal { what }).at("heal"))
    }

    /// Refuses to make somebody else's device fail.
    pub(super) fn check_node(&self, nodes: &[(Name, NodeWritten)]) -> Result<(), Diagnostic> {
        let (What::NodeDown(node) | What::NodeUp(node) | What::Restart(node)) = self.what() else {
            return Ok(());
        };
        let Some((name, written)) = nodes.get(node) else { return Ok(()) };
        let called = match &*written.kind {
            "external" => "external",
            "peer" => "a raw port",
            "frr" => "a router of FRR",
            "bird" => "a router of BIRD",
            "ovs" => "an Open vSwitch",
            _ => return Ok(()),
        };
        let (node, called) = (name.to_string(), called.to_string());
        Err(Diagnostic::new(EventProblem::NotOurs { node, called }).at(self.action()))
    }
}

impl NetworkFile {
    /// Refuses a list in which times go back: it would be read otherwise than it happens. Streams have names as all
    /// else that a file names.
    pub(super) fn check_order(&self) -> Result<(), Diagnostic> {
        for (index, event) in self.events.iter().enumerate() {
            if let Some(stream) = event.random.as_ref().and_then(|random| random.stream.as_ref()) {
                stream.check().at("stream").at("random").at(index).at("events")?;
            }
        }
        let mut last: Option<Time> = None;
        for (index, event) in self.events.iter().enumerate() {
            let Some(at) = event.at else { continue };
            if let Some(before) = last.filter(|last| *last > at) {
                let back = EventProblem::GoesBack { at: shown(at), before: shown(before) };
                return Err(Diagnostic::new(back).at("at").at(index).at("events"));
            }
            last = Some(at);
        }
        Ok(())
    }

    /// Refuses events that would do nothing beside the others.
    pub fn check_events(&self) -> Result<(), Diagnostic> {
        self.check_heals()?;
        for (index, event) in self.events.iter().enumerate() {
            let own = |name: &Name| {
                let flow = self.flows.iter().find(|flow| flow.name() == **name).map(|flow| flow.start);
                flow.or(self.demands.as_ref().map(|demands| demands.start))
            };
            event.check_start(own).at(index).at("events")?;
        }
        Ok(())
    }

    /// Refuses to heal what nothing has happened to.
    fn check_heals(&self) -> Result<(), Diagnostic> {
        let harms: Vec<(usize, &EventSpec, What)> =
            self.events.iter().enumerate().map(|(index, event)| (index, event, event.what())).collect();
        let node = |node: usize| self.network.nodes.get(node).map_or("?", |node| &*node.0).to_string();
        let ends = |link: usize| {
            let ends = self.network.spec.links.get(link).map(|link| link.endpoints.each_ref());
            ends.map_or_else(
                || ["?", "?"].map(String::from),
                |ends| ends.map(|end| end.node.name.to_string()),
            )
        };
        for (index, event) in self.events.iter().enumerate() {
            let last = event.last();
            let is_before = |harm: usize, first: Time| {
                first < last || (first == last && (harm < index || event.at.is_none()))
            };
            let harmed = |heal: &What| {
                harms.iter().any(|(harm, of, what)| heal.heals(what) && is_before(*harm, of.first()))
            };
            event.check_heal(harmed, node, ends).at(index).at("events")?;
        }
        Ok(())
    }

    /// Refuses what happens, or ends, after the end of a run.
    pub fn check_within(&self, end: Time) -> Result<(), Diagnostic> {
        for (index, event) in self.events.iter().enumerate() {
            let times = [("at", event.at), ("from", event.from), ("until", event.until)];
            let over = |time: Option<Time>| time.filter(|time| *time > end);
            let late = times.into_iter().find_map(|(key, time)| Some((key, over(time)?)));
            if let Some((key, time)) = late {
                let after = EventProblem::AfterTheRun { time: shown(time), end: shown(end) };
                return Err(Diagnostic::new(after).at(key).at(index).at("events"));
            }
            if let Some(time) = over(event.at.zip(event.lasts).map(|(at, lasts)| at + lasts)) {
                let after = EventProblem::EndsAfterTheRun { time: shown(time), end: shown(end) };
                return Err(Diagnostic::new(after).at("for").at(index).at("events"));
            }
        }
        Ok(())
    }
}

impl What {
    /// Does it end what happened to a link, a node, or all of them?
    pub fn is_heal(&self) -> bool {
        matches!(self, What::LinkHeal(_) | What::NodeUp(_) | What::HealAll)
    }

    /// Does it end what another event did?
    pub(crate) fn heals(&self, harm: &What) -> bool {
        !harm.is_heal()
            && match self {
                What::LinkHeal(link) => harm.link() == Some(*link),
                What::NodeUp(node) => harm.node() == Some(*node),
                What::HealAll => harm.link().or(harm.node()).is_some(),
                _ => false,
            }
    }

    /// The link that it is about.
    pub fn link(&self) -> Option<usize> {
        match self {
            What::LinkDown(link)
            | What::LinkHeal(link)
            | What::Loss((link, _), _)
            | What::Corruption((link, _), ..)
            | What::Duplication((link, _), _)
            | What::Reordering((link, _), ..)
            | What::Delay((link, _), ..)
            | What::Rate((link, _), _) => Some(*link),
            _ => None,
        }
    }

    /// The node that it is about.
    pub fn node(&self) -> Option<usize> {
        match self {
            What::NodeDown(node) | What::NodeUp(node) | What::Restart(node) => Some(*node),
            _ => None,
        }
    }
}
