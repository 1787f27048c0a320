//! From the path of a diagnostic of a network that is built to the place in a file where that is written.
//!
//! A file may say the same in several ways: nodes and links may stand under `topology`, a link's fields behind its two
//! ends, one tree of queues for both ends of a link, under a name, and its discipline under `root` or in its own place.

use base::describe::Value;
use base::diagnostic::{Diagnostic, Step};

/// Where names of what stands at ports are written.
const NAMED: [(&str, &str); 3] =
    [("queue", "queues"), ("ingress", "conditioners"), ("conditioner", "conditioners")];

/// The steps that lead in the file to what a path leads to, or as near to it as the file says anything; and whether
/// that is all of it.
pub fn place(root: &Value, path: &[Step]) -> (Vec<Step>, bool) {
    let mut found: Vec<Step> = Vec::new();
    let mut here = root;
    let mut section = None;
    let mut whole = true;
    for step in path {
        if let Some((more, inner)) = between(here, step) {
            found.push(more);
            here = inner;
        }
        if let Step::Key(key) = step {
            section = NAMED.iter().find(|known| known.0 == key).map(|known| known.1).or(section);
        }
        whole = match inside(here, step) {
            Some(inner) => {
                found.push(step.clone());
                here = inner;
                true
            }
            None => false,
        };
        let named = section.and_then(|section| Some((section, here.as_text()?)));
        if let Some((section, name)) = named
            && let Some(inner) = root.get(section).and_then(|section| section.get(name))
        {
            found = vec![section.into(), name.into()];
            here = inner;
        }
    }
    (found, whole)
}

/// The same error at the place where what it is about was written, if its path leaves out steps of the file.
pub fn as_written(error: Diagnostic, root: &Value) -> Diagnostic {
    let mut found: Vec<Step> = Vec::new();
    let mut here = Some(root);
    for step in error.path() {
        if let Some((more, inner)) = here.and_then(|value| between(value, step)) {
            found.push(more);
            here = Some(inner);
        }
        found.push(step.clone());
        here = here.and_then(|value| inside(value, step));
    }
    error.moved(found)
}

/// The step that a path leaves out before this one, where the file says it in another way; and what is there.
fn between<'a>(here: &'a Value, step: &Step) -> Option<(Step, &'a Value)> {
    if inside(here, step).is_some() {
        return None;
    }
    let ways = match here {
        Value::List(_) => vec![Step::Index(2)],
        _ => ["root", "topology"].map(Step::from).to_vec(),
    };
    ways.into_iter().find_map(|way| {
        let inner = inside(here, &way)?;
        inside(inner, step).map(|_| (way, inner))
    })
}

fn inside<'a>(value: &'a Value, step: &Step) -> Option<&'a Value> {
    match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) | Step::Called(index, _) => value.element(*index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_the_file_says_it() {
        let json = r#"{"topology": {"nodes": {"a": {}}, "links": [["a:e0", "b:e0", {"queue": "gold", "mtu": 9}],
            {"endpoints": ["a", "b"], "queue": {"a": {"root": {"discipline": "htb", "classes": {"x": {}}}}, "b": "gold"}}]},
            "queues": {"gold": {"discipline": "prio", "classes": {"y": {}}, "conditioner": "police"}},
            "conditioners": {"police": {"rules": [{}]}}, "lsps": [{"name": "z"}]}"#;
        let root: Value = serde_json::from_str(json).expect("well formed");
        let step = |text: &str| text.parse::<usize>().map_or_else(|_| Step::from(text), Step::from);
        for (path, written, is_whole) in [
            ("links 0 mtu", "topology links 0 2 mtu", true),
            ("links 0 queue a classes y", "queues gold classes y", true),
            ("links 0 queue a", "queues gold", false),
            ("links 1 queue a classes x rate", "topology links 1 queue a root classes x", false),
            ("links 1 queue b conditioner rules 0", "conditioners police rules 0", true),
            ("links 1 ingress b", "topology links 1", false),
            ("lsps 0 carries", "lsps 0", false),
            ("nodes a", "topology nodes a", true),
        ] {
            let steps: Vec<Step> = path.split(' ').map(step).collect();
            let (found, whole) = place(&root, &steps);
            let found: Vec<String> = found.iter().map(Step::to_string).collect();
            assert_eq!((found.join(" ").as_str(), whole), (written, is_whole), "{path}");
        }
    }
}
