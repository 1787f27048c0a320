//! Has a switch do a programme, and writes down all that is seen of it: what leaves by ports, what the controller is
//! told, and at the end tables, groups and meters with what they have counted. What a switch is free to choose is left
//! out: durations, and the order of what comes at once.

use super::lines::{line10, line13};
use super::programme::{Programme, Step};
use super::subject::Subject;
use std::time::{Duration, Instant};
use wire::Hex;
use wire::openflow::v1_3::{
    Body, FlowMod, FlowStatsRequest, GroupRequest, Match, MeterRequest, MultipartRequest, RequestBody,
    SwitchConfig, groups, meters, ports,
};
use wire::openflow::{Hello, Version, v1_0, v1_3};

/// What is seen of a step, a line for each thing.
pub type Seen = Vec<String>;

/// How long it is waited for what is said of entries that are gone.
const GONE_WITHIN: Duration = Duration::from_secs(3);
/// Transactions of barriers have this bit.
const BARRIER: u32 = 1 << 31;
/// The table that stands for all.
const ALL_TABLES: u8 = 0xff;

/// A controller of a switch.
pub struct Runner<'a> {
    pub subject: &'a mut dyn Subject,
    version: Version,
    xid: u32,
    is_settled: bool,
    /// Each frame is looked up anew.
    sets_labels: bool,
    /// Entries that were told to be gone. Open vSwitch says so when it has nothing else to do.
    gone: Seen,
}

fn say13(body: Body, xid: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    v1_3::Message { xid, body }.emit(&mut bytes).expect("a short message");
    bytes
}

fn say10(body: v1_0::Body, xid: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    v1_0::Message { xid, body }.emit(&mut bytes).expect("a short message");
    bytes
}

impl Runner<'_> {
    /// Connects to a switch, of which nothing is left that was there before.
    pub fn new(subject: &mut dyn Subject, version: Version) -> Runner<'_> {
        let (gone, xid) = (Vec::new(), 0);
        let mut runner = Runner { subject, version, xid, is_settled: false, sets_labels: false, gone };
        runner.begin();
        runner
    }

    /// Says something and a barrier, and hears everything up to the answer of the barrier.
    fn exchange(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.xid += 1;
        let xid = self.xid | BARRIER;
        let barrier = match self.version {
            Version::V1_0 => say10(v1_0::Body::BarrierRequest, xid),
            Version::V1_3 => say13(Body::BarrierRequest, xid),
        };
        self.subject.send(&[bytes, &barrier].concat());
        let mut heard = Vec::new();
        loop {
            let bytes = self.subject.next_message();
            if bytes[4..8] == xid.to_be_bytes() {
                return heard;
            }
            // HELLO says what the other end speaks beyond this version.
            if bytes[1] != 0 {
                heard.push(bytes);
            }
        }
    }

    /// Says something, and hears what comes, a line for each thing.
    pub fn say(&mut self, bytes: &[u8]) -> Seen {
        let unread = |bytes: &[u8]| -> ! { panic!("it can't be read: {}", Hex(bytes.to_vec())) };
        let mut seen = Vec::new();
        for bytes in self.exchange(bytes) {
            seen.extend(match self.version {
                Version::V1_0 => v1_0::Message::parse(&bytes).map_or_else(|_| unread(&bytes), line10),
                Version::V1_3 => v1_3::Message::parse(&bytes).map_or_else(|_| unread(&bytes), line13),
            });
        }
        self.gone.extend(seen.extract_if(.., |line| line.starts_with("gone")));
        seen.sort();
        seen
    }

    /// What comes by itself, in version 1.3.
    pub fn hear_all(&mut self) -> Vec<Body> {
        let heard = self.exchange(&[]);
        heard.iter().filter_map(|bytes| Some(v1_3::Message::parse(bytes).ok()?.body)).collect()
    }

    /// The answers to a question of version 1.3.
    pub fn ask_all(&mut self, body: RequestBody) -> Vec<Body> {
        let body = Body::MultipartRequest(MultipartRequest { more: false, body });
        let heard = self.exchange(&say13(body, 1));
        heard.iter().filter_map(|bytes| Some(v1_3::Message::parse(bytes).ok()?.body)).collect()
    }

    fn ask(&mut self, body: RequestBody) -> Seen {
        let body = Body::MultipartRequest(MultipartRequest { more: false, body });
        self.say(&say13(body, 1))
    }

    /// Nothing is left of what was there before, and packets that no entry matches are sent whole.
    fn begin(&mut self) {
        self.subject.begin(self.version);
        match self.version {
            Version::V1_0 => {
                let hello = say10(v1_0::Body::Hello(Hello::default()), 1);
                let config = v1_0::Body::SetConfig(v1_0::SwitchConfig { flags: 0, miss_send_len: 0xffff });
                self.say(&[hello, say10(config, 1)].concat());
            }
            Version::V1_3 => {
                let hello = say13(Body::Hello(Hello::default()), 1);
                let config = Body::SetConfig(SwitchConfig { flags: 0, miss_send_len: 0xffff });
                self.say(&[hello, say13(config, 1)].concat());
            }
        }
    }

    fn left(&mut self) -> Seen {
        let mut left = self.subject.left();
        left.sort();
        left.into_iter().map(|(port, frame)| format!("left by {port}: {}", Hex(frame))).collect()
    }

    fn step(&mut self, step: &Step) -> Seen {
        let mut seen = match step {
            Step::Say13(body) => {
                self.subject.settle();
                self.is_settled = false;
                let mut seen = self.say(&say13(body.clone(), 2));
                if matches!(body, Body::PacketOut(_)) {
                    // What it sends to the controller comes later.
                    self.subject.settle();
                    seen.extend(self.say(&[]));
                }
                seen
            }
            Step::Say10(body) => {
                self.subject.settle();
                self.is_settled = false;
                self.say(&say10(body.clone(), 2))
            }
            Step::Frame(port, bytes) => {
                if !self.is_settled || self.sets_labels {
                    self.subject.settle();
                    self.is_settled = true;
                }
                self.subject.frame(*port, bytes);
                self.say(&[])
            }
        };
        seen.extend(self.left());
        seen
    }

    /// The lengths of packets change on their way, and it is open which of them is counted beyond the first table
    /// (difference `bytes-as-they-came`).
    fn leave_bytes_out(programme: &Programme, line: String) -> String {
        if programme.is_exact || !programme.changes_lengths() || line.starts_with("flow table=0") {
            return line;
        }
        let words = line.split(' ').map(|word| if word.starts_with("bytes=") { "bytes" } else { word });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Entries, groups and meters.
    fn end(&mut self) -> Seen {
        self.subject.settle();
        if self.version == Version::V1_0 {
            let ask = v1_0::FlowStatsRequest {
                matching: v1_0::Match::ANY,
                table: ALL_TABLES,
                out_port: v1_0::ports::NONE,
            };
            let mut seen = Vec::new();
            for body in [v1_0::StatsRequestBody::Flow(ask.clone()), v1_0::StatsRequestBody::Aggregate(ask)] {
                let body = v1_0::Body::StatsRequest(v1_0::StatsRequest { more: false, body });
                seen.extend(self.say(&say10(body, 1)));
            }
            return seen;
        }
        let flows = FlowStatsRequest {
            table: ALL_TABLES,
            out_port: ports::ANY,
            out_group: groups::ANY,
            cookie: 0,
            cookie_mask: 0,
            matching: Match::default(),
        };
        let ask = [
            RequestBody::Flow(flows.clone()),
            RequestBody::Aggregate(flows.clone()),
            RequestBody::Aggregate(FlowStatsRequest { table: 1, cookie: 1, cookie_mask: 1, ..flows }),
            RequestBody::GroupDescription,
            RequestBody::Group(GroupRequest { group: groups::ALL }),
            RequestBody::MeterConfig(MeterRequest { meter: meters::ALL }),
            RequestBody::Meter(MeterRequest { meter: meters::ALL }),
        ];
        ask.into_iter().flat_map(|ask| self.ask(ask)).collect()
    }
}

/// What is seen of each step, at the end, and of entries that are gone. Waits for as many of those as there ought to
/// be.
pub fn run(subject: &mut dyn Subject, programme: &Programme, gone: usize) -> Vec<Seen> {
    let version = programme.version;
    let mut runner = Runner::new(subject, version);
    runner.sets_labels = !programme.is_exact && programme.sets_labels();
    let mut seen: Vec<Seen> = programme.steps.iter().map(|step| runner.step(step)).collect();
    let end = runner.end();
    seen.push(end.into_iter().map(|line| Runner::leave_bytes_out(programme, line)).collect());
    let since = Instant::now();
    while runner.gone.len() < gone && since.elapsed() < GONE_WITHIN {
        runner.say(&[]);
    }
    runner.gone.sort();
    seen.push(runner.gone);
    seen
}

/// The cookie of an entry that is there to be told of when it is gone.
const LAST: u64 = u64::MAX - 1;

/// Deletes all entries, groups and meters, in version 1.3, and an entry of which is said that it is gone.
pub fn forget_everything() -> Vec<u8> {
    let deletion =
        FlowMod { cookie: LAST, table: ALL_TABLES, ..FlowMod::new(v1_3::Command::Delete, Match::default()) };
    let groups = v1_3::GroupMod {
        command: v1_3::GroupCommand::Delete,
        kind: v1_3::GroupType::All,
        group: groups::ALL,
        buckets: v1_3::Buckets(Vec::new()),
    };
    let meters = v1_3::MeterMod {
        command: v1_3::MeterCommand::Delete,
        flags: v1_3::MeterFlags(0),
        meter: meters::ALL,
        bands: Vec::new(),
    };
    let flags = v1_3::FlowFlags(v1_3::flow_flags::SEND_FLOW_REM);
    let last = FlowMod { table: 0, command: v1_3::Command::Add, flags, ..deletion.clone() };
    let all = [
        Body::Hello(Hello::default()),
        Body::SetConfig(SwitchConfig { flags: 0, miss_send_len: 0xffff }),
        Body::FlowMod(deletion.clone()),
        Body::GroupMod(groups),
        Body::MeterMod(meters),
        Body::FlowMod(last),
        Body::FlowMod(deletion),
    ];
    all.into_iter().flat_map(|body| say13(body, 1)).collect()
}

/// Is it what is said last after [`forget_everything`]?
pub fn is_last(message: &[u8]) -> bool {
    let message = v1_3::Message::parse(message);
    message.is_ok_and(|message| matches!(message.body, Body::FlowRemoved(gone) if gone.cookie == LAST))
}
