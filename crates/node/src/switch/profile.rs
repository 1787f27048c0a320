//! What a measured switch takes for what it does: timing, never behaviour.

use base::Span;

/// How long a switch takes. Spans of zero take no time, and limits of zero are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchProfile {
    /// The way of a frame through the datapath, whatever its length.
    pub pipeline: Span,
    /// The same for each byte of it.
    pub pipeline_per_byte: Span,
    /// A PACKET_IN, from the frame to the channel.
    pub packet_in: Span,
    /// The same for each byte of the message.
    pub packet_in_per_byte: Span,
    /// From a PACKET_IN to the next at least, on average; others are dropped.
    pub packet_in_every: Span,
    /// Packets that may come at once nevertheless.
    pub packet_in_burst: u32,
    /// Packets that wait to be PACKET_INs; others are dropped.
    pub packet_in_queue: u32,
    /// A PACKET_OUT, from the channel to the port.
    pub packet_out: Span,
    /// The same for each byte of the message.
    pub packet_out_per_byte: Span,
    /// What a packet takes in the socket between the endpoint and the device's proxy at least, when it finds the socket
    /// in use: the second of two short writes waits for an acknowledgement that the other end defers.
    pub socket_stall: Span,
    /// So long after a packet was given to it the socket counts as in use.
    pub socket_linger: Span,
    /// An echo request, from the channel to its answer.
    pub echo: Span,
    /// A message that is none of the others which have a time here.
    pub message: Span,
    /// What a change of entries takes beside the entries: the call of a driver on another machine.
    pub remote_call: Span,
    /// Writing an entry into the table.
    pub entry_write: Span,
    /// The same of an addition, for each entry that is there already: a TCAM moves them.
    pub entry_write_per_entry: Span,
    /// Bytes of messages that wait to be done, beyond which the endpoint resets the connection.
    pub reset_bytes: u64,
}
