//! ADSPEC as path state keeps it.

use wire::rsvp::{Adspec, ControlledLoadFragment, General, Overrides};

/// What a Path said of its way: mostly general parameters and the header of controlled load, which take no memory of
/// their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Advert {
    /// The Path had no ADSPEC.
    #[default]
    Absent,
    /// General parameters, and the break bit of controlled load if that was mentioned.
    Plain { general: General, controlled_load: Option<bool> },
    /// Anything else.
    Whole(Box<Adspec>),
}

impl From<Option<Adspec>> for Advert {
    fn from(adspec: Option<Adspec>) -> Advert {
        let Some(adspec) = adspec else { return Advert::Absent };
        let own = adspec.controlled_load;
        let bare = own.is_none_or(|fragment| fragment.overrides == Overrides::default());
        if bare && adspec.guaranteed.is_none() && adspec.others.is_empty() {
            let controlled_load = own.map(|fragment| fragment.break_bit);
            return Advert::Plain { general: adspec.general, controlled_load };
        }
        Advert::Whole(Box::new(adspec))
    }
}

impl Advert {
    /// As it came.
    pub(super) fn to_wire(&self) -> Option<Adspec> {
        match self {
            Advert::Absent => None,
            Advert::Plain { general, controlled_load } => {
                let overrides = Overrides::default();
                let fragment = |break_bit| ControlledLoadFragment { break_bit, overrides };
                let controlled_load = controlled_load.map(fragment);
                Some(Adspec { general: *general, guaranteed: None, controlled_load, others: Vec::new() })
            }
            Advert::Whole(adspec) => Some((**adspec).clone()),
        }
    }

    /// The longest packet that the way takes, in bytes (RFC 2210, 2.3.2).
    pub(super) fn path_mtu(&self) -> Option<u32> {
        match self {
            Advert::Absent => None,
            Advert::Plain { general, .. } => Some(general.mtu),
            Advert::Whole(adspec) => Some(adspec.path_mtu()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_comes_out_as_it_went_in() {
        let general = General { hops: 3, mtu: 1400, ..General::default() };
        let own = |mtu| ControlledLoadFragment {
            break_bit: true,
            overrides: Overrides { mtu, ..Overrides::default() },
        };
        let adspec =
            |controlled_load| Adspec { general, guaranteed: None, controlled_load, others: Vec::new() };
        let cases = [
            (None, None, 0),
            (Some(adspec(None)), Some(1400), 1),
            (Some(adspec(Some(own(None)))), Some(1400), 1),
            (Some(adspec(Some(own(Some(1300))))), Some(1300), 2),
        ];
        for (adspec, mtu, kind) in cases {
            let kept = Advert::from(adspec.clone());
            assert_eq!((kept.to_wire(), kept.path_mtu()), (adspec, mtu));
            let found = match kept {
                Advert::Absent => 0,
                Advert::Plain { .. } => 1,
                Advert::Whole(_) => 2,
            };
            assert_eq!(found, kind);
        }
    }
}
