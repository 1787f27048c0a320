//! Tests that need more than Rust: root, `tshark`, `ip`.

use std::env;
use std::ffi::OsStr;
use std::io::{Write, stderr};
use std::thread;

/// Environment variable that lists what has to be there, separated by spaces. `.ci/run` sets it.
const REQUIRE: &str = "TWINPLANE_REQUIRE";

/// Whether the calling test can run: `need` is `root` (effective user 0), or the name of a program on `PATH`.
///
/// If it is not there, a line on standard error names the test and the reason, so that the skip is seen although the
/// test counts as passed. The test harness holds back what tests print with macros, but not what is written here.
///
/// # Panics
///
/// If it is not there, and `TWINPLANE_REQUIRE` lists it: the test fails.
#[must_use]
pub fn available(need: &str) -> bool {
    let required = env::var(REQUIRE).unwrap_or_default();
    match judge(need, there(need), &required) {
        Verdict::Run => true,
        Verdict::Skip(reason) => {
            let current = thread::current();
            let line = format!("SKIPPED {}: {reason}\n", current.name().unwrap_or("a test"));
            // Nothing is lost but the line if standard error is closed.
            let _ = stderr().write_all(line.as_bytes());
            false
        }
        Verdict::Fail(reason) => panic!("{reason}"),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Run,
    Skip(String),
    Fail(String),
}

fn judge(need: &str, there: bool, required: &str) -> Verdict {
    if there {
        return Verdict::Run;
    }
    let reason = match need {
        "root" => "needs root".to_string(),
        tool => format!("{tool} is not installed"),
    };
    if required.split_whitespace().any(|one| one == need) {
        Verdict::Fail(format!("{reason}, but {REQUIRE} lists {need}"))
    } else {
        Verdict::Skip(reason)
    }
}

fn there(need: &str) -> bool {
    match need {
        // SAFETY: a call without arguments, which cannot fail.
        "root" => unsafe { libc::geteuid() == 0 },
        tool => on_path(tool, &env::var_os("PATH").unwrap_or_default()),
    }
}

fn on_path(tool: &str, path: &OsStr) -> bool {
    env::split_paths(path).any(|folder| folder.join(tool).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_and_absent_fails() {
        assert_eq!(judge("tshark", true, "tshark"), Verdict::Run);
        assert_eq!(judge("tshark", true, ""), Verdict::Run);
        assert_eq!(judge("tshark", false, "root"), Verdict::Skip("tshark is not installed".into()));
        assert_eq!(judge("root", false, ""), Verdict::Skip("needs root".into()));
        let said = "tshark is not installed, but TWINPLANE_REQUIRE lists tshark";
        assert_eq!(judge("tshark", false, "root  tshark ip"), Verdict::Fail(said.into()));
        // Only whole words count.
        assert!(matches!(judge("ip", false, "iperf3"), Verdict::Skip(_)));
    }

    #[test]
    fn programs_are_found_on_the_path() {
        let path = env::var_os("PATH").expect("a path");
        assert!(on_path("sh", &path));
        assert!(!on_path("no-such-program-anywhere", &path));
        assert!(!on_path("sh", OsStr::new("/nowhere:/proc")));
    }
}
