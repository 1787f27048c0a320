//! Packets of OSPF as words.
//!
//! `hello dr=A bdr=A neighbors=ID,ID priority=1 interval=10 dead=40 mask=M options=E`; `dd init more master sequence=N
//! mtu=1500 [LSA]`; `request [TYPE id=A by=A]`; `update [LSA]`; `ack [LSA]`. An LSA is `[TYPE id=A by=A seq=N age=S
//! options=E ...]` with what its body has: `flags=B,E links=p2p/ID/DATA/COST`, `mask=M routers=ID,ID`, `mask=M
//! metric=N`, `mask=M type2 metric=N forwarding=A tag=N`, or `bytes=HEX`. Sequence numbers count from 1. `let NAME TYPE
//! ...` names one: `[NAME seq=2]`. Any packet may say `router=ID area=A`, and `key=simple/WORD` or
//! `key=KIND/ID/NUMBER/SECRET`. `NAME becomes full [LSA]` goes through the exchange of databases with a neighbour as
//! master, which then says Hello and acknowledges what it hears.

use super::node::Node;
use super::words::{Line, Words, written};
use super::{Dialect, Peer, Said};
use crate::protocol::Over;
use base::{PortId, Span};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::ospf::{
    ALL_SPF_ROUTERS, Algorithm, Auth, Body, Description, External, Header, Hello, INITIAL_SEQUENCE, Key, Lsa,
    LsaBody, LsaHeader, LsaKey, LsaKind, MAX_SEQUENCE, Network, Router, RouterLink, Summary,
};

/// The number of OSPF among IP protocols.
const IP_PROTOCOL: u8 = 89;
const OPTIONS: &[(u8, &str)] = &[(2, "E"), (4, "MC"), (8, "NP"), (16, "L"), (32, "DC"), (64, "O")];
const DD_FLAGS: &[(u8, &str)] = &[(4, "init"), (2, "more"), (1, "master")];
const ROUTER_FLAGS: &[(u8, &str)] = &[(1, "B"), (2, "E"), (4, "V"), (16, "Nt")];
const LINKS: &[(u8, &str)] = &[(1, "p2p"), (2, "transit"), (3, "stub"), (4, "virtual")];
const KINDS: [LsaKind; 9] = [
    LsaKind::ROUTER,
    LsaKind::NETWORK,
    LsaKind::SUMMARY_NETWORK,
    LsaKind::SUMMARY_ROUTER,
    LsaKind::EXTERNAL,
    LsaKind::NSSA,
    LsaKind::OPAQUE_LINK,
    LsaKind::OPAQUE_AREA,
    LsaKind::OPAQUE_AS,
];

fn bits(all: &[(u8, &str)], names: &[String]) -> Result<u8, String> {
    names.iter().try_fold(0, |bits, name| {
        let bit =
            all.iter().find(|(_, known)| known == name).ok_or_else(|| format!("no bit is called {name}"))?;
        Ok(bits | bit.0)
    })
}

fn names(all: &[(u8, &'static str)], bits: u8) -> Vec<&'static str> {
    all.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect()
}

fn sequence(text: &str) -> Result<i32, String> {
    match text {
        "max" => Ok(MAX_SEQUENCE),
        number => {
            let number: i32 = number.parse().map_err(|why| format!("seq={number}: {why}"))?;
            Ok(INITIAL_SEQUENCE.wrapping_add(number - 1))
        }
    }
}

fn sequence_text(sequence: i32) -> String {
    match sequence {
        MAX_SEQUENCE => "max".into(),
        other => (i64::from(other) - i64::from(INITIAL_SEQUENCE) + 1).to_string(),
    }
}

/// OSPF, with what neighbours have been told.
#[derive(Default)]
pub(super) struct Ospf {
    named: BTreeMap<String, String>,
    /// The number of the last database description.
    sequence: u32,
    /// What has been flooded by which port.
    heard: Vec<(PortId, LsaHeader)>,
    /// How much of it each neighbour has acknowledged.
    acknowledged: BTreeMap<String, usize>,
    /// Neighbours that acknowledge at once.
    diligent: Vec<String>,
}

impl Ospf {
    fn lsa(&self, text: &str) -> Result<Lsa, String> {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let text = match self.named.get(name) {
            Some(named) => format!("{named} {rest}"),
            None => text.to_owned(),
        };
        let mut words = Words::of(&text)?;
        let kind = words.first()?;
        let kind =
            KINDS.iter().find(|known| known.name() == kind).ok_or_else(|| format!("no LSA '{kind}'"))?;
        let none = Ipv4Addr::UNSPECIFIED;
        let by: Ipv4Addr = words.or("by", none)?;
        let key = LsaKey { kind: *kind, id: words.or("id", by)?, router: by };
        let metric = |words: &mut Words| words.or("metric", 10);
        let body = match *kind {
            LsaKind::ROUTER => LsaBody::Router(Router {
                flags: bits(ROUTER_FLAGS, &words.list("flags")?)?,
                links: words
                    .list::<String>("links")?
                    .iter()
                    .map(|link| link_of(link))
                    .collect::<Result<_, _>>()?,
            }),
            LsaKind::NETWORK => {
                LsaBody::Network(Network { mask: words.or("mask", none)?, routers: words.list("routers")? })
            }
            LsaKind::SUMMARY_NETWORK | LsaKind::SUMMARY_ROUTER => LsaBody::Summary(Summary {
                mask: words.or("mask", none)?,
                metric: metric(&mut words)?,
                tos: wire::Hex::default(),
            }),
            LsaKind::EXTERNAL | LsaKind::NSSA => LsaBody::External(External {
                mask: words.or("mask", none)?,
                type2: words.has("type2"),
                metric: metric(&mut words)?,
                forwarding: words.or("forwarding", none)?,
                tag: words.or("tag", 0)?,
                tos: wire::Hex::default(),
            }),
            _ => LsaBody::Other { bytes: words.or("bytes", wire::Hex::default())? },
        };
        let options = words.text("options").unwrap_or_else(|| "E".into());
        let options: Vec<String> = options.split(',').filter(|one| !one.is_empty()).map(Into::into).collect();
        let lsa = Lsa {
            age: words.or("age", 1)?,
            options: bits(OPTIONS, &options)?,
            key,
            sequence: sequence(&words.text("seq").unwrap_or_else(|| "1".into()))?,
            checksum: words.text("checksum").map(|_| 0x1234),
            correct_checksum: None,
            body,
        };
        words.end()?;
        Ok(lsa)
    }

    /// What a neighbour has heard and not acknowledged.
    fn due(&self, peer: &Peer) -> Vec<LsaHeader> {
        let since = self.acknowledged.get(&peer.name).copied().unwrap_or(0);
        let all = self.heard[since..].iter().filter(|(port, _)| *port == peer.port);
        all.map(|(_, header)| *header).collect()
    }

    fn header(&self, text: &str) -> Result<LsaHeader, String> {
        written(LsaHeader::parse(&written(self.lsa(text)?.write())?))
    }

    fn body(&mut self, kind: &str, own: Ipv4Addr, peer: &Peer, words: &mut Words) -> Result<Body, String> {
        let all = words.groups();
        let headers = || all.iter().map(|text| self.header(text)).collect::<Result<Vec<_>, _>>();
        let usual = peer.words.clone().text("options").unwrap_or_else(|| "E".into());
        let options = words.text("options").unwrap_or(usual);
        let options: Vec<String> = options.split(',').filter(|one| !one.is_empty()).map(Into::into).collect();
        let options = bits(OPTIONS, &options)?;
        let none = Ipv4Addr::UNSPECIFIED;
        Ok(match kind {
            "hello" => Body::Hello(Hello {
                mask: words.or("mask", Ipv4Addr::new(255, 255, 255, 0))?,
                hello_s: words.or("interval", 10)?,
                options,
                priority: words.or("priority", 1)?,
                dead_s: words.or("dead", 40)?,
                designated: words.or("dr", none)?,
                backup: words.or("bdr", none)?,
                neighbors: if words.has("alone") { vec![] } else { one_or(words.list("neighbors")?, own) },
            }),
            "dd" => Body::Description(Description {
                mtu: words.or("mtu", 1500)?,
                options,
                flags: DD_FLAGS.iter().filter(|(_, flag)| words.has(flag)).fold(0, |all, (bit, _)| all | bit),
                sequence: match words.text("sequence").as_deref() {
                    None | Some("heard") => self.sequence,
                    Some(number) => number.parse().map_err(|why| format!("sequence={number}: {why}"))?,
                },
                headers: headers()?,
            }),
            "request" => {
                let key = |text: &String| self.lsa(text).map(|lsa| lsa.key);
                Body::Request { wanted: all.iter().map(key).collect::<Result<_, _>>()? }
            }
            "update" => {
                Body::Update { lsas: all.iter().map(|text| self.lsa(text)).collect::<Result<_, _>>()? }
            }
            "ack" if words.has("heard") => {
                let headers = self.due(peer);
                self.acknowledged.insert(peer.name.clone(), self.heard.len());
                Body::Ack { headers }
            }
            "ack" => Body::Ack { headers: headers()? },
            other => return Err(format!("no packet is called '{other}'")),
        })
    }
}

fn one_or(all: Vec<Ipv4Addr>, own: Ipv4Addr) -> Vec<Ipv4Addr> {
    if all.is_empty() { vec![own] } else { all }
}

fn link_of(text: &str) -> Result<RouterLink, String> {
    let wrong = || format!("{text} is no KIND/ID/DATA/COST");
    let [kind, id, data, metric] = text.split('/').collect::<Vec<_>>()[..] else { return Err(wrong()) };
    let kind = LINKS.iter().find(|(_, name)| *name == kind).ok_or_else(wrong)?.0;
    let (id, data) = (id.parse().map_err(|_| wrong())?, data.parse().map_err(|_| wrong())?);
    Ok(RouterLink { id, data, kind, metric: metric.parse().map_err(|_| wrong())?, tos: Vec::new() })
}

/// How a packet is signed, and its number.
fn auth(text: &str) -> Result<(Auth, u32), String> {
    let algorithm = |kind| match kind {
        "md5" => Some(Algorithm::Md5),
        "sha1" => Some(Algorithm::HmacSha1),
        "sha256" => Some(Algorithm::HmacSha256),
        _ => None,
    };
    match text.split('/').collect::<Vec<_>>()[..] {
        ["simple", word] => {
            let mut password = [0; 8];
            password.iter_mut().zip(word.bytes()).for_each(|(to, from)| *to = from);
            Ok((Auth::Simple(password), 0))
        }
        [kind, id, number, secret] => {
            let algorithm = algorithm(kind).ok_or("no such kind of key")?;
            let id = id.parse().map_err(|_| "no number of a key")?;
            let key = Key { id, algorithm, secret: secret.into() };
            Ok((Auth::Cryptographic(key), number.parse().map_err(|_| "no number of a packet")?))
        }
        _ => Err(format!("key={text} is no simple/WORD or KIND/ID/NUMBER/SECRET")),
    }
}

fn header_text(header: &LsaHeader) -> Line {
    let LsaHeader { age, options, key, sequence, .. } = *header;
    Line::new(key.kind.name())
        .key("id", key.id)
        .key("by", key.router)
        .key("seq", sequence_text(sequence))
        .key("age", age)
        .list("options", names(OPTIONS, options))
}

fn lsa_text(lsa: &Lsa) -> String {
    let bytes = lsa.write().unwrap_or_default();
    let Ok(header) = LsaHeader::parse(&bytes) else { return "unreadable".into() };
    let line = header_text(&header);
    let line = match &lsa.body {
        LsaBody::Router(router) => {
            let kind =
                |link: &RouterLink| LINKS.iter().find(|one| one.0 == link.kind).map_or("other", |one| one.1);
            let link =
                |link: &RouterLink| format!("{}/{}/{}/{}", kind(link), link.id, link.data, link.metric);
            line.list("flags", names(ROUTER_FLAGS, router.flags)).list("links", router.links.iter().map(link))
        }
        LsaBody::Network(network) => line.key("mask", network.mask).list("routers", &network.routers),
        LsaBody::Summary(summary) => line.key("mask", summary.mask).key("metric", summary.metric),
        LsaBody::External(outside) => line
            .key("mask", outside.mask)
            .flag("type2", outside.type2)
            .key("metric", outside.metric)
            .key("forwarding", outside.forwarding)
            .key("tag", outside.tag),
        LsaBody::Other { bytes } => line.key("bytes", bytes),
    };
    line.end()
}

impl Dialect for Ospf {
    fn usual(&self, _: &mut Words) -> Said {
        let group = Some(ALL_SPF_ROUTERS);
        Said { bytes: Vec::new(), over: Some(Over::Ip(IP_PROTOCOL)), group, ttl: 1 }
    }

    fn write(&mut self, peer: &Peer, own: Ipv4Addr, words: &mut Words) -> Result<Said, String> {
        let (kind, none) = (words.first()?, Ipv4Addr::UNSPECIFIED);
        let (router, area) =
            (words.or("router", peer.id)?, words.or("area", peer.words.clone().or("area", none)?)?);
        let (auth, number) = match words.text("key") {
            Some(key) => auth(&key)?,
            None => (Auth::Null, 0),
        };
        let body = self.body(&kind, own, peer, words)?;
        let mut bytes = written(body.packet(router, area))?;
        auth.seal(&mut bytes, number);
        Ok(Said { bytes, ..self.usual(words) })
    }

    fn show(&mut self, bytes: &[u8], port: Option<PortId>) -> String {
        let Ok(header) = Header::parse(bytes) else { return "no packet".into() };
        let Ok(body) = Body::parse(header.kind, &bytes[24..usize::from(header.length)]) else {
            return format!("unreadable {}", header.kind.name());
        };
        let (none, mut groups) = (Ipv4Addr::UNSPECIFIED, Vec::new());
        let line = match &body {
            Body::Hello(hello) => Line::new("hello")
                .key("interval", hello.hello_s)
                .key("dead", hello.dead_s)
                .key("mask", hello.mask)
                .list("options", names(OPTIONS, hello.options))
                .key("priority", hello.priority)
                .some("dr", Some(hello.designated).filter(|one| *one != none))
                .some("bdr", Some(hello.backup).filter(|one| *one != none))
                .list("neighbors", &hello.neighbors),
            Body::Description(said) => {
                self.sequence = said.sequence;
                groups.extend(said.headers.iter().map(|header| header_text(header).end()));
                let mut line = Line::new("dd");
                for flag in names(DD_FLAGS, said.flags) {
                    line = line.flag(flag, true);
                }
                let line = line.key("sequence", said.sequence).key("mtu", said.mtu);
                line.list("options", names(OPTIONS, said.options))
            }
            Body::Request { wanted } => {
                let key =
                    |key: &LsaKey| Line::new(key.kind.name()).key("id", key.id).key("by", key.router).end();
                groups.extend(wanted.iter().map(key));
                Line::new("request")
            }
            Body::Update { lsas } => {
                let headers = lsas.iter().filter_map(|lsa| LsaHeader::parse(&lsa.write().ok()?).ok());
                self.heard.extend(headers.filter_map(|header| Some((port?, header))));
                groups.extend(lsas.iter().map(lsa_text));
                Line::new("update")
            }
            Body::Ack { headers } => {
                groups.extend(headers.iter().map(|header| header_text(header).end()));
                Line::new("ack")
            }
        };
        let kinds = ["null", "simple", "cryptographic"];
        let auth = kinds.get(usize::from(header.au_type)).copied().filter(|_| header.au_type > 0);
        let line = line.some("area", Some(header.area).filter(|area| *area != none)).some("auth", auth);
        groups.iter().fold(line, |line, group| line.group(group)).end()
    }

    fn answers(&mut self, peer: &Peer) -> Vec<String> {
        if self.diligent.contains(&peer.name) && !self.due(peer).is_empty() {
            vec!["ack heard".into()]
        } else {
            Vec::new()
        }
    }

    fn heed(&mut self, peer: &Peer) {
        self.diligent.push(peer.name.clone());
    }

    fn name(&mut self, mut words: Words) -> Result<(), String> {
        let name = words.first()?;
        self.named.insert(name, words.rest());
        Ok(())
    }
}

/// Goes through the exchange of databases with a neighbour, whose router id has to be the higher one.
pub(super) fn become_full(node: &mut Node, peer: usize, mut words: Words) -> Result<(), String> {
    if !words.has("full") {
        return Err("a neighbour becomes 'full'".into());
    }
    let lsas: String = words.groups().iter().map(|group| format!(" [{group}]")).collect();
    let hello = format!("hello {}", words.rest());
    let (name, id) = (node.peers[peer].name.clone(), node.peers[peer].id);
    let columns = ["router_id", "state"].map(String::from);
    let row = |node: &Node| -> Result<String, String> {
        let rows = node.rows("ospf_neighbors", &columns)?;
        rows.into_iter()
            .find(|row| row.contains(&format!("={id} ")))
            .ok_or_else(|| format!("{name} is no neighbour"))
    };
    node.mute(true);
    node.say(peer, &hello)?;
    node.say(peer, "dd init more master sequence=1000")?;
    node.say(peer, &format!("dd master sequence=1001{lsas}"))?;
    for number in 1002..1010 {
        if !row(node)?.ends_with("=exchange") {
            break;
        }
        node.say(peer, &format!("dd master sequence={number}"))?;
    }
    if row(node)?.ends_with("=loading") {
        node.say(peer, &format!("update{lsas}"))?;
    }
    node.heed(peer)?;
    node.mute(false);
    let row = row(node)?;
    node.repeat(peer, Span::from_secs(10), hello);
    node.note(&format!("{name}: {row}"));
    Ok(())
}
