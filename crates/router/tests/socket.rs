//! The control socket of a router whose links are attached to nothing.

use crate::common::{Client, Router, description};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

#[test]
fn tables_and_status() {
    let router = Router::start(&description(3));
    let mut client = router.client();
    let status = client.ask(&json!({"status": null}));
    assert_eq!(status["node"], "r0");
    assert_eq!(status["pid"], router.pid());
    assert!(status["rss_bytes"].as_u64().expect("bytes") > 100_000);
    for table in
        ["lsps", "ilm", "ftn", "fib", "counters", "drops", "neighbors", "ports", "messages", "events"]
    {
        let found = client.ask(&json!({ "table": table }));
        let lengths: Vec<usize> = found
            .as_object()
            .expect("columns")
            .values()
            .map(|c| c.as_array().expect("a column").len())
            .collect();
        assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{table}: {lengths:?}");
    }
    let fib = client.ask(&json!({"table": "fib"}));
    assert!(!fib["prefix"].as_array().expect("a column").is_empty());
}

#[test]
fn queues_and_conditioners_of_its_own_ports() {
    let mut described = description(3);
    described["queue_bin"] = json!("100 ms");
    let tree = json!({"root": {"discipline": "prio", "classes": {"a": {}, "b": {}}}});
    described["links"][0]["queue"] = json!({"r0": tree});
    described["links"][1]["queue"] = json!({"r1": tree});
    described["links"][0]["ingress"] = json!({"r0": {"rules": [{"name": "all"}]}});
    let router = Router::start(&described);
    let mut client = router.client();
    let queues = client.ask(&json!({"table": "queues"}));
    assert_eq!(queues["path"], json!(["root", "root/a", "root/b"]));
    assert_eq!(queues["node"], json!(["r0", "r0", "r0"]));
    let conditioners = client.ask(&json!({"table": "conditioners"}));
    assert_eq!((&conditioners["rule"], &conditioners["where"]), (&json!(["all"]), &json!(["ingress"])));
    let series = client.ask(&json!({"table": "queue_series"}));
    assert!(series["max_bytes"].is_array());
}

#[test]
fn mistakes_are_answered_by_a_sentence() {
    let router = Router::start(&description(3));
    let mut client = router.client();
    for (request, sentence) in [
        ("{", "request: not JSON: EOF while parsing an object at line 1 column 1"),
        ("3", r#"request: an object with one key is needed, such as {"status": null}"#),
        (r#"{"table": "ilms"}"#, "table 'ilms': there is none of that name"),
        (r#"{"command": {"lsp": "no", "do": "tear"}}"#, "no LSP is named 'no'"),
        (r#"{"command": {"lsp": "back", "do": "tear"}}"#, "lsp 'back' begins at 'r2', not at 'r0'"),
        (
            r#"{"command": {"lsp": "east", "do": "drop"}}"#,
            "LSP command 'drop': signal, route, tear or reoptimise",
        ),
        (r#"{"command": {"lsp": "east", "do": "route"}}"#, "route: 'routes' is needed"),
        (
            r#"{"command": {"lsp": "east", "do": "route", "routes": [["r9"]]}}"#,
            "routes: 0/0: 'r9', no node has that name (did you mean 'r0'?)",
        ),
        (
            r#"{"command": {"lsp": "east", "do": "route", "routes": [["r2"]]}}"#,
            "lsp 'east': its route goes from 'r0' to 'r2', and no link does",
        ),
        (r#"{"ping": {"to": "r9"}}"#, "'r9' is neither an address nor the name of a node"),
        (
            r#"{"traceroute": {"to": "r9"}}"#,
            "'r9' is no address, and neither a node nor an LSP has that name",
        ),
        (r#"{"path": {"to": "r9"}}"#, "'r9' is neither an address nor the name of a node"),
        (
            r#"{"path": {"to": "r1", "dst_port": 80}}"#,
            "path: ports need a protocol that has some, such as tcp",
        ),
        (r#"{"ping": {}}"#, "ping: missing field `to`"),
        (r#"{"ping": {"to": "r1", "ttl": 0}}"#, "a TTL of 0 goes nowhere: 1 to 255"),
        (r#"{"ping": {"to": "r1", "timeout_s": 0}}"#, "timeout_s 0: more than 0, up to 60"),
        (r#"{"fault": {"fault": "link-down", "link": 7}}"#, "link 7 of 2"),
        (r#"{"fault": {"fault": "link-down", "link": ["r0", "r2"]}}"#, r#"no link joins "r0" and "r2""#),
        (r#"{"capture": {"link": 0, "path": "a.pcapng"}}"#, "capture: 'a.pcapng' is not an absolute path"),
        (r#"{"capture-stop": 9}"#, "capture 9: there is none of that number"),
    ] {
        assert_eq!(client.say(request), json!({ "error": sentence }), "{request}");
    }
    assert_eq!(client.ask(&json!({"status": null}))["node"], "r0", "it is still there");
}

#[test]
fn a_request_that_is_too_long_ends_the_conversation() {
    let router = Router::start(&description(2));
    let mut client = router.client();
    let long = format!("{{\"table\": \"{}\"}}\n", "x".repeat(2 << 20));
    // The router reads no more than it has to: the rest of the line may find nobody.
    let _ = client.stream.write_all(long.as_bytes());
    let answer = client.answer();
    assert_eq!(answer, json!({"error": "request: longer than 1048576 bytes"}));
    assert_eq!(router.client().ask(&json!({"status": null}))["node"], "r0");
}

#[test]
fn several_clients_and_several_requests_at_once() {
    let router = Router::start(&description(3));
    let mut clients: Vec<Client> = (0..8).map(|_| router.client()).collect();
    for client in &mut clients {
        let lines = "{\"table\": \"fib\"}\n{\"status\": null}\n".repeat(20);
        client.stream.write_all(lines.as_bytes()).expect("a router");
    }
    for client in &mut clients {
        for _ in 0..20 {
            assert!(client.answer()["ok"]["prefix"].is_array());
            assert!(client.answer()["ok"]["clients"].as_u64().is_some_and(|count| (1..=8).contains(&count)));
        }
    }
}

#[test]
fn a_client_that_does_not_read_is_no_trouble() {
    let router = Router::start(&description(3));
    let mut deaf = router.client();
    deaf.stream.set_write_timeout(Some(Duration::from_millis(300))).expect("a socket");
    let lines = "{\"table\": \"fib\"}\n".repeat(1000);
    // The router stops to read what it can't answer.
    while deaf.stream.write_all(lines.as_bytes()).is_ok() {}
    let mut other = router.client();
    let before = other.ask(&json!({"status": null}))["rss_bytes"].as_u64().expect("bytes");
    assert!(before < 100 << 20, "{before} bytes");
}

#[test]
fn the_socket_is_the_owners_and_is_removed() {
    let mut router = Router::start(&description(2));
    let mode = std::fs::metadata(router.socket()).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = router.another();
    assert_eq!(second.0, 2);
    assert!(second.1.ends_with("router.sock: another process answers there\n"), "{}", second.1);
    assert_eq!(router.end(libc::SIGTERM), 0);
    assert!(!router.socket().exists());
}

#[test]
fn a_killed_process_leaves_a_socket_that_the_next_one_replaces() {
    let mut router = Router::start(&description(2));
    router.end(libc::SIGKILL);
    assert!(router.socket().exists());
    router.restart();
    assert_eq!(router.client().ask(&json!({"status": null}))["node"], "r0");
    let mut client = router.client();
    assert_eq!(client.ask(&json!({"stop": null})), Value::Null);
    assert_eq!(router.wait(), 0);
    assert!(!router.socket().exists());
}

#[test]
fn a_ping_that_nobody_answers_is_answered_when_it_is_over() {
    let router = Router::start(&description(2));
    let (mut pinging, mut other) = (router.client(), router.client());
    let begin = Instant::now();
    writeln!(pinging.stream, "{}", json!({"ping": {"to": "198.51.100.1", "timeout_s": 0.3}}))
        .expect("a router");
    assert_eq!(other.ask(&json!({"status": null}))["node"], "r0", "others are served meanwhile");
    let answer = pinging.answer();
    assert_eq!(answer["ok"]["from"], Value::Null, "{answer}");
    assert!(begin.elapsed() >= Duration::from_millis(300));
}

#[test]
fn lsps_are_added_and_commanded() {
    let router = Router::start(&description(3));
    let mut client = router.client();
    let added = json!({"add-lsp": {"name": "extra", "to": "r2", "route": ["r1", "r2"], "count": 3}});
    assert_eq!(client.ask(&added), json!({"lsps": 2}));
    assert_eq!(client.say(&added.to_string()), json!({"error": "lsp 'extra': there is one of that name"}));
    let other = json!({"add-lsp": {"name": "other", "from": "r1", "to": "r2"}});
    assert_eq!(client.say(&other.to_string())["error"], "an LSP that is added here begins at 'r0'");
    let up = |client: &mut Client| client.ask(&json!({"status": null}))["tunnels"]["up"].as_u64();
    let limit = Instant::now() + Duration::from_secs(20);
    while up(&mut client) != Some(4) {
        assert!(Instant::now() < limit, "they do not come up");
    }
    client.ask(&json!({"command": {"lsp": "extra", "do": "tear"}}));
    while up(&mut client) != Some(1) {
        assert!(Instant::now() < limit, "they do not go down");
    }
}

#[test]
fn a_capture_has_what_passed() {
    let router = Router::start(&description(2));
    let mut client = router.client();
    let path = router.folder().join("r0-r1.pcapng");
    let asked = json!({"capture": {"link": ["r0", "r1"], "path": path, "max_packets": 2}});
    let number = client.ask(&asked)["capture"].clone();
    assert_eq!(
        client.say(&asked.to_string())["error"],
        format!("capture: {} is being written by capture {number}", path.display())
    );
    client.ask(&json!({"ping": {"to": "r1"}}));
    client.ask(&json!({"ping": {"to": "r1"}}));
    let ended = client.ask(&json!({ "capture-stop": number }));
    assert_eq!(ended, json!({"capture": number, "path": path, "packets": 2}));
    let file = std::fs::File::open(&path).expect("a file");
    let packets = engine::CaptureReader::new(file).expect("a capture").collect::<Result<Vec<_>, _>>();
    assert_eq!(packets.expect("packets").len(), 2);
}

#[test]
fn noise_is_answered_line_by_line() {
    let router = Router::start(&description(2));
    let mut client = router.client();
    let words =
        ["{", "}", "\"table\"", ":", "null", "[", "]", "\"ping\"", "\"to\"", "-1", "1e999", "\\u0000", ","];
    let mut state = 7u64;
    for _ in 0..500 {
        let mut line = String::new();
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            line.push_str(words[(state >> 33) as usize % words.len()]);
        }
        assert!(client.say(&line)["error"].is_string(), "{line}");
    }
    client.stream.write_all(&[0xff, 0xfe, 0, b'\n']).expect("a router");
    assert!(client.answer()["error"].is_string());
    assert_eq!(client.ask(&json!({"status": null}))["node"], "r0");
}
