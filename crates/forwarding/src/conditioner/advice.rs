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
            Some(MeterSpec::TokenBucket(_)) if yellow => {
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
    match meter {
        MeterSpec::TokenBucket(meter) => {
            let peak = meter.mtu.map(|size| ("mtu", size.0));
            [("burst", meter.burst.0)].into_iter().chain(peak).collect()
        }
        MeterSpec::SingleRate(meter) => {
            [("cbs", meter.cbs.0), ("ebs", meter.ebs.0)].into_iter().filter(|b| b.1 > 0).collect()
        }
        MeterSpec::TwoRate(meter) => vec![("cbs", meter.cbs.0), ("pbs", meter.pbs.0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(json: &str) -> Vec<String> {
        warnings(&crate::queue::testing::spec(json).expect("well formed"), "ingress", &Around::default())
    }

    #[test]
    fn what_surprises_is_said() {
        let all = said(
            r#"{"rules":[{"name":"a","phb":["EF"],"red":"pass"},
            {"name":"c","labelled":false,"meter":{"kind":"token-bucket","rate":1,"burst":100},"yellow":"drop"},
            {"name":"d","mark":1,"labelled":true,"meter":{"kind":"single-rate","cir":1,"cbs":0,"ebs":9}}]}"#,
        );
        assert_eq!(all.len(), 4, "{all:#?}");
        assert!(all[0].contains("rule 1 'a': without a meter"));
        assert!(all[1].contains("knows no yellow") && all[2].contains("burst=100"));
        assert!(all[3].contains("ebs=9"));
    }

    #[test]
    fn what_is_usual_is_not() {
        let usual = r#"{"rules":[{"name":"ef","phb":["EF"],
            "meter":{"kind":"token-bucket","rate":1100000,"burst":10000}},
            {"name":"af","meter":{"kind":"two-rate","cir":900000,"cbs":10000,"pir":1200000,"pbs":2000},
            "yellow":"remark AF12"}]}"#;
        assert_eq!(said(usual), Vec::<String>::new());
    }
}
