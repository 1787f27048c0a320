//! Messages to bytes.

use super::message::{Body, Capabilities, Hello, Initialization, Message, Notice};
use super::tlv::{self, Fec, tlv_type};
use core::net::Ipv4Addr;

/// The bits of a status parameter in a message that is no Notification (RFC 5036, 3.4.6).
const UNKNOWN: u16 = 1 << 15;

impl Message {
    /// A message without parameters that nobody knows.
    pub const fn new(id: u32, body: Body) -> Message {
        Message { id, body, unknown: Vec::new() }
    }

    /// Writes it behind what is there.
    pub fn emit(&self, to: &mut Vec<u8>) {
        let begin = to.len();
        let ([k, i], [a, b, c, d]) = (self.body.kind().to_be_bytes(), self.id.to_be_bytes());
        to.extend_from_slice(&[k, i, 0, 0, a, b, c, d]);
        self.body.emit(to);
        self.unknown.iter().for_each(|one| one.emit(to));
        let len = u16::try_from(to.len() - begin - 4).unwrap_or(u16::MAX);
        to[begin + 2..begin + 4].copy_from_slice(&len.to_be_bytes());
    }
}

fn number(to: &mut Vec<u8>, kind: u16, value: Option<u32>) {
    if let Some(value) = value {
        tlv::emit(to, kind, &value.to_be_bytes());
    }
}

fn fecs(to: &mut Vec<u8>, all: &[Fec]) {
    tlv::emit_as(to, tlv_type::FEC, |to| all.iter().for_each(|fec| fec.emit(to)));
}

fn way(to: &mut Vec<u8>, hops: Option<u8>, path: Option<&Vec<Ipv4Addr>>) {
    if let Some(hops) = hops {
        tlv::emit(to, tlv_type::HOP_COUNT, &[hops]);
    }
    if let Some(path) = path {
        let value: Vec<u8> = path.iter().flat_map(|id| id.octets()).collect();
        tlv::emit(to, tlv_type::PATH_VECTOR, &value);
    }
}

impl Notice {
    fn emit(self, to: &mut Vec<u8>, bits: u16) {
        let mut value = Vec::with_capacity(10);
        value.extend(self.code.to_be_bytes());
        value.extend(self.message_id.to_be_bytes());
        value.extend(self.message_type.to_be_bytes());
        // RFC 5036, 3.4.6: the F-bit of the parameter is that of the code.
        let forward = if self.code & super::status::FORWARD != 0 { 1 << 14 } else { 0 };
        tlv::emit(to, tlv_type::STATUS | bits | forward, &value);
    }
}

impl Hello {
    fn emit(&self, to: &mut Vec<u8>) {
        let [h, i] = self.hold_s.to_be_bytes();
        let bits = [self.is_targeted, self.wants_targeted, self.gtsm];
        let flags =
            bits.iter().zip([0x80, 0x40, 0x20]).filter(|(set, _)| **set).fold(0, |all, (_, bit)| all | bit);
        tlv::emit(to, tlv_type::COMMON_HELLO, &[h, i, flags, 0]);
        if let Some(address) = self.transport {
            tlv::emit(to, tlv_type::IPV4_TRANSPORT, &address.octets());
        }
        number(to, tlv_type::CONFIGURATION_SEQUENCE, self.configuration);
        if let Some(address) = self.transport6 {
            tlv::emit(to, tlv_type::IPV6_TRANSPORT, &address.octets());
        }
    }
}

impl Initialization {
    fn emit(&self, to: &mut Vec<u8>) {
        let mut value = Vec::with_capacity(14);
        value.extend(self.version.to_be_bytes());
        value.extend(self.keepalive_s.to_be_bytes());
        value.push(u8::from(self.on_demand) << 7 | u8::from(self.loop_detection) << 6);
        value.push(self.path_limit);
        value.extend(self.max_pdu.to_be_bytes());
        self.receiver.emit(&mut value);
        tlv::emit(to, tlv_type::COMMON_SESSION, &value);
        if let Some(atm) = &self.atm {
            tlv::emit(to, tlv_type::ATM_SESSION, &atm.0);
        }
        if let Some(frame_relay) = &self.frame_relay {
            tlv::emit(to, tlv_type::FRAME_RELAY_SESSION, &frame_relay.0);
        }
        if let Some(restart) = &self.restart {
            // RFC 3478, 2: flags with bit L at their end, two bytes reserved, two times.
            let mut value = vec![0, u8::from(restart.learns), 0, 0];
            value.extend(restart.reconnect_ms.to_be_bytes());
            value.extend(restart.recovery_ms.to_be_bytes());
            tlv::emit(to, tlv_type::FT_SESSION | UNKNOWN, &value);
        }
        self.capabilities.emit(to);
    }
}

impl Capabilities {
    /// RFC 5561, 9, RFC 5918, 5, RFC 5919, 3, and RFC 6388, 2.1: all of them may be left out by who does not know them.
    fn emit(self, to: &mut Vec<u8>) {
        let all = [
            (tlv_type::DYNAMIC_CAPABILITY, self.dynamic),
            (tlv_type::TYPED_WILDCARD_CAPABILITY, self.typed_wildcard),
            (tlv_type::UNRECOGNIZED_NOTIFICATION, self.unrecognized_notification),
            (tlv_type::P2MP_CAPABILITY, self.p2mp),
        ];
        for (kind, state) in all {
            if let Some(is_on) = state {
                tlv::emit(to, kind | UNKNOWN, &[u8::from(is_on) << 7]);
            }
        }
    }
}

impl Body {
    fn emit(&self, to: &mut Vec<u8>) {
        match self {
            Body::Notification {
                notice,
                extended,
                returned_pdu,
                returned_message,
                returned_tlvs,
                request,
                fec,
            } => {
                notice.emit(to, 0);
                number(to, tlv_type::EXTENDED_STATUS, *extended);
                let returned =
                    [(tlv_type::RETURNED_PDU, returned_pdu), (tlv_type::RETURNED_MESSAGE, returned_message)];
                for (kind, bytes) in returned {
                    if let Some(bytes) = bytes {
                        tlv::emit(to, kind, &bytes.0);
                    }
                }
                if let Some(tlvs) = returned_tlvs {
                    // RFC 5561, 8: who does not know it leaves it out.
                    tlv::emit(to, tlv_type::RETURNED_TLVS | UNKNOWN, &tlvs.0);
                }
                number(to, tlv_type::LABEL_REQUEST_ID, *request);
                if let Some(fec) = fec {
                    fecs(to, core::slice::from_ref(fec));
                }
            }
            Body::Hello(hello) => hello.emit(to),
            Body::Initialization(wanted) => wanted.emit(to),
            Body::Capability(all) => all.emit(to),
            Body::KeepAlive => {}
            Body::Address(all) | Body::AddressWithdraw(all) => all.emit(to),
            Body::Mapping { fecs: all, label, request, hops, path } => {
                fecs(to, all);
                label.emit(to);
                number(to, tlv_type::LABEL_REQUEST_ID, *request);
                way(to, *hops, path.as_ref());
            }
            Body::Request { fec, hops, path } => {
                fecs(to, core::slice::from_ref(fec));
                way(to, *hops, path.as_ref());
            }
            Body::Withdraw { fec, label } => {
                fecs(to, core::slice::from_ref(fec));
                label.iter().for_each(|label| label.emit(to));
            }
            Body::Release { fec, label, notice } => {
                fecs(to, core::slice::from_ref(fec));
                label.iter().for_each(|label| label.emit(to));
                notice.iter().for_each(|notice| notice.emit(to, UNKNOWN));
            }
            Body::Abort { fec, request } => {
                fecs(to, core::slice::from_ref(fec));
                number(to, tlv_type::LABEL_REQUEST_ID, Some(*request));
            }
        }
    }
}
