//! Writes the inputs that fuzzing starts from: the frames of a small network that does most of what there is. `seeds DIRECTORY`

use base::Time;
use engine::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tester::network::{Description, Network};

const MS: u64 = 1_000_000_000;

fn main() -> std::io::Result<()> {
    let directory = std::env::args().nth(1).expect("seeds DIRECTORY");
    let file = capture();
    let frames: Vec<Vec<u8>> = CaptureReader::new(&file[..])
        .expect("our own capture")
        .map(|packet| packet.expect("a packet").bytes)
        .collect();
    write(&directory, "capture", [file[..file.len().min(4_000)].to_vec()])?;
    // One of each kind: EtherType, protocol, RSVP message type and rough length tell them apart.
    let mut kinds = BTreeMap::new();
    for frame in frames {
        let at = |i: usize| frame.get(i).copied().unwrap_or(0);
        let header = 14 + usize::from(at(14) & 15) * 4;
        let kind = (at(12), at(13), at(23), at(header + 1), frame.len() / 16);
        kinds.entry(kind).or_insert((header, frame));
    }
    write(&directory, "tree", kinds.values().map(|(_, frame)| frame.clone()))?;
    let message = |(header, frame): &(usize, Vec<u8>)| {
        frame.get(*header..).filter(|_| frame[23] == 46).map(<[u8]>::to_vec)
    };
    write(&directory, "rsvp", kinds.values().filter_map(message))?;
    let chunk = |kind: u8, bytes: &[u8]| {
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4).min(1_020), 0);
        [&[kind, (padded.len() / 4) as u8], &padded[..]].concat()
    };
    let inputs = kinds.values().map(|found| match message(found) {
        Some(message) => chunk(7, &message),
        None => chunk(0, &found.1),
    });
    write(&directory, "router", inputs)
}

fn write(directory: &str, target: &str, inputs: impl IntoIterator<Item = Vec<u8>>) -> std::io::Result<()> {
    let folder = Path::new(directory).join(target);
    fs::create_dir_all(&folder)?;
    for (number, input) in inputs.into_iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:03}")), input)?;
    }
    Ok(())
}

fn capture() -> Vec<u8> {
    let rsvp = |key: bool, reduction: bool| {
        let mut rsvp = json!({"refresh_ps": 200 * MS, "refresh_reduction": reduction, "hello_ps": 40 * MS, "egress_label": "explicit-null"});
        if key {
            rsvp["integrity_key"] = json!("secret");
        }
        rsvp
    };
    let mut all = Vec::new();
    for (key, reduction) in [(false, true), (true, false)] {
        let router =
            |i: usize| json!({"name": format!("r{i}"), "kind": "router", "rsvp": rsvp(key, reduction)});
        let link = |(a, b): (usize, usize)| json!({"a": a, "b": b, "rate_bps": 100_000_000, "delay_ps": MS / 10, "mtu": 600});
        let lsp = |name: &str, bandwidth: u64, priority: u8, style: &str| {
            json!({"name": name, "from": 0, "to": 2, "routes": [[1, 2], [3, 2]], "bandwidth_bps": bandwidth, "setup_priority": priority,
                   "holding_priority": priority, "record_labels": true, "style": style, "retry_limit": 1})
        };
        let (nodes, links) = ([0, 1, 2, 3].map(router), [(0, 1), (1, 2), (0, 3), (3, 2)].map(link));
        let description = json!({
            "seed": 1, "nodes": nodes, "links": links,
            "lsps": [lsp("a", 60_000_000, 7, "shared-explicit"), lsp("b", 80_000_000, 3, "fixed-filter"), lsp("c", 900_000_000, 3, "fixed-filter"),
                     {"name": "d", "from": 0, "to": 2, "count": 5, "routes": [[1], [2]], "loose": true}],
            "flows": [{"from": 0, "to": 2, "over": 0, "rate_bps": 100_000, "size": 200}, {"from": 0, "to": 2, "over": 3, "rate_bps": 100_000, "size": 900}],
        });
        let description: Description = serde_json::from_value(description).expect("a description");
        let mut network = Network::new(description).expect("a network");
        let id = network
            .world_mut()
            .capture(CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory))
            .expect("a capture");
        let to = |ms: u64, network: &mut Network| {
            network.world_mut().run_until(Time(ms * MS)).expect("no device fails")
        };
        to(400, &mut network);
        let (_, address) = network.tunnel(0, 0).expect("a tunnel");
        (1..4).for_each(|ttl| network.ping(0, address, ttl, 1).expect("a ping"));
        network.lsp_command(3, "reoptimise", None).expect("a command");
        to(800, &mut network);
        network.set_link(1, false).expect("a link");
        to(1_200, &mut network);
        network.lsp_command(1, "tear", None).expect("a command");
        to(1_600, &mut network);
        let bytes = network.world_mut().finish_capture(id).expect("a capture").bytes;
        all.extend(bytes);
    }
    all
}
