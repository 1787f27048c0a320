//! What is surprising about a conditioner that can be built.

use super::spec::{ActionSpec, ConditionerSpec, MeterSpec, RuleSpec};
use crate::queue::Around;
use crate::queue::classify::shadowed;
use crate::queue::problem::QueueAdvice;
use base::diagnostic::{Diagnostic, Step};

/// What is surprising about a conditioner that can be built. Paths begin at the conditioner.
/// Marks are those that packets may have when they come to it.
pub fn warnings(spec: &ConditionerSpec, around: &Around) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    let of_rule = |found: Diagnostic, n: usize, rule: &RuleSpec| {
        found.at(Step::Called(n, format!("rule {} '{}'", n + 1, rule.name))).at("rules")
    };
    for hidden in shadowed(spec.rules.iter().map(|rule| &rule.matches)) {
        let by: Vec<String> = hidden.by.iter().map(|n| format!("rule {}", n + 1)).collect();
        let verb = if by.len() == 1 { "takes" } else { "take" };
        let hides = QueueAdvice::Hidden { by: by.join(" and "), verb };
        said.push(of_rule(hides.into(), hidden.filter, &spec.rules[hidden.filter]));
    }
    let (longest, words) = around.longest.counted(&spec.accounting);
    for (n, rule) in spec.rules.iter().enumerate() {
        let mut say = |key: &str, found: QueueAdvice| {
            said.push(of_rule(Diagnostic::new(found).at(key).on_key(), n, rule));
        };
        if let Some(mark) = rule.matches.mark.filter(|mark| *mark != 0 && around.unmarked(*mark)) {
            say("mark", QueueAdvice::Unmarked { mark, place: " before it" });
        }
        let (yellow, red) = (rule.yellow != ActionSpec::Pass, rule.red != ActionSpec::Drop);
        match rule.meter {
            None if yellow || red => {
                say(if yellow { "yellow" } else { "red" }, QueueAdvice::NoMeter {});
            }
            Some(MeterSpec::TokenBucket(_)) if yellow => {
                say("yellow", QueueAdvice::NoYellow {});
            }
            _ => {}
        }
        for (field, bytes) in rule.meter.iter().flat_map(bursts) {
            if bytes < longest {
                say("meter", QueueAdvice::OneMetered { field, bytes, longest: words.clone() });
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
    use base::describe::{Value, lead};

    fn said(json: &str) -> Vec<String> {
        let found = warnings(&crate::queue::testing::spec(json).expect("well formed"), &Around::default());
        found.iter().map(|one| format!("{}{}", lead(&Value::Null, one), one.words())).collect()
    }

    #[test]
    fn what_surprises_is_said() {
        let all = said(
            r#"{"rules":[{"name":"a","phb":["EF"],"red":"pass"},
            {"name":"c","labelled":false,"meter":{"kind":"token-bucket","rate":1,"burst":100},"yellow":"drop"},
            {"name":"d","mark":1,"labelled":true,"meter":{"kind":"single-rate","cir":1,"cbs":0,"ebs":9}}]}"#,
        );
        assert_eq!(all.len(), 4, "{all:#?}");
        assert!(all[0].starts_with("rule 1 'a': without a meter"));
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
