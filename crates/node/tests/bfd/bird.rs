//! The same beside BIRD, whose OSPF has the router watched.

use super::{Beside, OWN, THEIRS, is_in, session};
use crate::ospf::speaker::full;
use base::Span;
use control::bfd::states::SessionState;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use testing::Pair;

const CONFIG: &str = "\
router id 192.0.2.200;
protocol device {}
protocol bfd {
  interface \"e0\" { min rx interval 400 ms; min tx interval 400 ms; multiplier 50; };
}
protocol ospf v2 {
  ipv4 { import all; export none; };
  area 0 { interface \"e0\" { type ptp; hello 1; dead 40; bfd yes; }; };
}
";

/// BIRD at the second end of a pair; it ends with it.
struct Bird {
    folder: PathBuf,
    daemon: Child,
}

impl Drop for Bird {
    fn drop(&mut self) {
        let _ = (self.daemon.kill(), self.daemon.wait());
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bird {
    fn start(pair: &Pair) -> Bird {
        let folder = std::env::temp_dir().join(format!("node-bird-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let at = |file: &str| folder.join(file).to_string_lossy().into_owned();
        fs::write(folder.join("bird.conf"), CONFIG).expect("a file");
        let (config, socket) = (at("bird.conf"), at("bird.ctl"));
        let mut command = pair.exec(1, &["bird", "-f", "-c", &config, "-s", &socket]);
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("BIRD");
        Bird { folder, daemon }
    }

    /// What BIRD answers to a command.
    fn ask(&self, words: &[&str]) -> String {
        let output = Command::new("birdc").arg("-s").arg(self.folder.join("bird.ctl")).args(words).output();
        String::from_utf8_lossy(&output.expect("birdc").stdout).into_owned()
    }
}

#[test]
fn bird_agrees_on_intervals_and_says_when_it_ends() {
    if !testing::available("birdc") {
        return;
    }
    let Some(pair) = Pair::new(1500) else { return };
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    let mut beside = Beside::new(&pair);
    let bird = Bird::start(&pair);
    beside.wait("adjacent", |world| full(world, 0) == 1);
    beside.wait("up", |world| is_in(world, SessionState::Up));
    beside.wait("agreed", |world| {
        let session = session(world).expect("a session");
        (session.interval(), session.detection()) == (Span::from_ms(400), Span::from_secs(20))
    });
    let told = bird.ask(&["show", "bfd", "sessions"]);
    let line = told.lines().find(|line| line.starts_with(&OWN.to_string())).unwrap_or_default();
    assert!(line.contains("Up") && line.contains("0.400") && line.contains("24.000"), "{told}");
    // Who ends its BFD says so, and loses no neighbour by that (RFC 5882, 4.2).
    assert!(bird.ask(&["disable", "bfd1"]).contains("disabled"));
    beside.wait("down", |world| is_in(world, SessionState::Down));
    assert_eq!(full(&beside.world, 0), 1);
    assert!(bird.ask(&["enable", "bfd1"]).contains("enabled"));
    beside.wait("up again", |world| is_in(world, SessionState::Up));
    assert_eq!(full(&beside.world, 0), 1);
}
