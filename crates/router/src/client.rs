//! One client of the control socket: lines in, lines out, both bounded.

use crate::protocol::{ANSWER_MAX, REQUEST_MAX, answer};
use serde::Serialize;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A client that takes nothing of its answer for so long is dropped.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes read at once.
const CHUNK: usize = 16 << 10;

/// What became of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It may send requests.
    Open,
    /// It is gone, or is to go.
    Gone,
}

/// Somebody at the control socket: what was read and is no whole line yet, and what waits to be written.
pub struct Client {
    stream: UnixStream,
    input: Vec<u8>,
    /// Where in the input no end of a line was found yet.
    searched: usize,
    output: Vec<u8>,
    sent: usize,
    /// It waits for an answer that comes later.
    pub waiting: bool,
    /// It will send nothing more.
    ended: bool,
    /// It goes once it has its answer.
    last: bool,
    progress: Instant,
}

impl Client {
    /// A client that has just come.
    pub fn new(stream: UnixStream) -> io::Result<Client> {
        stream.set_nonblocking(true)?;
        Ok(Client {
            stream,
            input: Vec::new(),
            searched: 0,
            output: Vec::new(),
            sent: 0,
            waiting: false,
            ended: false,
            last: false,
            progress: Instant::now(),
        })
    }

    /// Reads what has come, up to a bound.
    pub fn read(&mut self) -> State {
        let mut chunk = [0; CHUNK];
        while !self.ended && self.input.len() <= REQUEST_MAX {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.ended = true,
                Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return State::Gone,
            }
        }
        State::Open
    }

    /// The next request, if the last one is answered.
    pub fn request(&mut self) -> Option<Vec<u8>> {
        if self.waiting || self.last || self.sent < self.output.len() {
            return None;
        }
        let end = self.input[self.searched..].iter().position(|&byte| byte == b'\n');
        let Some(end) = end.map(|end| end + self.searched) else {
            self.searched = self.input.len();
            if self.input.len() > REQUEST_MAX {
                self.reply::<()>(Err(format!("request: longer than {REQUEST_MAX} bytes")));
                self.last = true;
            } else if self.ended && !self.input.is_empty() {
                // The last line may do without an end.
                return Some(core::mem::take(&mut self.input));
            }
            return None;
        };
        let mut line: Vec<u8> = self.input.drain(..=end).collect();
        line.pop();
        self.searched = 0;
        if self.input.is_empty() {
            self.input = Vec::new();
        }
        Some(line)
    }

    /// Gives it an answer.
    pub fn reply<T: Serialize>(&mut self, result: Result<T, String>) {
        self.waiting = false;
        let mut line = answer(&result);
        if line.len() > ANSWER_MAX {
            line = answer::<()>(&Err(format!("the answer is longer than {ANSWER_MAX} bytes")));
        }
        self.output.append(&mut line);
        self.progress = Instant::now();
    }

    /// Writes what it takes.
    pub fn write(&mut self) -> State {
        while self.sent < self.output.len() {
            match self.stream.write(&self.output[self.sent..]) {
                Ok(0) => return State::Gone,
                Ok(count) => {
                    self.sent += count;
                    self.progress = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return if self.progress.elapsed() > PATIENCE { State::Gone } else { State::Open };
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return State::Gone,
            }
        }
        (self.output, self.sent) = (Vec::new(), 0);
        let over = self.last || (self.ended && !self.waiting && self.input.is_empty());
        if over { State::Gone } else { State::Open }
    }

    /// What to wait for: something to read, room to write.
    pub fn interest(&self) -> (bool, bool) {
        let full = self.ended || self.last || self.input.len() > REQUEST_MAX;
        (!full, self.sent < self.output.len())
    }
}

impl AsRawFd for Client {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }
}
