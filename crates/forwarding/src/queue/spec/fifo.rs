//! Queues that drop what does not fit and reorder nothing: pfifo, bfifo.

use base::describe::Size;

base::record! {
    /// First in, first out, limited in packets (tc-pfifo).
    #[derive(Clone, Debug, PartialEq)]
    pub struct PfifoSpec called "Pfifo" {
        /// Packets that may wait.
        pub limit: u64 = 1000, in 1..=0xffff_ffff;
    }
}

impl Default for PfifoSpec {
    /// Linux's usual length of a transmit queue.
    fn default() -> PfifoSpec {
        PfifoSpec { limit: 1000 }
    }
}

base::record! {
    /// First in, first out, limited in bytes (tc-bfifo).
    #[derive(Clone, Debug, PartialEq)]
    pub struct BfifoSpec called "Bfifo" {
        /// Bytes that may wait.
        pub limit: Size, in 1..=0x7fff_ffff_ffff_ffff;
    }
}
