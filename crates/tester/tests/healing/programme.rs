//! Random networks with all that finds routes and labels, and what is done to them. As data, so that one that fails can
//! be kept, cut down and repeated.

use crate::common::faults::{Impairment, Random};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::net::Ipv6Addr;

/// AS of the network; each router outside it has one of its own.
const INSIDE: usize = 65_000;

/// Routers `r0`, `r1` and so on are of one AS; `x0`, `x1` and so on are each outside, beside one of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Programme {
    pub seed: u64,
    pub nodes: usize,
    pub links: Vec<LinkPlan>,
    /// Routers that have one outside beside them: they speak BGP, all with each other.
    pub edges: Vec<usize>,
    /// Head ends and egresses of LSPs.
    pub lsps: Vec<(usize, usize)>,
    pub label_on_demand: bool,
    pub ordered: bool,
    pub refresh_reduction: bool,
    /// What BGP tells; IPv4 without labels if nothing is said.
    #[serde(default)]
    pub families: Families,
    pub steps: Vec<Step>,
}

/// Families of which BGP tells routes. With IPv6 it has IPv6 with labels between edges (RFC 4798): no LSP is of IPv6,
/// and no router between edges knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Families {
    /// Between edges.
    pub within: Vec<Family>,
    /// Between an edge and the router outside beside it.
    pub outside: Vec<Family>,
}

/// In the words of network files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    Ipv4,
    Ipv6,
    Ipv4Labelled,
    Ipv6Labelled,
}

impl Families {
    /// A third of all programmes says nothing of families, and more than a third has IPv6.
    fn generate(seed: u64) -> Families {
        use Family::*;
        // Numbers of their own, so that all else of a programme stays what it is for its seed.
        let mut r = Random(!seed);
        if r.one_in(3) {
            return Families::default();
        }
        let ipv4 = [&[Ipv4][..], &[Ipv4Labelled], &[Ipv4, Ipv4Labelled]];
        let (mut within, mut outside) = (r.of(&ipv4).to_vec(), r.of(&ipv4).to_vec());
        if !r.one_in(3) {
            within.extend(r.of(&[&[Ipv6Labelled][..], &[Ipv6, Ipv6Labelled]]));
            outside.extend(r.of(&[&[Ipv6][..], &[Ipv6Labelled], &[Ipv6, Ipv6Labelled]]));
        }
        Families { within, outside }
    }

    pub fn has_labels(&self) -> bool {
        let is_labelled = |family: &Family| matches!(family, Family::Ipv4Labelled | Family::Ipv6Labelled);
        self.within.iter().chain(&self.outside).any(is_labelled)
    }

    pub fn has_ipv6(&self) -> bool {
        self.within.contains(&Family::Ipv6Labelled)
    }
}

/// Metrics are all different, so that there is one shortest way, and an LSP has one place to come back to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkPlan {
    pub a: usize,
    pub b: usize,
    pub metric: u32,
    pub delay_us: u64,
    /// After so long a port says that its link is down.
    pub detection_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub after_ms: u64,
    pub action: Action,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Down(usize),
    Up(usize),
    /// All links down between these routers and the others.
    Partition(Vec<usize>),
    Impair {
        link: usize,
        kind: Impairment,
        thousandths: u64,
        for_ms: u64,
    },
    /// Routers inside and outside, in their order.
    Restart {
        node: usize,
        for_ms: u64,
    },
}

impl Programme {
    pub fn generate(seed: u64) -> Programme {
        let mut r = Random(seed);
        let nodes = 3 + r.below(5);
        let mut links: Vec<LinkPlan> = (1..nodes).map(|b| link(&mut r, b)).collect();
        for _ in 0..1 + r.below(nodes) {
            // Never between the same two: which of two addresses OSPF takes is its own choice.
            let (a, b) = (r.below(nodes), r.below(nodes));
            if a != b && !links.iter().any(|l| (l.a, l.b) == (a, b) || (l.a, l.b) == (b, a)) {
                links.push(LinkPlan { a, b, ..link(&mut r, 1) });
            }
        }
        for (index, link) in links.iter_mut().enumerate() {
            // Sums of different powers of two are different: one shortest way everywhere.
            link.metric = 1 << index;
        }
        let mut edges: Vec<usize> = (0..nodes).collect();
        while edges.len() > 2 && !r.one_in(3) {
            edges.remove(r.below(edges.len()));
        }
        let ends = |r: &mut Random| (r.below(nodes), r.below(nodes));
        let lsps = (0..r.below(6)).map(|_| ends(&mut r)).filter(|(from, to)| from != to).collect();
        let all = nodes + edges.len();
        let steps = (0..3 + r.below(14)).map(|_| Step {
            after_ms: r.of(&[0, 3, 50, 400, 2_000, 6_000, 12_000]),
            action: action(&mut r, nodes, links.len() + edges.len(), all),
        });
        let steps = steps.collect();
        Programme {
            seed,
            nodes,
            links,
            edges,
            lsps,
            label_on_demand: r.one_in(4),
            ordered: r.one_in(3),
            refresh_reduction: r.one_in(2),
            families: Families::generate(seed),
            steps,
        }
    }

    /// Routers, those outside included.
    pub fn routers(&self) -> usize {
        self.nodes + self.edges.len()
    }

    /// Must packets of one router reach another one? Those outside and those beside them know all; the other ones know
    /// those inside, since packets to all else pass them with a label.
    pub fn must_reach(&self, from: usize, to: usize) -> bool {
        let is_inside = |router: usize| router < self.nodes;
        from != to && (is_inside(from) && is_inside(to) || self.knows_all(from) && self.knows_all(to))
    }

    /// Must packets of IPv6 reach it, too?
    pub fn must_reach_by_ipv6(&self, from: usize, to: usize) -> bool {
        self.families.has_ipv6() && from != to && self.knows_all(from) && self.knows_all(to)
    }

    /// Is it outside, or beside one outside?
    fn knows_all(&self, router: usize) -> bool {
        router >= self.nodes || self.edges.contains(&router)
    }

    /// Its IPv6 loopback address, if it has one.
    pub fn ipv6(router: usize) -> Ipv6Addr {
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, router as u16 + 1)
    }

    pub fn name(&self, router: usize) -> String {
        if router < self.nodes { format!("r{router}") } else { format!("x{}", router - self.nodes) }
    }

    pub fn described(&self) -> Value {
        let id = |router: usize| format!("10.250.0.{}", router + 1);
        let families = |neighbor: &mut Value, families: &[Family]| {
            if !families.is_empty() {
                neighbor["families"] = json!(families);
            }
        };
        let has_ipv6 = self.families.has_ipv6();
        let mut nodes = serde_json::Map::new();
        let mut ldp = json!({"hello_interval": "1 s", "hold_time": "4 s", "keepalive_time": "6 s"});
        if self.label_on_demand {
            ldp["advertise"] = json!("on-demand");
            // With liberal retention, labels of those who were next hops once are kept.
            ldp["retention"] = json!("conservative");
        }
        if self.ordered {
            ldp["control"] = json!("ordered");
        }
        for router in 0..self.nodes {
            let mut node = json!({
                "kind": "router", "router_id": id(router), "ldp": ldp,
                "ospf": {"hello_interval": "1 s", "dead_interval": "4 s", "te": true},
                "rsvp": {"refresh": "400 ms", "refresh_reduction": self.refresh_reduction},
            });
            if let Some(edge) = self.edges.iter().position(|edge| *edge == router) {
                let others = self.edges.iter().filter(|other| **other != router);
                let mut neighbors: serde_json::Map<String, Value> = others
                    .map(|other| {
                        let mut within =
                            json!({"asn": INSIDE, "next_hop_self": true, "advertisement_interval": "1 s"});
                        families(&mut within, &self.families.within);
                        (id(*other), within)
                    })
                    .collect();
                let mut beside = json!({"asn": INSIDE + 1 + edge, "import": "all", "export": "all"});
                families(&mut beside, &self.families.outside);
                neighbors.insert(format!("x{edge}"), beside);
                node["bgp"] = json!({"asn": INSIDE, "neighbors": neighbors, "hold_time": "9 s", "connect_retry": "3 s",
                                     "redistribute": ["ospf"]});
                if has_ipv6 {
                    node["ipv6"] = json!(Self::ipv6(router));
                    node["bgp"]["networks"] = json!([format!("{}/128", Self::ipv6(router))]);
                }
            }
            nodes.insert(self.name(router), node);
        }
        for (edge, router) in self.edges.iter().enumerate() {
            let own = id(self.nodes + edge);
            let mut beside = json!({"asn": INSIDE, "import": "all", "export": "all"});
            families(&mut beside, &self.families.outside);
            let mut networks = vec![format!("{own}/32")];
            let mut node = json!({"kind": "router", "router_id": own});
            if has_ipv6 {
                let own = Self::ipv6(self.nodes + edge);
                node["ipv6"] = json!(own);
                networks.push(format!("{own}/128"));
            }
            node["bgp"] = json!({
                "asn": INSIDE + 1 + edge, "networks": networks, "hold_time": "9 s",
                "connect_retry": "3 s", "neighbors": {self.name(*router): beside},
            });
            nodes.insert(format!("x{edge}"), node);
        }
        let inside = self.links.iter().map(|link| {
            json!({"endpoints": [self.name(link.a), self.name(link.b)], "rate": "100 Mbit/s", "metric": link.metric,
                   "delay": format!("{} us", link.delay_us), "detection": format!("{} ms", link.detection_ms)})
        });
        let outside = self.edges.iter().enumerate().map(|(edge, router)| {
            let endpoints = [self.name(*router), format!("x{edge}")];
            let mut link = json!({"endpoints": endpoints, "rate": "100 Mbit/s", "delay": "20 us"});
            if has_ipv6 {
                link["ipv6"] = json!([1, 2].map(|end| format!("2001:db8:0:{}::{end}/64", edge + 1)));
            }
            link
        });
        let lsps = self.lsps.iter().enumerate().map(|(index, (from, to))| {
            let mut path = json!({"reoptimise": "10 s"});
            if index % 2 == 1 {
                (path["k"], path["standby"]) = (json!(3), json!(["link", "node", "srlg"][index / 2 % 3]));
            }
            json!({"name": format!("t{index}"), "from": self.name(*from), "to": self.name(*to), "bandwidth": "1 Mbit/s",
                   "path": path, "retry_first": "100 ms", "retry_max": "2 s"})
        });
        json!({
            "name": "healing", "seed": self.seed, "nodes": nodes, "links": inside.chain(outside).collect::<Vec<_>>(),
            "lsps": lsps.collect::<Vec<_>>(),
        })
    }
}

/// The first links make a tree.
fn link(r: &mut Random, b: usize) -> LinkPlan {
    LinkPlan {
        a: r.below(b),
        b,
        metric: 1,
        delay_us: r.of(&[10, 500, 4_000]),
        detection_ms: r.of(&[0, 0, 5, 300, 60_000]),
    }
}

fn action(r: &mut Random, nodes: usize, links: usize, all: usize) -> Action {
    let link = r.below(links);
    match r.below(12) {
        0..3 => Action::Down(link),
        3..5 => Action::Up(link),
        5 => Action::Partition((0..nodes).filter(|_| r.one_in(2)).collect()),
        6..10 => {
            use Impairment::*;
            let kind = r.of(&[Loss, Loss, Corruption, Duplication, Reordering, Delay]);
            Action::Impair {
                link,
                kind,
                thousandths: r.of(&[50, 300, 1_000]),
                for_ms: r.of(&[100, 1_000, 6_000, 20_000]),
            }
        }
        _ => Action::Restart { node: r.below(all), for_ms: r.of(&[0, 10, 500, 4_000, 15_000]) },
    }
}
