//! One connection of a switch to a controller over TCP of the kernel, with TLS or without.

use base::diagnostic::os_words;
use base::{Span, Time};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use tls::Session;

/// Bytes that are read at once.
pub const CHUNK: usize = 64 << 10;
/// How long TLS may take to be set up, once TCP is: the other end may be silent, or say little at a time.
pub const SECURING: Span = Span::from_secs(5);
/// How long a connection that the switch has closed waits for the other end to read the rest.
const CLOSING: Span = Span::from_secs(5);

/// How far a connection is. Each of them may end, and *Closing* begins with what the switch wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// TCP is being set up; *Securing* follows, or *Open* without TLS.
    Connecting,
    /// TLS is being set up, until this time at most; *Open* follows.
    Securing(Time),
    /// The switch knows of it.
    Open,
    /// It ends when all is sent, or at this time.
    Closing(Time),
}

/// Where a connection that came in has come from.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// Where the switch listens: the place of that among its controllers.
    pub listener: u32,
    /// Address and port of the other end.
    pub from: SocketAddr,
}

/// What came of reading.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrived {
    /// There was nothing.
    Nothing,
    /// Bytes of TCP; those within, of which there may be none, are appended.
    Some,
    /// The connection is over, for this reason.
    Over(String),
}

/// A connection.
pub struct Stream {
    /// The socket of the kernel.
    pub socket: TcpStream,
    /// What is said over TLS, if it is.
    session: Option<Session>,
    /// Bytes of TCP that the kernel has not taken yet.
    pub unsent: Vec<u8>,
    /// How far it is.
    pub stage: Stage,
    /// More than [`node::switch::OUTPUT_MAX`] bytes were unsent, and it is not yet half of that: nothing is read from
    /// it.
    pub is_full: bool,
    /// Absent if the switch has begun it.
    pub incoming: Option<Incoming>,
}

impl Stream {
    /// One that the switch has begun.
    pub fn connecting(socket: TcpStream, session: Option<Session>) -> Stream {
        Stream {
            socket,
            session,
            unsent: Vec::new(),
            stage: Stage::Connecting,
            is_full: false,
            incoming: None,
        }
    }

    /// One that has come in.
    pub fn accepted(socket: TcpStream, session: Option<Session>, incoming: Incoming, now: Time) -> Stream {
        let stage = if session.is_some() { Stage::Securing(now + SECURING) } else { Stage::Open };
        Stream { socket, session, unsent: Vec::new(), stage, is_full: false, incoming: Some(incoming) }
    }

    /// Goes on if TCP is set up; an error says why it will never be.
    pub fn connected(&mut self, now: Time) -> Result<(), String> {
        match self.socket.take_error() {
            Ok(None) if self.socket.peer_addr().is_ok() => {}
            Ok(None) => return Ok(()),
            Ok(Some(error)) | Err(error) => return Err(os_words(&error)),
        }
        let _ = self.socket.set_nodelay(true);
        self.stage = match &mut self.session {
            Some(session) => {
                session.take_output(&mut self.unsent);
                Stage::Securing(now + SECURING)
            }
            None => Stage::Open,
        };
        Ok(())
    }

    /// Reads once, and appends the bytes within.
    pub fn read(&mut self, buffer: &mut [u8], to: &mut Vec<u8>) -> Arrived {
        let len = match self.socket.read(buffer) {
            Ok(0) if matches!(self.stage, Stage::Securing(_)) => {
                return Arrived::Over("it has closed the connection before TLS was set up".into());
            }
            Ok(0) => return Arrived::Over("it has closed the connection".into()),
            Ok(len) => len,
            Err(error) if is_passing(&error) => return Arrived::Nothing,
            Err(error) => return Arrived::Over(os_words(&error)),
        };
        let Some(session) = &mut self.session else {
            to.extend_from_slice(&buffer[..len]);
            return Arrived::Some;
        };
        let received = session.receive(&buffer[..len], to);
        session.take_output(&mut self.unsent);
        if matches!(self.stage, Stage::Securing(_)) && session.is_set_up() {
            self.stage = Stage::Open;
        }
        match received {
            Ok(true) => Arrived::Some,
            Ok(false) => Arrived::Over("it has closed the connection".into()),
            Err(why) => {
                // The other end may read what is wrong with it.
                self.send();
                Arrived::Over(why)
            }
        }
    }

    /// Why it takes no more bytes: what it said last may tell, such as that it does not accept a certificate.
    pub fn last_words(&mut self, buffer: &mut [u8]) -> String {
        for _ in 0..4 {
            match self.read(buffer, &mut Vec::new()) {
                Arrived::Some => {}
                Arrived::Over(why) => return why,
                Arrived::Nothing => break,
            }
        }
        "it takes no more bytes".into()
    }

    /// Has bytes within go, behind those that wait.
    pub fn push(&mut self, bytes: Vec<u8>) {
        match &mut self.session {
            Some(session) => {
                session.send(&bytes);
                session.take_output(&mut self.unsent);
            }
            None => self.unsent.extend(bytes),
        }
    }

    /// Ends it once all is sent. False if nothing was said yet: it can be dropped.
    pub fn close(&mut self, now: Time) -> bool {
        if matches!(self.stage, Stage::Connecting | Stage::Securing(_)) {
            return false;
        }
        if let Some(session) = &mut self.session {
            session.close();
            session.take_output(&mut self.unsent);
        }
        self.stage = Stage::Closing(now + CLOSING);
        true
    }

    /// Is the switch done with it?
    pub fn is_closing(&self) -> bool {
        matches!(self.stage, Stage::Closing(_))
    }

    /// Sends what the kernel takes: how many bytes; nothing if the connection is gone.
    pub fn send(&mut self) -> Option<usize> {
        let mut sent = 0;
        let is_well = loop {
            if sent == self.unsent.len() {
                break true;
            }
            match self.socket.write(&self.unsent[sent..]) {
                Ok(0) => break false,
                Ok(len) => sent += len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break false,
            }
        };
        self.unsent.drain(..sent);
        is_well.then_some(sent)
    }
}

/// Will it work another time?
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
