//! Classes in classes: which is in which, and what is wrong with that.

use super::spec::{FilterSpec, QueueSpec, SpecError};
use std::collections::BTreeMap;

/// The most classes that may be in each other, the outermost and the innermost counted; Linux's limit for cbq and htb.
pub const DEPTH_MAX: usize = 8;

/// A class as it was declared.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'a> {
    pub name: &'a str,
    pub parent: Option<&'a str>,
    pub queue: Option<&'a QueueSpec>,
}

/// A class with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number in the order of declaration.
    pub declared: usize,
    /// The class that it is in: a place in [`Hierarchy::places`].
    pub parent: Option<u32>,
    /// Steps to the innermost class below it; 0 is a leaf.
    pub level: u8,
    /// How many classes it is in.
    pub depth: u8,
}

/// Classes, leaves first: then a leaf's number is its place. Leaves that are in one class follow each other.
#[derive(Debug)]
pub struct Hierarchy {
    pub places: Vec<Place>,
    /// How many are leaves.
    pub leaves: usize,
}

impl Hierarchy {
    /// Puts classes in order, or says what is wrong with them at `path`: all of it in one sentence.
    pub fn new(
        classes: &[Declared<'_>],
        filters: &[FilterSpec],
        default: Option<&str>,
        path: &str,
    ) -> Result<Hierarchy, SpecError> {
        super::check::names(classes.iter().map(|class| class.name), "class", path)?;
        let numbers: BTreeMap<&str, usize> =
            classes.iter().enumerate().map(|(at, class)| (class.name, at)).collect();
        let parents: Vec<Option<usize>> =
            classes.iter().map(|class| numbers.get(class.parent?).copied()).collect();
        let mut wrong = orphans(classes, &parents);
        wrong.extend(cycles(classes, &parents));
        if !wrong.is_empty() {
            return Err(SpecError::new(path, wrong.join("; ")));
        }
        let hierarchy = Hierarchy::arrange(&parents);
        let wrong = hierarchy.misuse(classes, filters, default);
        if !wrong.is_empty() {
            return Err(SpecError::new(path, wrong.join("; ")));
        }
        Ok(hierarchy)
    }

    fn arrange(parents: &[Option<usize>]) -> Hierarchy {
        let mut children = vec![Vec::new(); parents.len()];
        let mut open: Vec<(usize, u8)> = Vec::new();
        for (at, parent) in parents.iter().enumerate().rev() {
            match parent {
                Some(parent) => children[*parent].push(at),
                None => open.push((at, 0)),
            }
        }
        // Depth first, in the order of declaration.
        let (mut leaves, mut inner) = (Vec::new(), Vec::new());
        while let Some((at, depth)) = open.pop() {
            let kind = if children[at].is_empty() { &mut leaves } else { &mut inner };
            kind.push((at, depth));
            open.extend(children[at].iter().map(|child| (*child, depth.saturating_add(1))));
        }
        let count = leaves.len();
        let order: Vec<(usize, u8)> = leaves.into_iter().chain(inner).collect();
        let mut place_of = vec![0; parents.len()];
        for (place, (declared, _)) in order.iter().enumerate() {
            place_of[*declared] = place;
        }
        let place = |&(declared, depth): &(usize, u8)| {
            let parent = parents[declared].map(|parent| place_of[parent] as u32);
            Place { declared, parent, level: 0, depth }
        };
        let mut places: Vec<Place> = order.iter().map(place).collect();
        // Inner classes stand before those in them, so that backwards every level is known in time.
        for at in (0..count).chain((count..places.len()).rev()) {
            let Place { parent, level, .. } = places[at];
            if let Some(parent) = parent.and_then(|parent| places.get_mut(parent as usize)) {
                parent.level = parent.level.max(level.saturating_add(1));
            }
        }
        Hierarchy { places, leaves: count }
    }

    /// What is asked of an inner class that only a leaf can do, and of the whole more than it can.
    fn misuse(&self, classes: &[Declared<'_>], filters: &[FilterSpec], default: Option<&str>) -> Vec<String> {
        let mut wrong = Vec::new();
        for place in &self.places {
            let class = &classes[place.declared];
            if usize::from(place.depth) >= DEPTH_MAX {
                wrong.push(format!(
                    "class '{}' is in {} others: at most {} are allowed",
                    class.name,
                    place.depth,
                    DEPTH_MAX - 1
                ));
            }
            if place.level == 0 {
                continue;
            }
            if class.queue.is_some() {
                let text = "has classes in it, so that nothing waits in it itself: give its 'queue' to those";
                wrong.push(format!("class '{}' {text}", class.name));
            }
            for (at, filter) in filters.iter().enumerate().filter(|(_, filter)| filter.class == class.name) {
                let text = "which has classes in it: name one of those";
                wrong.push(format!("filter {} sends to class '{}', {text}", at + 1, filter.class));
            }
            if default == Some(class.name) {
                wrong.push(format!("default '{}' has classes in it: name one of those", class.name));
            }
        }
        wrong
    }
}

fn orphans(classes: &[Declared<'_>], parents: &[Option<usize>]) -> Vec<String> {
    let orphan = |(class, found): (&Declared<'_>, &Option<usize>)| match (class.parent, found) {
        (Some(parent), None) => {
            Some(format!("class '{}' is in class '{parent}', which does not exist", class.name))
        }
        _ => None,
    };
    classes.iter().zip(parents).filter_map(orphan).collect()
}

/// Every cycle once, from the class on that was declared first.
fn cycles(classes: &[Declared<'_>], parents: &[Option<usize>]) -> Vec<String> {
    // The walk in which a class was met; zero if it was not.
    let mut met = vec![0; classes.len()];
    let mut wrong = Vec::new();
    for start in 0..classes.len() {
        let mut at = Some(start);
        while let Some(class) = at.filter(|class| met[*class] == 0) {
            met[class] = start + 1;
            at = parents[class];
        }
        let Some(first) = at.filter(|class| met[*class] == start + 1) else { continue };
        let (mut text, mut next) =
            (format!("class '{}' is in itself: it is in", classes[first].name), parents[first]);
        while let Some(class) = next.filter(|class| *class != first) {
            text += &format!(" '{}', that in", classes[class].name);
            next = parents[class];
        }
        wrong.push(format!("{text} '{}'", classes[first].name));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hierarchy(classes: &[(&str, &str)], default: Option<&str>) -> Result<Hierarchy, String> {
        let declare = |(name, parent): &(&'static str, &'static str)| {
            let parent = Some(*parent).filter(|parent| !parent.is_empty());
            Declared { name, parent, queue: None }
        };
        let classes: Vec<(&'static str, &'static str)> = classes
            .iter()
            .map(|(a, b)| (a.to_string().leak() as &str, b.to_string().leak() as &str))
            .collect();
        let classes: Vec<_> = classes.iter().map(declare).collect();
        Hierarchy::new(&classes, &[], default, "root").map_err(|e| e.to_string())
    }

    #[test]
    fn leaves_come_first_and_stay_together() {
        let tree = hierarchy(&[("c", "b"), ("a", ""), ("x", ""), ("b", "a"), ("d", "x"), ("e", "b")], None);
        let tree = tree.expect("a hierarchy");
        let seen: Vec<_> = tree.places.iter().map(|p| (p.declared, p.parent, p.level, p.depth)).collect();
        assert_eq!(
            seen,
            [
                (0, Some(4), 0, 2),
                (5, Some(4), 0, 2),
                (4, Some(5), 0, 1),
                (1, None, 2, 0),
                (3, Some(3), 1, 1),
                (2, None, 1, 0)
            ]
        );
        assert_eq!(tree.leaves, 3);
    }

    #[test]
    fn all_that_is_wrong_is_one_sentence() {
        let of = |classes, default| hierarchy(classes, default).expect_err("an error");
        assert_eq!(
            of(&[("a", "b"), ("b", "c"), ("c", "b"), ("d", "e"), ("f", "f")], None),
            "root: class 'd' is in class 'e', which does not exist; class 'b' is in itself: it is in 'c', that in 'b'; \
             class 'f' is in itself: it is in 'f'"
        );
        assert_eq!(
            of(&[("a", ""), ("b", "a")], Some("a")),
            "root: default 'a' has classes in it: name one of those"
        );
        let deep: Vec<(String, String)> = (0..9).map(|i| (i.to_string(), (i - 1).to_string())).collect();
        let mut deep: Vec<(&str, &str)> = deep.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        deep[0].1 = "";
        assert_eq!(of(&deep, None), "root: class '8' is in 8 others: at most 7 are allowed");
    }
}
