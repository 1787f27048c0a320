//! A private Open vSwitch: its daemons run in a folder of their own, with its userspace datapath and ports that are
//! files and requests. It needs no root, and ends with its owner.

use super::run::{forget_everything, is_last};
use super::subject::{PORTS, Subject};
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use wire::openflow::{Version, message_len};

/// What a test needs beside the switch of this project.
pub const PROGRAMS: [&str; 4] = ["ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl"];
/// The description of its database, as packages install it.
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";
/// Requests to its control socket after which its main loop has gone round once: it answers ten in each round at most.
const REQUESTS_OF_A_ROUND: usize = 11;
/// Bytes in front of the first packet of a capture, and of each.
const PCAP_HEADERS: (u64, usize) = (24, 16);
/// Bytes of a capture after which what was read of it is thrown away.
const CAPTURE_MAX: u64 = 1 << 24;

/// A switch with four ports, as [`Subject`] wants it.
pub struct Ovs {
    folder: PathBuf,
    daemons: Vec<Child>,
    /// What the daemon of the switch, which is the last of them, was started with.
    switch: Vec<String>,
    channel: Option<UnixStream>,
    control: Option<UnixStream>,
    /// Bytes of answers that have come and are not yet used.
    unread: Vec<u8>,
    /// Bytes of each port's capture that are used.
    used: [u64; PORTS],
    /// Does time stand still until it is told to pass?
    is_stopped: bool,
}

impl Drop for Ovs {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = (daemon.kill(), daemon.wait());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Connects to a socket that is made by a program which has just been started.
fn connect(path: &Path) -> UnixStream {
    let since = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => {
                stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
                return stream;
            }
            Err(error) if since.elapsed() > Duration::from_secs(60) => panic!("{}: {error}", path.display()),
            Err(_) => sleep(Duration::from_millis(10)),
        }
    }
}

impl Ovs {
    /// Starts it; the name has to be that of nobody else in this process.
    pub fn start(name: &str) -> Ovs {
        // Names of Unix sockets are short.
        let folder = std::env::temp_dir().join(format!("ovs-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let mut ovs = Ovs {
            folder,
            daemons: Vec::new(),
            switch: Vec::new(),
            channel: None,
            control: None,
            unread: Vec::new(),
            used: [PCAP_HEADERS.0; PORTS],
            is_stopped: false,
        };
        let folder = ovs.folder.clone();
        let at = |file: &str| folder.join(file).to_string_lossy().into_owned();
        let (database, socket) = (at("conf.db"), at("db.sock"));
        let created =
            ovs.command("ovsdb-tool").args(["create", &database, SCHEMA]).status().expect("ovsdb-tool");
        assert!(created.success(), "no database of Open vSwitch");
        let remote = format!("--remote=punix:{socket}");
        let server =
            [&database, &remote, &format!("--unixctl={}", at("db.ctl")), "-vconsole:off"].map(String::from);
        let log = format!("--log-file={}", at("switch.log"));
        let unixctl = format!("--unixctl={}", at("switch.ctl"));
        let flags = ["--enable-dummy=override", "--disable-system", "-vconsole:off"];
        let switch: Vec<String> =
            flags.map(String::from).into_iter().chain([format!("unix:{socket}"), unixctl, log]).collect();
        ovs.start_daemon("ovsdb-server", &server, "db.sock");
        ovs.start_daemon("ovs-vswitchd", &switch, "switch.ctl");
        ovs.switch = switch;
        let mut words: Vec<String> = vec![format!("--db=unix:{socket}"), "--timeout=60".into()];
        // A frame may have two tags that are looked at, as here.
        words.extend(
            "-- set Open_vSwitch . other_config:vlan-limit=2 -- add-br s".split(' ').map(String::from),
        );
        let bridge = "-- set bridge s datapath_type=dummy fail_mode=secure protocols=[OpenFlow10,OpenFlow13] \
                      other_config:disable-in-band=true";
        words.extend(bridge.split_whitespace().map(String::from));
        for port in 1..=PORTS {
            let pcap = at(&format!("{port}.pcap"));
            let port = format!(
                "-- add-port s p{port} -- set interface p{port} type=dummy ofport_request={port} options:tx_pcap={pcap}"
            );
            words.extend(port.split(' ').map(String::from));
        }
        assert!(ovs.command("ovs-vsctl").args(&words).status().expect("ovs-vsctl").success(), "no bridge");
        ovs.control = Some(connect(&ovs.folder.join("switch.ctl")));
        ovs
    }

    /// Starts a daemon, and waits until it listens at a socket.
    fn start_daemon(&mut self, program: &str, arguments: &[String], socket: &str) {
        let mut command = self.command(program);
        let daemon = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.daemons.push(daemon.expect("a daemon of Open vSwitch"));
        connect(&self.folder.join(socket));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for folder in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"] {
            command.env(folder, &self.folder);
        }
        command
    }

    /// Requests to its control socket, all sent at once: the answer to the first.
    fn control(&mut self, requests: &[(&str, &[&str])]) -> String {
        let control = self.control.as_mut().expect("a control socket");
        let mut text = String::new();
        for (id, (method, params)) in requests.iter().enumerate() {
            text += &serde_json::json!({"id": id, "method": method, "params": params}).to_string();
        }
        control.write_all(text.as_bytes()).expect("a request");
        let answers = serde_json::Deserializer::from_reader(control).into_iter::<serde_json::Value>();
        let mut first = None;
        for answer in answers.take(requests.len()) {
            let answer = answer.expect("an answer of Open vSwitch");
            assert!(answer["error"].is_null(), "{answer}");
            first.get_or_insert_with(|| answer["result"].as_str().unwrap_or_default().to_owned());
        }
        first.unwrap_or_default()
    }

    /// Does a request, and waits until the main loop has gone round.
    fn round(&mut self, method: &str, params: &[&str]) {
        let mut requests = vec![(method, params)];
        requests.resize(1 + REQUESTS_OF_A_ROUND, ("version", &[]));
        self.control(&requests);
    }
}

impl Subject for Ovs {
    fn begin(&mut self, _: Version) {
        let path = self.folder.join("s.mgmt");
        (self.channel, self.unread) = (Some(connect(&path)), Vec::new());
        self.send(&forget_everything());
        while !is_last(&self.next_message()) {}
        self.settle();
        (self.channel, self.unread) = (Some(connect(&path)), Vec::new());
        self.left();
    }

    fn reconnect(&mut self) {
        (self.channel, self.unread) = (Some(connect(&self.folder.join("s.mgmt"))), Vec::new());
    }

    fn kill(&mut self) {
        let mut daemon = self.daemons.pop().expect("the daemon of the switch");
        daemon.kill().and_then(|()| daemon.wait()).expect("a daemon that was killed");
        // What it leaves behind is in the way of whoever waits for the next one.
        for socket in ["switch.ctl", "s.mgmt"] {
            let _ = fs::remove_file(self.folder.join(socket));
        }
        self.left();
        let switch = self.switch.clone();
        self.start_daemon("ovs-vswitchd", &switch, "switch.ctl");
        self.control = Some(connect(&self.folder.join("switch.ctl")));
        self.is_stopped = false;
        self.reconnect();
    }

    fn send(&mut self, bytes: &[u8]) {
        self.channel.as_mut().expect("a channel").write_all(bytes).expect("a message");
    }

    fn next_message(&mut self) -> Vec<u8> {
        loop {
            if let Some(len) = message_len(&self.unread) {
                return self.unread.drain(..len).collect();
            }
            let mut part = [0; 65536];
            let got =
                self.channel.as_mut().expect("a channel").read(&mut part).expect("an answer of Open vSwitch");
            assert!(got > 0, "Open vSwitch has closed the connection");
            self.unread.extend(&part[..got]);
        }
    }

    fn frames(&mut self, port: u32, frames: &[&[u8]]) {
        let hex = |frame: &&[u8]| frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let words: Vec<String> = core::iter::once(format!("p{port}")).chain(frames.iter().map(hex)).collect();
        self.round("netdev-dummy/receive", &words.iter().map(String::as_str).collect::<Vec<_>>());
    }

    fn left(&mut self) -> Vec<(u32, Vec<u8>)> {
        let mut left = Vec::new();
        for place in 0..PORTS {
            let path = self.folder.join(format!("{}.pcap", place + 1));
            let mut file = fs::File::options().read(true).write(true).open(path).expect("a capture");
            let mut new = Vec::new();
            file.seek(SeekFrom::Start(self.used[place])).expect("a place");
            file.read_to_end(&mut new).expect("packets");
            let mut rest = &new[..];
            while let Some((header, behind)) = rest.split_at_checked(PCAP_HEADERS.1) {
                let len = u32::from_ne_bytes([header[8], header[9], header[10], header[11]]) as usize;
                let Some((packet, behind)) = behind.split_at_checked(len) else { break };
                left.push((place as u32 + 1, packet.to_vec()));
                rest = behind;
            }
            self.used[place] += (new.len() - rest.len()) as u64;
            if self.used[place] > CAPTURE_MAX {
                // Open vSwitch appends: it goes on at the beginning.
                file.set_len(0).expect("an empty file");
                self.used[place] = 0;
            }
        }
        left
    }

    fn advance(&mut self, milliseconds: u64) {
        if !self.is_stopped {
            self.control(&[("time/stop", &[])]);
            self.is_stopped = true;
        }
        self.round("time/warp", &[&milliseconds.to_string()]);
    }

    fn settle(&mut self) {
        // What its fast path has counted goes to the tables, and what it remembers of them is forgotten.
        self.round("revalidator/purge", &[]);
    }
}
