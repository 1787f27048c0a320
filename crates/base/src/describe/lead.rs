//! What an error is about, in the words of whoever wrote the description: `lsp 'east': route: `.

use super::Value;
use super::ends::is_by_end;
use crate::diagnostic::{Diagnostic, Step};

/// Groups whose elements have names: the key of the group, and what one of them is called.
const GROUPS: [(&str, &str); 12] = [
    ("nodes", "node"),
    ("links", "link"),
    ("lsps", "lsp"),
    ("p2mp", "p2mp"),
    ("flows", "flow"),
    ("tcp", "tcp flow"),
    ("queues", "queue"),
    ("conditioners", "conditioner"),
    ("classes", "class"),
    ("filters", "filter"),
    ("rules", "rule"),
    ("events", "event"),
];

/// Keys that say nothing more: what follows them names the place.
const SILENT: [&str; 4] = ["topology", "root", "endpoints", "queue"];

/// The words for the place of an error in a description, each with a colon behind it; empty for the whole.
pub fn lead(root: &Value, error: &Diagnostic) -> String {
    lead_to(root, error.path(), error.is_on_key())
}

/// The same for a path; if it leads to a key, the words are for what holds the key.
pub fn lead_to<'s>(root: &Value, path: impl Iterator<Item = &'s Step>, on_key: bool) -> String {
    let steps: Vec<&Step> = path.collect();
    let steps = if on_key { &steps[..steps.len().saturating_sub(1)] } else { &steps[..] };
    let mut words = String::new();
    let mut here = Some(root);
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        let group = match step {
            // `tcp` of a host is no list of flows.
            Step::Key(key) => GROUPS.iter().find(|group| group.0 == key && (key != "tcp" || at == 0)),
            Step::Index(_) | Step::Called(..) => None,
        };
        let below = here.and_then(|value| inside(value, step));
        match (group, steps.get(at + 1)) {
            (Some((_, what)), Some(element)) => {
                let value = below.and_then(|value| inside(value, element));
                words += &format!("{}: ", called(what, element, value));
                here = value;
                at += 2;
                continue;
            }
            // What stands at one end of a link is named by the node there.
            (None, Some(Step::Key(end))) if is_an_end(step, below, end, at) => {
                words += &format!("{step} at {end}: ");
                here = below.and_then(|value| value.get(end));
                at += 2;
                continue;
            }
            (_, next) => {
                let is_silent = match step {
                    Step::Index(_) | Step::Called(..) => true,
                    // The discipline within another, or of a class, is that or the class to whoever wrote it.
                    Step::Key(key) if key == "queue" && matches!(steps[..at].last(), Some(Step::Key(_))) => {
                        true
                    }
                    Step::Key(key) => SILENT.contains(&key.as_str()) && next.is_some(),
                };
                if !is_silent && !(matches!(step, Step::Key(key) if key == "endpoints")) {
                    words += &format!("{step}: ");
                }
            }
        }
        here = below;
        at += 1;
    }
    words
}

fn inside<'a>(value: &'a Value, step: &Step) -> Option<&'a Value> {
    match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) | Step::Called(index, _) => value.element(*index),
    }
}

/// Does a mapping from the ends of a link stand there? If it is not known what does, the third step of a path is such a
/// one.
fn is_an_end(step: &Step, value: Option<&Value>, end: &str, at: usize) -> bool {
    let Step::Key(key) = step else { return false };
    let is_there = |value: &Value| is_by_end(value) && value.get(end).is_some();
    matches!(key.as_str(), "queue" | "ingress") && value.map_or(at == 2, is_there)
}

/// An element of a group, by its name if it has one.
fn called(what: &str, element: &Step, value: Option<&Value>) -> String {
    let text = |key: &str| value.and_then(|value| value.get(key)).and_then(Value::as_text);
    let number = match element {
        Step::Key(name) => return format!("{what} '{name}'"),
        Step::Called(_, name) => return name.clone(),
        Step::Index(index) => index + 1,
    };
    if what == "link" {
        let ends = value.and_then(|value| value.get("endpoints")).or(value);
        let end = |index: usize| ends.and_then(|ends| ends.element(index)).and_then(Value::as_text);
        return match (end(0), end(1)) {
            (Some(a), Some(b)) => format!("link {a} - {b}"),
            _ => format!("link number {number}"),
        };
    }
    let ends = || Some(format!("{}-{}", text("from")?, text("to")?));
    match text("name").map(String::from).or_else(|| if what.ends_with("flow") { ends() } else { None }) {
        Some(name) => format!("{what} '{name}'"),
        None if what == "filter" || what == "rule" => format!("{what} {number}"),
        None => format!("{what} number {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::DescribeProblem;

    fn said(json: &str, path: &[&str], on_key: bool) -> String {
        let root: Value = serde_json::from_str(json).expect("well formed");
        let step = |text: &&str| text.parse::<usize>().map_or_else(|_| Step::from(*text), Step::from);
        let error = Diagnostic::new(DescribeProblem::Twice { name: "x".into() }).below(path.iter().map(step));
        lead(&root, &if on_key { error.on_key() } else { error })
    }

    #[test]
    fn places_are_named_as_people_name_them() {
        let json = r#"{"nodes": {"pe1": {}}, "links": [["pe1", "p:e0", {"queue": {"pe1": {"discipline": "htb"}}}]],
            "lsps": [{"name": "east"}, {}], "p2mp": [{"name": "tree"}],
            "flows": [{"from": "a", "to": "b"}], "tcp": [{"from": "a", "to": "b"}],
            "queues": {"gold": {"discipline": "htb", "classes": {"ef": {}}, "filters": [{}]}}}"#;
        for (path, words) in [
            (&["nodes", "pe1", "rsvp", "key"][..], "node 'pe1': rsvp: key: "),
            (&["topology", "nodes", "pe1"], "node 'pe1': "),
            (&["links", "0", "2", "mtu"], "link pe1 - p:e0: mtu: "),
            (&["links", "0", "endpoints", "1"], "link pe1 - p:e0: "),
            (&["lsps", "0", "route", "1"], "lsp 'east': route: "),
            (&["lsps", "1", "to"], "lsp number 2: to: "),
            (&["p2mp", "0", "leaves", "2"], "p2mp 'tree': leaves: "),
            (&["tcp", "0", "mss"], "tcp flow 'a-b': mss: "),
            (&["flows", "0", "size"], "flow 'a-b': size: "),
            (&["queues", "gold", "root", "classes", "ef", "rate"], "queue 'gold': class 'ef': rate: "),
            (&["queues", "gold", "filters", "0", "class"], "queue 'gold': filter 1: class: "),
            (&[], ""),
        ] {
            assert_eq!(said(json, path, false), words);
        }
        assert_eq!(said(json, &["nodes", "pe1", "rsvpp"], true), "node 'pe1': ");
    }

    #[test]
    fn steps_bring_their_own_names_where_the_description_is_gone() {
        let problem = Diagnostic::new(DescribeProblem::Twice { name: "x".into() });
        let inner = ["queue", "pe1", "root", "classes", "ef", "queue", "limit"];
        let error =
            problem.below(inner.iter().copied()).at(Step::Called(3, "link pe1 - p".into())).at("links");
        assert_eq!(lead(&Value::Null, &error), "link pe1 - p: queue at pe1: class 'ef': limit: ");
        let whole = Diagnostic::new(DescribeProblem::Twice { name: "x".into() });
        let whole = whole.below(["classes", "ef", "queue"].into_iter());
        assert_eq!(lead(&Value::Null, &whole), "class 'ef': ");
        assert_eq!(error.path().nth(1).and_then(Step::index), Some(3));
    }
}
