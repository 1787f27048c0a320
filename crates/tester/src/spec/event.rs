//! What is done to a network while it runs, as users write it: when, and what.

use super::ends::Lsps;
use super::problem::EventProblem;
use base::describe::{Describe, Name, Record, Schema, Schemas, Value, malformed, near, wrong_type};
use base::diagnostic::{At, Diagnostic};
use base::{Rate, Span, Time};
use network::spec::link_of;
use network::spec::reference::{Endpoint, Names, NodeRef};

/// What `heal` says of everything.
pub const ALL: &str = "all";

/// For how long a node that restarts is down, unless the event says it.
pub const RESTART: Span = Span::from_secs(1);

/// A part of a whole, 0 to 1: `1 %` or `0.01`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share(pub f64);

impl Describe for Share {
    fn read(value: &Value) -> Result<Share, Diagnostic> {
        let form = "a share such as '1 %' or 0.01";
        let (number, whole) = match value {
            Value::Int(number) => (*number as f64, 1.0),
            Value::Float(number) => (*number, 1.0),
            Value::Text(text) => {
                let (number, whole) = match text.trim().strip_suffix('%') {
                    Some(number) => (number.trim_end(), 100.0),
                    None => (text.trim(), 1.0),
                };
                (number.parse::<f64>().map_err(|_| malformed(value, form))?, whole)
            }
            other => return Err(wrong_type(other, form)),
        };
        let share = number / whole;
        if !(0.0..=1.0).contains(&share) {
            return Err(EventProblem::Share { value: value.shown() }.into());
        }
        Ok(Share(share))
    }
    fn write(&self) -> Value {
        self.0.into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        let form = "a share such as 1 %";
        Schema::OneOf(vec![Schema::Number, Schema::Text { form, pattern: Some("^[0-9.eE+-]+ *%?$") }])
    }
    fn example() -> Option<&'static str> {
        Some("1 %")
    }
}

/// A link by the two nodes at its ends, or with the name of an interface where several are between them.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRef {
    /// As it was written.
    pub ends: [Endpoint; 2],
    place: Option<usize>,
    /// Was it written from the second end of the link to the first?
    is_turned: bool,
}

impl LinkRef {
    /// Its place among the links. Only of an event whose names are resolved.
    pub fn index(&self) -> usize {
        debug_assert!(self.place.is_some(), "the link is not resolved");
        self.place.unwrap_or_default()
    }

    /// Finds the link that is meant.
    fn resolve(&mut self, names: &Names, links: &[[Endpoint; 2]]) -> Result<(), Diagnostic> {
        for (side, end) in self.ends.iter_mut().enumerate() {
            end.resolve(names).at(side)?;
        }
        let [x, y] = &self.ends;
        let place = match [x, y].into_iter().position(|end| end.interface.is_some()) {
            Some(side) => {
                let link = link_of(&self.ends[side], links).at(side)?;
                let [a, b] = &links[link];
                let far = if *a == self.ends[side] { b } else { a };
                let said = &self.ends[1 - side];
                if far.node != said.node || (said.interface.is_some() && far.interface != said.interface) {
                    return Err(self.no_link(links).at(1 - side));
                }
                link
            }
            None => {
                let mut found = (0..links.len()).filter(|&link| joins(&links[link], x, y));
                match (found.next(), found.count()) {
                    (Some(link), 0) => link,
                    (Some(link), more) => {
                        let [node, other] = [x, y].map(|end| end.node.name.to_string());
                        let own = links[link].iter().find(|end| end.node == x.node).unwrap_or(x);
                        let example = own.write().as_text().unwrap_or_default().to_string();
                        return Err(EventProblem::WhichLink { node, other, count: more + 1, example }.into());
                    }
                    (None, _) => return Err(self.no_link(links)),
                }
            }
        };
        self.is_turned = links[place][0].node != self.ends[0].node;
        self.place = Some(place);
        Ok(())
    }

    fn no_link(&self, links: &[[Endpoint; 2]]) -> Diagnostic {
        let [node, other] = self.ends.each_ref().map(|end| end.write().as_text().unwrap_or("?").to_string());
        let at = &self.ends[0].node;
        let far = |[a, b]: &[Endpoint; 2]| match (&a.node == at, &b.node == at) {
            (true, _) => Some(b.node.name.clone()),
            (_, true) => Some(a.node.name.clone()),
            _ => None,
        };
        let known: Vec<Name> = links.iter().filter_map(far).collect();
        let known: Vec<&str> = known.iter().map(|name| &**name).collect();
        let hint = match near(&self.ends[1].node.name, &known) {
            hint if hint.is_empty() && (1..=8).contains(&known.len()) => {
                format!(" ('{}' has links to {})", at.name, known.join(", "))
            }
            hint => hint,
        };
        EventProblem::NoLink { node, other, hint }.into()
    }

    /// The side of the link at which a node is that sends; nothing for both.
    fn side_of(&self, sender: Option<&NodeRef>) -> Result<Option<usize>, Diagnostic> {
        let Some(sender) = sender else { return Ok(None) };
        let said = self.ends.iter().position(|end| end.node == *sender);
        let Some(said) = said else {
            let [a, b] = self.ends.each_ref().map(|end| end.node.name.to_string());
            return Err(EventProblem::NotAtLink { node: sender.name.to_string(), a, b }.into());
        };
        Ok(Some(if self.is_turned { 1 - said } else { said }))
    }
}

fn joins(link: &[Endpoint; 2], x: &Endpoint, y: &Endpoint) -> bool {
    let pair = link.each_ref().map(|end| &end.node);
    pair == [&x.node, &y.node] || pair == [&y.node, &x.node]
}

impl Describe for LinkRef {
    fn read(value: &Value) -> Result<LinkRef, Diagnostic> {
        let Value::List(ends) = value else {
            return Err(wrong_type(value, "the two ends of a link: [a, b]"));
        };
        let [a, b] = ends.as_slice() else {
            let needed = "the two ends of a link, as in [a, b]".into();
            return Err(base::describe::DescribeProblem::WrongLength { found: ends.len(), needed }.into());
        };
        let ends = [Endpoint::read(a).at(0)?, Endpoint::read(b).at(1)?];
        Ok(LinkRef { ends, place: None, is_turned: false })
    }
    fn write(&self) -> Value {
        Value::List(self.ends.iter().map(Describe::write).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::Tuple(vec![Endpoint::schema(known), Endpoint::schema(known)])
    }
    fn example() -> Option<&'static str> {
        Some("[a, b]")
    }
}

/// Something by its name, or a link by its two ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Thing {
    /// A node, an LSP, or the word `all`: what it is follows from the action.
    Named(NodeRef),
    /// A link.
    Link(LinkRef),
}

impl Describe for Thing {
    fn read(value: &Value) -> Result<Thing, Diagnostic> {
        match value {
            Value::List(_) => LinkRef::read(value).map(Thing::Link),
            Value::Map(_) | Value::Null => {
                Err(wrong_type(value, "a name, or the two ends of a link: [a, b]"))
            }
            other => NodeRef::read(other).map(Thing::Named),
        }
    }
    fn write(&self) -> Value {
        match self {
            Thing::Named(name) => name.write(),
            Thing::Link(link) => link.write(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::OneOf(vec![Name::schema(known), LinkRef::schema(known)])
    }
    fn example() -> Option<&'static str> {
        Some("[a, b]")
    }
}

base::record! {
    /// When something happens at random: gaps are exponentially distributed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RandomSpec {
        /// Mean of the gaps.
        pub mean: Span, in 1..=9_223_372_036_854_775_807;
        /// Random stream that the gaps are drawn from: events with one stream happen at the same times.
        pub stream: Option<Name>, absent "one of the event's own, by its place";
    }
}

base::record! {
    /// Frames that get lost, or arrive twice.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LossSpec {
        /// Link, by its two ends.
        pub on: LinkRef;
        /// Share of the frames, 0 to 1 or in percent; zero takes it away.
        pub share: Share;
        /// Node that sends in the direction that is disturbed.
        pub from: Option<NodeRef>, absent "both directions";
    }
}

base::record! {
    /// Bits that are inverted, so that the receiver drops the frame.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CorruptionSpec {
        /// Link, by its two ends.
        pub on: LinkRef;
        /// Share of the bits (bit error rate); zero takes it away.
        pub share: Share;
        /// Receivers take the frames with their wrong bits.
        pub deliver: bool = false;
        /// Node that sends in the direction that is disturbed.
        pub from: Option<NodeRef>, absent "both directions";
    }
}

base::record! {
    /// Frames that are held back, so that others overtake them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ReorderingSpec {
        /// Link, by its two ends.
        pub on: LinkRef;
        /// Share of the frames, 0 to 1 or in percent; zero takes it away.
        pub share: Share;
        /// How long they are held back.
        pub by: Span = Span::from_ms(1), in 0..=9_223_372_036_854_775_807;
        /// Node that sends in the direction that is disturbed.
        pub from: Option<NodeRef>, absent "both directions";
    }
}

base::record! {
    /// Delay of all frames, in addition to the link's own.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DelaySpec {
        /// Link, by its two ends.
        pub on: LinkRef;
        /// How much longer at least.
        pub extra: Span, in 0..=9_223_372_036_854_775_807;
        /// How much longer than that at most, evenly distributed.
        pub jitter: Span = Span::ZERO, in 0..=9_223_372_036_854_775_807;
        /// Node that sends in the direction that is disturbed.
        pub from: Option<NodeRef>, absent "both directions";
    }
}

base::record! {
    /// A limit to the rate of a link's ports.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RateSpec {
        /// Link, by its two ends.
        pub on: LinkRef;
        /// Rate at which its ports send at most.
        pub limit: Rate, in 1..=9_223_372_036_854_775_807;
        /// Node that sends in the direction that is slowed down.
        pub from: Option<NodeRef>, absent "both directions";
    }
}

base::record! {
    /// Something that is done to the network while it runs: a time of one form, and one action.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct EventSpec {
        /// When it happens, once.
        pub at: Option<Time>;
        /// How often it happens.
        pub every: Option<Span>, in 1..=9_223_372_036_854_775_807;
        /// It happens at random times.
        pub random: Option<RandomSpec>;
        /// With `every`, when it happens first; with `random`, when the first gap begins.
        pub from: Option<Time>, absent "the start of the run";
        /// With `every` and `random`, it does not happen after this.
        pub until: Option<Time>, absent "the end of the run";
        /// With `every` and `random`, how many times it happens.
        pub times: Option<u64>, in 1..=1_000_000_000, absent "without limit";
        /// How long it lasts: then what failed comes back, a disturbance is over, an LSP that was torn down is
        /// signalled, a flow that was started stops.
        pub lasts as "for": Option<Span>, in 0..=9_223_372_036_854_775_807, absent "until something else ends it";
        /// A link that is cut, by its two ends, or a node that goes down, and its links with it.
        pub fail: Option<Thing>;
        /// A link or a node that is mended, with all that disturbs it, or `all`.
        pub heal: Option<Thing>;
        /// A node that goes down, and restarts without its state after the time of `for`, or 1 s. Its links stay up.
        pub restart: Option<NodeRef>;
        /// Frames get lost, each independently.
        pub loss: Option<LossSpec>;
        /// Bits are inverted, each independently.
        pub corruption: Option<CorruptionSpec>;
        /// Frames arrive twice.
        pub duplication: Option<LossSpec>;
        /// Frames are overtaken by others.
        pub reordering: Option<ReorderingSpec>;
        /// Frames take longer.
        pub delay: Option<DelaySpec>;
        /// A link becomes slower.
        pub rate: Option<RateSpec>;
        /// An LSP that is torn down and signalled again, at once or after the time of `for`; or a link that goes down
        /// for that time.
        pub flap: Option<Thing>;
        /// LSPs that are signalled.
        pub signal: Option<Name>;
        /// LSPs that are torn down.
        pub tear: Option<Name>;
        /// A flow that begins to send; if nothing stopped it before, it does not send from the start. Or demands: all
        /// of them (`demands`), those of a class, or those of a pair of nodes such as `a-b`.
        pub start: Option<Name>;
        /// A flow that stops sending, or demands.
        pub stop: Option<Name>;
    }
    check EventSpec::check;
}

/// Keys of times; all others are actions.
const TIMES: usize = 7;

/// At which times an action is carried out: once, at regular times, or at random ones.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// Once.
    At(Time),
    /// First then, and again after each span.
    Every(Time, Span),
    /// The first gap begins then; the gaps have this mean, and are drawn from the stream of this name.
    Random(Time, Span, Option<Name>),
}

/// Which end of a link sends, if not both do: the first (0) or the second (1).
pub type Side = Option<usize>;

/// What happens, with its parts by their places.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A link is cut.
    LinkDown(usize),
    /// A node goes down.
    NodeDown(usize),
    /// A link is healed.
    LinkHeal(usize),
    /// A node comes up.
    NodeUp(usize),
    /// Everything is healed.
    HealAll,
    /// A node restarts.
    Restart(usize),
    /// Frames of a link get lost.
    Loss((usize, Side), f64),
    /// Bits are inverted, and perhaps delivered.
    Corruption((usize, Side), f64, bool),
    /// Frames arrive twice.
    Duplication((usize, Side), f64),
    /// Frames are held back for a span.
    Reordering((usize, Side), f64, Span),
    /// Frames take longer: at least, and how much more at most.
    Delay((usize, Side), Span, Span),
    /// Ports send at most at this rate.
    Rate((usize, Side), Rate),
    /// An LSP is torn down and signalled.
    Flap(Name),
    /// An LSP is signalled.
    Signal(Name),
    /// An LSP is torn down.
    Tear(Name),
    /// A flow begins to send.
    Start(Name),
    /// A flow stops sending.
    Stop(Name),
}

impl EventSpec {
    /// The keys of actions.
    pub fn actions() -> Vec<&'static str> {
        <EventSpec as Record>::keys().split_off(TIMES)
    }

    /// The keys of the actions that it has.
    fn said(&self) -> Vec<&'static str> {
        let Value::Map(entries) = self.write_record() else { return Vec::new() };
        let is_said = |key: &&'static str| entries.iter().any(|entry| entry.0 == *key);
        EventSpec::actions().into_iter().filter(is_said).collect()
    }

    /// The key of its action.
    pub fn action(&self) -> &'static str {
        self.said().first().copied().unwrap_or("")
    }

    /// When it happens.
    pub fn when(&self) -> When {
        let from = self.from.unwrap_or(Time::ZERO);
        match (&self.every, &self.random) {
            (Some(every), _) => When::Every(from, *every),
            (_, Some(random)) => When::Random(from, random.mean, random.stream.clone()),
            _ => When::At(self.at.unwrap_or(Time::ZERO)),
        }
    }

    /// When it happens first, or at the earliest.
    pub fn first(&self) -> Time {
        self.at.or(self.from).unwrap_or(Time::ZERO)
    }

    /// Looks at fields together.
    fn check(&self) -> Result<(), Diagnostic> {
        let actions = self.said();
        match actions[..] {
            [] => return Err(EventProblem::NoAction { known: EventSpec::actions().join(", ") }.into()),
            [_] => {}
            [first, second, ..] => {
                let (first, second) = (first.to_string(), second.to_string());
                return Err(Diagnostic::new(EventProblem::TwoActions { first, second: second.clone() })
                    .at(second)
                    .on_key());
            }
        }
        let forms =
            [("at", self.at.is_some()), ("every", self.every.is_some()), ("random", self.random.is_some())];
        let mut forms = forms.into_iter().filter(|form| form.1).map(|form| form.0);
        match (forms.next(), forms.next()) {
            (None, _) => return Err(EventProblem::NoTime {}.into()),
            (Some(first), Some(second)) => {
                return Err(Diagnostic::new(EventProblem::TwoTimes { first, second }).at(second).on_key());
            }
            _ => {}
        }
        let bounds =
            [("from", self.from.is_some()), ("until", self.until.is_some()), ("times", self.times.is_some())];
        if let Some((key, _)) = bounds.into_iter().find(|bound| bound.1 && self.at.is_some()) {
            return Err(Diagnostic::new(EventProblem::OfOnce { key }).at(key).on_key());
        }
        if let Some(until) = self.until.filter(|until| *until < self.first()) {
            let [until, from] = [until, self.first()].map(shown);
            return Err(Diagnostic::new(EventProblem::EndsFirst { until, from }).at("until"));
        }
        if self.heal.is_some() && self.lasts.is_some() {
            return Err(Diagnostic::new(EventProblem::HealFor {}).at("for").on_key());
        }
        if matches!(self.flap, Some(Thing::Link(_))) && self.lasts.is_none() {
            return Err(Diagnostic::new(EventProblem::FlapOfLink {}).at("flap"));
        }
        Ok(())
    }

    /// Finds what it names.
    pub fn resolve(
        &mut self,
        names: &Names,
        links: &[[Endpoint; 2]],
        lsps: &impl Lsps,
        flows: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<(), Diagnostic> {
        if let Some(thing) = &mut self.fail {
            thing.resolve(names, links).at("fail")?;
        }
        match &mut self.heal {
            Some(Thing::Named(node)) if &*node.name == ALL => {}
            Some(thing) => thing.resolve(names, links).at("heal")?,
            None => {}
        }
        if let Some(Thing::Link(link)) = &mut self.flap {
            link.resolve(names, links).at("flap")?;
        }
        if let Some(node) = &mut self.restart {
            node.resolve(names).at("restart")?;
        }
        if let Some(spec) = &mut self.loss {
            disturbed(&mut spec.on, &mut spec.from, names, links).at("loss")?;
        }
        if let Some(spec) = &mut self.duplication {
            disturbed(&mut spec.on, &mut spec.from, names, links).at("duplication")?;
        }
        if let Some(spec) = &mut self.corruption {
            disturbed(&mut spec.on, &mut spec.from, names, links).at("corruption")?;
        }
        if let Some(spec) = &mut self.reordering {
            disturbed(&mut spec.on, &mut spec.from, names, links).at("reordering")?;
        }
        if let Some(spec) = &mut self.delay {
            disturbed(&mut spec.on, &mut spec.from, names, links).at("delay")?;
        }
        if let Some(spec) = &mut self.rate {
            disturbed(&mut spec.on, &mut spec.from, names, links).at("rate")?;
        }
        let flapped = match &self.flap {
            Some(Thing::Named(lsp)) => Some(&lsp.name),
            _ => None,
        };
        for (key, lsp) in [("flap", flapped), ("signal", self.signal.as_ref()), ("tear", self.tear.as_ref())]
        {
            if let Some(name) = lsp.filter(|name| !lsps.has(name)) {
                let hint = near(name, lsps.names());
                return Err(Diagnostic::new(EventProblem::NoLsp { name: name.to_string(), hint }).at(key));
            }
        }
        for (key, flow) in [("start", &self.start), ("stop", &self.stop)] {
            if let Some(Err(hint)) = flow.as_ref().map(|name| flows(name)) {
                let name = flow.as_ref().map(ToString::to_string).unwrap_or_default();
                return Err(Diagnostic::new(EventProblem::NoFlow { name, hint }).at(key));
            }
        }
        Ok(())
    }

    /// What happens. Only of an event whose names are resolved.
    pub fn what(&self) -> What {
        fn of(link: &LinkRef, from: &Option<NodeRef>) -> (usize, Side) {
            (link.index(), link.side_of(from.as_ref()).unwrap_or_default())
        }
        match self {
            EventSpec { fail: Some(Thing::Link(link)), .. } => What::LinkDown(link.index()),
            EventSpec { fail: Some(Thing::Named(node)), .. } => What::NodeDown(node.index()),
            EventSpec { heal: Some(Thing::Link(link)), .. } => What::LinkHeal(link.index()),
            EventSpec { heal: Some(Thing::Named(node)), .. } if &*node.name != ALL => {
                What::NodeUp(node.index())
            }
            EventSpec { flap: Some(Thing::Link(link)), .. } => What::LinkDown(link.index()),
            EventSpec { flap: Some(Thing::Named(lsp)), .. } => What::Flap(lsp.name.clone()),
            EventSpec { restart: Some(node), .. } => What::Restart(node.index()),
            EventSpec { loss: Some(s), .. } => What::Loss(of(&s.on, &s.from), s.share.0),
            EventSpec { duplication: Some(s), .. } => What::Duplication(of(&s.on, &s.from), s.share.0),
            EventSpec { corruption: Some(s), .. } => {
                What::Corruption(of(&s.on, &s.from), s.share.0, s.deliver)
            }
            EventSpec { reordering: Some(s), .. } => What::Reordering(of(&s.on, &s.from), s.share.0, s.by),
            EventSpec { delay: Some(s), .. } => What::Delay(of(&s.on, &s.from), s.extra, s.jitter),
            EventSpec { rate: Some(s), .. } => What::Rate(of(&s.on, &s.from), s.limit),
            EventSpec { signal: Some(name), .. } => What::Signal(name.clone()),
            EventSpec { tear: Some(name), .. } => What::Tear(name.clone()),
            EventSpec { start: Some(name), .. } => What::Start(name.clone()),
            EventSpec { stop: Some(name), .. } => What::Stop(name.clone()),
            _ => What::HealAll,
        }
    }
}

impl Thing {
    fn resolve(&mut self, names: &Names, links: &[[Endpoint; 2]]) -> Result<(), Diagnostic> {
        match self {
            Thing::Named(node) => node.resolve(names),
            Thing::Link(link) => link.resolve(names, links),
        }
    }
}

fn disturbed(
    on: &mut LinkRef,
    from: &mut Option<NodeRef>,
    names: &Names,
    links: &[[Endpoint; 2]],
) -> Result<(), Diagnostic> {
    on.resolve(names, links).at("on")?;
    if let Some(from) = from {
        from.resolve(names).at("from")?;
    }
    on.side_of(from.as_ref()).at("from").map(drop)
}

/// A time as people write it.
pub fn shown(time: Time) -> String {
    if time == Time::ZERO { "0 s".into() } else { time.write().as_text().unwrap_or("?").to_string() }
}
