//! An explicit route as the state block keeps it: four bytes a hop where all are strict hops to one address, as nearly
//! all are.

use super::command::RouteHop;
use crate::services::te::TeHop;
use core::net::Ipv4Addr;
use wire::rsvp::{EroHop, EroSubobject};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ipv4Hop {
    address: Ipv4Addr,
    prefix_length: u8,
    loose: bool,
}

#[derive(Clone, Debug, Default)]
enum Hops {
    #[default]
    Absent,
    /// Strict hops to one address each.
    Hosts(Box<[Ipv4Addr]>),
    Ipv4(Box<[Ipv4Hop]>),
    Any(Box<[EroHop]>),
    /// What came, and the strict hops towards a loose one that go on in front of the rest, but for the first of them.
    Expanded(Box<(Hops, Vec<Ipv4Addr>)>),
}

impl Hops {
    /// The route as it came, whatever goes on.
    fn came(&self) -> &Hops {
        match self {
            Hops::Expanded(both) => both.0.came(),
            hops => hops,
        }
    }

    /// Hops in as little memory as they take; `ipv4` gives those to prefixes of IPv4.
    fn of<H>(hops: &[H], ipv4: impl Fn(&H) -> Option<Ipv4Hop>) -> Option<Hops> {
        let host = |hop: &H| ipv4(hop).filter(|hop| hop.is_strict_host()).map(|hop| hop.address);
        each(hops, host).map(Hops::Hosts).or_else(|| each(hops, &ipv4).map(Hops::Ipv4))
    }
}

/// What `get` gives of each hop; nothing if there is one of which it gives nothing. Memory is asked for once.
fn each<H, T>(hops: &[H], get: impl Fn(&H) -> Option<T>) -> Option<Box<[T]>> {
    let mut kept = Vec::with_capacity(hops.len());
    for hop in hops {
        kept.push(get(hop)?);
    }
    Some(kept.into_boxed_slice())
}

/// EXPLICIT_ROUTE as it came, and how much of it is behind us.
#[derive(Clone, Debug, Default)]
pub(super) struct Ero {
    hops: Hops,
    /// Hops that do not go on.
    consumed: u8,
    /// The first of the strict hops that are put in front of the rest: the next hop towards a loose one (RFC 3209,
    /// 4.3.4.2).
    inserted: Option<Ipv4Addr>,
}

impl Ero {
    pub(super) fn new(hops: Option<&[EroHop]>) -> Ero {
        let hops = match hops {
            None => Hops::Absent,
            Some(hops) => Hops::of(hops, Ipv4Hop::of).unwrap_or_else(|| Hops::Any(hops.into())),
        };
        Ero { hops, consumed: 0, inserted: None }
    }

    /// The route that a head end was asked for; none if it is empty.
    pub(super) fn of_command(route: &[RouteHop]) -> Ero {
        if route.is_empty() {
            return Ero::default();
        }
        let hop = |hop: &RouteHop| {
            Some(Ipv4Hop { address: hop.prefix.address(), prefix_length: hop.prefix.len(), loose: hop.loose })
        };
        Ero { hops: Hops::of(route, hop).unwrap_or_default(), consumed: 0, inserted: None }
    }

    /// The route along a computed path.
    pub(super) fn of_path(path: &[TeHop]) -> Ero {
        Ero { hops: Hops::Hosts(path.iter().map(|hop| hop.far).collect()), consumed: 0, inserted: None }
    }

    /// Is it the route that a Path brings?
    pub(super) fn is_same(&self, hops: Option<&[EroHop]>) -> bool {
        match (self.hops.came(), hops) {
            (Hops::Absent, None) => true,
            (Hops::Hosts(mine), Some(hops)) => {
                let same = |(a, b): (&Ipv4Addr, &EroHop)| Ipv4Hop::of(b) == Some(Ipv4Hop::strict(*a));
                mine.len() == hops.len() && mine.iter().zip(hops).all(same)
            }
            (Hops::Ipv4(mine), Some(hops)) => {
                mine.len() == hops.len() && mine.iter().zip(hops).all(|(a, b)| Ipv4Hop::of(b) == Some(*a))
            }
            (Hops::Any(mine), Some(hops)) => **mine == *hops,
            _ => false,
        }
    }

    /// The route as it came.
    pub(super) fn hops(&self) -> Option<Vec<EroHop>> {
        match self.hops.came() {
            Hops::Absent | Hops::Expanded(_) => None,
            Hops::Hosts(hops) => Some(hops.iter().copied().map(EroHop::strict).collect()),
            Hops::Ipv4(hops) => Some(hops.iter().map(|hop| hop.to_wire()).collect()),
            Hops::Any(hops) => Some(hops.to_vec()),
        }
    }

    /// Remembers how the route goes on.
    pub(super) fn advance(&mut self, consumed: u8, inserted: &[Ipv4Addr]) {
        self.consumed = consumed;
        self.inserted = inserted.first().copied();
        let came = match core::mem::take(&mut self.hops) {
            Hops::Expanded(both) => both.0,
            hops => hops,
        };
        self.hops = match inserted.get(1..) {
            None | Some([]) => came,
            Some(more) => Hops::Expanded(Box::new((came, more.to_vec()))),
        };
    }

    /// Goes on where another route did.
    pub(super) fn continue_as(&mut self, other: &Ero) {
        let more = match &other.hops {
            Hops::Expanded(both) => &both.1[..],
            _ => &[],
        };
        let inserted: Vec<Ipv4Addr> = other.inserted.into_iter().chain(more.iter().copied()).collect();
        self.advance(other.consumed, &inserted);
    }

    /// The route that goes on to the next hop; an empty one is left out (RFC 3209, 4.3.4.1).
    pub(super) fn outgoing(&self) -> Option<Vec<EroHop>> {
        let from = usize::from(self.consumed);
        let expanded: &[Ipv4Addr] = match &self.hops {
            Hops::Expanded(both) => &both.1,
            _ => &[],
        };
        let len = self.len().saturating_sub(from) + expanded.len() + usize::from(self.inserted.is_some());
        if len == 0 {
            return None;
        }
        let mut out = Vec::with_capacity(len);
        out.extend(self.inserted.map(EroHop::strict));
        out.extend(expanded.iter().copied().map(EroHop::strict));
        match self.hops.came() {
            Hops::Absent | Hops::Expanded(_) => {}
            Hops::Hosts(hops) => out.extend(hops.iter().skip(from).copied().map(EroHop::strict)),
            Hops::Ipv4(hops) => out.extend(hops.iter().skip(from).map(|hop| hop.to_wire())),
            Hops::Any(hops) => out.extend(hops.iter().skip(from).cloned()),
        }
        Some(out)
    }

    /// Hops as they came.
    fn len(&self) -> usize {
        match self.hops.came() {
            Hops::Absent | Hops::Expanded(_) => 0,
            Hops::Hosts(hops) => hops.len(),
            Hops::Ipv4(hops) => hops.len(),
            Hops::Any(hops) => hops.len(),
        }
    }
}

impl Ipv4Hop {
    fn of(hop: &EroHop) -> Option<Ipv4Hop> {
        match hop.node {
            EroSubobject::Ipv4 { address, prefix_length } => {
                Some(Ipv4Hop { address, prefix_length, loose: hop.loose })
            }
            _ => None,
        }
    }
    const fn strict(address: Ipv4Addr) -> Ipv4Hop {
        Ipv4Hop { address, prefix_length: 32, loose: false }
    }
    const fn is_strict_host(self) -> bool {
        self.prefix_length == 32 && !self.loose
    }
    const fn to_wire(self) -> EroHop {
        let node = EroSubobject::Ipv4 { address: self.address, prefix_length: self.prefix_length };
        EroHop { loose: self.loose, node }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_kept_as_it_came() {
        let a = EroHop::strict(Ipv4Addr::new(10, 0, 0, 1));
        let b = EroHop { loose: true, node: EroSubobject::AutonomousSystem { number: 7 } };
        let c = EroHop::loose(Ipv4Addr::new(10, 0, 0, 1));
        for hops in [vec![a.clone()], vec![a.clone(), c], vec![a.clone(), b.clone()], vec![]] {
            let ero = Ero::new(Some(&hops));
            assert!(
                ero.is_same(Some(&hops))
                    && !ero.is_same(None)
                    && !ero.is_same(Some(std::slice::from_ref(&b)))
            );
            assert_eq!(ero.hops(), Some(hops));
        }
        assert!(Ero::new(None).is_same(None));
        let mut ero = Ero::new(Some(&[a.clone(), b.clone()]));
        ero.advance(1, &[Ipv4Addr::new(10, 0, 0, 9)]);
        assert_eq!(ero.outgoing(), Some(vec![EroHop::strict(Ipv4Addr::new(10, 0, 0, 9)), b.clone()]));
        // A way of several hops to a loose one.
        ero.advance(1, &[8, 9].map(|d| Ipv4Addr::new(10, 0, 0, d)));
        let way = [8, 9].map(|d| EroHop::strict(Ipv4Addr::new(10, 0, 0, d)));
        assert_eq!(ero.outgoing(), Some([&way[..], std::slice::from_ref(&b)].concat()));
        assert_eq!(
            (ero.is_same(Some(&[a.clone(), b.clone()])), ero.hops()),
            (true, Some(vec![a.clone(), b]))
        );
        let mut other = Ero::new(Some(&[a]));
        other.continue_as(&ero);
        assert_eq!(other.outgoing(), Some(way.to_vec()));
        ero.advance(2, &[]);
        assert_eq!(ero.outgoing(), None);
    }
}
