//! One connection over TLS, without a socket: bytes of TCP go in and come out, and so do those within.

use crate::Credentials;
use crate::words;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, Error, ServerConnection};
use std::io::{Read, Write};
use std::net::IpAddr;

/// Bytes of the messages within that are taken at once.
const CHUNK: usize = 16 << 10;

/// A connection, from its first byte on.
#[derive(Debug)]
pub struct Session {
    connection: Connection,
}

impl Session {
    /// One that this end has begun, with whoever is at an address.
    pub fn connect(credentials: &Credentials, to: IpAddr) -> Result<Session, String> {
        let connection = ClientConnection::new(credentials.client.clone(), ServerName::from(to));
        Session::of(connection.map(Connection::from))
    }

    /// One that the other end has begun.
    pub fn accept(credentials: &Credentials) -> Result<Session, String> {
        let connection = ServerConnection::new(credentials.server.clone());
        Session::of(connection.map(Connection::from))
    }

    fn of(connection: Result<Connection, Error>) -> Result<Session, String> {
        let mut connection = connection.map_err(|error| words::why(&error, false))?;
        // What waits is bounded by who sends it, who sees all of it.
        connection.set_buffer_limit(None);
        Ok(Session { connection })
    }

    /// Do both ends know who the other one is? Nothing is sent before.
    pub fn is_set_up(&self) -> bool {
        !self.connection.is_handshaking()
    }

    /// Bytes of TCP have come: appends those within to `to`. False if the other end sends no more; an error says why
    /// the connection is over.
    pub fn receive(&mut self, mut bytes: &[u8], to: &mut Vec<u8>) -> Result<bool, String> {
        while !bytes.is_empty() {
            let taken = self.connection.read_tls(&mut bytes);
            let taken = taken.map_err(|error| format!("TLS has failed: {error}"))?;
            let is_set_up = self.is_set_up();
            let state = self.connection.process_new_packets();
            let state = state.map_err(|error| words::why(&error, is_set_up))?;
            let has_ended = state.peer_has_closed();
            let mut left = state.plaintext_bytes_to_read();
            let mut chunk = [0; CHUNK];
            while left > 0 {
                let read = self.connection.reader().read(&mut chunk);
                let read = read.map_err(|error| format!("TLS has failed: {error}"))?;
                to.extend_from_slice(&chunk[..read]);
                left = left.saturating_sub(read.max(1));
            }
            if has_ended || taken == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Has bytes within go to the other end.
    pub fn send(&mut self, bytes: &[u8]) {
        let sent = self.connection.writer().write_all(bytes);
        debug_assert!(sent.is_ok(), "there is no limit");
    }

    /// Tells the other end that no more follows.
    pub fn close(&mut self) {
        self.connection.send_close_notify();
    }

    /// Appends bytes for TCP.
    pub fn take_output(&mut self, to: &mut Vec<u8>) {
        while self.connection.wants_write() {
            if self.connection.write_tls(to).is_err() {
                debug_assert!(false, "a vector takes everything");
                return;
            }
        }
    }
}
