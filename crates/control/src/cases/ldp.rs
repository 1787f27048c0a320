//! Messages of LDP as words.
//!
//! `hello hold=15 targeted wants-targeted gtsm transport=A`; `initialization keepalive=S receiver=ID on-demand
//! loop-detection path-limit=N max-pdu=N version=N restart=RECONNECT_MS/RECOVERY_MS learns
//! capabilities=typed-wildcard,dynamic,unrecognized,p2mp`; `keepalive`; `address A,A`, `address-withdraw A,A`; `mapping
//! fec=F label=N request=N hops=N path=ID,ID`; `request fec=F hops=N path=ID,ID`; `withdraw fec=F label=N`; `release
//! fec=F label=N`; `abort fec=F request=N`; `notification status=WORD fec=F`; `message kind=0xNNNN parameters=HEX` for
//! what is none of these. F is a prefix, `*` (wildcard), `ipv4` or `p2mp` (typed wildcards), or `ROOT#LSP_ID`, a
//! point-to-multipoint LSP. Behind the kind may stand `number=N` and `ldp-id=ID`.

use super::script::hex;
use super::words::{Line, Words, joined};
use super::{Dialect, Peer, Said};
use crate::protocol::Over;
use base::table::word;
use base::{Label, PortId};
use core::net::Ipv4Addr;
use wire::ldp::{
    Addresses, AnyLabel, Body, Capabilities, Fec, FtSession, Header, Hello, Initialization, LdpId, Message,
    Notice, P2mp, Status, messages, pdus,
};

const PORT: u16 = 646;
const ALL_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 2);
const MAX_PDU: u16 = 4096;

/// LDP, which remembers nothing.
#[derive(Default)]
pub(super) struct Ldp;

fn fec(text: &str) -> Result<Fec, String> {
    match text {
        "*" => Ok(Fec::Wildcard),
        "ipv4" => Ok(Fec::AllPrefixes(1)),
        "p2mp" => Ok(Fec::AllP2mp(1)),
        other => match other.split_once('#') {
            None => other.parse().map(Fec::Prefix),
            Some((root, lsp_id)) => {
                let wrong = |_| format!("'{other}' is no ROOT#LSP_ID");
                let root: Ipv4Addr = root.parse().map_err(|_| format!("'{root}' is no address"))?;
                Ok(Fec::P2mp(P2mp::generic(root.into(), lsp_id.parse().map_err(wrong)?)))
            }
        },
    }
}

fn fec_text(fec: &Fec) -> String {
    match fec {
        Fec::Wildcard => "*".into(),
        Fec::AllPrefixes(1) => "ipv4".into(),
        Fec::AllPrefixes(family) => format!("family-{family}"),
        Fec::Prefix(prefix) => prefix.to_string(),
        Fec::AllP2mp(1) => "p2mp".into(),
        Fec::AllP2mp(family) => format!("p2mp-family-{family}"),
        Fec::P2mp(lsp) => match lsp.lsp_id() {
            Some(lsp_id) => format!("{}#{lsp_id}", lsp.root),
            None => format!("{}#{}", lsp.root, lsp.opaque),
        },
    }
}

fn label_text(label: AnyLabel) -> String {
    match label {
        AnyLabel::Generic(label) => label.value().to_string(),
        other => format!("{other:?}"),
    }
}

fn status(text: &str) -> Result<Status, String> {
    Status::ALL
        .iter()
        .copied()
        .find(|one| word(one) == text)
        .ok_or_else(|| format!("no status is called '{text}'"))
}

fn body(kind: &str, own: Ipv4Addr, peer: &Peer, words: &mut Words) -> Result<Body, String> {
    let of = |words: &mut Words| fec(&words.text("fec").ok_or("fec= is missing")?);
    let label = |words: &mut Words| -> Result<Option<AnyLabel>, String> {
        Ok(words.get("label")?.map(|number| AnyLabel::Generic(Label::truncate(number))))
    };
    let path = |words: &mut Words| -> Result<Option<Vec<Ipv4Addr>>, String> {
        let all = words.list("path")?;
        Ok(Some(all).filter(|all| !all.is_empty()))
    };
    let addresses = |words: &mut Words| -> Result<Addresses, String> {
        let all: Result<Vec<_>, _> = words.first()?.split(',').map(str::parse).collect();
        all.map(Addresses::V4).map_err(|why| format!("addresses: {why}"))
    };
    let on = |is_on: bool| is_on.then_some(true);
    Ok(match kind {
        "hello" => Body::Hello(Hello {
            hold_s: words.or("hold", 15)?,
            is_targeted: words.has("targeted"),
            wants_targeted: words.has("wants-targeted"),
            gtsm: !words.has("no-gtsm"),
            transport: Some(words.or("transport", peer.id)?),
            transport6: None,
            configuration: None,
        }),
        "initialization" => {
            let capabilities: Vec<String> = words.list("capabilities")?;
            let has = |name: &str| on(capabilities.iter().any(|one| one == name));
            let times = words.text("restart");
            let times = times.map(|text| -> Result<_, String> {
                let (reconnect, recovery) = text.split_once('/').ok_or("restart=MS/MS")?;
                let ms = |text: &str| text.parse().map_err(|_| "restart=MS/MS");
                Ok(FtSession { learns: true, reconnect_ms: ms(reconnect)?, recovery_ms: ms(recovery)? })
            });
            Body::Initialization(Initialization {
                version: words.or("version", 1)?,
                keepalive_s: words.or("keepalive", 30)?,
                on_demand: words.has("on-demand"),
                loop_detection: words.has("loop-detection"),
                path_limit: words.or("path-limit", 0)?,
                max_pdu: words.or("max-pdu", MAX_PDU)?,
                receiver: LdpId::platform(words.or("receiver", own)?),
                atm: None,
                frame_relay: None,
                restart: times.transpose()?,
                capabilities: Capabilities {
                    dynamic: has("dynamic"),
                    typed_wildcard: has("typed-wildcard"),
                    unrecognized_notification: has("unrecognized"),
                    p2mp: has("p2mp"),
                },
            })
        }
        "keepalive" => Body::KeepAlive,
        "address" => Body::Address(addresses(words)?),
        "address-withdraw" => Body::AddressWithdraw(addresses(words)?),
        "mapping" => Body::Mapping {
            fecs: vec![of(words)?],
            label: label(words)?.ok_or("label= is missing")?,
            request: words.get("request")?,
            hops: words.get("hops")?,
            path: path(words)?,
        },
        "request" => Body::Request { fec: of(words)?, hops: words.get("hops")?, path: path(words)? },
        "withdraw" => Body::Withdraw { fec: of(words)?, label: label(words)? },
        "release" => Body::Release { fec: of(words)?, label: label(words)?, notice: None },
        "abort" => Body::Abort { fec: of(words)?, request: words.or("request", 0)? },
        "notification" => {
            let notice = Notice::new(status(&words.text("status").ok_or("status= is missing")?)?);
            match words.text("fec") {
                Some(text) => Body::end_of_lib(fec(&text)?),
                None => Body::notify(notice),
            }
        }
        other => return Err(format!("no message is called '{other}'")),
    })
}

fn text(body: &Body) -> String {
    let addresses = |kind: &str, all: &Addresses| match all {
        Addresses::V4(all) => format!("{kind} {}", joined(all)),
        Addresses::V6(all) => format!("{kind} {}", joined(all)),
    };
    let about = |line: Line, fec: &Fec, label: &Option<AnyLabel>| {
        line.key("fec", fec_text(fec)).some("label", label.map(label_text))
    };
    let line = match body {
        Body::Hello(hello) => Line::new("hello")
            .key("hold", hello.hold_s)
            .flag("targeted", hello.is_targeted)
            .flag("wants-targeted", hello.wants_targeted)
            .flag("gtsm", hello.gtsm)
            .some("transport", hello.transport),
        Body::Initialization(said) => {
            let capabilities = [
                (said.capabilities.dynamic, "dynamic"),
                (said.capabilities.typed_wildcard, "typed-wildcard"),
                (said.capabilities.unrecognized_notification, "unrecognized"),
                (said.capabilities.p2mp, "p2mp"),
            ];
            let capabilities =
                capabilities.into_iter().filter(|(is_on, _)| is_on.is_some()).map(|(_, name)| name);
            Line::new("initialization")
                .key("version", said.version)
                .key("keepalive", said.keepalive_s)
                .flag("on-demand", said.on_demand)
                .flag("loop-detection", said.loop_detection)
                .key("path-limit", said.path_limit)
                .key("max-pdu", said.max_pdu)
                .key("receiver", said.receiver)
                .some("restart", said.restart.map(|one| format!("{}/{}", one.reconnect_ms, one.recovery_ms)))
                .list("capabilities", capabilities)
        }
        Body::KeepAlive => Line::new("keepalive"),
        Body::Address(all) => Line::new(addresses("address", all)),
        Body::AddressWithdraw(all) => Line::new(addresses("address-withdraw", all)),
        Body::Mapping { fecs, label, request, hops, path } => Line::new("mapping")
            .list("fec", fecs.iter().map(fec_text))
            .key("label", label_text(*label))
            .some("request", *request)
            .some("hops", *hops)
            .list("path", path.iter().flatten()),
        Body::Request { fec, hops, path } => Line::new("request")
            .key("fec", fec_text(fec))
            .some("hops", *hops)
            .list("path", path.iter().flatten()),
        Body::Withdraw { fec, label } => about(Line::new("withdraw"), fec, label),
        Body::Release { fec, label, notice } => {
            let status = notice.and_then(|notice| Status::of(notice.code)).map(|status| word(&status));
            about(Line::new("release"), fec, label).some("status", status)
        }
        Body::Abort { fec, request } => Line::new("abort").key("fec", fec_text(fec)).key("request", request),
        Body::Notification { notice, request, fec, .. } => {
            let status =
                Status::of(notice.code).map_or_else(|| format!("{:#x}", notice.code), |one| word(&one));
            Line::new("notification")
                .key("status", status)
                .flag("fatal", notice.is_fatal())
                .some(
                    "about",
                    Some(format!("{:#06x}", notice.message_type)).filter(|_| notice.message_type > 0),
                )
                .some("request", *request)
                .some("fec", fec.as_ref().map(fec_text))
        }
        Body::Capability(said) => Line::new(format!("capability {said:?}")),
    };
    line.end()
}

impl Dialect for Ldp {
    fn usual(&self, words: &mut Words) -> Said {
        let over = words.has("datagram").then_some(Over::Udp { src: PORT, dst: PORT });
        Said { bytes: Vec::new(), over, group: Some(ALL_ROUTERS), ttl: 1 }
    }

    fn write(&mut self, peer: &Peer, own: Ipv4Addr, words: &mut Words) -> Result<Said, String> {
        let kind = words.first()?;
        let id = LdpId::platform(words.or("ldp-id", peer.id)?);
        let number = words.or("number", 7)?;
        if kind == "message" {
            let (kind, body) =
                (words.number("kind", 0)?, hex(&words.text("parameters").unwrap_or_default())?);
            let len = body.len() as u16;
            let [space, version] = [id.space, 1u16].map(u16::to_be_bytes);
            let header = [&version[..], &(14 + len).to_be_bytes(), &id.router.octets(), &space].concat();
            let message =
                [&(kind as u16).to_be_bytes()[..], &(4 + len).to_be_bytes(), &[0, 0, 0, number as u8]];
            let bytes = [header, message.concat(), body].concat();
            return Ok(Said { bytes, ..self.usual(words) });
        }
        let body = body(&kind, own, peer, words)?;
        let (is_hello, is_targeted) = match &body {
            Body::Hello(hello) => (true, hello.is_targeted),
            _ => (false, false),
        };
        let bytes = pdus(id, [&Message::new(number, body)], MAX_PDU).concat();
        let over = is_hello.then_some(Over::Udp { src: PORT, dst: PORT });
        Ok(Said {
            bytes,
            over,
            group: (!is_targeted).then_some(ALL_ROUTERS),
            ttl: if is_targeted { 255 } else { 1 },
        })
    }

    fn show(&mut self, bytes: &[u8], _: Option<PortId>) -> String {
        let (mut left, mut all) = (bytes, Vec::new());
        while let Ok(header) = Header::parse(left, MAX_PDU) {
            for raw in messages(left, header) {
                let message = raw.ok().and_then(|raw| Message::parse(&raw).ok().flatten());
                all.push(message.map_or_else(|| "unreadable".into(), |message| text(&message.body)));
            }
            left = left.get(4 + usize::from(header.len)..).unwrap_or_default();
        }
        all.join("\n\n")
    }

    fn port(&self) -> u16 {
        PORT
    }
}
