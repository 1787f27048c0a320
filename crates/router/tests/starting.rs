//! How the program is called, and what it says when it can't do as asked.

use serde_json::json;
use std::fs;
use std::process::Command;

fn run(words: &[&str]) -> (i32, String, String) {
    let done =
        Command::new(env!("CARGO_BIN_EXE_twinplane-router")).args(words).output().expect("the program");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (done.status.code().unwrap_or(-1), text(done.stdout), text(done.stderr))
}

#[test]
fn help_and_version() {
    let (code, out, _) = run(&["--help"]);
    assert!(code == 0 && out.contains("--socket PATH"));
    assert_eq!(run(&["--version"]).1, format!("twinplane-router {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn mistakes_give_one_sentence_and_exit_code_2() {
    let folder = std::env::temp_dir().join(format!("tpt-router-start-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let good = file("good.json", &json!({"description": crate::common::description(2)}).to_string());
    let broken = file("broken.json", "{\"description\": ");
    let peer = json!({
        "name": "peer",
        "nodes": {"p": {"kind": "peer"}, "r0": {"kind": "router"}},
        "links": [["p", "r0", {"rate": "1 Gbit/s"}]],
    });
    let peer = file("peer.json", &json!({ "description": peer }).to_string());
    let extra = file("extra.json", r#"{"description": {"name": "x"}, "more": 1}"#);
    let odd = file("odd.json", r#"{"description": {"name": "x", "nodes": {"r0": {"kind": "ovs-bridge"}}}}"#);
    for (words, sentence) in [
        (vec!["--node", "r0"], "--config is needed: the file that describes the network"),
        (
            vec!["--node", "r0", "--config", "/none.json"],
            "/none.json: cannot be read: no such file or directory",
        ),
        (
            vec!["--node", "r0", "--config", &broken],
            "broken.json: EOF while parsing a value at line 1 column 16",
        ),
        (vec!["--node", "r7", "--config", &good], "no node is named 'r7'"),
        (vec!["--node", "p", "--config", &peer], "'p' is not a router"),
        (vec!["--node", "r0", "--config", &extra], "unknown field `more`"),
        (
            vec!["--node", "r0", "--config", &odd],
            "nodes/r0/kind: 'ovs-bridge' is containerlab's; nearest to it is 'bridge'",
        ),
        (vec!["--node", "r0", "--config", &good, "--cpu", "900"], "--cpu 900: invalid argument"),
        (
            vec!["--node", "r0", "--config", &good, "--record", "/none/r"],
            "/none/r: cannot be written: no such file",
        ),
        (
            vec!["--node", "r0", "--config", &good, "--socket", "/none/s"],
            "/none/s: cannot listen: no such file",
        ),
        (
            vec!["--node", "r0", "--config", &good, "--socket", &good],
            "good.json: it exists and is not a socket",
        ),
        (vec!["--node", "r0", "--config", &good, "--ready-fd", "77"], "ready: bad file descriptor"),
    ] {
        let (code, out, err) = run(&words);
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}: {err}");
        assert!(err.starts_with("twinplane-router: ") && err.lines().count() == 1, "{words:?}: {err}");
        assert!(err.contains(sentence), "{words:?}: {err}");
    }
    fs::remove_dir_all(&folder).expect("a folder");
}
