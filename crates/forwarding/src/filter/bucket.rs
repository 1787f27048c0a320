//! Filters that constrain the same bits, and agree in them: which of them is the first for the ports of a packet.

use super::tuple::Shape;

pub(super) type Range = (u16, u16);

/// What a filter asks of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    Any,
    One,
    Range,
}

impl Ports {
    pub(super) fn of(range: Option<Range>) -> Ports {
        match range {
            None => Ports::Any,
            Some((first, last)) if first == last => Ports::One,
            Some(_) => Ports::Range,
        }
    }
    pub(super) fn key(self, port: u16) -> u64 {
        if self == Ports::One { u64::from(port) } else { 0 }
    }
}

/// A filter within a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) order: u64,
    pub(super) place: u32,
    pub(super) src_ports: Range,
    pub(super) dst_ports: Range,
}

/// The filters of one shape and key, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Bucket {
    /// Order and place of the first.
    first: (u64, u32),
    pub(super) rules: Vec<Rule>,
    /// From this port on up to that of the next step, this filter is the first.
    steps: Vec<(u16, Option<(u64, u32)>)>,
}

impl Bucket {
    #[inline]
    pub(super) fn find(&self, shape: &Shape, ports: Range) -> Option<(u64, u32)> {
        match (shape.src_ports, shape.dst_ports) {
            (Ports::Range, Ports::Range) => {
                let within = |range: Range, port: u16| range.0 <= port && port <= range.1;
                let takes = |r: &&Rule| within(r.src_ports, ports.0) && within(r.dst_ports, ports.1);
                self.rules.iter().find(takes).map(|r| (r.order, r.place))
            }
            (Ports::Range, _) | (_, Ports::Range) => {
                let port = shape.axis(ports);
                let step = self.steps.partition_point(|step| step.0 <= port).checked_sub(1)?;
                self.steps.get(step)?.1
            }
            _ => Some(self.first),
        }
    }

    pub(super) fn insert(&mut self, shape: &Shape, rule: Rule) {
        let at = self.rules.partition_point(|r| r.order < rule.order);
        self.rules.insert(at, rule);
        self.note_first();
        self.paint(shape, &rule);
    }

    pub(super) fn remove(&mut self, shape: &Shape, order: u64) {
        self.rules.retain(|r| r.order != order);
        self.note_first();
        self.steps.clear();
        for at in 0..self.rules.len() {
            let rule = self.rules[at];
            self.paint(shape, &rule);
        }
    }

    /// An empty bucket is taken out of its table.
    fn note_first(&mut self) {
        self.first = self.rules.first().map(|r| (r.order, r.place)).unwrap_or_default();
    }

    /// Makes `rule` the first on its steps, where it is.
    fn paint(&mut self, shape: &Shape, rule: &Rule) {
        let (first, last) = match (shape.src_ports, shape.dst_ports) {
            (Ports::Range, Ports::Range) => return,
            (_, Ports::Range) => rule.dst_ports,
            (Ports::Range, _) => rule.src_ports,
            _ => return,
        };
        let begin = self.cut(first);
        let end = last.checked_add(1).map_or(self.steps.len(), |next| self.cut(next));
        for step in self.steps.get_mut(begin..end).unwrap_or_default() {
            if step.1.is_none_or(|(order, _)| rule.order < order) {
                step.1 = Some((rule.order, rule.place));
            }
        }
    }

    /// Lets a step begin at `port`, and returns which.
    fn cut(&mut self, port: u16) -> usize {
        match self.steps.binary_search_by_key(&port, |step| step.0) {
            Ok(at) => at,
            Err(at) => {
                let before = at.checked_sub(1).and_then(|before| self.steps[before].1);
                self.steps.insert(at, (port, before));
                at
            }
        }
    }
}
