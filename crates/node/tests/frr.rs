//! Daemons of FRR in a namespace of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testing::Pair;

const DAEMONS: &str = "/usr/lib/frr";

/// Daemons of FRR; they end with it.
pub struct Frr {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Drop for Frr {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = (daemon.kill(), daemon.wait());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Frr {
    /// Starts daemons, each with its settings, at the second end of a pair, zebra first; the name has to be that of
    /// nobody else in this process.
    pub fn start(pair: &Pair, name: &str, daemons: &[(&str, &str)]) -> Frr {
        let folder = std::env::temp_dir().join(format!("node-frr-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for (daemon, settings) in daemons {
            fs::write(folder.join(format!("{daemon}.conf")), settings).expect("a file");
        }
        // The daemons give up the rights of root.
        let owned = Command::new("chown").args(["-R", "frr:frr"]).arg(&folder).status().expect("chown");
        assert!(owned.success());
        let mut frr = Frr { folder, daemons: Vec::new() };
        daemons.iter().for_each(|(daemon, _)| frr.run(pair, daemon));
        frr
    }

    /// Starts a daemon, and waits until it answers.
    fn run(&mut self, pair: &Pair, daemon: &str) {
        let at = |file: &str| self.folder.join(file).to_string_lossy().into_owned();
        let (program, file) = (Path::new(DAEMONS).join(daemon), at(&format!("{daemon}.conf")));
        let (program, pid, zapi) = (program.to_string_lossy(), at(&format!("{daemon}.pid")), at("zserv.api"));
        let folder = self.folder.to_string_lossy();
        let socket = ["--vty_socket", &folder, "-P", "0", "-A", "127.0.0.1"];
        // A second socket, which would be that of every other daemon of the kind. For ldpd it is named by its folder.
        let control = at("bfdd.sock");
        let more = match daemon {
            "ldpd" => &["--ctl_socket", &folder][..],
            "bfdd" => &["--bfdctl", &control][..],
            _ => &[],
        };
        let arguments = [&[&*program, "-f", &file, "-i", &pid, "-z", &zapi][..], &socket[..], more].concat();
        let mut command = pair.exec(1, &arguments);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a daemon of FRR");
        self.daemons.push(child);
        let limit = Instant::now() + Duration::from_secs(60);
        while !self.folder.join(format!("{daemon}.vty")).exists() {
            assert!(Instant::now() < limit, "{daemon} does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What the daemons answer to a question of `vtysh`.
    pub fn ask(&self, question: &str) -> String {
        let mut vtysh = Command::new("vtysh");
        let output = vtysh.arg("--vty_socket").arg(&self.folder).args(["-c", question]).output();
        String::from_utf8_lossy(&output.expect("vtysh").stdout).into_owned()
    }

    /// Gives the daemons lines of configuration.
    pub fn configure(&self, lines: &[&str]) {
        let lines = lines.iter().flat_map(|line| ["-c", line]);
        let arguments = ["-c", "configure terminal"].into_iter().chain(lines);
        let mut vtysh = Command::new("vtysh");
        let done = vtysh.arg("--vty_socket").arg(&self.folder).args(arguments).output().expect("vtysh");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }

    /// Stops a daemon where it is; it says nothing any more.
    pub fn pause(&self, daemon: &str) {
        let pid = fs::read_to_string(self.folder.join(format!("{daemon}.pid"))).expect("its number");
        let paused = Command::new("kill").args(["-STOP", pid.trim()]).status().expect("kill");
        assert!(paused.success());
    }
}
