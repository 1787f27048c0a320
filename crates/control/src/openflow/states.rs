//! The states of a connection between a switch and a controller.

use crate::machine;

machine! {
    /// A switch connects to each of its controllers and, when the connection ends, again after a while that doubles
    /// from 1 s to 8 s.
    /// A connection that a controller opens begins in *Greeting*, and is over in *Waiting*.
    machine "A connection to a controller";
    /// How far a connection is.
    pub enum ChannelState {
        /// There is none; the next attempt is due when the back-off has passed.
        Waiting,
        /// TCP is being set up.
        Connecting,
        /// Both ends say which versions they speak.
        Greeting,
        /// A version is agreed on.
        Up,
        /// Nothing was heard for the probe interval: an echo request is on its way.
        Probing,
    }
    /// What happens to a connection.
    pub enum ChannelEvent {
        /// The back-off has passed.
        Due,
        /// TCP is set up.
        Opened,
        /// The other end has said its versions, and one of them is spoken here.
        Agreed,
        /// The other end speaks no version that is spoken here, or begins with something else than HELLO.
        Refused,
        /// A message says that it is shorter than its own header: where the next one begins, nobody knows.
        Malformed,
        /// Nothing was heard for the probe interval.
        Silent,
        /// A message came, or bytes that waited for the other end were taken.
        Heard,
        /// TCP has ended, or can't be set up.
        Closed,
    }
    begins { Waiting, Greeting }
    steps {
        Waiting: Due => Connecting, Opened => Greeting;
        Connecting: Opened => Greeting, Closed | Silent => Waiting;
        Greeting: Agreed => Up, Refused | Malformed | Closed | Silent => Waiting;
        Up: Silent => Probing, Heard => Up, Malformed | Closed => Waiting;
        Probing: Heard => Up, Malformed | Silent | Closed => Waiting;
    }
}
