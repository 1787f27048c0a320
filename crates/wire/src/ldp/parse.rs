//! Messages from bytes.

use super::message::{Body, Capabilities, FtSession, Hello, Initialization, Message, Notice};
use super::pdu::{LdpId, Raw, kind};
use super::tlv::{Addresses, AnyLabel, Fec, Found, split, tlv_type};
use super::{Malformed, Status};
use core::net::{Ipv4Addr, Ipv6Addr};

/// The bit of a type that lets who does not know a message leave it out.
const UNKNOWN: u16 = 1 << 15;

/// The parameters of a message that are known.
struct Parameters<'a>(Vec<Found<'a>>);

impl<'a> Parameters<'a> {
    fn find(&self, kinds: core::ops::RangeInclusive<u16>) -> Option<&Found<'a>> {
        self.0.iter().find(|found| kinds.contains(&found.kind))
    }

    fn optional<T>(
        &self,
        kind: u16,
        read: impl FnOnce(&Found<'a>) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        self.find(kind..=kind).map(read).transpose()
    }

    fn mandatory(&self, kind: u16, clause: &'static str) -> Result<&Found<'a>, Malformed> {
        let missing = || Malformed::new(Status::MissingMessageParameters, 0, clause);
        self.find(kind..=kind).ok_or_else(missing)
    }

    fn fecs(&self) -> Result<Vec<Fec>, Malformed> {
        Fec::read(self.mandatory(tlv_type::FEC, "a message without an FEC")?)
    }

    /// The only element of an FEC (RFC 5036, 3.4.1: several are permitted in Label Mappings only).
    fn fec(&self) -> Result<Fec, Malformed> {
        let found = self.mandatory(tlv_type::FEC, "a message without an FEC")?;
        match <[Fec; 1]>::try_from(Fec::read(found)?) {
            Ok([only]) => Ok(only),
            Err(_) => Err(found.malformed("an FEC of several elements")),
        }
    }

    /// What a request is for. RFC 5918, 4: it can be for all FECs of a kind.
    fn requested(&self) -> Result<Fec, Malformed> {
        self.fec().and_then(|fec| if fec == Fec::Wildcard { Err(self.wildcard()) } else { Ok(fec) })
    }

    /// RFC 5036, 3.4.1: a wildcard is for withdrawals and releases only.
    fn wildcard(&self) -> Malformed {
        let at = self.find(tlv_type::FEC..=tlv_type::FEC).map_or(0, |found| found.at);
        Malformed::new(Status::MalformedTlvValue, at, "a wildcard where there can be none")
    }

    fn label(&self) -> Result<Option<AnyLabel>, Malformed> {
        let all = tlv_type::GENERIC_LABEL..=tlv_type::FRAME_RELAY_LABEL;
        self.find(all).map(AnyLabel::read).transpose()
    }

    fn hops(&self) -> Result<Option<u8>, Malformed> {
        self.optional(tlv_type::HOP_COUNT, |found| {
            found.exactly("a hop count has one byte").map(|[hops]: [u8; 1]| hops)
        })
    }

    fn path(&self) -> Result<Option<Vec<Ipv4Addr>>, Malformed> {
        self.optional(tlv_type::PATH_VECTOR, |found| match found.value.as_chunks::<4>() {
            (all, []) => Ok(all.iter().map(|id| Ipv4Addr::from(*id)).collect()),
            _ => Err(found.malformed("a path vector that ends within a router id")),
        })
    }

    fn number(&self, kind: u16) -> Result<Option<u32>, Malformed> {
        self.optional(kind, |found| found.exactly("a number has four bytes").map(u32::from_be_bytes))
    }

    /// A capability: whether it is there from now on. Each may stand in a message once (RFC 5561, 3).
    fn capability(&self, kind: u16) -> Result<Option<bool>, Malformed> {
        if let Some(second) = self.0.iter().filter(|found| found.kind == kind).nth(1) {
            return Err(second.malformed("a capability that is there twice"));
        }
        self.optional(kind, |found| {
            let first =
                found.value.first().ok_or_else(|| found.malformed("a capability without its state"))?;
            Ok(first & 0x80 != 0)
        })
    }

    fn capabilities(&self) -> Result<Capabilities, Malformed> {
        Ok(Capabilities {
            dynamic: self.capability(tlv_type::DYNAMIC_CAPABILITY)?,
            typed_wildcard: self.capability(tlv_type::TYPED_WILDCARD_CAPABILITY)?,
            unrecognized_notification: self.capability(tlv_type::UNRECOGNIZED_NOTIFICATION)?,
            p2mp: self.capability(tlv_type::P2MP_CAPABILITY)?,
        })
    }

    fn addresses(&self) -> Result<Addresses, Malformed> {
        Addresses::read(self.mandatory(tlv_type::ADDRESS_LIST, "a message without addresses")?)
    }
}

fn notice(found: &Found<'_>) -> Result<Notice, Malformed> {
    let [c, o, d, e, m, n, i, j, t, u] = found.exactly("a status has ten bytes")?;
    Ok(Notice {
        code: u32::from_be_bytes([c, o, d, e]),
        message_id: u32::from_be_bytes([m, n, i, j]),
        message_type: u16::from_be_bytes([t, u]),
    })
}

fn hello(all: &Parameters<'_>) -> Result<Hello, Malformed> {
    let common = all.mandatory(tlv_type::COMMON_HELLO, "a Hello without its parameters")?;
    let [h, i, flags, _] = common.exactly("parameters of a Hello have four bytes")?;
    let bit = |bit: u8| flags & (1 << (7 - bit)) != 0;
    let v4 = |found: &Found<'_>| found.exactly("an IPv4 address has four bytes").map(Ipv4Addr::from);
    let v6 = |found: &Found<'_>| {
        found.exactly("an IPv6 address has sixteen bytes").map(|octets: [u8; 16]| Ipv6Addr::from(octets))
    };
    Ok(Hello {
        hold_s: u16::from_be_bytes([h, i]),
        is_targeted: bit(0),
        wants_targeted: bit(1),
        gtsm: bit(2),
        transport: all.optional(tlv_type::IPV4_TRANSPORT, |found| v4(found).map(|a: Ipv4Addr| a))?,
        transport6: all.optional(tlv_type::IPV6_TRANSPORT, v6)?,
        configuration: all.number(tlv_type::CONFIGURATION_SEQUENCE)?,
    })
}

/// RFC 3478, 2: flags, two bytes reserved, two times in milliseconds.
fn ft_session(found: &Found<'_>) -> Result<FtSession, Malformed> {
    let [_, flags, _, _, r, e, c, o, t, i, m, s] = found.exactly("an FT session has twelve bytes")?;
    Ok(FtSession {
        learns: flags & 1 != 0,
        reconnect_ms: u32::from_be_bytes([r, e, c, o]),
        recovery_ms: u32::from_be_bytes([t, i, m, s]),
    })
}

fn initialization(all: &Parameters<'_>) -> Result<Initialization, Malformed> {
    let common = all.mandatory(tlv_type::COMMON_SESSION, "an Initialization without its parameters")?;
    let [v, w, k, l, flags, path_limit, m, n, id @ ..] =
        common.exactly::<14>("parameters of a session have fourteen bytes")?;
    let raw = |found: &Found<'_>| Ok(found.value.into());
    Ok(Initialization {
        version: u16::from_be_bytes([v, w]),
        keepalive_s: u16::from_be_bytes([k, l]),
        on_demand: flags & 0x80 != 0,
        loop_detection: flags & 0x40 != 0,
        path_limit,
        max_pdu: u16::from_be_bytes([m, n]),
        receiver: LdpId::read(id),
        atm: all.optional(tlv_type::ATM_SESSION, raw)?,
        frame_relay: all.optional(tlv_type::FRAME_RELAY_SESSION, raw)?,
        restart: all.optional(tlv_type::FT_SESSION, ft_session)?,
        capabilities: all.capabilities()?,
    })
}

/// The FEC that a Notification is about; nothing for one that is not known. Nobody has to know all those of whose end a
/// neighbour tells (RFC 5919, 4).
fn told(found: &Found<'_>) -> Result<Option<Fec>, Malformed> {
    match Fec::read(found) {
        Ok(fecs) => Ok(fecs.into_iter().next()),
        Err(malformed) if malformed.status == Status::UnknownFec => Ok(None),
        Err(malformed) => Err(malformed),
    }
}

fn body(kind: u16, all: &Parameters<'_>) -> Result<Body, Malformed> {
    let bytes = |found: &Found<'_>| Ok(found.value.into());
    let label =
        |clause| all.label()?.ok_or_else(|| Malformed::new(Status::MissingMessageParameters, 0, clause));
    Ok(match kind {
        kind::NOTIFICATION => Body::Notification {
            notice: notice(all.mandatory(tlv_type::STATUS, "a Notification without a status")?)?,
            extended: all.number(tlv_type::EXTENDED_STATUS)?,
            returned_pdu: all.optional(tlv_type::RETURNED_PDU, bytes)?,
            returned_message: all.optional(tlv_type::RETURNED_MESSAGE, bytes)?,
            returned_tlvs: all.optional(tlv_type::RETURNED_TLVS, bytes)?,
            request: all.number(tlv_type::LABEL_REQUEST_ID)?,
            fec: all.optional(tlv_type::FEC, told)?.flatten(),
        },
        kind::CAPABILITY => Body::Capability(all.capabilities()?),
        kind::HELLO => Body::Hello(hello(all)?),
        kind::INITIALIZATION => Body::Initialization(initialization(all)?),
        kind::ADDRESS => Body::Address(all.addresses()?),
        kind::ADDRESS_WITHDRAW => Body::AddressWithdraw(all.addresses()?),
        kind::LABEL_MAPPING => {
            let fecs = all.fecs()?;
            if fecs.iter().any(|fec| !matches!(fec, Fec::Prefix(_) | Fec::P2mp(_))) {
                return Err(all.wildcard());
            }
            let label = label("a Label Mapping without a label")?;
            let request = all.number(tlv_type::LABEL_REQUEST_ID)?;
            Body::Mapping { fecs, label, request, hops: all.hops()?, path: all.path()? }
        }
        kind::LABEL_REQUEST => Body::Request { fec: all.requested()?, hops: all.hops()?, path: all.path()? },
        kind::LABEL_WITHDRAW => Body::Withdraw { fec: all.fec()?, label: all.label()? },
        kind::LABEL_RELEASE => Body::Release {
            fec: all.fec()?,
            label: all.label()?,
            notice: all.optional(tlv_type::STATUS, notice)?,
        },
        kind::LABEL_ABORT_REQUEST => {
            let fec = all.requested()?;
            let clause = "an abort without the number of the request";
            all.mandatory(tlv_type::LABEL_REQUEST_ID, clause)?;
            Body::Abort { fec, request: all.number(tlv_type::LABEL_REQUEST_ID)?.unwrap_or(0) }
        }
        _ => Body::KeepAlive,
    })
}

impl Message {
    /// Reads a message: nothing of one that is not known and may be left out (RFC 5036, 3.5).
    pub fn parse(raw: &Raw<'_>) -> Result<Option<Message>, Malformed> {
        if !kind::ALL.iter().any(|(known, _)| *known == raw.kind) {
            let unknown = Malformed::new(Status::UnknownMessageType, 0, "a message that is not known");
            return if raw.kind & UNKNOWN == 0 { Err(unknown.of(raw)) } else { Ok(None) };
        }
        let (known, unknown) = split(raw.parameters).map_err(|malformed| malformed.of(raw))?;
        let body = body(raw.kind, &Parameters(known)).map_err(|malformed| malformed.of(raw))?;
        Ok(Some(Message { id: raw.id, body, unknown }))
    }
}
