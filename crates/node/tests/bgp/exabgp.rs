//! A router between ExaBGP and BIRD: generated prefixes come in from the one, go on to the other, and are taken back
//! again. There are 2,000 of them, and more in longer campaigns: a million with `TWINPLANE_CAMPAIGN=500`, as
//! `make test-prefixes` has it. How long each took, and the most memory of router and test together, is printed.

use super::{Beside, OWN, THEIRS, bgp, neighbor};
use crate::bird::Bird;
use core::net::Ipv4Addr;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;
use testing::Pair;

/// BIRD, which hears what ExaBGP has said.
const LISTENER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 3);

/// Tells as many prefixes as its first argument says, and withdraws them when a file is there.
const FEED: &str = r#"
import os, sys, time
count, done, parent = int(sys.argv[1]), sys.argv[2], os.getppid()
def say(verb):
    for first in range(0, count, 8):
        all = range(first, min(first + 8, count))
        nlri = " ".join(f"{1 + (n >> 16)}.{n >> 8 & 255}.{n & 255}.0/24" for n in all)
        path = f"65002 {first % 60000 + 1}"
        sys.stdout.write(f"{verb} attributes next-hop self as-path [ {path} ] nlri {nlri}\n")
    sys.stdout.flush()
say("announce")
while not os.path.exists(done):
    time.sleep(0.1)
say("withdraw")
while os.getppid() == parent:
    time.sleep(0.1)
"#;

/// ExaBGP in a namespace; it ends with it.
struct Exa {
    folder: PathBuf,
    daemon: Child,
}

impl Drop for Exa {
    fn drop(&mut self) {
        let _ = (self.daemon.kill(), self.daemon.wait());
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Exa {
    fn start(pair: &Pair, program: &str, count: usize) -> Exa {
        let folder = std::env::temp_dir().join(format!("node-exabgp-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let at = |file: &str| folder.join(file).to_string_lossy().into_owned();
        let (feed, file, done) = (at("feed.py"), at("exabgp.conf"), at("done"));
        let said = format!(
            "process feed {{ run /usr/bin/env python3 {feed} {count} {done}; encoder text; }}\n\
             neighbor {OWN} {{\n router-id 192.0.2.202; local-address {THEIRS}; local-as 65002; peer-as 65001;\n \
             family {{ ipv4 unicast; }}\n api {{ processes [ feed ]; }}\n}}\n"
        );
        fs::write(&feed, FEED).expect("a file");
        fs::write(&file, said).expect("a file");
        let settings = [
            "exabgp.daemon.user=root",
            "exabgp.api.cli=false",
            "exabgp.api.ack=false",
            "exabgp.log.enable=false",
        ];
        let mut command = pair.exec(1, &[&["env"][..], &settings, &[program, &file]].concat());
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("exabgp");
        Exa { folder, daemon }
    }
}

/// The most memory that this process has had at once, as the kernel says it.
fn most_memory() -> String {
    let said = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = said.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(String::new, |size| size.trim().to_string())
}

fn listener() -> String {
    format!(
        "router id 192.0.2.203;\nprotocol device {{ }}\nprotocol bgp r {{\n local {LISTENER} as 65003;\n \
         neighbor {OWN} as 65001;\n strict bind yes;\n connect retry time 2;\n \
         ipv4 {{ import all; export none; }};\n}}\n"
    )
}

/// How many prefixes BIRD has, beside the one of the router itself.
fn heard(bird: &Bird) -> Option<u64> {
    let said = bird.ask("show route count");
    let count: u64 = said.lines().find_map(|line| line.split(" of ").next()?.parse().ok())?;
    count.checked_sub(1)
}

#[test]
fn prefixes_of_exabgp_come_in_and_go_on_to_bird_and_out_again() {
    // It is a package of Python, which `make setup` installs.
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/exabgp");
    let own = own.to_string_lossy();
    let program = if Path::new(&*own).exists() { &*own } else { "exabgp" };
    if program == "exabgp" && !testing::available(program) {
        return;
    }
    if !testing::available("birdc") {
        return;
    }
    let count = testing::runs(2_000);
    let count = (count.end - count.start) as usize;
    let Some(pair) = Pair::new(1500) else { return };
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    pair.ip(1, &["address", "add", &format!("{LISTENER}/24"), "dev", "e0"]);
    pair.ip(1, &["link", "set", "lo", "up"]);
    let neighbors = json!({THEIRS.to_string(): neighbor(65002), LISTENER.to_string(): neighbor(65003)});
    let mut beside = Beside::among(&pair, &neighbors, None);
    let bird = Bird::start(&pair, "listener", &listener());
    let exa = Exa::start(&pair, program, count);
    beside.wait("established", |world| bgp(world).peers().iter().all(|peer| peer.is_established()));
    let since = Instant::now();
    beside.wait_while_it_goes_on("told all", |world| {
        let received = bgp(world).peers()[0].received;
        (received as u64, received == count)
    });
    let told = since.elapsed();
    beside.wait_while_it_goes_on("passed on", |_| {
        let heard = heard(&bird).unwrap_or(0);
        (heard, heard == count as u64)
    });
    let passed = since.elapsed() - told;
    fs::write(exa.folder.join("done"), "").expect("a file");
    beside.wait_while_it_goes_on("told that all are gone", |world| {
        let received = bgp(world).peers()[0].received;
        (received as u64, received == 0)
    });
    beside.wait_while_it_goes_on("passed on that all are gone", |_| {
        let heard = heard(&bird);
        (heard.unwrap_or(0), heard == Some(0))
    });
    let (gone, memory) = (since.elapsed() - told - passed, most_memory());
    println!(
        "{count} prefixes: told in {told:.1?}, with BIRD {passed:.1?} later, taken back everywhere in {gone:.1?}, \
         {memory} at most"
    );
    for peer in bgp(&beside.world).peers() {
        assert!(peer.is_established() && peer.malformed == 0, "{peer:?}");
    }
}
