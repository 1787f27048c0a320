//! What is surprising about a conditioner that can be built.

use super::spec::{ActionSpec, ConditionerSpec, MeterSpec, RuleSpec};
use crate::queue::Around;
use crate::queue::classify::shadowed;

/// Says what is surprising about a conditioner that can be built: a sentence each, with the rule that it is about.
/// Marks are those that packets may have when they come to it.
pub fn warnings(spec: &ConditionerSpec, path: &str, around: &Around) -> Vec<String> {
    let mut said = Vec::new();
    let called = |n: usize, rule: &RuleSpec| format!("{path}: rule {} '{}'", n + 1, rule.name);
    for hidden in shadowed(spec.rules.iter().map(|rule| &rule.matches)) {
        let by: Vec<String> = hidden.by.iter().map(|n| format!("rule {}", n + 1)).collect();
        let verb = if by.len() == 1 { "takes" } else { "take" };
        let who = called(hidden.filter, &spec.rules[hidden.filter]);
        said.push(format!("{who} can match nothing: {} {verb} all that it would", by.join(" and ")));
    }
    let (longest, words) = around.longest.counted(&spec.accounting);
    for (n, rule) in spec.rules.iter().enumerate() {
        let who = called(n, rule);
        if let Some(mark) = rule.matches.mark.filter(|mark| *mark != 0 && around.unmarked(*mark)) {
            said.push(format!(
                "{who} can match nothing: no conditioner puts mark {mark} on packets before it"
            ));
        }
        let (yellow, red) = (rule.yellow != ActionSpec::Pass, rule.red != ActionSpec::Drop);
        match rule.meter {
            None if yellow || red => {
                said.push(format!(
                    "{who}: without a meter all packets are green: 'yellow' and 'red' mean nothing"
                ));
            }
            Some(MeterSpec::TokenBucket { .. }) if yellow => {
                said.push(format!("{who}: a token bucket knows no yellow: 'yellow' means nothing"));
            }
            _ => {}
        }
        for (field, bytes) in rule.meter.iter().flat_map(bursts) {
            if bytes < longest {
                said.push(format!(
                    "{who}: {field}={bytes} is less than the longest packet ({words}): longer ones than that never find room"
                ));
            }
        }
    }
    said
}

/// The buckets of a meter that packets have to find room in. Of RFC 2697 one may be zero on purpose.
fn bursts(meter: &MeterSpec) -> Vec<(&'static str, u64)> {
    match *meter {
        MeterSpec::TokenBucket { burst_bytes, mtu_bytes, .. } => {
            let peak = mtu_bytes.map(|bytes| ("mtu_bytes", bytes));
            [("burst_bytes", burst_bytes)].into_iter().chain(peak).collect()
        }
        MeterSpec::SingleRate { cbs_bytes, ebs_bytes, .. } => {
            [("cbs_bytes", cbs_bytes), ("ebs_bytes", ebs_bytes)].into_iter().filter(|b| b.1 > 0).collect()
        }
        MeterSpec::TwoRate { cbs_bytes, pbs_bytes, .. } => {
            vec![("cbs_bytes", cbs_bytes), ("pbs_bytes", pbs_bytes)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(json: &str) -> Vec<String> {
        warnings(&serde_json::from_str(json).expect("well formed"), "ingress", &Around::default())
    }

    #[test]
    fn what_surprises_is_said() {
        let all = said(
            r#"{"rules":[{"name":"a","match":{"phb":["EF"]},"red":{"kind":"pass"}},
            {"name":"b","match":{"phb":["EF"],"labelled":true}},
            {"name":"c","meter":{"kind":"token-bucket","rate_bps":1,"burst_bytes":100},"yellow":{"kind":"drop"}},
            {"name":"d","match":{"mark":1},"meter":{"kind":"single-rate","cir_bps":1,"cbs_bytes":0,"ebs_bytes":9}}]}"#,
        );
        assert_eq!(all.len(), 6, "{all:#?}");
        assert_eq!(all[0], "ingress: rule 2 'b' can match nothing: rule 1 takes all that it would");
        assert!(all[1].starts_with("ingress: rule 4 'd' can match nothing: rule"), "{}", all[1]);
        assert!(all[2].contains("rule 1 'a': without a meter"));
        assert!(all[3].contains("knows no yellow") && all[4].contains("burst_bytes=100"));
        assert!(all[5].contains("ebs_bytes=9"));
    }

    #[test]
    fn what_is_usual_is_not() {
        let usual = r#"{"rules":[{"name":"ef","match":{"phb":["EF"]},
            "meter":{"kind":"token-bucket","rate_bps":1100000,"burst_bytes":10000}},
            {"name":"af","meter":{"kind":"two-rate","cir_bps":900000,"cbs_bytes":10000,"pir_bps":1200000,"pbs_bytes":2000},
            "yellow":{"kind":"remark","phb":"AF12"}}]}"#;
        assert_eq!(said(usual), Vec::<String>::new());
    }
}
