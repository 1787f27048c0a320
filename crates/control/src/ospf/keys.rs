//! The keys of an interface: which one packets are sent with, and which are taken (RFC 2328, D.3 to D.5; RFC 5709, 3).

use super::interface::{Interface, InterfaceName, VirtualLink};
use super::{Event, Ospf};
use crate::lifetimes::{Lifetime, generating, keep_last};
use base::Time;
use base::time::PS_PER_S;
use wire::ospf::{Auth, Header};

/// A way to authenticate, and when it is good.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedAuth {
    /// How packets are authenticated.
    pub auth: Auth,
    /// When. Packets without a key have no times.
    pub life: Lifetime,
}

impl TimedAuth {
    /// The number of its key, if it has one.
    pub const fn key_id(&self) -> Option<u8> {
        match &self.auth {
            Auth::Cryptographic(key) => Some(key.id),
            Auth::Null | Auth::Simple(_) => None,
        }
    }
}

/// How packets of an interface are authenticated: in one way for ever, or with several keys one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    /// At least one, in the order of the description.
    all: Vec<TimedAuth>,
    /// When the last of them ends, if it does: it is used on.
    ends: Option<Time>,
}

impl Default for Keys {
    /// No authentication.
    fn default() -> Keys {
        Keys::from(Auth::Null)
    }
}

impl From<Auth> for Keys {
    /// One way for ever.
    fn from(auth: Auth) -> Keys {
        Keys { all: vec![TimedAuth { auth, life: Lifetime::ALWAYS }], ends: None }
    }
}

impl Keys {
    /// Keys with their times, of which one is good to send with at any time until the last one ends. Without a key,
    /// no authentication.
    pub fn new(mut all: Vec<TimedAuth>) -> Keys {
        if all.is_empty() {
            return Keys::default();
        }
        let ends = keep_last(all.iter_mut().map(|one| &mut one.life));
        Keys { all, ends }
    }

    /// What packets are sent with now.
    pub fn sending(&self, now: Time) -> &TimedAuth {
        match self.all.as_slice() {
            [only] => only,
            all => {
                let place = generating(all.iter().map(|one| one.life), now);
                debug_assert!(place.is_some(), "no key at {now}");
                &all[place.unwrap_or(all.len() - 1)]
            }
        }
    }

    /// When the last key ends, if it does.
    pub const fn ends(&self) -> Option<Time> {
        self.ends
    }

    /// How many bytes it appends to a packet at most.
    pub fn trailer_len(&self) -> usize {
        self.all.iter().map(|one| one.auth.trailer_len()).max().unwrap_or(0)
    }

    /// The next moment after this one at which packets may be sent with another key, or the last one ends.
    fn next_change(&self, now: Time) -> Option<Time> {
        let starts = self.all.iter().flat_map(|one| [one.life.start_generate, one.life.stop_generate]);
        starts.chain(self.ends).filter(|at| *at > now && *at < Time::MAX).min()
    }

    /// Checks a packet by the key that it names (RFC 2328, D.5.3). The result is its cryptographic sequence number, or
    /// why it is not taken.
    pub fn verify(&self, now: Time, header: &Header, bytes: &[u8]) -> Result<Option<u32>, String> {
        let verified = |one: &TimedAuth| one.auth.verify(header, bytes).map_err(|error| error.to_string());
        let [_, _, id, ..] = header.authentication;
        let found = match self.all.as_slice() {
            [only] => return verified(only),
            all if header.au_type != all[0].auth.au_type() => return verified(&all[0]),
            all => all.iter().find(|one| one.key_id() == Some(id)),
        };
        let Some(one) = found else { return Err(format!("its key is {id}, which is none of those here")) };
        let at = |time: Time| format!("{} s", time.0 as f64 / PS_PER_S as f64);
        if now < one.life.start_accept {
            return Err(format!(
                "its key is {id}, which is taken here from {} on",
                at(one.life.start_accept)
            ));
        }
        if !one.life.is_accepted(now) {
            return Err(format!("its key is {id}, which was taken here until {}", at(one.life.stop_accept)));
        }
        verified(one)
    }
}

/// What an interface keeps of its keys, for people and for the next change.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyState {
    /// Number of the key that packets are sent with; nothing without one.
    pub id: Option<u8>,
    /// Since when the last key has been used though its time is over.
    pub expired: Option<Time>,
    /// When it may be another one.
    pub(super) due: Option<Time>,
}

impl Interface {
    /// What its keys are now. Nothing is said by a passive one.
    pub(super) fn key_state(&self, now: Time) -> KeyState {
        if self.config.passive {
            return KeyState::default();
        }
        let keys = &self.config.auth;
        KeyState {
            id: keys.sending(now).key_id(),
            expired: keys.ends().filter(|end| *end <= now),
            due: keys.next_change(now),
        }
    }
}

impl Ospf {
    /// Goes over to another key if it is time, and says so; says, too, that the last one has ended (RFC 2328, D.3).
    pub(super) fn follow_keys(&mut self, now: Time, by: InterfaceName) {
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        if interface.keys.due.is_none_or(|due| due > now) {
            return;
        }
        let (before, after) = (interface.keys, interface.key_state(now));
        interface.keys = after;
        let Some(key_id) = after.id else { return };
        if before.id != after.id {
            self.event(match by {
                InterfaceName::Port(port) => Event::OspfKey { port, key_id },
                InterfaceName::Virtual(VirtualLink { area, router: router_id }) => {
                    Event::OspfVirtualKey { router_id, area, key_id }
                }
            });
        }
        if before.expired != after.expired {
            self.event(match by {
                InterfaceName::Port(port) => Event::OspfLastKeyExpired { port, key_id },
                InterfaceName::Virtual(VirtualLink { area, router: router_id }) => {
                    Event::OspfVirtualLastKeyExpired { router_id, area, key_id }
                }
            });
        }
    }
}
