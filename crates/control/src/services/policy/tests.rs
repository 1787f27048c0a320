use super::*;
use base::describe::{Describe, Value};
use wire::bgp::Segment;

fn read<T: Describe>(text: &str) -> Result<T, String> {
    T::read(&Value::from(text)).map_err(|wrong| wrong.to_string())
}

fn path(numbers: &[u32]) -> AsPath {
    AsPath(vec![Segment::Sequence(numbers.to_vec())])
}

#[test]
fn ranges_of_prefixes_take_lengths() {
    let all = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32", "11.0.0.0/8", "0.0.0.0/0"];
    for (range, taken) in [
        ("10.0.0.0/8", &["10.0.0.0/8"][..]),
        ("10.0.0.0/8 le 24", &["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24"]),
        ("10.0.0.0/8 ge 16 le 24", &["10.1.0.0/16", "10.1.2.0/24"]),
        ("10.0.0.0/8 ge 17 le 32", &["10.1.2.0/24", "10.1.2.3/32"]),
        ("0.0.0.0/0 le 8", &["10.0.0.0/8", "11.0.0.0/8", "0.0.0.0/0"]),
    ] {
        let known: PrefixRange = read(range).expect("a range");
        let found: Vec<_> =
            all.iter().filter(|p| known.contains(p.parse().expect("a prefix"))).copied().collect();
        assert_eq!(found, taken, "{range}");
        assert_eq!(known.write().as_text(), Some(range));
    }
    assert_eq!(
        read::<PrefixRange>("10.0.0.0/8 ge 16").map(|range| range.to_string()),
        Ok("10.0.0.0/8 ge 16 le 32".into())
    );
    for wrong in
        ["10.0.0.1/8", "10.0.0.0/8 le 7", "10.0.0.0/8 ge 24 le 16", "10.0.0.0/8 le 33", "10.0.0.0/8 lt 9", ""]
    {
        assert!(read::<PrefixRange>(wrong).is_err_and(|said| said.contains("le 24")), "{wrong}");
    }
}

#[test]
fn communities_of_three_kinds_are_read_and_written() {
    for (text, community) in [
        ("65001:7", Community::Plain(0xfde9_0007)),
        ("no-export", Community::Plain(0xffff_ff01)),
        ("65001:1:2", Community::Large([65001, 1, 2])),
        // RFC 4360, 3.1, 3.2 and 4; RFC 5668, 2.
        ("rt:65001:100000", Community::Extended([0, 2, 0xfd, 0xe9, 0, 1, 0x86, 0xa0])),
        ("ro:192.0.2.1:7", Community::Extended([1, 3, 192, 0, 2, 1, 0, 7])),
        ("rt:70000:7", Community::Extended([2, 2, 0, 1, 0x11, 0x70, 0, 7])),
    ] {
        assert_eq!(read::<Community>(text), Ok(community));
        assert_eq!(community.to_string(), text);
    }
    assert_eq!(Community::Extended([0x43, 0xc, 0, 0, 0, 0, 0, 1]).to_string(), "0x430c000000000001");
    for wrong in ["65001", "65536:1", "1:2:3:4", "rt:70000:70000", "no-such", "1:x"] {
        assert!(read::<Community>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn patterns_are_of_whole_paths() {
    for (pattern, taken, other) in [
        ("", &[&[][..]][..], &[&[1][..]][..]),
        ("*", &[&[], &[1], &[1, 2]], &[]),
        ("65001 *", &[&[65001], &[65001, 2]], &[&[], &[2, 65001]]),
        ("* 65001", &[&[65001], &[1, 2, 65001]], &[&[65001, 1]]),
        ("* 7 *", &[&[7], &[1, 7, 2], &[7, 7]], &[&[1, 2]]),
        ("? ?", &[&[1, 2]], &[&[1], &[1, 2, 3]]),
        ("* 64512-65534 * 9", &[&[65000, 9], &[1, 64512, 3, 9]], &[&[1, 9], &[65000]]),
    ] {
        let known: PathPattern = read(pattern).expect("a pattern");
        assert!(taken.iter().all(|numbers| known.matches(&path(numbers))), "{pattern}");
        assert!(!other.iter().any(|numbers| known.matches(&path(numbers))), "{pattern}");
        assert_eq!(known.to_string(), pattern);
    }
    assert!(read::<PathPattern>("65001 x").is_err() && read::<PathPattern>("9-8").is_err());
}

fn rules(text: serde_json::Value) -> Result<Vec<PolicyRule>, String> {
    let value: Value = serde_json::from_value(text).expect("a value");
    Vec::<PolicyRule>::read(&value).map_err(|wrong| wrong.to_string())
}

#[test]
fn the_first_rule_that_decides_counts_and_others_change() {
    let all = rules(serde_json::json!([
        {"prefixes": ["10.0.0.0/8 le 32"], "action": "reject"},
        {"communities": ["65001:7"], "action": "next", "set_local_preference": 200, "remove_communities": ["65001:7"]},
        {"as_path": "65002 *", "set_metric": 5, "prepend": 2, "add_communities": ["65001:8", "rt:65001:1"], "set_tag": 3},
        {"tag": 9, "set_next_hop": "192.0.2.9"},
    ]))
    .expect("rules");
    let attributes = Attributes {
        as_path: Some(path(&[65002, 1])),
        communities: vec![0xfde9_0007],
        ..Attributes::default()
    };
    let of = |prefix: &str, tag, attributes: &Attributes| Subject {
        prefix: prefix.parse().expect("a prefix"),
        tag,
        attributes: attributes.clone(),
    };
    let mut route = of("192.0.2.0/24", 0, &attributes);
    assert!(passes(&all, &mut route, 65000));
    let expected = Attributes {
        as_path: Some(path(&[65000, 65000, 65002, 1])),
        communities: vec![0xfde9_0008],
        extended_communities: vec![[0, 2, 0xfd, 0xe9, 0, 0, 0, 1]],
        local_pref: Some(200),
        med: Some(5),
        ..Attributes::default()
    };
    assert_eq!((route.attributes, route.tag), (expected, 3));
    assert!(!passes(&all, &mut of("10.1.0.0/16", 9, &attributes), 65000), "the first rule");
    let mut tagged = of("192.0.2.0/24", 9, &Attributes::default());
    assert!(passes(&all, &mut tagged, 65000));
    assert_eq!(tagged.attributes.next_hop, Some(Ipv4Addr::new(192, 0, 2, 9)));
    assert!(!passes(&all, &mut of("192.0.2.0/24", 8, &Attributes::default()), 65000), "no rule");
    assert!(asks_prefixes(&all) && !asks_prefixes(&all[1..]));
    assert_eq!(all[2].of_bgp().collect::<Vec<_>>(), ["as_path", "prepend", "add_communities"]);
}

#[test]
fn a_rule_that_refuses_changes_nothing() {
    let wrong = rules(serde_json::json!([{"action": "reject", "prepend": 1}])).expect_err("refused");
    assert!(wrong.contains("so prepend has no use"), "{wrong}");
}

#[test]
fn a_discriminator_is_set_or_taken_out_and_not_both() {
    let rule = |text: &str| {
        let value: Value = serde_json::from_str(text).expect("a value");
        PolicyRule::read(&value).map_err(|wrong| wrong.to_string())
    };
    let wrong = rule(r#"{"set_metric": 1, "remove_metric": true}"#);
    assert!(wrong.is_err_and(|said| said.contains("no use beside set_metric")));
    let attributes = Attributes { med: Some(7), ..Attributes::default() };
    let mut subject = Subject { prefix: "10.0.0.0/8".parse().expect("a prefix"), tag: 0, attributes };
    // RFC 4271, 5.1.4.
    assert!(passes(&[rule(r#"{"remove_metric": true}"#).expect("a rule")], &mut subject, 1));
    assert_eq!(subject.attributes.med, None);
}
