//! Neighbours that send what they like: no panic, bounded state, and in the end nothing is left.

use super::bus::id;
use super::{Net, spec};
use crate::rsvp::command::{Command, TunnelId, TunnelSpec};
use crate::rsvp::transport::RefreshReduction;
use base::plane::TcMap;
use base::{DiffServConfig, ELsp, LLsp, LspDiffServ, Phb, PortId, Span};
use core::net::Ipv4Addr;
use proptest::prelude::*;
use wire::rsvp::Packet;

/// One forged message: a real one, which of its bytes are changed and how, and where it turns up.
#[derive(Clone, Debug)]
pub(super) struct Forgery {
    pub which: usize,
    changes: Vec<(usize, u8)>,
    cut: Option<usize>,
    pub node: usize,
    pub port: u16,
    from: u8,
    pub ttl: Option<u8>,
}

pub(super) fn forgery() -> impl Strategy<Value = Forgery> {
    let change = (any::<usize>(), prop_oneof![any::<u8>(), Just(0xff), Just(0)]);
    let shape = (proptest::collection::vec(change, 0..4), proptest::option::weighted(0.1, any::<usize>()));
    let place = (1usize..3, 0u16..3, 0u8..4, proptest::option::weighted(0.2, any::<u8>()));
    (any::<usize>(), shape, place).prop_map(|(which, (changes, cut), (node, port, from, ttl))| Forgery {
        which,
        changes,
        cut,
        node,
        port,
        from,
        ttl,
    })
}

/// The message, changed, with its checksum left out (RFC 2205, 3.1.1: zero says that there is none).
pub(super) fn forge(real: &[u8], forgery: &Forgery) -> Vec<u8> {
    let mut bytes = real.to_vec();
    bytes[2..4].fill(0);
    for &(at, to) in &forgery.changes {
        // The header's first word stays: all else is dropped before it is read.
        let at = 4 + at % (bytes.len() - 4);
        bytes[at] = to;
    }
    if let Some(cut) = forgery.cut {
        bytes.truncate(cut % bytes.len());
    }
    bytes
}

proptest! {
    #![proptest_config(testing::cases(400))]

    #[test]
    fn forged_messages_leave_nothing_behind(
        forgeries in proptest::collection::vec(forgery(), 1..60),
        reduced in any::<bool>(),
        diffserv in any::<bool>(),
    ) {
        let mut net = Net::with(4, &[(0, 1), (1, 2), (2, 3)], |_, config| {
            config.limits.lsps = 20;
            config.limits.refresh_period_max = Span::from_secs(60);
            config.diffserv = diffserv.then(DiffServConfig::default);
            if reduced {
                let assumed = RefreshReduction { assume_capable: true, ..RefreshReduction::default() };
                config.refresh_reduction = Some(assumed);
            }
        });
        net.honest = false;
        // An E-LSP with a mapping of its own, an L-LSP, and one that says nothing.
        let wanted = [
            Some(LspDiffServ::ELsp(ELsp { map: Some(TcMap::PRECONFIGURED), signal: false, model: None })),
            Some(LspDiffServ::LLsp(LLsp { class: Phb::EF.scheduling_class(), model: None })),
            None,
        ];
        for (n, wanted) in (1..=3).zip(wanted) {
            let tunnel = TunnelSpec { record_labels: n == 2, ..spec(n, 3, &[&[1, 2, 3]], 10) };
            net.tunnel(0, TunnelSpec { diffserv: wanted.filter(|_| diffserv), ..tunnel });
        }
        net.run(100);
        net.tunnel(0, TunnelSpec { name: "other".into(), ..spec(1, 3, &[&[1, 2, 3]], 20) });
        net.command(0, Command::TunnelRemove(TunnelId { to: id(3), id: 3 }));
        net.run(100);
        let real: Vec<Vec<u8>> = net.log.iter().filter_map(|sent| {
            let mut bytes = Vec::new();
            Packet::new(255, sent.message.clone()).emit(&mut bytes).ok()?;
            Some(bytes)
        }).collect();
        for forgery in &forgeries {
            let bytes = forge(&real[forgery.which % real.len()], forgery);
            let ttl = forgery.ttl.unwrap_or_else(|| bytes.get(4).copied().unwrap_or(255));
            let src = Ipv4Addr::new(10, 0, forgery.node as u8 - 1 + (forgery.from >> 1), 1 + (forgery.from & 1));
            net.inject_bytes(forgery.node, PortId(forgery.port), src, ttl, &bytes);
            net.run(1);
            for node in &net.nodes {
                prop_assert!(node.audit().lsps <= 20);
                for link in node.links() {
                    prop_assert!(link.reserved.iter().map(|rate| rate.0).sum::<u64>() <= link.reservable.0);
                }
            }
        }
        for tunnel in 1..=3 {
            net.command(0, Command::TunnelRemove(TunnelId { to: id(3), id: tunnel }));
        }
        // The longest period believed is 60 s: what was forged has gone after 5.25 times that.
        net.run(1_200_000);
        for (n, node) in net.nodes.iter().enumerate() {
            prop_assert!(node.audit().is_empty(), "node {}: {:?} {:?}", n, node.audit(), node.lsps().collect::<Vec<_>>());
            prop_assert!(net.tables[n].ilm.is_empty() && net.tables[n].ftn.is_empty());
        }
    }
}
