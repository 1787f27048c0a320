//! Vocabulary and contracts: units, ids, random streams, frames, the device contract, the plane boundary.
