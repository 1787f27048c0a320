//! From the arguments to a router that runs, and the loop until it is to end.

use crate::arguments::Arguments;
use crate::channels::Channels;
use crate::config::Config;
use crate::drive;
use crate::instance::Instance;
use crate::log::Log;
use crate::names;
use crate::plane;
use crate::process::{self, Signals};
use crate::server::Server;
use base::diagnostic::os_words;
use base::{NodeId, Span, Time};
use engine::{EngineError, RecordTo};
use network::{Network, NetworkError};
use serde_json::json;
use std::fs::File;
use std::io::BufWriter;
use std::os::fd::AsRawFd;
use std::path::Path;

/// How often files are brought up to date.
const TICK: Span = Span::from_secs(1);
/// How often probes are looked after while some are under way.
const PROBE_TICK: Span = Span::from_ms(1);
/// How much of what happened is kept for the tables of messages and events.
const KEPT: Span = Span::from_secs(600);
/// Near the end of time, which is 213 days after its beginning: picoseconds in 64 bits.
const LAST: Time = Time(u64::MAX - 3_600_000_000_000_000);
/// Bytes of a recording that are written at once.
const RECORD_BUFFER: usize = 64 << 10;

/// Why the program ends otherwise than by being asked to.
pub enum Failure {
    /// It can't do as asked; the user can mend it.
    Cannot(String),
    /// It is wrong itself.
    Defect(String),
}

impl From<String> for Failure {
    fn from(sentence: String) -> Failure {
        Failure::Cannot(sentence)
    }
}

impl From<NetworkError> for Failure {
    fn from(error: NetworkError) -> Failure {
        match error {
            NetworkError::Engine(
                EngineError::DevicePanicked { node, at, .. } | EngineError::Livelock { node, at, .. },
            ) => Failure::Defect(format!("device {} failed at {at}", node.0)),
            other => Failure::Cannot(other.to_string()),
        }
    }
}

/// Runs a router until it is asked to end.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    process::prepare().map_err(|error| format!("timer slack: {}", os_words(&error)))?;
    if let Some(cpu) = arguments.cpu {
        engine::real_time::pin(cpu).map_err(|error| format!("--cpu {cpu}: {}", os_words(&error)))?;
    }
    let signals = Signals::take().map_err(|error| format!("signals: {}", os_words(&error)))?;
    let config = Config::read(&arguments.config)?;
    let mut network = drive::build(&config, arguments)?;
    let node = names::named_node(&network, &arguments.node)?;
    if !network.is_local(node) {
        return Err(Failure::Cannot(format!("placement: '{}' is not local", arguments.node)));
    }
    let channels = Channels::of(&mut network, node)?;
    // A switch with management ports carries its connections itself.
    if network.router(node).is_none() && network.switch(node).is_none() {
        return Err(Failure::Cannot(format!("'{}' is not a router", arguments.node)));
    }
    if let Some(path) = &arguments.record {
        record(&mut network, node, path, &config)?;
    }
    drop(config);
    let mut server = Server::new(arguments.socket.as_deref(), signals)?;
    if let Some(channels) = &channels {
        server.watch_also(channels.as_raw_fd())?;
    }
    let plane = plane::carry(&mut network, node)?;
    if let Some(plane) = &plane {
        server.watch_also(plane.as_raw_fd())?;
    }
    network.wake_on(Some(server.as_raw_fd()));
    let mut instance = Instance::new(network, node, Log::new(&arguments.node));
    instance.channels = channels;
    instance.recording.clone_from(&arguments.record);
    process::trim_memory();
    let line = format!("{} is ready, process {}\n", arguments.node, std::process::id());
    process::say_ready(arguments.ready, &line).map_err(|error| format!("ready: {}", os_words(&error)))?;
    let ended = serve(&mut instance, &mut server);
    let finished = finish(&mut instance);
    ended.and(finished.map_err(Failure::Cannot))
}

fn record(network: &mut Network, node: usize, path: &Path, config: &Config) -> Result<(), String> {
    let failed =
        |error: &std::io::Error| format!("{}: cannot be written: {}", path.display(), os_words(error));
    let file = File::create(path).map_err(|error| failed(&error))?;
    // What `Network::replayed` makes the router again from.
    let mut placement = config.placement.clone();
    if placement.is_null() {
        placement = json!({});
    }
    placement["calendar_ns"] = json!(network.calendar_ns());
    let subject = json!({"description": config.description, "placement": placement});
    let out = Box::new(BufWriter::with_capacity(RECORD_BUFFER, file));
    let to = RecordTo { name: path.display().to_string(), out, subject };
    network.world_mut().record_to(NodeId(node as u32), to).map_err(|error| error.to_string())
}

/// The loop: the network runs until somebody at the socket wants something, a signal comes, or a second has passed.
fn serve(instance: &mut Instance, server: &mut Server) -> Result<(), Failure> {
    let mut tick = instance.network.now() + TICK;
    let mut more = false;
    loop {
        let now = instance.network.now();
        let until = match (more, instance.probes.any() || instance.lsp_tests.any()) {
            (true, _) => now,
            (false, true) => tick.min(now + PROBE_TICK),
            (false, false) => tick,
        };
        instance.network.advance(until)?;
        // Somebody may have woken it: requests are for the time that it is now.
        let now = instance.network.now();
        instance.network.advance(now)?;
        instance.listen();
        let Instance { channels, network, .. } = &mut *instance;
        let channels_more = match channels {
            Some(channels) => channels.poll(network)?,
            None => false,
        };
        let now = instance.network.now();
        for (client, answer) in instance.probes.finished(&instance.network, now) {
            server.reply(client, answer);
        }
        let Instance { lsp_tests, network, node, .. } = &mut *instance;
        for (client, answer) in lsp_tests.finished(network, *node) {
            server.reply(client, answer);
        }
        instance.clients = server.clients();
        let polled = server.poll(&mut |client, line| instance.handle(client, line));
        more = polled.more || channels_more;
        if core::mem::take(&mut instance.trim) {
            process::trim_memory();
        }
        if polled.ended || instance.stopped {
            return Ok(());
        }
        if now >= LAST {
            let sentence =
                "213 days have passed since time zero, as many as its clock can count: start it again";
            return Err(Failure::Cannot(sentence.into()));
        }
        if now >= tick {
            tick = later(tick, now);
            instance.network.audit()?;
            keep_house(instance, server);
        }
    }
}

/// The next tick: those that were missed are left out.
fn later(tick: Time, now: Time) -> Time {
    let next = tick + TICK;
    if next > now { next } else { now + TICK }
}

/// What is done every second.
fn keep_house(instance: &mut Instance, server: &Server) {
    drive::tell_changes(&mut instance.network, &mut instance.log);
    instance.probes.keep(|client| server.has(client));
    instance.lsp_tests.keep(|client| server.has(client));
    let now = instance.network.world().now();
    if now >= instance.forget_at {
        instance.forget_at = now + Span(KEPT.0 / 10);
        instance.network.forget_before(Time(now.0.saturating_sub(KEPT.0.unsigned_abs())));
        instance.trim = true;
    }
    let flushed = instance.network.world_mut().flush_recordings();
    if let Err(error) = flushed {
        instance.log.say(now, format!("{error}; it is recorded no further"));
        instance.recording = None;
    }
    let captured = instance.network.world_mut().flush_captures();
    if let Err(error) = captured {
        instance.log.say(now, error.to_string());
    }
    if let Err(sentence) = instance.captures.end_full(&mut instance.network) {
        instance.log.say(now, sentence);
    }
}

/// Completes the files of captures and of the recording.
fn finish(instance: &mut Instance) -> Result<(), String> {
    let captured = instance.captures.end_all(&mut instance.network);
    let recorded = instance.network.world_mut().take_recording(NodeId(instance.node as u32));
    captured.and(recorded.map(drop).map_err(|error| error.to_string()))
}
