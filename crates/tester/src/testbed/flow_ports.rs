//! UDP ports of flows: those that the user names, else a source port of its own for each flow of a node.
//!
//! Addresses, protocol and ports tell a queue by flows, or a filter by ports, which packets belong together. Flows have
//! source ports from the dynamic range, which mean nothing to anybody else (RFC 6335, 6), and the port of test packets
//! as destination. A flow added later changes the ports of no other.

use super::place::OfFlow;
use super::{Flow, Testbed};
use crate::packet::Ports;
use crate::problem::{TrafficAdvice, TrafficProblem};
use base::diagnostic::Diagnostic;
use base::table::{Rows, Table};
use std::collections::{BTreeMap, BTreeSet};
use wire::measurement;

/// The first of the dynamic ports.
pub const FIRST: u16 = 49_152;
/// How many there are.
const COUNT: u32 = 65_536 - FIRST as u32;

/// A port that the user names, if it is one: none has the number zero (RFC 6335, 6).
pub fn port(given: Option<u32>, key: &'static str) -> Result<Option<u16>, Diagnostic> {
    let Some(number) = given else { return Ok(None) };
    match u16::try_from(number) {
        Ok(port) if port > 0 => Ok(Some(port)),
        _ => Err(Diagnostic::new(TrafficProblem::Port { key, number }).at(key).on_key()),
    }
}

/// The source ports of the flows of each node.
#[derive(Debug, Default)]
pub struct SourcePorts {
    /// Those in use, by node.
    used: BTreeSet<(usize, u16)>,
    /// How many were tried in turn, by node.
    tried: BTreeMap<usize, u32>,
}

impl SourcePorts {
    /// The source port of the next flow of a node: the one that it has `chosen`, else the next dynamic one that none
    /// has. When all have been given, it begins again.
    pub fn take(&mut self, node: usize, chosen: Option<u16>) -> u16 {
        let port = chosen.unwrap_or_else(|| self.next(node));
        self.used.insert((node, port));
        port
    }

    fn next(&mut self, node: usize) -> u16 {
        let tried = self.tried.entry(node).or_default();
        loop {
            let port = FIRST + (*tried % COUNT) as u16;
            let again = *tried >= COUNT;
            *tried = if again { COUNT + (*tried + 1) % COUNT } else { *tried + 1 };
            if port != measurement::PORT && (again || !self.used.contains(&(node, port))) {
                return port;
            }
        }
    }
}

base::table! {
    /// The flows of measured traffic, and the UDP ports of their packets.
    pub struct FlowRow<'a> in "flows" key ["flow"] {
        /// The flow, by its place in the description.
        flow: usize,
        /// Its name.
        name: &'a str,
        /// The node that sends.
        from: &'a str,
        /// The node that receives.
        to: &'a str,
        /// UDP source port.
        src_port: u16,
        /// UDP destination port.
        dst_port: u16,
    }
}

/// The flows, or the one that is asked for, and the ports of their packets.
pub fn table(testbed: &Testbed, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    table.extend(testbed.asked_flows(only).map(|(flow, built)| FlowRow {
        flow,
        name: &built.spec.name,
        from: testbed.node_name(built.spec.from),
        to: testbed.node_name(built.spec.to),
        src_port: built.ports.src,
        dst_port: built.ports.dst,
    }));
    table.finish()
}

/// Flows between the same addresses and ports: nothing on their way can tell them apart.
pub fn alike(flows: &[Flow]) -> Vec<Diagnostic> {
    let mut by_tuple: BTreeMap<_, Vec<(usize, &Flow)>> = BTreeMap::new();
    for (index, flow) in flows.iter().enumerate() {
        let spec = &flow.spec;
        let tuple = (spec.from, flow.links, spec.over, spec.to, spec.family, flow.ports);
        by_tuple.entry(tuple).or_default().push((index, flow));
    }
    let several = by_tuple.values().filter(|flows| flows.len() > 1);
    several.filter_map(|flows| second_of(flows)).collect()
}

fn second_of(flows: &[(usize, &Flow)]) -> Option<Diagnostic> {
    let [(_, first), (index, second), more @ ..] = flows else { return None };
    let more = if more.is_empty() { String::new() } else { format!(", as have {} more", more.len()) };
    let Ports { src, dst } = first.ports;
    let alike = TrafficAdvice::Alike { src, dst, first: first.spec.name.clone(), more };
    Some(Diagnostic::new(alike).at("src_port").on_key().of_flow(*index, &second.spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_of_a_node_has_a_port_of_its_own() {
        let mut ports = SourcePorts::default();
        assert_eq!(
            (ports.take(3, None), ports.take(3, Some(FIRST + 1)), ports.take(3, None)),
            (FIRST, FIRST + 1, FIRST + 2)
        );
        assert_eq!(ports.take(4, None), FIRST, "another node has its own");
        let rest: BTreeSet<u16> = (0..COUNT - 4).map(|_| ports.take(3, None)).collect();
        assert_eq!(rest.len() as u32, COUNT - 4);
        assert!(rest.iter().all(|port| *port > FIRST + 2 && *port != measurement::PORT));
        assert_eq!(
            (ports.take(3, None), ports.take(3, None)),
            (FIRST, FIRST + 1),
            "and so on from the first"
        );
        let again: Vec<u16> = (0..2 * COUNT).map(|_| ports.take(3, None)).collect();
        assert!(again.contains(&u16::MAX) && !again.contains(&measurement::PORT));
    }

    #[test]
    fn what_is_no_port_is_refused() {
        assert_eq!(port(Some(65_535), "src_port").ok(), Some(Some(65_535)));
        for number in [0, 65_536] {
            let error = port(Some(number), "dst_port").expect_err("an error");
            assert_eq!(error.words(), format!("dst_port={number}: a UDP port is 1 to 65535"));
        }
    }
}
