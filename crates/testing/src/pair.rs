//! Two namespaces with a veth between them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Two namespaces, each with an interface `e0`, connected. Taken away when dropped.
pub struct Pair {
    names: [String; 2],
}

impl Pair {
    /// A new pair; `None` where there is no root or no iproute2, which is then said on standard error.
    pub fn new(mtu: u32) -> Option<Pair> {
        if !crate::available("root") || !crate::available("ip") {
            return None;
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let stem = format!("tpt{}-{number}", std::process::id());
        let pair = Pair { names: [format!("{stem}a"), format!("{stem}b")] };
        let [a, b] = &pair.names;
        ip(&["netns", "add", a]);
        ip(&["netns", "add", b]);
        for name in &pair.names {
            ip(&["netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"]);
        }
        pair.connect(mtu);
        Some(pair)
    }
    /// Makes the two interfaces, and switches them on.
    pub fn connect(&self, mtu: u32) {
        let (mtu, b) = (mtu.to_string(), &self.names[1]);
        let near = ["link", "add", "e0", "mtu", &mtu, "type", "veth"];
        self.ip(0, &[&near[..], &["peer", "name", "e0", "mtu", &mtu, "netns", b]].concat());
        [0, 1].into_iter().for_each(|side| self.ip(side, &["link", "set", "e0", "up"]));
    }
    /// Where the first or second namespace is.
    pub fn netns(&self, side: usize) -> PathBuf {
        PathBuf::from(format!("/run/netns/{}", self.names[side]))
    }
    /// Runs `ip` in one of them.
    pub fn ip(&self, side: usize, arguments: &[&str]) {
        ip(&[&["-n", &self.names[side]], arguments].concat());
    }
    /// Runs a command in one of them.
    pub fn exec(&self, side: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[side]]).args(arguments);
        command
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

fn ip(arguments: &[&str]) {
    let status = Command::new("ip").args(arguments).status().expect("ip runs");
    assert!(status.success(), "ip {}", arguments.join(" "));
}
