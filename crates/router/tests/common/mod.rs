//! A router process for tests, with everything it makes in a folder of its own.
#![allow(dead_code, reason = "each test uses what it needs")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A chain of so many routers with an LSP from end to end each way.
pub fn description(routers: usize) -> Value {
    let nodes: Vec<Value> =
        (0..routers).map(|i| json!({"name": format!("r{i}"), "kind": "router"})).collect();
    let links: Vec<Value> =
        (1..routers).map(|i| json!({"a": i - 1, "b": i, "rate_bps": 1_000_000_000u64})).collect();
    let last = routers - 1;
    testing_value(&json!({"seed": 5, "nodes": nodes, "links": links, "lsps": [
        {"name": "east", "from": 0, "to": last, "shortest": true},
        {"name": "back", "from": last, "to": 0, "shortest": true},
    ]}))
}

/// What users write for a description by places.
pub fn testing_value(indexed: &Value) -> Value {
    serde_json::to_value(testing::described(indexed)).expect("a value")
}

/// A router that runs.
pub struct Router {
    folder: PathBuf,
    child: Child,
    more: Vec<String>,
}

impl Router {
    /// Starts the first router of a description.
    pub fn start(description: &Value) -> Router {
        Router::start_with(&json!({"description": description}), &[])
    }

    /// Starts `r0` of a configuration, with more arguments.
    pub fn start_with(config: &Value, more: &[&str]) -> Router {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tpt-router-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("config.json"), config.to_string()).expect("a file");
        let more: Vec<String> =
            more.iter().map(|word| word.replace("FOLDER", &folder.display().to_string())).collect();
        let child = launch(&folder, &more);
        let mut router = Router { folder, child, more };
        router.await_ready();
        router
    }

    /// Waits for the line that says that it runs.
    fn await_ready(&mut self) {
        let out = self.child.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("text");
        assert!(line.starts_with("r0 is ready, process "), "{line:?}");
    }

    /// Starts it again.
    pub fn restart(&mut self) {
        self.child = launch(&self.folder, &self.more);
        self.await_ready();
    }

    /// A second process of the same kind; it is to fail.
    pub fn another(&self) -> (i32, String) {
        let done = launch(&self.folder, &self.more).wait_with_output().expect("a process");
        (done.status.code().unwrap_or(-1), String::from_utf8_lossy(&done.stderr).into_owned())
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("router.sock")
    }
    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Somebody at its socket.
    pub fn client(&self) -> Client {
        let stream = UnixStream::connect(self.socket()).expect("a router that listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        Client { lines: BufReader::new(stream.try_clone().expect("a socket")), stream }
    }

    /// Sends it a signal and waits; returns the exit code, negative for a signal.
    pub fn end(&mut self, signal: i32) -> i32 {
        // SAFETY: the process is this one's child and has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, signal) };
        self.wait()
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> i32 {
        self.child.wait().expect("a child").code().unwrap_or(-1)
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn launch(folder: &Path, more: &[String]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_twinplane-router"))
        .args(["--node", "r0", "--config", "config.json", "--socket", "router.sock"])
        .args(more)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program")
}

/// Somebody at the control socket.
pub struct Client {
    /// The connection.
    pub stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Client {
    /// Sends a line; returns the answer.
    pub fn say(&mut self, line: &str) -> Value {
        writeln!(self.stream, "{line}").expect("a router that listens");
        self.answer()
    }
    /// The next answer.
    pub fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }
    /// Sends a request that is to be answered well.
    pub fn ask(&mut self, request: &Value) -> Value {
        let mut answer = self.say(&request.to_string());
        assert!(answer.get("error").is_none(), "{request}: {answer}");
        answer["ok"].take()
    }
}
