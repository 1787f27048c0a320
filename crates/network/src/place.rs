//! Where in a description something is: the paths of diagnostics.

use super::description::{Description, LspSpec};
use super::{Link, Network};
use base::diagnostic::{Diagnostic, Step};

/// Adds the place of something to a diagnostic of it.
pub trait Place {
    /// The same diagnostic, seen from the top of the description.
    fn of_node(self, description: &Description, node: usize) -> Diagnostic;
    /// The same for what is wrong with a link.
    fn of_link(self, description: &Description, link: usize) -> Diagnostic;
    /// The same for what is wrong with a group of LSPs, by its place among them.
    fn of_lsp(self, index: usize, spec: &LspSpec) -> Diagnostic;
}

impl<T: Into<Diagnostic>> Place for T {
    fn of_node(self, description: &Description, node: usize) -> Diagnostic {
        self.into().at(node_name(description, node)).at("nodes")
    }

    fn of_link(self, description: &Description, link: usize) -> Diagnostic {
        let ends = description.links.get(link).map(|link| [link.a, link.b]);
        let called = match ends {
            Some([a, b]) => {
                format!("link {} - {}", node_name(description, a), node_name(description, b))
            }
            None => format!("link number {}", link + 1),
        };
        self.into().at(Step::Called(link, called)).at("links")
    }

    fn of_lsp(self, index: usize, spec: &LspSpec) -> Diagnostic {
        self.into().at(Step::Called(index, format!("lsp '{}'", spec.name))).at("lsps")
    }
}

/// The name of a node; a question mark where there is none.
pub fn node_name(description: &Description, node: usize) -> &str {
    description.nodes.get(node).map_or("?", |n| n.name.as_str())
}

impl Network {
    /// The steps to what stands at an end of a link: `key` is `queue` or `ingress`.
    pub(super) fn at_end(
        &self,
        found: impl Into<Diagnostic>,
        key: &str,
        link: usize,
        side: usize,
    ) -> Diagnostic {
        let node = self.links.get(link).map(Link::ends).map_or("?", |ends| self.node_name(ends[side]));
        found.into().at(node).at(key).of_link(&self.description, link)
    }
}
