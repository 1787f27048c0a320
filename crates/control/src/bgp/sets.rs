//! What is said of routes: equal sets of attributes are one in memory, whoever has told them, as the bytes that go to
//! neighbours.

use super::NextHops;
use super::routes::USUAL_PREFERENCE;
use super::several::Sequences;
use super::table::Path;
use base::{Interned, Interner};
use core::borrow::Borrow;
use core::hash::{Hash, Hasher};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::bgp::{AsPath, Attributes, Origin};

/// What is said of a route besides its destination, and the number that policies have given it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// What neighbours say and are told.
    pub attributes: Attributes,
    /// What other protocols of this router are told.
    pub tag: u32,
    /// Where packets to IPv6 destinations go (RFC 2545, 2).
    pub next_hop6: Option<Ipv6Addr>,
}

impl Set {
    /// Where packets go, whichever family it is.
    pub fn gateway(&self) -> Option<IpAddr> {
        self.next_hop6.map(IpAddr::V6).or(self.attributes.next_hop.map(IpAddr::V4))
    }
}

impl core::ops::Deref for Set {
    type Target = Attributes;
    fn deref(&self) -> &Attributes {
        &self.attributes
    }
}

/// What routes are compared by, and where packets go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brief {
    /// LOCAL_PREF, or what stands for it.
    pub local_pref: u32,
    /// MULTI_EXIT_DISC; zero where it is absent.
    pub med: u32,
    /// The AS that the discriminator is of; zero, which no AS has, if nobody knows.
    pub neighbor_as: u32,
    /// The router of this AS that told it first, if reflectors have passed it on; zero if not.
    pub originator: u32,
    /// The next hop, by its place among all; [`NextHops::NONE`] without one.
    pub gateway: u32,
    /// What other protocols of this router are told.
    pub tag: u32,
    /// Length of the AS path.
    pub steps: u16,
    /// Reflectors that it has passed.
    pub clusters: u16,
    pub origin: Origin,
}

/// A set as it is kept.
#[derive(Clone, Debug)]
struct Stored {
    /// The tag, the next hop of IPv6, and the attributes, packed.
    bytes: Box<[u8]>,
    brief: Brief,
}

impl Borrow<[u8]> for Stored {
    fn borrow(&self) -> &[u8] {
        &self.bytes
    }
}

impl Hash for Stored {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

/// Bytes of the tag.
const TAG_LEN: usize = 4;
/// Bytes of an IPv6 address.
const ADDRESS_LEN: usize = 16;

impl Stored {
    /// The next hop of IPv6 and the attributes.
    fn parts(&self) -> (Option<Ipv6Addr>, &[u8]) {
        let rest = &self.bytes[TAG_LEN..];
        match rest.split_first() {
            Some((1, rest)) => match rest.split_first_chunk::<ADDRESS_LEN>() {
                Some((address, attributes)) => (Some((*address).into()), attributes),
                None => (None, &[]),
            },
            Some((_, attributes)) => (None, attributes),
            None => (None, &[]),
        }
    }
}

/// All sets that routes have.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets {
    all: Interner<Stored>,
    /// A set as it was before it was packed: what has just been heard is often told at once.
    recent: Option<(Interned, Set)>,
    /// What is being packed.
    packed: Vec<u8>,
    /// The next hops that there are.
    pub hops: NextHops,
    /// Labels of paths that have several.
    pub sequences: Sequences,
}

impl Sets {
    /// The name of a set, which is held once more.
    pub fn intern(&mut self, set: &Set) -> Interned {
        self.pack(set);
        self.intern_packed(set)
    }

    /// Packs a set, of which the name is going to be asked for.
    pub fn pack(&mut self, set: &Set) {
        let packed = &mut self.packed;
        packed.clear();
        packed.extend(set.tag.to_be_bytes());
        packed.push(u8::from(set.next_hop6.is_some()));
        packed.extend(set.next_hop6.iter().flat_map(|address| address.octets()));
        set.attributes.pack(packed);
        self.all.prefetch(&packed[..]);
    }

    /// The name of the set that was packed last, which is held once more.
    pub fn intern_packed(&mut self, set: &Set) -> Interned {
        let (packed, hops, before) = (&self.packed, &mut self.hops, self.all.len());
        let id = self.all.intern(&packed[..], || {
            let path = set.as_path.as_ref();
            let counted = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
            let brief = Brief {
                // From another AS only a policy has given it one: what that AS said of it is discarded (RFC 7606, 7.5).
                local_pref: set.local_pref.unwrap_or(USUAL_PREFERENCE),
                med: set.med.unwrap_or(0),
                neighbor_as: path.and_then(AsPath::first).unwrap_or(0),
                originator: set.originator.map_or(0, Ipv4Addr::to_bits),
                gateway: set.gateway().map_or(NextHops::NONE, |gateway| hops.hold(gateway)),
                tag: set.tag,
                steps: counted(path.map_or(0, AsPath::steps)),
                clusters: counted(set.cluster_list.len()),
                origin: set.origin.unwrap_or_default(),
            };
            Stored { bytes: packed[..].into(), brief }
        });
        // The name may have been that of another set.
        self.recent.take_if(|(known, _)| *known == id && self.all.len() > before);
        id
    }

    /// A set with this name is probably asked for soon.
    pub fn remember(&mut self, id: Interned, set: Set) {
        self.recent = Some((id, set));
    }

    /// The set itself, if it is asked for once.
    pub fn recall(&mut self, id: Interned) -> Set {
        match self.recent.take_if(|(known, _)| *known == id) {
            Some((_, set)) => {
                debug_assert_eq!(set, self.get(id), "what was packed");
                set
            }
            None => self.get(id),
        }
    }

    /// Somebody else has the set, too.
    pub fn hold(&mut self, id: Interned) {
        self.all.hold(id);
    }

    /// Somebody has the set no more.
    pub fn release(&mut self, id: Interned) {
        let (gateway, before) = (self.brief(id).gateway, self.all.len());
        self.all.release(id);
        if self.all.len() < before {
            self.hops.release(gateway);
        }
    }

    /// Somebody else is told what a path says.
    pub fn hold_path(&mut self, path: &Path) {
        self.hold(path.set);
        self.sequences.hold(path.label);
    }

    /// A path is gone.
    pub fn release_path(&mut self, path: &Path) {
        self.release(path.set);
        self.sequences.release(path.label);
    }

    pub fn brief(&self, id: Interned) -> &Brief {
        &self.all.get(id).brief
    }

    /// The next hop of IPv6, if it has any, and its attributes as they go to a neighbour that reads four octets.
    pub fn packed(&self, id: Interned) -> (Option<Ipv6Addr>, &[u8]) {
        self.all.get(id).parts()
    }

    /// The set itself.
    pub fn get(&self, id: Interned) -> Set {
        let stored = self.all.get(id);
        let (next_hop6, attributes) = stored.parts();
        Set { attributes: Attributes::unpack(attributes), tag: stored.brief.tag, next_hop6 }
    }
}
