//! The HELLO object (RFC 3209, 5.2).

use super::class::HELLO;
use super::error::Fault;
use super::field::{Get, Put};
use serde::{Deserialize, Serialize};

/// HELLO: a neighbour's sign of life. C-Type 1 asks, C-Type 2 answers.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         Src_Instance                          |
/// |                         Dst_Instance                          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Hello {
    /// HELLO REQUEST: asks the neighbour for an answer. C-Type 1.
    #[serde(rename = "HELLO REQUEST")]
    Request {
        /// Changes when the sender restarts; never zero.
        src_instance: u32,
        /// Src_Instance last heard from the neighbour, or zero.
        dst_instance: u32,
    },
    /// HELLO ACK: answers a request. C-Type 2.
    #[serde(rename = "HELLO ACK")]
    Ack {
        /// Changes when the sender restarts; never zero.
        src_instance: u32,
        /// Src_Instance last heard from the neighbour, or zero.
        dst_instance: u32,
    },
}

impl Hello {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Hello, Fault> {
        if !matches!(c_type, 1 | 2) {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        let mut get = Get::exact(body, 8)?;
        let (src_instance, dst_instance) = (get.u32(), get.u32());
        Ok(match c_type {
            1 => Hello::Request { src_instance, dst_instance },
            _ => Hello::Ack { src_instance, dst_instance },
        })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        let (c_type, src_instance, dst_instance) = match *self {
            Hello::Request { src_instance, dst_instance } => (1, src_instance, dst_instance),
            Hello::Ack { src_instance, dst_instance } => (2, src_instance, dst_instance),
        };
        out.object(HELLO, c_type, 8);
        out.u32(src_instance);
        out.u32(dst_instance);
    }
}
