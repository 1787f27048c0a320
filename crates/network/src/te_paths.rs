//! The best paths from a router to another by the traffic-engineering database that it has: nothing is signalled.

use crate::Network;
use crate::error::NetworkError;
use crate::problem::RunProblem;
use base::diagnostic::Diagnostic;
use base::table::{Rows, Table};
use base::{NodeId, Rate};
use control::services::te::{Affinities, Constraints, Disjoint, Metric, NoPath};
use core::net::{IpAddr, Ipv4Addr};

base::record! {
    /// What is asked of paths by a router's traffic-engineering database.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TePathsSpec {
        /// Where they lead: an address, or a node by its name.
        pub to: String;
        /// How many paths at most, the best first.
        pub k: u32 = 1, in 1..=1_000;
        /// What each link must have left.
        pub bandwidth: Rate = Rate(0);
        /// For which setup priority that is, 0 the best.
        pub setup_priority: u8 = 7, in 0..=7;
        /// The cost that paths are compared by: `te` (RFC 3630, 2.5.5) or `igp`.
        pub metric: Metric = Metric::Te;
        /// Most links on a path.
        pub hop_limit: Option<u32>, in 1..=255, absent "without limit";
        /// Links of any of these groups are not used, a bit for each as in `te_groups` (RFC 3209, 4.7.4).
        pub exclude_any: u32 = 0;
        /// Only links of at least one of these groups are used.
        pub include_any: u32 = 0;
        /// Only links of all of these groups are used.
        pub include_all: u32 = 0;
        /// Links of these shared risk link groups are not used.
        pub exclude_srlgs: Vec<u32> = Vec::new();
        /// Addresses or names of nodes that paths do not touch, and addresses of links that they do not take.
        pub exclude: Vec<String> = Vec::new();
        /// Give two paths that have no `link`, no `node` (a router between the ends) or no `srlg` (shared risk) in
        /// common, and no link in any case: the first of the `k` best that has another beside it, and the best of
        /// those.
        pub disjoint: Option<Disjoint>, absent "the best, whatever they have in common";
    }
}

base::table! {
    /// The best paths to a router by the traffic-engineering database of another, for what was asked.
    pub struct TePathRow in "te_paths" key ["path", "hop"] {
        /// The path, counted from 1, the best first.
        path: u32,
        /// The link on it, counted from 1.
        hop: u32,
        /// The router at its far end; its router id if it is none of the network.
        node: String,
        /// The near router's address on the link.
        near: Ipv4Addr,
        /// The far router's address on the link: the hop, as an explicit route has it.
        far: Ipv4Addr,
        /// The sum of the costs of the links of the whole path.
        cost: u64,
        /// What is left for the setup priority on the link of the path that has least.
        left: Rate = "bit/s",
    }
}

impl Network {
    /// The best paths from a router by what it knows of traffic engineering: no rows if it knows of none that does.
    pub fn te_paths(&mut self, from: usize, asked: &TePathsSpec) -> Result<Table, NetworkError> {
        let v4 = |text: &String| match self.address_of(text)? {
            IpAddr::V4(address) => Ok(address),
            IpAddr::V6(_) => Err(Diagnostic::new(RunProblem::TeOfIpv4 { address: text.clone() }).into()),
        };
        let to = v4(&asked.to)?;
        let exclude = asked.exclude.iter().map(v4).collect::<Result<_, NetworkError>>()?;
        let &TePathsSpec { exclude_any, include_any, include_all, .. } = asked;
        let constraints = Constraints {
            // As messages and advertisements say it, so that what fits exactly does.
            bandwidth: Rate::from_bytes_per_s(asked.bandwidth.as_bytes_per_s()),
            priority: asked.setup_priority,
            metric: asked.metric,
            affinities: Affinities { exclude_any, include_any, include_all },
            hop_limit: asked.hop_limit,
            exclude_srlgs: asked.exclude_srlgs.clone(),
            exclude,
            ..Constraints::default()
        };
        self.check_node(from)?;
        let (now, own, count) = (self.now(), self.loopback(from), asked.k as usize);
        let (table, node) = (String::from("te_paths"), self.node_name(from).to_string());
        let id = NodeId(from as u32);
        let router = self.nodes.get(from).and_then(|node| node.router_mut(&mut self.world, id));
        let router = router.ok_or_else(|| Diagnostic::new(RunProblem::TableOfNone { table, node }))?;
        let engineering = router.control_mut().engineering();
        let found = match asked.disjoint {
            None => engineering.paths(now, own, to, &constraints, count),
            Some(what) => {
                let first = engineering.alternatives(now, (own, to), &constraints, count, Some(what));
                first.and_then(|mut found| {
                    let first = found.swap_remove(0);
                    let second = engineering.path_beside(now, (own, to), &constraints, &first.hops, what);
                    Ok(vec![first, second?])
                })
            }
        };
        let found = found.map_err(|mut why| {
            // As it was asked for, not as messages say it.
            if let NoPath::Blocked { asked: words, .. } = &mut why {
                *words = NoPath::asked(asked.bandwidth, asked.setup_priority);
            }
            let (from, to, why) = (self.node_name(from).into(), asked.to.clone(), why.to_string());
            Diagnostic::new(RunProblem::NoTePath { from, to, why })
        })?;
        let mut rows = Rows::new();
        for (path, one) in (1..).zip(&found) {
            for (hop, link) in (1..).zip(&one.hops) {
                let known =
                    (0..self.description.nodes.len()).find(|node| self.loopback(*node) == link.router);
                let node = known.map_or_else(|| link.router.to_string(), |node| self.node_name(node).into());
                let (near, far, cost, left) = (link.near, link.far, one.cost, one.left);
                rows.push(TePathRow { path, hop, node, near, far, cost, left });
            }
        }
        Ok(rows.finish())
    }
}
