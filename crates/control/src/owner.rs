//! Who among the protocols of a node something belongs to.

/// A protocol of a control plane, by its place in the array of protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(pub(crate) u8);
