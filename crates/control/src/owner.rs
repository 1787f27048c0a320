//! Who among the protocols of a node something belongs to.

/// A protocol of a control plane, by its place in the array of protocols: the first, unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(pub(crate) u8);
