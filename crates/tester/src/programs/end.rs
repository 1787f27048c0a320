//! One end of a connection, and what its program has written and read.

use super::Snapshot;
use super::series::TcpSeries;
use super::settings::{Program, Work};
use base::{Span, Time};
use core::net::SocketAddr;
use node::sessions::{Closed, SessionId, Sessions};

/// What is written is the number of each byte, modulo this: a byte that is lost, doubled or moved shows.
const PERIOD: u64 = 251;
/// Bytes that are written at a time, at most.
const CHUNK: usize = 65_536;

/// Bytes of the pattern from any of its first [`PERIOD`] places on.
static PATTERN: [u8; CHUNK + PERIOD as usize] = pattern();

const fn pattern() -> [u8; CHUNK + PERIOD as usize] {
    let mut bytes = [0; CHUNK + PERIOD as usize];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = (at as u64 % PERIOD) as u8;
        at += 1;
    }
    bytes
}

/// The pattern from a byte of the stream on.
fn pattern_from(at: u64, len: usize) -> &'static [u8] {
    let from = (at % PERIOD) as usize;
    &PATTERN[from..from + len.min(CHUNK)]
}

base::words! {
    /// What has become of a connection.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Standing {
        /// It is being begun.
        Connecting = "connecting",
        /// It is established.
        Open = "open",
        /// Both ends have closed it.
        Done = "done",
        /// The other end has reset it.
        Reset = "reset",
        /// Nobody listens at the other end, or there is no way to it.
        Refused = "refused",
        /// The other end did not answer in time.
        TimedOut = "timed-out",
        /// The host has begun anew.
        Lost = "lost",
    }
}

/// Times from a request to the end of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transactions {
    /// How many were answered.
    pub count: u64,
    /// The sum of their times, in picoseconds.
    pub sum_ps: u128,
    /// The shortest.
    pub min: Span,
    /// The longest.
    pub max: Span,
}

/// One end of a connection.
#[derive(Debug)]
pub struct End {
    /// The program that has it.
    pub program: Program,
    /// Did the program begin the connection?
    pub client: bool,
    /// Its own address and port, and those of the other end; none if it could not begin.
    pub ends: Option<[SocketAddr; 2]>,
    /// Its session; none if it could not begin.
    pub(super) session: Option<SessionId>,
    /// What has become of it.
    pub standing: Standing,
    /// When it was begun or accepted.
    pub begun: Time,
    /// When it was established.
    pub connected: Option<Time>,
    /// When the first and the last byte was read.
    pub read_at: Option<[Time; 2]>,
    /// When the other end had sent all.
    pub peer_closed: Option<Time>,
    /// When nothing of it was left here.
    pub ended: Option<Time>,
    /// Bytes that found room in the send buffer.
    pub written: u64,
    /// Bytes read.
    pub read: u64,
    /// Bytes read that are not those that were sent.
    pub wrong: u64,
    /// What its TCP did.
    pub last: Snapshot,
    /// The same over time.
    pub series: TcpSeries,
    /// Requests that were answered.
    pub transactions: Transactions,
    /// Requests that were begun, and when the last one was.
    asked: u64,
    asked_at: Time,
    /// What of the message in hand has not found room yet.
    rest: u64,
    stopped: bool,
    closing: bool,
}

impl End {
    fn new(now: Time, program: Program, client: bool, begun: Option<(SessionId, [SocketAddr; 2])>) -> End {
        let (session, ends) = begun.unzip();
        End {
            program,
            client,
            ends,
            session,
            standing: if ends.is_some() { Standing::Connecting } else { Standing::Refused },
            begun: now,
            connected: None,
            read_at: None,
            peer_closed: None,
            ended: None,
            written: 0,
            read: 0,
            wrong: 0,
            last: Snapshot::default(),
            series: TcpSeries::new(program.bin),
            transactions: Transactions::default(),
            asked: 0,
            asked_at: now,
            rest: 0,
            stopped: false,
            closing: false,
        }
    }

    /// That of a program that begins a connection; without a session it could not.
    pub(super) fn client(now: Time, program: Program, begun: Option<(SessionId, [SocketAddr; 2])>) -> End {
        End::new(now, program, true, begun)
    }

    /// That of a program whose host has taken a connection.
    pub(super) fn server(now: Time, program: Program, begun: (SessionId, [SocketAddr; 2])) -> End {
        let mut end = End::new(now, program, false, Some(begun));
        end.connected(now);
        end
    }

    pub(super) fn connected(&mut self, now: Time) {
        self.connected = Some(now);
        self.standing = Standing::Open;
    }

    pub(super) fn peer_closed(&mut self, now: Time) {
        self.peer_closed = Some(now);
    }

    pub(super) fn closed(&mut self, now: Time, why: Closed) {
        self.ended = Some(now);
        self.standing = match why {
            Closed::Done => Standing::Done,
            Closed::Reset => Standing::Reset,
            Closed::Refused => Standing::Refused,
            Closed::TimedOut => Standing::TimedOut,
        };
    }

    /// The host has begun anew; what was closed before stays so.
    pub(super) fn lost(&mut self, now: Time) {
        if self.ended.is_none() {
            self.ended = Some(now);
            self.standing = Standing::Lost;
        }
    }

    /// Nothing more is written.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    pub(super) fn note(&mut self, now: Time, ran: Snapshot) {
        self.series.note(now, &self.last, &ran);
        self.last = ran;
    }

    /// Reads what has come, writes what finds room, and closes when all is written.
    pub(super) fn work(&mut self, now: Time, id: SessionId, sessions: &mut Sessions) {
        self.take(now, id, sessions);
        if self.connected.is_none() || self.closing || self.ended.is_some() {
            return;
        }
        while self.has_to_write(now) {
            let message = pattern_from(self.written, self.rest.min(CHUNK as u64) as usize);
            let taken = sessions.write(id, message) as u64;
            self.written += taken;
            self.rest -= taken;
            if taken < message.len() as u64 {
                return;
            }
            if self.rest == 0 {
                // Each message is offered to TCP by itself: the first ones make short segments.
                sessions.flush(now);
            }
        }
        if self.is_finished() {
            self.closing = true;
            sessions.close(id);
        }
    }

    fn take(&mut self, now: Time, id: SessionId, sessions: &mut Sessions) {
        let (mut at, mut wrong) = (self.read, 0);
        let read = sessions.read(id, |bytes| {
            for piece in bytes.chunks(CHUNK) {
                let expected = pattern_from(at, piece.len());
                if piece != expected {
                    wrong += piece.iter().zip(expected).filter(|(a, b)| a != b).count() as u64;
                }
                at += piece.len() as u64;
            }
        });
        if read == 0 {
            return;
        }
        self.read += read as u64;
        self.wrong += wrong;
        self.read_at = Some([self.read_at.map_or(now, |[first, _]| first), now]);
        if let (Work::Exchange { response, .. }, true) = (self.program.work, self.client)
            && self.read >= self.asked * response
            && self.transactions.count < self.asked
        {
            let (took, all) = (now - self.asked_at, &mut self.transactions);
            all.min = if all.count == 0 { took } else { all.min.min(took) };
            all.max = all.max.max(took);
            all.sum_ps += took.0.max(0) as u128;
            all.count += 1;
        }
    }

    /// Is there a message to be written, or the rest of one? One is taken in hand if so.
    fn has_to_write(&mut self, now: Time) -> bool {
        if self.rest > 0 {
            return true;
        }
        self.rest = match self.program.work {
            Work::Bulk { both, .. } if !both && !self.client => 0,
            Work::Bulk { .. } if self.stopped => 0,
            Work::Bulk { bytes, .. } => {
                let left = bytes.map_or(u64::MAX, |bytes| bytes - self.written);
                left.min(u64::from(self.program.message))
            }
            Work::Exchange { request, transactions, .. } if self.client => {
                let more = !self.stopped && transactions.is_none_or(|all| self.asked < all);
                if more && self.asked == self.transactions.count {
                    self.asked += 1;
                    self.asked_at = now;
                    request
                } else {
                    0
                }
            }
            Work::Exchange { request, response, .. } => {
                if self.read / request * response > self.written {
                    response
                } else {
                    0
                }
            }
        };
        self.rest > 0
    }

    /// Is there nothing that this end will ever write?
    fn is_finished(&self) -> bool {
        let peer_closed = self.peer_closed.is_some();
        match self.program.work {
            _ if self.rest > 0 => false,
            Work::Bulk { both, .. } if !both && !self.client => peer_closed,
            Work::Bulk { bytes, .. } => self.stopped || bytes == Some(self.written),
            Work::Exchange { transactions, .. } if self.client => {
                let ends = self.stopped || transactions == Some(self.asked);
                (ends && self.asked == self.transactions.count) || peer_closed
            }
            Work::Exchange { .. } => peer_closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_goes_on_where_it_was_left() {
        let whole: Vec<u8> = (0..2_000_u64).map(|at| (at % PERIOD) as u8).collect();
        for at in [0, 1, 250, 251, 252, 1_000] {
            assert_eq!(pattern_from(at as u64, 300), &whole[at..at + 300]);
        }
        assert_eq!(pattern_from(u64::MAX, CHUNK).len(), CHUNK);
    }
}
