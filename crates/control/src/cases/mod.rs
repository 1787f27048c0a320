//! Cases: small conversations with one speaker, in folders that a newcomer can read (`crates/control/cases`).
//!
//! A case is a folder `PROTOCOL/NAME` with four files: `about.md` says what is shown and by which section of which RFC
//! it is right; `speaker.json` has the node's ports and the protocol's settings, as in a network file; `script` has
//! what neighbours say, what changes, and how time passes; `expected` is the script again with everything that the
//! speaker did, and is compared. `TWINPLANE_CASES=rewrite` writes it anew, for a person to read the difference.
//!
//! - [`words`]: the words of a line; [`node`]: the node; [`script`]: what every script can say; [`shown`]: what the
//!   node does, as text
//! - [`ospf`], [`ldp`], [`bgp`], [`bfd`]: messages as words, there and back

mod bfd;
mod bgp;
mod ldp;
mod node;
mod ospf;
mod script;
mod shown;
mod words;

use crate::protocol::Over;
use base::PortId;
use core::net::Ipv4Addr;
use node::{Node, Peer};
use std::fs;
use std::path::{Path, PathBuf};
use words::Words;

/// A message of a neighbour, and what carries it.
#[derive(Debug)]
struct Said {
    bytes: Vec<u8>,
    /// What it is in, above IP; absent in a TCP connection.
    over: Option<Over>,
    /// The group that it is sent to; absent if it is sent to the node.
    group: Option<Ipv4Addr>,
    ttl: u8,
}

/// The messages of a protocol as words.
trait Dialect {
    /// What carries bytes that are no message, as the words say.
    fn usual(&self, words: &mut Words) -> Said;

    /// The message that a neighbour's words are, to the node of this router id.
    fn write(&mut self, peer: &Peer, own: Ipv4Addr, words: &mut Words) -> Result<Said, String>;

    /// A message of the node in words, and what is remembered of it; it leaves by a port or in a connection. Between
    /// several of a connection is an empty line.
    fn show(&mut self, bytes: &[u8], port: Option<PortId>) -> String;

    /// What a neighbour says at once to what the node has said.
    fn answers(&mut self, _peer: &Peer) -> Vec<String> {
        Vec::new()
    }

    /// A neighbour answers from now on.
    fn heed(&mut self, _peer: &Peer) {}

    /// Keeps words under a name.
    fn name(&mut self, _words: Words) -> Result<(), String> {
        Err("nothing is named here".into())
    }

    /// The TCP port of its sessions; 0 for one that has none.
    fn port(&self) -> u16 {
        0
    }

    /// The node's end of connections: its router id, or its address on the neighbour's link.
    fn own(&self, id: Ipv4Addr, _beside: Ipv4Addr) -> Ipv4Addr {
        id
    }
}

fn dialect(protocol: &str) -> Box<dyn Dialect> {
    match protocol {
        "ospf" => Box::<ospf::Ospf>::default(),
        "ldp" => Box::<ldp::Ldp>::default(),
        "bgp" => Box::<bgp::Bgp>::default(),
        "bfd" => Box::<bfd::Bfd>::default(),
        other => panic!("no case speaks {other}"),
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// What becomes of the script of a folder.
fn transcript(folder: &Path, protocol: &str) -> Result<String, String> {
    let said = serde_json::from_str(&read(&folder.join("speaker.json")));
    let said = said.map_err(|why| format!("speaker.json: {why}"))?;
    let mut node =
        Node::new(&said, protocol, dialect(protocol)).map_err(|why| format!("speaker.json: {why}"))?;
    // A line that is indented goes on with the one before it.
    let script = read(&folder.join("script")).replace("\n    ", " ");
    for line in script.lines() {
        node.run(line).map_err(|why| format!("script, '{line}': {why}"))?;
    }
    Ok(node.end())
}

/// The lines in which two texts differ, with those right before.
fn difference(expected: &str, found: &str) -> String {
    let (a, b): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a_rest, b_rest) = (&a[same..], &b[same..]);
    let tail = a_rest.iter().rev().zip(b_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let line = |sign: char| move |line: &&str| format!("  {sign} {line}\n");
    let before = a[same.saturating_sub(3)..same].iter().map(line(' '));
    let gone = a_rest[..a_rest.len() - tail].iter().map(line('-'));
    before.chain(gone).chain(b_rest[..b_rest.len() - tail].iter().map(line('+'))).collect()
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(of).unwrap_or_else(|why| panic!("{}: {why}", of.display()));
    let mut all: Vec<PathBuf> =
        all.map(|entry| entry.expect("an entry").path()).filter(|one| one.is_dir()).collect();
    all.sort();
    all
}

/// Every case of a protocol does what is expected, and there are so many at least.
fn compare(protocol: &str, least: usize) {
    let all = folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(protocol));
    let is_rewritten = std::env::var("TWINPLANE_CASES").is_ok_and(|word| word == "rewrite");
    let (count, mut wrong) = (all.len(), String::new());
    for folder in all {
        let name = format!("{protocol}/{}", folder.file_name().unwrap_or_default().to_string_lossy());
        assert!(read(&folder.join("about.md")).contains("RFC "), "{name}: about.md names no RFC");
        let file = folder.join("expected");
        let expected = fs::read_to_string(&file).unwrap_or_default();
        match transcript(&folder, protocol) {
            Err(why) => wrong += &format!("{name}: {why}\n"),
            Ok(found) if found == expected => {}
            Ok(found) if is_rewritten => fs::write(&file, &found).expect("written"),
            Ok(found) => {
                wrong += &format!("{name}: expected (-), found (+)\n{}\n", difference(&expected, &found));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}TWINPLANE_CASES=rewrite writes 'expected' anew");
    assert!(count >= least, "{count} cases of {protocol}");
}

#[test]
fn ospf_does_what_its_cases_expect() {
    compare("ospf", 16);
}

#[test]
fn ldp_does_what_its_cases_expect() {
    compare("ldp", 10);
}

#[test]
fn bgp_does_what_its_cases_expect() {
    compare("bgp", 10);
}

#[test]
fn bfd_does_what_its_cases_expect() {
    compare("bfd", 5);
}

#[test]
fn a_difference_is_shown_with_what_stands_before() {
    let shown = difference("a\nb\nc\nd\n", "a\nb\nx\nd\n");
    assert_eq!(shown, "    a\n    b\n  - c\n  + x\n");
}

#[test]
#[should_panic(expected = "0 cases of")]
fn a_folder_without_cases_is_noticed() {
    compare("../src/cases", 1);
}
