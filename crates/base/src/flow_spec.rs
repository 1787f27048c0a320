//! Filters of flows as users write them.

use crate::describe::{PortRange, Protocol};
use crate::diagnostic::Diagnostic;
use crate::flow::FlowFilter;
use crate::label::Dscp;
use crate::plane::IpPrefix;

crate::problems! {
    /// Why a filter can take no packet.
    pub enum FilterProblem {
        /// Ports mean nothing unless the protocol is known.
        PortsWithoutProtocol {} is Conflict, "filter-without-protocol", "ports need a protocol that has some, such as tcp";
        /// No packet has a source and a destination of different families.
        TwoFamilies {} is Conflict, "filter-two-families", "src and dst are of different families: both are of IPv4, or both of IPv6";
        /// The protocol's packets have no ports.
        NoPorts { protocol: u8 } is Conflict, "filter-no-ports", "protocol {protocol} has no ports; TCP, UDP, DCCP, SCTP and UDP-Lite have";
    }
}

crate::record! {
    /// Packets, by the fields of their headers; what is not said may be anything.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FilterSpec {
        /// Source addresses; of IPv6, too.
        pub src: Option<IpPrefix>;
        /// Destination addresses. A filter of an LSP that gives no IPv6 address takes packets of IPv4.
        pub dst: Option<IpPrefix>;
        /// IP protocol: tcp, udp, icmp and so on, or its number.
        pub protocol: Option<Protocol>;
        /// Source port, or first-last.
        pub src_ports: Option<PortRange>;
        /// Destination port, or first-last.
        pub dst_ports: Option<PortRange>;
        /// Code point, by name or number.
        pub dscp: Option<Dscp>;
    }
    check FilterSpec::check;
}

impl FilterSpec {
    /// Refuses a filter that can take no packet.
    fn check(&self) -> Result<(), Diagnostic> {
        if crate::flow::of_two_families(self.src, self.dst) {
            return Err(FilterProblem::TwoFamilies {}.into());
        }
        if self.src_ports.is_none() && self.dst_ports.is_none() {
            return Ok(());
        }
        match self.protocol {
            None => Err(FilterProblem::PortsWithoutProtocol {}.into()),
            Some(Protocol(protocol)) if !FlowFilter::WITH_PORTS.contains(&protocol) => {
                Err(Diagnostic::new(FilterProblem::NoPorts { protocol }).at("protocol"))
            }
            Some(_) => Ok(()),
        }
    }
}

impl From<FilterSpec> for FlowFilter {
    fn from(spec: FilterSpec) -> FlowFilter {
        let ports = |range: Option<PortRange>| range.map(|range| (range.first, range.last));
        FlowFilter {
            src: spec.src,
            dst: spec.dst,
            protocol: spec.protocol.map(|protocol| protocol.0),
            src_ports: ports(spec.src_ports),
            dst_ports: ports(spec.dst_ports),
            dscp: spec.dscp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::{Describe, Value};

    fn read(json: &str) -> Result<FilterSpec, String> {
        let value: Value = serde_json::from_str(json).expect("well formed");
        FilterSpec::read(&value).map_err(|error| error.to_string())
    }

    #[test]
    fn filters_are_read_as_people_write_them() {
        let spec = read(r#"{"dst": "10.2.0.0/24", "protocol": "tcp", "dst_ports": "80-443", "dscp": "EF"}"#);
        let filter = FlowFilter::from(spec.expect("a filter"));
        assert_eq!(
            (filter.protocol, filter.dst_ports, filter.dscp),
            (Some(6), Some((80, 443)), Some(Dscp::EF))
        );
        assert_eq!(FilterSpec::read(&spec_of(&filter)).map(FlowFilter::from).ok(), Some(filter));
    }

    fn spec_of(filter: &FlowFilter) -> Value {
        let ports = |range: Option<(u16, u16)>| range.map(|(first, last)| PortRange { first, last });
        FilterSpec {
            src: filter.src,
            dst: filter.dst,
            protocol: filter.protocol.map(Protocol),
            src_ports: ports(filter.src_ports),
            dst_ports: ports(filter.dst_ports),
            dscp: filter.dscp,
        }
        .write()
    }

    #[test]
    fn a_filter_that_takes_nothing_is_refused() {
        let refused = |json: &str| read(json).expect_err(json);
        assert_eq!(refused(r#"{"dst_ports": 80}"#), "ports need a protocol that has some, such as tcp");
        assert!(
            refused(r#"{"protocol": "icmp", "dst_ports": 80}"#)
                .starts_with("protocol: protocol 1 has no ports")
        );
        assert!(refused(r#"{"dst_ports": "90-80"}"#).starts_with("dst_ports: '90-80' is not a port"));
        assert!(refused(r#"{"src": "10.2.0.1/24"}"#).ends_with("(did you mean '10.2.0.0/24'?)"));
        assert!(refused(r#"{"protocol": "tpc"}"#).starts_with("protocol: 'tpc' is not an IP protocol"));
    }
}
