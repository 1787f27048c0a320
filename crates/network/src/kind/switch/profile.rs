//! Switch profiles as users write them: how long a measured switch takes for what it does.

use base::Span;
use node::switch::SwitchProfile;

base::record! {
    /// What a switch profile says. Nothing is left out: a switch that was measured has a value for each, and zero is
    /// one of them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SwitchProfileSpec {
        /// What people call it: the model of the switch that was measured.
        pub name: String;
        /// What it is, and where its values come from.
        pub description: String;
        /// The way of a frame through the datapath, whatever its length.
        pub pipeline: Span;
        /// The same for each byte.
        pub pipeline_per_byte: Span;
        /// A PACKET_IN, from the frame to the channel.
        pub packet_in: Span;
        /// The same for each byte of the message.
        pub packet_in_per_byte: Span;
        /// From a PACKET_IN to the next at least, on average, beyond which packets are dropped; zero for no limit.
        pub packet_in_every: Span;
        /// Packets that may come at once nevertheless.
        pub packet_in_burst: u32;
        /// Packets that wait to be PACKET_INs, beyond which they are dropped; zero for no limit.
        pub packet_in_queue: u32;
        /// A PACKET_OUT, from the channel to the port.
        pub packet_out: Span;
        /// The same for each byte of the message.
        pub packet_out_per_byte: Span;
        /// What a packet takes at least in the socket to the device's proxy while that is in use.
        pub socket_stall: Span;
        /// So long after a packet was given to it the socket counts as in use.
        pub socket_linger: Span;
        /// An echo request, from the channel to its answer.
        pub echo: Span;
        /// A message that is none of the others which have a time here.
        pub message: Span;
        /// What a change of entries takes beside the entries: the call of a driver on another machine.
        pub remote_call: Span;
        /// Writing an entry into the table of the device.
        pub entry_write: Span;
        /// The same of an addition, for each entry that is there already.
        pub entry_write_per_entry: Span;
        /// Bytes of messages that wait, beyond which the connection is reset; zero for no limit.
        pub reset_bytes: u64;
    }
}

impl SwitchProfileSpec {
    /// The same as a switch takes it.
    pub fn lowered(&self) -> SwitchProfile {
        SwitchProfile {
            pipeline: self.pipeline,
            pipeline_per_byte: self.pipeline_per_byte,
            packet_in: self.packet_in,
            packet_in_per_byte: self.packet_in_per_byte,
            packet_in_every: self.packet_in_every,
            packet_in_burst: self.packet_in_burst,
            packet_in_queue: self.packet_in_queue,
            packet_out: self.packet_out,
            packet_out_per_byte: self.packet_out_per_byte,
            socket_stall: self.socket_stall,
            socket_linger: self.socket_linger,
            echo: self.echo,
            message: self.message,
            remote_call: self.remote_call,
            entry_write: self.entry_write,
            entry_write_per_entry: self.entry_write_per_entry,
            reset_bytes: self.reset_bytes,
        }
    }
}
