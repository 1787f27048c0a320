//! A recording as a file of lines, each a JSON value:
//!
//! ```text
//! {"twinplane-recording":2,"node":3,"subject":{…}}       the first: what is needed to make the device again
//! [25000000000,"timeout"]                                inputs, with their times in picoseconds
//! [25000400000,{"packet":[0,["…"]]}]
//! {"inputs":2,"outputs":5,"digest":"…"}                  how far the lines above go, and what was answered to them
//! ```
//!
//! Such a check is written every second of recorded time, with every flush and at the end. A process that is killed
//! leaves a file whose last line may be cut, and whose last check may not cover the last inputs: both are read.

use super::recorder::{Count, RecordTo};
use super::{Input, Recording};
use base::{NodeId, Span, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, BufRead, Write};
use thiserror::Error;

/// The version of the format.
const VERSION: u32 = 2;
/// Recorded time between two checks.
const CHECK_EVERY: Span = Span::from_secs(1);

/// Why a recording can't be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The bytes can't be read at all.
    #[error("line {line}: {}", base::diagnostic::os_text(.source))]
    Read {
        /// The line at which reading failed, counted from one.
        line: u64,
        /// What the system answered.
        source: io::Error,
    },
    /// A line that is not what it should be.
    #[error("line {line}: not {what}: {source}")]
    Line {
        /// The line at fault, counted from one.
        line: u64,
        /// What it should be.
        what: &'static str,
        /// Why it is not.
        source: serde_json::Error,
    },
    /// There is nothing in it.
    #[error("it is empty, or its first line is cut")]
    Empty,
    /// It was written by another version.
    #[error("its format has number {0}, and this program reads {VERSION}")]
    Version(u32),
    /// A check says that there are other inputs than there are.
    #[error("line {line}: {counted} inputs should be above it, and {found} are")]
    Missing {
        /// The line of the check, counted from one.
        line: u64,
        /// How many there should be.
        counted: u64,
        /// How many there are.
        found: u64,
    },
}

#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(rename = "twinplane-recording")]
    version: u32,
    node: NodeId,
    subject: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    inputs: u64,
    outputs: u64,
    digest: String,
}

/// A recording on its way to a file.
pub(super) struct Stream {
    to: RecordTo,
    line: Vec<u8>,
    /// When the last check was written, and of how many inputs.
    checked: (Time, u64),
    error: Option<io::Error>,
}

impl Stream {
    pub(super) fn begin(node: NodeId, mut to: RecordTo) -> io::Result<Stream> {
        let head = Head { version: VERSION, node, subject: core::mem::take(&mut to.subject) };
        let mut stream = Stream { to, line: Vec::new(), checked: (Time::ZERO, 0), error: None };
        stream.write(&head)?;
        stream.to.out.flush()?;
        Ok(stream)
    }

    fn write(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, value)?;
        self.line.push(b'\n');
        self.to.out.write_all(&self.line)
    }

    fn check(&mut self, at: Time, count: &Count) -> io::Result<()> {
        if count.inputs == self.checked.1 {
            return Ok(());
        }
        self.checked = (at, count.inputs);
        let digest = count.digest.finish().to_string();
        self.write(&Check { inputs: count.inputs, outputs: count.outputs, digest })?;
        self.to.out.flush()
    }

    /// One more input, after those counted. An error is kept for [`Stream::flush`], and nothing is written after it.
    pub(super) fn input(&mut self, at: Time, input: &Input, before: &Count) {
        if self.error.is_some() {
            return;
        }
        let due = at.0 >= self.checked.0.0.saturating_add(CHECK_EVERY.0.unsigned_abs());
        let checked = if due { self.check(at, before) } else { Ok(()) };
        self.error = checked.and_then(|()| self.write(&(at, input))).err();
    }

    pub(super) fn flush(&mut self, count: &Count) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            self.error = Some(io::Error::from(error.kind()));
            return Err(io::Error::new(error.kind(), format!("{}: {error}", self.to.name)));
        }
        let at = self.checked.0;
        self.check(at, count)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.to.name)))
    }
}

/// Reads the file of a recording: what is needed to make the device again, and the recording.
pub fn read(mut file: impl BufRead) -> Result<(Value, Recording), RecordingError> {
    let mut line = Vec::new();
    let mut number = 0;
    let mut next = |line: &mut Vec<u8>, number: &mut u64| {
        line.clear();
        *number += 1;
        match file.read_until(b'\n', line) {
            // A line without an end is the last, and cut.
            Ok(_) => Ok(line.pop() == Some(b'\n')),
            Err(source) => Err(RecordingError::Read { line: *number, source }),
        }
    };
    if !next(&mut line, &mut number)? {
        return Err(RecordingError::Empty);
    }
    let head: Head = parse(&line, number, "the first line of a recording")?;
    if head.version != VERSION {
        return Err(RecordingError::Version(head.version));
    }
    let mut recording = Recording { node: head.node, ..Recording::default() };
    recording.digest = Count::default().digest.finish().to_string();
    let mut digested = 0;
    while next(&mut line, &mut number)? {
        let found = recording.inputs.len() as u64;
        if line.first() == Some(&b'{') {
            let check: Check = parse(&line, number, "a check")?;
            if check.inputs != found {
                return Err(RecordingError::Missing { line: number, counted: check.inputs, found });
            }
            (recording.outputs, recording.digest, digested) = (check.outputs, check.digest, found);
        } else {
            recording.inputs.push(parse(&line, number, "an input")?);
        }
    }
    recording.digested = (digested < recording.inputs.len() as u64).then_some(digested);
    Ok((head.subject, recording))
}

fn parse<'a, T: Deserialize<'a>>(
    line: &'a [u8],
    number: u64,
    what: &'static str,
) -> Result<T, RecordingError> {
    serde_json::from_slice(line).map_err(|source| RecordingError::Line { line: number, what, source })
}

#[cfg(test)]
mod tests {
    use super::super::Recorder;
    use super::*;
    use serde_json::json;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("one thread").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn recorded(inputs: u64) -> Vec<u8> {
        let file = Shared::default();
        let to = RecordTo { name: "it".into(), out: Box::new(file.clone()), subject: json!({"seed": 7}) };
        let mut recorder = Recorder::to(NodeId(3), to).expect("memory");
        for i in 0..inputs {
            recorder.input(Time::ZERO + Span::from_ms(400 * i as i64), Input::Timeout);
        }
        let made = recorder.finish().expect("memory");
        assert!(made.inputs.is_empty());
        file.0.lock().expect("one thread").clone()
    }

    #[test]
    fn a_whole_file() {
        let (subject, recording) = read(&recorded(10)[..]).expect("a recording");
        assert_eq!(subject, json!({"seed": 7}));
        assert_eq!((recording.node, recording.inputs.len(), recording.digested), (NodeId(3), 10, None));
        assert_eq!(recording.inputs[2], (Time::ZERO + Span::from_ms(800), Input::Timeout));
        assert_eq!(recording.digest, Recorder::new(NodeId(3)).digest());
    }

    #[test]
    fn a_file_cut_anywhere() {
        let whole = recorded(10);
        let head = whole.iter().position(|&b| b == b'\n').expect("a line");
        let mut most = 0;
        for end in 0..=whole.len() {
            match read(&whole[..end]) {
                Err(RecordingError::Empty) => assert!(end <= head),
                Err(error) => panic!("cut at {end}: {error}"),
                Ok((_, recording)) => {
                    assert!(recording.inputs.len() >= most && recording.inputs.len() < most + 2);
                    most = recording.inputs.len();
                    assert!(recording.digested.is_none_or(|d| d + 4 > most as u64), "a check every second");
                }
            }
        }
        assert_eq!(most, 10);
    }

    #[test]
    fn a_damaged_file_names_the_line() {
        let text = String::from_utf8(recorded(5)).expect("text");
        let bad = text.replacen("[400000000000,\"timeout\"]", "[400000000000,\"sleep\"]", 1);
        let error = read(bad.as_bytes()).expect_err("no input of that name").to_string();
        assert!(error.starts_with("line 3: not an input: unknown variant `sleep`"), "{error}");
        let less = text.replacen("[400000000000,\"timeout\"]\n", "", 1);
        let error = read(less.as_bytes()).expect_err("an input is missing").to_string();
        assert!(error.contains("inputs should be above it"), "{error}");
        let other = text.replacen("recording\":2", "recording\":9", 1);
        assert_eq!(
            read(other.as_bytes()).expect_err("another version").to_string(),
            "its format has number 9, and this program reads 2"
        );
    }
}
