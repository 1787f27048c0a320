//! What is surprising about the ways through a network: nodes that nothing leads to, and what has no way left when
//! something fails.

use super::Network;
use super::description::LspSpec;
use super::place::Place;
use super::problem::AdviceProblem;
use base::diagnostic::Diagnostic;
use std::collections::BTreeSet;

/// So many names a warning lists; of the rest it says how many there are.
const NAMES: usize = 3;

/// Names with commas between them, the first few if there are many: `'a', 'b', 'c' and 4 more`.
pub fn some_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("'{name}'")).collect();
    match names.split_at_checked(NAMES) {
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => match names.split_last() {
            Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            _ => names.concat(),
        },
    }
}

impl Network {
    /// Nodes without a link, in a network that has links: said once, at the first of them.
    pub fn unlinked(&self) -> Option<Diagnostic> {
        if self.links.is_empty() {
            return None;
        }
        // A switch may have nothing but virtual paths that pass it.
        let passed: BTreeSet<usize> = self
            .links
            .iter()
            .filter_map(|link| link.path.as_ref())
            .flat_map(|path| path.through.clone())
            .collect();
        let alone = |node: &usize| self.graph.links_of(*node).next().is_none() && !passed.contains(node);
        let mut alone = (0..self.description.nodes.len()).filter(alone);
        let first = alone.next()?;
        let others: Vec<&str> = alone.map(|node| self.node_name(node)).collect();
        let others = match others.len() {
            0 => String::new(),
            _ => format!(", and neither has {}", some_names(others)),
        };
        Some(AdviceProblem::Unlinked { others }.of_node(&self.description, first))
    }

    /// Groups of LSPs that go over what fails and have no other route: `links` can't be used any more, and `nodes` are
    /// down. Those that begin or end at such a node are not meant.
    pub fn stranded_lsps(&self, links: &BTreeSet<usize>, nodes: &BTreeSet<usize>) -> Vec<usize> {
        let ends_there = |spec: &LspSpec| nodes.contains(&spec.from) || nodes.contains(&spec.to);
        let groups = self.lsps.iter().enumerate().filter(|(_, group)| !ends_there(&group.spec));
        groups.filter(|(_, group)| self.is_stranded(&group.spec, links)).map(|(index, _)| index).collect()
    }

    fn is_stranded(&self, spec: &LspSpec, gone: &BTreeSet<usize>) -> bool {
        // Routers on the way lead it around what fails.
        if spec.protection.is_some() {
            return false;
        }
        let strict: Vec<Vec<usize>> = if spec.loose || spec.routes.is_empty() {
            // Where routers find the way themselves, it follows routes that follow failures.
            if !spec.shortest && (self.rerouting.is_some() || self.finds_routes(spec.from)) {
                return false;
            }
            self.graph.search(spec.from).links_to(spec.to).into_iter().collect()
        } else {
            let links = |(place, route): (usize, &Vec<_>)| self.resolve(spec, place, route).ok().flatten();
            spec.routes.iter().enumerate().filter_map(links).collect()
        };
        !strict.is_empty() && strict.iter().all(|route| route.iter().any(|link| gone.contains(link)))
    }
}

#[cfg(test)]
mod tests {
    use super::some_names;

    #[test]
    fn few_names_are_listed_and_many_are_counted() {
        let all = ["a", "b", "c", "d", "e"];
        assert_eq!(some_names(all[..1].iter().copied()), "'a'");
        assert_eq!(some_names(all[..3].iter().copied()), "'a', 'b' and 'c'");
        assert_eq!(some_names(all), "'a', 'b', 'c' and 2 more");
    }
}
