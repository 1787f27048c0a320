//! Messages of BGP as words.
//!
//! `open asn=N hold=90 id=A families=ipv4,ipv4-labelled refresh graceful=FLAGS/SECONDS/FAMILY:FLAGS
//! add-path=FAMILY:MODE two-octet`; `keepalive`; `refresh FAMILY`; `notification CODE/SUBCODE`; `update origin=igp
//! path=N,N next-hop=A med=N pref=N communities=N:N originator=A clusters=A,A nlri=P,P withdraw=P,P reach=FAMILY/A
//! labelled=P@LABEL unreach=FAMILY:P`, where P is PREFIX or PREFIX#PATH_ID; `attributes HEX nlri=P` has the attributes
//! as bytes; `message kind=N body=HEX` is any message. A neighbour that is declared with `internal` is of the same AS,
//! and one with `add-path` is told several paths.

use super::script::hex;
use super::words::{Line, Words, joined, written};
use super::{Dialect, Peer, Said};
use base::plane::IpPrefix;
use base::{Label, PortId};
use core::net::{IpAddr, Ipv4Addr};
use wire::bgp::{
    AddPathMode, AsPath, Attributes, Capability, Family, Labels, Message, NextHop, Nlri, Notification, Open,
    Origin, Reach, Refresh, Segment, Terms, Unreach, Update, message_len,
};

const PORT: u16 = 179;
const FAMILIES: [(Family, &str); 4] = [
    (Family::Ipv4, "ipv4"),
    (Family::Ipv6, "ipv6"),
    (Family::Ipv4Labelled, "ipv4-labelled"),
    (Family::Ipv6Labelled, "ipv6-labelled"),
];
const ORIGINS: [(Origin, &str); 3] =
    [(Origin::Igp, "igp"), (Origin::Egp, "egp"), (Origin::Incomplete, "incomplete")];
const MODES: [(AddPathMode, &str); 3] =
    [(AddPathMode::Receive, "receive"), (AddPathMode::Send, "send"), (AddPathMode::Both, "both")];

/// BGP, with what neighbours read path identifiers of.
#[derive(Default)]
pub(super) struct Bgp {
    add_path: bool,
}

fn named<T: Copy>(all: &[(T, &str)], name: &str) -> Result<T, String> {
    all.iter()
        .find(|(_, known)| *known == name)
        .map(|one| one.0)
        .ok_or_else(|| format!("'{name}' is not known"))
}

fn name<T: PartialEq>(all: &[(T, &'static str)], value: &T) -> &'static str {
    all.iter().find(|(known, _)| known == value).map_or("other", |one| one.1)
}

fn family_name(afi: u16, safi: u8) -> String {
    Family::of(afi, safi).map_or_else(|| format!("{afi}/{safi}"), |family| name(&FAMILIES, &family).into())
}

/// PREFIX, PREFIX#PATH_ID, PREFIX@LABEL or PREFIX@LABEL#PATH_ID.
fn nlri(text: &str) -> Result<Nlri, String> {
    let (rest, path_id) = match text.split_once('#') {
        Some((rest, id)) => (rest, Some(id.parse().map_err(|_| format!("{text} has no path identifier"))?)),
        None => (text, None),
    };
    let (prefix, labels) = match rest.split_once('@') {
        Some((prefix, label)) => {
            let label = label.parse().map_err(|_| format!("{text} has no label"))?;
            (prefix, Labels::one(Label::truncate(label)))
        }
        None => (rest, Labels::NONE),
    };
    let prefix: IpPrefix = prefix.parse()?;
    Ok(Nlri { prefix, path_id, labels })
}

fn all_nlri(words: &mut Words, key: &str) -> Result<Vec<Nlri>, String> {
    words.list::<String>(key)?.iter().map(|text| nlri(text)).collect()
}

fn nlri_text(one: &Nlri) -> String {
    let label = one.labels.first().map_or_else(String::new, |label| format!("@{}", label.value()));
    let id = one.path_id.map_or_else(String::new, |id| format!("#{id}"));
    format!("{}{label}{id}", one.prefix)
}

fn capabilities(words: &mut Words) -> Result<Vec<Capability>, String> {
    let mut all = Vec::new();
    let usual = words.text("families").unwrap_or_else(|| "ipv4".into());
    for one in usual.split(',').filter(|one| *one != "none") {
        let (afi, safi) = named(&FAMILIES, one)?.numbers();
        all.push(Capability::Multiprotocol { afi, safi });
    }
    if words.has("refresh") {
        all.push(Capability::RouteRefresh);
    }
    if let Some(text) = words.text("graceful") {
        let wrong = || format!("graceful={text} is no FLAGS/SECONDS/FAMILY:FLAGS");
        let [flags, time, family] = text.split('/').collect::<Vec<_>>()[..] else { return Err(wrong()) };
        let (family, of_family) = family.split_once(':').ok_or_else(wrong)?;
        let (afi, safi) = named(&FAMILIES, family)?.numbers();
        let of_family = u8::from_str_radix(of_family, 16).map_err(|_| wrong())?;
        let flags = flags.parse().map_err(|_| wrong())?;
        let time_s = time.parse().map_err(|_| wrong())?;
        all.push(Capability::GracefulRestart { flags, time_s, families: vec![(afi, safi, of_family)] });
    }
    if let Some(text) = words.text("add-path") {
        let (family, mode) = text.split_once(':').ok_or("add-path=FAMILY:MODE")?;
        let (afi, safi) = named(&FAMILIES, family)?.numbers();
        all.push(Capability::AddPath(vec![(afi, safi, named(&MODES, mode)?)]));
    }
    Ok(all)
}

fn capability_text(one: &Capability) -> String {
    match one {
        Capability::Multiprotocol { afi, safi } => format!("family={}", family_name(*afi, *safi)),
        Capability::RouteRefresh => "refresh".into(),
        Capability::FourOctet(asn) => format!("four-octet={asn}"),
        Capability::GracefulRestart { flags, time_s, families } => {
            let family =
                |(afi, safi, flags): &(u16, u8, u8)| format!("{}:{flags:x}", family_name(*afi, *safi));
            format!("graceful={flags}/{time_s}/{}", joined(families.iter().map(family)))
        }
        Capability::AddPath(all) => {
            let one = |(afi, safi, mode): &(u16, u8, AddPathMode)| {
                format!("{}:{}", family_name(*afi, *safi), name(&MODES, mode))
            };
            format!("add-path={}", joined(all.iter().map(one)))
        }
        other => format!("{other:?}"),
    }
}

fn attributes(words: &mut Words) -> Result<Attributes, String> {
    let path: Vec<u32> = words.list("path")?;
    let has_path = !path.is_empty() || words.has("no-path");
    let segments = if path.is_empty() { vec![] } else { vec![Segment::Sequence(path)] };
    let community = |text: &String| -> Result<u32, String> {
        let (high, low) = text.split_once(':').ok_or("communities=N:N")?;
        let part = |text: &str| text.parse::<u16>().map_err(|_| "communities=N:N");
        Ok(u32::from(part(high)?) << 16 | u32::from(part(low)?))
    };
    Ok(Attributes {
        origin: words.text("origin").map(|one| named(&ORIGINS, &one)).transpose()?,
        as_path: has_path.then_some(AsPath(segments)),
        next_hop: words.get("next-hop")?,
        med: words.get("med")?,
        local_pref: words.get("pref")?,
        communities: words.list::<String>("communities")?.iter().map(community).collect::<Result<_, _>>()?,
        originator: words.get("originator")?,
        cluster_list: words.list("clusters")?,
        ..Attributes::default()
    })
}

fn update(words: &mut Words) -> Result<Update, String> {
    let reach = match words.text("reach") {
        Some(text) => {
            let (family, hop) = text.split_once('/').ok_or("reach=FAMILY/ADDRESS")?;
            let next_hop = match hop.parse().map_err(|_| "reach=FAMILY/ADDRESS")? {
                IpAddr::V4(address) => NextHop::V4(address),
                IpAddr::V6(global) => NextHop::V6 { global, link_local: None },
            };
            Some(Reach { family: named(&FAMILIES, family)?, next_hop, nlri: all_nlri(words, "labelled")? })
        }
        None => None,
    };
    let unreach = match words.text("unreach") {
        Some(text) => {
            let (family, prefix) = text.split_once(':').unwrap_or((&text, ""));
            let nlri = Some(prefix).filter(|one| !one.is_empty()).map(nlri).transpose()?;
            Some(Unreach { family: named(&FAMILIES, family)?, nlri: nlri.into_iter().collect() })
        }
        None => None,
    };
    Ok(Update {
        withdrawn: all_nlri(words, "withdraw")?,
        attributes: attributes(words)?,
        reach,
        unreach,
        nlri: all_nlri(words, "nlri")?,
        faults: Vec::new(),
    })
}

/// The marker, the length, the type and the rest.
fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    let len = (19 + body.len()) as u16;
    [&[0xff; 16][..], &len.to_be_bytes(), &[kind], body].concat()
}

fn update_text(update: &Update) -> String {
    let all = &update.attributes;
    let path = all.as_path.iter().flat_map(|path| &path.0).map(|segment| match segment {
        Segment::Sequence(all) => joined(all),
        Segment::Set(all) => format!("{{{}}}", joined(all)),
    });
    let hop = |hop: &NextHop| match hop {
        NextHop::V4(address) => address.to_string(),
        NextHop::V6 { global, .. } => global.to_string(),
    };
    let mut line = Line::new("update")
        .list("withdraw", update.withdrawn.iter().map(nlri_text))
        .some("origin", all.origin.map(|origin| name(&ORIGINS, &origin)))
        .list("path", path)
        .some("next-hop", all.next_hop)
        .some("med", all.med)
        .some("pref", all.local_pref)
        .list("communities", all.communities.iter().map(|one| format!("{}:{}", one >> 16, one & 0xffff)))
        .some("originator", all.originator)
        .list("clusters", &all.cluster_list)
        .list("extended", all.extended_communities.iter().map(|one| wire::Hex(one.to_vec())))
        .list("unknown", all.unknown.iter().map(|one| format!("{}:{:02x}", one.kind, one.flags)))
        .list("nlri", update.nlri.iter().map(nlri_text));
    if let Some(reach) = &update.reach {
        line = line.key("reach", format!("{}/{}", name(&FAMILIES, &reach.family), hop(&reach.next_hop)));
        line = line.list("of", reach.nlri.iter().map(nlri_text));
    }
    if let Some(unreach) = &update.unreach {
        line = line.key("unreach", name(&FAMILIES, &unreach.family));
        line = line.list("of", unreach.nlri.iter().map(nlri_text));
    }
    line.flag("(end of RIB)", update.end_of_rib().is_some()).end()
}

fn message_text(message: &Message) -> String {
    match message {
        Message::Open(open) => {
            let line = Line::new("open").key("asn", open.asn()).key("hold", open.hold_s).key("id", open.id);
            open.capabilities.iter().fold(line, |line, one| line.flag(&capability_text(one), true)).end()
        }
        Message::Update(update) => update_text(update),
        Message::Notification(why) => {
            let data = Some(&why.data).filter(|data| !data.is_empty());
            let line = Line::new(format!("notification {}/{}", why.code, why.subcode));
            line.some("data", data).flag(&format!("({})", why.words()), true).end()
        }
        Message::KeepAlive => "keepalive".into(),
        Message::RouteRefresh(one) => format!("refresh {}", family_name(one.afi, one.safi)),
    }
}

impl Dialect for Bgp {
    fn usual(&self, _: &mut Words) -> Said {
        Said { bytes: Vec::new(), over: None, group: None, ttl: 64 }
    }

    fn write(&mut self, peer: &Peer, _: Ipv4Addr, words: &mut Words) -> Result<Said, String> {
        let mut of = peer.words.clone();
        self.add_path |= of.has("add-path");
        let terms = Terms { four_octet: true, is_internal: of.has("internal"), ..Terms::default() };
        let kind = words.first()?;
        let message = match kind.as_str() {
            "open" => {
                let asn = words.or("asn", of.or("asn", 0)?)?;
                let (hold_s, id) = (words.or("hold", 90)?, words.or("id", peer.id)?);
                let is_short = words.has("two-octet");
                let mut open = Open::new(asn, hold_s, id, capabilities(words)?);
                open.capabilities.retain(|one| !is_short || !matches!(one, Capability::FourOctet(_)));
                Message::Open(open)
            }
            "keepalive" => Message::KeepAlive,
            "refresh" => {
                let (afi, safi) = named(&FAMILIES, &words.first()?)?.numbers();
                Message::RouteRefresh(Refresh { afi, safi })
            }
            "notification" => {
                let code = words.first()?;
                let (code, subcode) = code.split_once('/').ok_or("notification CODE/SUBCODE")?;
                let number = |text: &str| text.parse().map_err(|_| "notification CODE/SUBCODE");
                let (code, subcode) = (number(code)?, number(subcode)?);
                Message::Notification(Notification { code, subcode, data: wire::Hex::default() })
            }
            "update" => Message::Update(Box::new(update(words)?)),
            "attributes" => {
                let attributes = hex(&words.first()?)?;
                let nlri = Update { nlri: all_nlri(words, "nlri")?, ..Update::default() };
                let nlri = written(Message::Update(Box::new(nlri)).emit(&terms))?.split_off(23);
                let body =
                    [&[0, 0], &(attributes.len() as u16).to_be_bytes()[..], &attributes, &nlri].concat();
                return Ok(Said { bytes: framed(2, &body), ..self.usual(words) });
            }
            "message" => {
                let (kind, body) = (words.or("kind", 0)?, hex(&words.text("body").unwrap_or_default())?);
                return Ok(Said { bytes: framed(kind, &body), ..self.usual(words) });
            }
            other => return Err(format!("no message is called '{other}'")),
        };
        Ok(Said { bytes: written(message.emit(&terms))?, ..self.usual(words) })
    }

    fn show(&mut self, bytes: &[u8], _: Option<PortId>) -> String {
        // So that LOCAL_PREF and the like are shown, whoever the neighbour is.
        let (four_octet, is_internal) = (true, true);
        let terms = Terms { four_octet, is_internal, add_path: [self.add_path; 4], ..Terms::default() };
        let (mut left, mut all) = (bytes, Vec::new());
        while let Some(len) = message_len(left) {
            let (one, rest) = left.split_at(len);
            let message = Message::parse(one, &terms);
            all.push(
                message.map_or_else(|why| format!("unreadable: {}", why.error), |one| message_text(&one)),
            );
            left = rest;
        }
        all.join("\n\n")
    }

    fn port(&self) -> u16 {
        PORT
    }

    fn own(&self, _: Ipv4Addr, beside: Ipv4Addr) -> Ipv4Addr {
        beside
    }
}
