//! Packets of BFD as words.
//!
//! `STATE mult=3 tx=US rx=US echo=US my=77 your=N poll final demand independent diag=N`: STATE is admin-down, down,
//! init or up; tx and rx are the two intervals in microseconds; `your` is what the node called itself last, unless it
//! is said. `auth=simple/ID/WORD` or `auth=KIND/ID/NUMBER/SECRET` with KIND md5, meticulous-md5, sha1 or
//! meticulous-sha1. A neighbour that is declared with `hops` speaks over several hops.

use super::words::{Line, Words};
use super::{Dialect, Peer, Said};
use crate::protocol::Over;
use base::PortId;
use core::net::Ipv4Addr;
use wire::bfd::{Algorithm, Auth, Diag, MULTIHOP_PORT, PORT, Repr, State, TTL, seal};

const STATES: [(State, &str); 4] =
    [(State::AdminDown, "admin-down"), (State::Down, "down"), (State::Init, "init"), (State::Up, "up")];

/// BFD, with the last discriminator of the node.
#[derive(Default)]
pub(super) struct Bfd {
    heard: u32,
}

/// An authentication section, and the secret that it is sealed with.
fn auth(text: &str) -> Result<(Auth, Vec<u8>), String> {
    let keyed = |kind: &str| match kind {
        "md5" => Some((Algorithm::Md5, false)),
        "meticulous-md5" => Some((Algorithm::Md5, true)),
        "sha1" => Some((Algorithm::Sha1, false)),
        "meticulous-sha1" => Some((Algorithm::Sha1, true)),
        _ => None,
    };
    let number = |text: &str| text.parse().map_err(|_| format!("{text} is no number"));
    match text.split('/').collect::<Vec<_>>()[..] {
        ["simple", id, word] => {
            let key_id = id.parse().map_err(|_| "no number of a key")?;
            Ok((Auth::Simple { key_id, password: word.into() }, Vec::new()))
        }
        [kind, id, sequence, secret] => {
            let (algorithm, meticulous) = keyed(kind).ok_or("no such kind of key")?;
            let key_id = id.parse().map_err(|_| "no number of a key")?;
            let digest = vec![0; algorithm.digest_len()];
            let sequence: u32 = number(sequence)?;
            Ok((Auth::Keyed { algorithm, meticulous, key_id, sequence, digest }, secret.into()))
        }
        _ => Err(format!("auth={text} is no simple/ID/WORD or KIND/ID/NUMBER/SECRET")),
    }
}

impl Dialect for Bfd {
    fn usual(&self, words: &mut Words) -> Said {
        let is_far = words.has("hops");
        let over = Over::Udp { src: 50_000, dst: if is_far { MULTIHOP_PORT } else { PORT } };
        Said { bytes: Vec::new(), over: Some(over), group: None, ttl: TTL }
    }

    fn write(&mut self, peer: &Peer, _: Ipv4Addr, words: &mut Words) -> Result<Said, String> {
        let kind = words.first()?;
        let state =
            STATES.iter().find(|(_, name)| *name == kind).ok_or_else(|| format!("no state '{kind}'"))?.0;
        let signed = words.text("auth").map(|text| auth(&text)).transpose()?;
        let (auth, secret) = signed.unzip();
        let packet = Repr {
            diag: Diag::truncate(words.or("diag", 0)?),
            state,
            poll: words.has("poll"),
            is_final: words.has("final"),
            independent: words.has("independent"),
            demand: words.has("demand"),
            multipoint: false,
            detect_mult: words.or("mult", 3)?,
            my_discriminator: words.or("my", 77)?,
            your_discriminator: words.or("your", self.heard)?,
            desired_min_tx_us: words.or("tx", 300_000)?,
            required_min_rx_us: words.or("rx", 300_000)?,
            required_min_echo_rx_us: words.or("echo", 0)?,
            auth,
        };
        let mut bytes = packet.emit();
        if let Some(secret) = secret {
            seal(&mut bytes, &secret);
        }
        let mut of = peer.words.clone();
        Ok(Said { bytes, ..self.usual(&mut of) })
    }

    fn show(&mut self, bytes: &[u8], _: Option<PortId>) -> String {
        let Ok(packet) = Repr::parse(bytes) else { return "no packet".into() };
        self.heard = packet.my_discriminator;
        let name = STATES.iter().find(|(state, _)| *state == packet.state).map_or("", |(_, name)| name);
        let line = Line::new(name)
            .flag("poll", packet.poll)
            .flag("final", packet.is_final)
            .flag("demand", packet.demand)
            .key("mult", packet.detect_mult)
            .key("tx", packet.desired_min_tx_us)
            .key("rx", packet.required_min_rx_us)
            .key("echo", packet.required_min_echo_rx_us)
            .some("diag", Some(packet.diag.number()).filter(|diag| *diag != 0))
            .key("my", packet.my_discriminator)
            .key("your", packet.your_discriminator);
        match packet.auth {
            None => line.end(),
            Some(Auth::Keyed { sequence, key_id, .. }) => {
                line.key("key", key_id).key("number", sequence).end()
            }
            Some(Auth::Simple { key_id, .. }) => line.key("key", key_id).end(),
            Some(Auth::Other { kind, .. }) => line.key("auth", kind).end(),
        }
    }
}
