//! Tests of warnings.

use super::*;

fn of(json: &str) -> Vec<String> {
    let spec = serde_json::from_str(&format!(r#"{{"root": {json}}}"#)).expect("a tree");
    warnings(&spec)
}

#[test]
fn rates_that_do_not_add_up_say_by_how_much() {
    let json = r#"{"discipline": "cbq", "bandwidth_bps": 100000000, "avpkt_bytes": 1000, "default": "de",
        "filters": [{"match": {"phb": ["EF"]}, "class": "ef"}, {"match": {"phb": ["AF11"]}, "class": "af1"}],
        "classes": [{"name": "all", "rate_bps": 2800000, "bounded": true}, {"name": "ef", "parent": "all", "rate_bps": 800000},
            {"name": "af1", "parent": "all", "rate_bps": 2000000}, {"name": "de", "parent": "all", "rate_bps": 1000000}]}"#;
    let expected = "root: the rates of ef, af1 and de add up to 3.8 Mbit/s, 1 Mbit/s more than the 2.8 Mbit/s of 'all', which they are in";
    assert_eq!(of(json), [expected]);
    let facts = Facts { rate: Rate(2_000_000), mtu: 1500 };
    let spec = serde_json::from_str(&format!(
        r#"{{"root": {}}}"#,
        json.replace("\"bandwidth_bps\": 100000000, ", "")
    ))
    .expect("a tree");
    assert_eq!(
        warnings_at(&spec, &facts)[0],
        "root: the rates of all add up to 2.8 Mbit/s, 800 kbit/s more than the 2 Mbit/s of the port"
    );
}

#[test]
fn thresholds_and_bursts_are_looked_at() {
    let red = |min, max, limit| {
        of(&format!(
            r#"{{"discipline": "red", "limit_bytes": {limit}, "min_bytes": {min}, "max_bytes": {max}, "avpkt_bytes": 1000, "burst_packets": 40}}"#
        ))
    };
    assert_eq!(red(30_000, 100_000, 120_000), [""; 0]);
    assert_eq!(
        red(1000, 100_000, 120_000),
        ["root: max_bytes=100000 is 100 times min_bytes=1000: two to three times are usual"]
    );
    assert_eq!(red(30_000, 50_000, 30_000).len(), 3);
    let tbf = r#"{"discipline": "tbf", "rate_bps": 9, "burst_bytes": 500, "limit_bytes": 9000, "peak_bps": 9, "peak_burst_bytes": 1600}"#;
    assert_eq!(
        of(tbf),
        [
            "root: burst_bytes=500 is less than the longest packet (1514 B): longer ones than that are dropped",
            "root: peak_bps=9 bit/s is not above rate_bps=9 bit/s: the peak rate alone counts"
        ]
    );
}

#[test]
fn classes_that_nothing_reaches_are_named() {
    let json = r#"{"discipline": "prio", "classes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
        "filters": [{"match": {"dscp": [1, 2]}, "class": "b"}, {"match": {"dscp": [2]}, "class": "b"}]}"#;
    assert_eq!(
        of(json),
        [
            "root: filter 2 can match nothing: filter 1 takes all that it would",
            "root: no packet gets to a: no filter leads there"
        ]
    );
}

#[test]
fn ceilings_are_those_of_the_parent() {
    let json = r#"{"discipline": "htb", "default": "b", "classes": [{"name": "a", "rate_bps": 1000}, {"name": "b", "parent": "a", "rate_bps": 500, "ceil_bps": 1500}]}"#;
    assert_eq!(
        of(json),
        ["root/b: its ceiling of 1.5 kbit/s is above that of its parent, 1 kbit/s, which it can't exceed"]
    );
}

#[test]
fn rates_are_written_exactly() {
    for (bits, text) in [
        (999, "999 bit/s"),
        (1500, "1.5 kbit/s"),
        (1_000_001, "1.000001 Mbit/s"),
        (40_000_000_000, "40 Gbit/s"),
    ] {
        assert_eq!(Bits(bits).to_string(), text);
    }
}
