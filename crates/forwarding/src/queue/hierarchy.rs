//! Classes in classes: which is in which, and what is wrong with that.

use super::check;
use super::problem::QueueProblem;
use super::spec::{ClassFilter, QueueSpec};
use base::describe::ClassName;
use base::diagnostic::{At, Diagnostic};
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
    /// Puts classes in order, or says what is wrong with them.
    pub fn new(
        classes: &[Declared<'_>],
        filters: &[ClassFilter],
        default: Option<&ClassName>,
    ) -> Result<Hierarchy, Diagnostic> {
        check::some(classes.len(), "classes")?;
        let numbers: BTreeMap<&str, usize> =
            classes.iter().enumerate().map(|(at, class)| (class.name, at)).collect();
        let parents: Vec<Option<usize>> =
            classes.iter().map(|class| numbers.get(class.parent?).copied()).collect();
        orphans(classes, &parents)?;
        cycles(classes, &parents)?;
        let hierarchy = Hierarchy::arrange(&parents);
        hierarchy.check_classes(classes, &parents)?;
        check_leaves(classes, &parents, filters, default)?;
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

    /// Refuses classes too deep in others, and queues of classes that have others in them.
    fn check_classes(&self, classes: &[Declared<'_>], parents: &[Option<usize>]) -> Result<(), Diagnostic> {
        for place in &self.places {
            let class = &classes[place.declared];
            let depth = usize::from(place.depth);
            if depth >= DEPTH_MAX {
                let problem = QueueProblem::TooDeep { depth, most: DEPTH_MAX - 1 };
                return Err(Diagnostic::new(problem).at(class.name).at("classes"));
            }
            if place.level > 0 && class.queue.is_some() {
                let child = parents.iter().position(|parent| *parent == Some(place.declared));
                let child = child.map(|at| classes[at].name).unwrap_or_default().to_string();
                let problem = QueueProblem::InnerQueue { child };
                return Err(Diagnostic::new(problem).at("queue").at(class.name).at("classes"));
            }
        }
        Ok(())
    }
}

/// Refuses filters and a default that name a class which is not there, or has others in it.
fn check_leaves(
    classes: &[Declared<'_>],
    parents: &[Option<usize>],
    filters: &[ClassFilter],
    default: Option<&ClassName>,
) -> Result<(), Diagnostic> {
    let is_inner = |at: usize| parents.contains(&Some(at));
    let check = |name: &ClassName| {
        let Some(at) = classes.iter().position(|class| class.name == &**name) else {
            return check::known(name, classes.iter().map(|class| class.name), "class");
        };
        if !is_inner(at) {
            return Ok(());
        }
        let within = (0..classes.len()).filter(|child| parents[*child] == Some(at));
        let (leaves, inner): (Vec<usize>, Vec<usize>) = within.partition(|child| !is_inner(*child));
        let shown = if leaves.is_empty() { inner } else { leaves };
        let leaves: Vec<&str> = shown.into_iter().map(|child| classes[child].name).collect();
        Err(QueueProblem::InnerClass { name: name.to_string(), leaves: leaves.join(", ") }.into())
    };
    for (index, filter) in filters.iter().enumerate() {
        check(&filter.class).at("class").at(index).at("filters")?;
    }
    default.map_or(Ok(()), |name| check(name).at("default"))
}

/// Refuses a parent that is not there.
fn orphans(classes: &[Declared<'_>], parents: &[Option<usize>]) -> Result<(), Diagnostic> {
    for (class, found) in classes.iter().zip(parents) {
        if let (Some(parent), None) = (class.parent, found) {
            let others = classes.iter().map(|other| other.name).filter(|name| *name != class.name);
            return check::known(parent, others, "class").at("parent").at(class.name).at("classes");
        }
    }
    Ok(())
}

/// Refuses a cycle, from the class on that was declared first.
fn cycles(classes: &[Declared<'_>], parents: &[Option<usize>]) -> Result<(), Diagnostic> {
    // The walk in which a class was met; zero if it was not.
    let mut met = vec![0; classes.len()];
    for start in 0..classes.len() {
        let mut at = Some(start);
        while let Some(class) = at.filter(|class| met[*class] == 0) {
            met[class] = start + 1;
            at = parents[class];
        }
        let Some(first) = at.filter(|class| met[*class] == start + 1) else { continue };
        let (mut ring, mut class) = (Vec::new(), first);
        while let Some(parent) = parents[class] {
            ring.push(format!("'{}' is in '{}'", classes[class].name, classes[parent].name));
            class = parent;
            if class == first {
                break;
            }
        }
        let problem = QueueProblem::Cycle { ring: ring.join(", ") };
        return Err(Diagnostic::new(problem).at("parent").at(classes[first].name).at("classes"));
    }
    Ok(())
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
        Hierarchy::new(&classes, &[], default.map(ClassName::from).as_ref()).map_err(|e| e.to_string())
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
    fn what_is_wrong_has_its_place() {
        let of = |classes, default| hierarchy(classes, default).expect_err("an error");
        assert_eq!(
            of(&[("a", ""), ("b", "c"), ("c", "b")], None),
            "classes/b/parent: the classes are a cycle: 'b' is in 'c', 'c' is in 'b'"
        );
        assert_eq!(of(&[("f", "f")], None), "classes/f/parent: the classes are a cycle: 'f' is in 'f'");
        assert_eq!(of(&[("d", "e"), ("x", "")], None), "classes/d/parent: there is no class 'e' (one of x)");
        assert_eq!(
            of(&[("a", ""), ("b", "a")], Some("a")),
            "default: class 'a' has others in it: packets wait in leaves (b)"
        );
        let deep: Vec<(String, String)> = (0..9).map(|i| (i.to_string(), (i - 1).to_string())).collect();
        let mut deep: Vec<(&str, &str)> = deep.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        deep[0].1 = "";
        assert_eq!(of(&deep, None), "classes/8: it is in 8 others: at most 7 are allowed");
    }
}
