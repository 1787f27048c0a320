//! What follows the header, for each type of packet (RFC 2328, A.3.2 to A.3.6).

use super::header::{HEADER_LEN, Header, Kind};
use super::lsa::{LSA_HEADER_LEN, Lsa, LsaHeader, LsaKey, LsaKind, Lsas, set_age};
use super::{LAYER, address, short, word};
use crate::error::{Error, Reason, need};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

/// A Hello (RFC 2328, A.3.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Mask of the link's network.
    pub mask: Ipv4Addr,
    /// Seconds between two Hellos.
    pub hello_s: u16,
    /// What the router can do.
    pub options: u8,
    /// How much the router wants to be the designated one; zero if it may not be.
    pub priority: u8,
    /// A neighbour that is silent for so many seconds is gone.
    pub dead_s: u32,
    /// Address of the designated router, or zero.
    pub designated: Ipv4Addr,
    /// Address of the backup designated router, or zero.
    pub backup: Ipv4Addr,
    /// Router ids that were heard on the link lately.
    pub neighbors: Vec<Ipv4Addr>,
}

/// A Database Description (RFC 2328, A.3.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Longest IP packet that the sender's interface takes.
    pub mtu: u16,
    /// What the router can do.
    pub options: u8,
    /// Bits of the exchange: [`Description::INIT`], [`Description::MORE`], [`Description::MASTER`].
    pub flags: u8,
    /// Counts the packets of the exchange.
    pub sequence: u32,
    /// Some of the advertisements that the sender has.
    #[serde(default)]
    pub headers: Vec<LsaHeader>,
}

impl Description {
    /// The first packet of an exchange.
    pub const INIT: u8 = 4;
    /// The sender has more headers than it has described so far.
    pub const MORE: u8 = 2;
    /// The sender is the master of the exchange.
    pub const MASTER: u8 = 1;
}

/// One advertisement that is asked for (RFC 2328, A.3.4).
pub type Request = LsaKey;

/// What follows the header of a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Body {
    /// Finds neighbours and keeps them.
    Hello(Hello),
    /// Says what is in a database.
    Description(Description),
    /// Asks for advertisements that the neighbour has described (RFC 2328, A.3.4).
    Request {
        /// Keys of those that are missing or older here.
        wanted: Vec<Request>,
    },
    /// Floods advertisements, or answers a request (RFC 2328, A.3.5).
    Update {
        /// Header and body of each, as many as fit.
        lsas: Vec<Lsa>,
    },
    /// Acknowledges advertisements (RFC 2328, A.3.6).
    Ack {
        /// Which instances came: nothing else is said of them.
        headers: Vec<LsaHeader>,
    },
}

fn multiple(data: &[u8], of: usize) -> Result<(), Error> {
    if data.len().is_multiple_of(of) {
        return Ok(());
    }
    Err(Error::truncated(LAYER, data.len().next_multiple_of(of), data.len()))
}

fn headers(data: &[u8]) -> Result<Vec<LsaHeader>, Error> {
    multiple(data, LSA_HEADER_LEN)?;
    data.chunks_exact(LSA_HEADER_LEN).map(LsaHeader::parse).collect()
}

impl Hello {
    fn parse(data: &[u8]) -> Result<Hello, Error> {
        need(LAYER, 20, data.len())?;
        multiple(&data[20..], 4)?;
        Ok(Hello {
            mask: address(data, 0),
            hello_s: short(data, 4),
            options: data[6],
            priority: data[7],
            dead_s: word(data, 8),
            designated: address(data, 12),
            backup: address(data, 16),
            neighbors: data[20..].chunks_exact(4).map(|id| address(id, 0)).collect(),
        })
    }
}

impl Description {
    fn parse(data: &[u8]) -> Result<Description, Error> {
        need(LAYER, 8, data.len())?;
        let headers = headers(&data[8..]).map_err(|error| error.at(8))?;
        let (mtu, options, flags, sequence) = (short(data, 0), data[2], data[3], word(data, 4));
        Ok(Description { mtu, options, flags, sequence, headers })
    }
}

impl Body {
    /// Reads what follows the header of a packet of this type. Offsets of errors count from the packet.
    pub fn parse(kind: Kind, body: &[u8]) -> Result<Body, Error> {
        let read = match kind {
            Kind::Hello => Hello::parse(body).map(Body::Hello),
            Kind::Description => Description::parse(body).map(Body::Description),
            Kind::Request => Body::parse_request(body),
            Kind::Update => Lsas::parse(body)
                .and_then(|lsas| lsas.map(Lsa::read).collect())
                .map(|lsas| Body::Update { lsas }),
            Kind::Ack => headers(body).map(|headers| Body::Ack { headers }),
        };
        read.map_err(|error| error.at(HEADER_LEN))
    }

    fn parse_request(body: &[u8]) -> Result<Body, Error> {
        multiple(body, 12)?;
        let wanted = body.chunks_exact(12).enumerate().map(|(place, one)| {
            let kind = u8::try_from(word(one, 0)).map_err(|_| {
                let reason =
                    Reason::OutOfRange { field: "LS type", found: word(one, 0).into(), min: 0, max: 255 };
                Error::new(LAYER, place * 12, reason)
            })?;
            Ok(LsaKey { kind: LsaKind(kind), id: address(one, 4), router: address(one, 8) })
        });
        Ok(Body::Request { wanted: wanted.collect::<Result<_, Error>>()? })
    }

    /// The type of the packet.
    pub const fn kind(&self) -> Kind {
        match self {
            Body::Hello(_) => Kind::Hello,
            Body::Description(_) => Kind::Description,
            Body::Request { .. } => Kind::Request,
            Body::Update { .. } => Kind::Update,
            Body::Ack { .. } => Kind::Ack,
        }
    }

    /// Appends what follows the packet's header; checksum and length are the packet's business.
    pub(super) fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Body::Hello(hello) => {
                out.extend_from_slice(&hello.mask.octets());
                out.extend_from_slice(&hello.hello_s.to_be_bytes());
                out.extend_from_slice(&[hello.options, hello.priority]);
                out.extend_from_slice(&hello.dead_s.to_be_bytes());
                out.extend_from_slice(&hello.designated.octets());
                out.extend_from_slice(&hello.backup.octets());
                hello.neighbors.iter().for_each(|id| out.extend_from_slice(&id.octets()));
            }
            Body::Description(description) => {
                out.extend(description.mtu.to_be_bytes());
                out.extend([description.options, description.flags]);
                out.extend(description.sequence.to_be_bytes());
                description.headers.iter().for_each(|header| out.extend(header.emit()));
            }
            Body::Request { wanted } => {
                for key in wanted {
                    out.extend([0, 0, 0, key.kind.0]);
                    out.extend(key.id.octets());
                    out.extend(key.router.octets());
                }
            }
            Body::Update { lsas } => {
                out.extend((lsas.len() as u32).to_be_bytes());
                for lsa in lsas {
                    out.extend(lsa.write()?);
                }
            }
            Body::Ack { headers } => {
                headers.iter().for_each(|header| out.extend_from_slice(&header.emit()));
            }
        }
        Ok(())
    }

    /// A whole packet without checksum and authentication: [`Auth::seal`](super::Auth::seal) fills them in.
    pub fn packet(&self, router_id: Ipv4Addr, area: Ipv4Addr) -> Result<Vec<u8>, Error> {
        let mut packet = Vec::with_capacity(HEADER_LEN + self.usual_len());
        packet.resize(HEADER_LEN, 0);
        self.emit(&mut packet)?;
        let header = header(self.kind(), router_id, area, packet.len() - HEADER_LEN)?;
        packet[..HEADER_LEN].copy_from_slice(&header.emit());
        Ok(packet)
    }

    /// How many bytes it has, but for advertisements, which are written one by one.
    fn usual_len(&self) -> usize {
        match self {
            Body::Hello(hello) => 20 + 4 * hello.neighbors.len(),
            Body::Description(description) => 8 + LSA_HEADER_LEN * description.headers.len(),
            Body::Request { wanted } => 12 * wanted.len(),
            Body::Update { .. } => 4,
            Body::Ack { headers } => LSA_HEADER_LEN * headers.len(),
        }
    }

    /// A packet that floods advertisements, each as its bytes and its age now, without checksum and authentication.
    pub fn update<'a>(
        router_id: Ipv4Addr,
        area: Ipv4Addr,
        lsas: impl ExactSizeIterator<Item = (&'a [u8], u16)> + Clone,
    ) -> Result<Vec<u8>, Error> {
        let len = 4 + lsas.clone().map(|(bytes, _)| bytes.len()).sum::<usize>();
        let mut packet = Vec::with_capacity(HEADER_LEN + len);
        packet.extend(header(Kind::Update, router_id, area, len)?.emit());
        packet.extend((lsas.len() as u32).to_be_bytes());
        for (bytes, age) in lsas {
            let at = packet.len();
            packet.extend_from_slice(bytes);
            set_age(&mut packet[at..], age);
        }
        Ok(packet)
    }
}

/// The header of a packet with a body of so many bytes, without checksum and authentication.
fn header(kind: Kind, router_id: Ipv4Addr, area: Ipv4Addr, body: usize) -> Result<Header, Error> {
    let length = u16::try_from(HEADER_LEN + body).map_err(|_| {
        let max = (usize::from(u16::MAX) - HEADER_LEN) as u64;
        Error::new(LAYER, 2, Reason::OutOfRange { field: "body", found: body as u64, min: 0, max })
    })?;
    let (checksum, au_type, authentication) = (0, 0, [0; 8]);
    Ok(Header { kind, length, router_id, area, checksum, au_type, authentication })
}

/// A packet of a body, without checksum and authentication.
pub(super) fn packet(kind: Kind, router_id: Ipv4Addr, area: Ipv4Addr, body: &[u8]) -> Result<Vec<u8>, Error> {
    Ok([&header(kind, router_id, area, body.len())?.emit()[..], body].concat())
}
