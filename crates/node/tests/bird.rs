//! BIRD in a namespace of its own.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use testing::Pair;

/// A daemon of BIRD; it ends with it.
pub struct Bird {
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
    /// Starts it with its configuration at the second end of a pair; the name has to be that of nobody else in this
    /// process.
    pub fn start(pair: &Pair, name: &str, configuration: &str) -> Bird {
        let folder = std::env::temp_dir().join(format!("node-bird-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let at = |file: &str| folder.join(file).to_string_lossy().into_owned();
        let (file, socket) = (at("bird.conf"), at("bird.ctl"));
        fs::write(&file, configuration).expect("a file");
        let mut command = pair.exec(1, &["bird", "-f", "-c", &file, "-s", &socket]);
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("BIRD");
        Bird { folder, daemon }
    }

    /// What BIRD answers to a command of `birdc`.
    pub fn ask(&self, command: &str) -> String {
        let mut birdc = Command::new("birdc");
        let output = birdc.arg("-s").arg(self.folder.join("bird.ctl")).args(command.split(' ')).output();
        String::from_utf8_lossy(&output.expect("birdc").stdout).into_owned()
    }
}
