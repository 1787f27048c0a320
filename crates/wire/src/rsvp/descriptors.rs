//! The flow descriptor list: grouping FLOWSPEC, FILTER_SPEC, LABEL and RECORD_ROUTE (RFC 2205, 3.1.4; RFC 3209, 3.2).

use super::class::{FILTER_SPEC, FLOWSPEC};
use super::error::Reason;
use super::intserv::Flowspec;
use super::message::{Filter, FlowDescriptor};
use super::record_route::RroSubobject;
use super::sender::FilterSpec;
use super::style::Style;
use base::Label;

/// What has been read of the list so far.
#[derive(Default)]
pub(crate) struct Descriptors {
    done: Vec<FlowDescriptor>,
    /// Filters that no FLOWSPEC came before; a ResvTear has only such.
    orphans: Vec<Filter>,
    /// A LABEL has come for the latest filter.
    is_labelled: bool,
}

impl Descriptors {
    #[inline]
    pub(crate) fn flowspec(&mut self, flowspec: Flowspec) {
        // Mostly there is one.
        if self.done.is_empty() {
            self.done.reserve_exact(1);
        }
        self.done.push(FlowDescriptor { flowspec, filters: Vec::new() });
    }

    #[inline]
    pub(crate) fn filter_spec(&mut self, filter_spec: FilterSpec) {
        self.is_labelled = false;
        let list = self.filter_list();
        if list.is_empty() {
            list.reserve_exact(1);
        }
        list.push(Filter { filter_spec, label: None, rro: None });
    }

    /// The label of the filter before it; the first one counts, and stays away if it has more than 20 bits.
    #[inline]
    pub(crate) fn label(&mut self, label: Option<Label>) {
        let is_first = !core::mem::replace(&mut self.is_labelled, true);
        if let Some(filter) = self.filter_list().last_mut().filter(|_| is_first) {
            filter.label = label;
        }
    }

    /// The recorded route of the filter before it; given back if there is none or it has one.
    #[inline]
    pub(crate) fn record_route(&mut self, route: Vec<RroSubobject>) -> Option<Vec<RroSubobject>> {
        match self.filter_list().last_mut() {
            Some(filter) if filter.rro.is_none() => {
                filter.rro = Some(route);
                None
            }
            _ => Some(route),
        }
    }

    #[inline]
    fn filter_list(&mut self) -> &mut Vec<Filter> {
        match self.done.last_mut() {
            Some(descriptor) => &mut descriptor.filters,
            None => &mut self.orphans,
        }
    }

    /// The FILTER_SPECs of all descriptors, those without a FLOWSPEC included.
    pub(crate) fn filters(self) -> Vec<FilterSpec> {
        let done = self.done.iter().flat_map(|descriptor| &descriptor.filters);
        self.orphans.iter().chain(done).map(|filter| filter.filter_spec).collect()
    }

    /// Checks the list against the style; an error names the class at fault.
    pub(crate) fn finish(self, style: Style) -> Result<Vec<FlowDescriptor>, (u8, Reason)> {
        let Descriptors { done, orphans, .. } = self;
        if !orphans.is_empty() {
            return Err((FLOWSPEC, Reason::Missing));
        }
        match style {
            Style::WildcardFilter if done.iter().any(|descriptor| !descriptor.filters.is_empty()) => {
                Err((FILTER_SPEC, Reason::Invalid("WF has no filters")))
            }
            Style::WildcardFilter if done.len() > 1 => {
                Err((FLOWSPEC, Reason::Invalid("WF has one flow descriptor")))
            }
            Style::SharedExplicit if done.len() > 1 => {
                Err((FLOWSPEC, Reason::Invalid("SE has one flow descriptor")))
            }
            Style::FixedFilter | Style::SharedExplicit
                if done.iter().any(|descriptor| descriptor.filters.is_empty()) =>
            {
                Err((FILTER_SPEC, Reason::Missing))
            }
            Style::FixedFilter if done.iter().any(|descriptor| descriptor.filters.len() > 1) => {
                Ok(done.into_iter().flat_map(split).collect())
            }
            _ => Ok(done),
        }
    }
}

/// RFC 2205, 3.1.4: an FF descriptor without a FLOWSPEC takes that of the one before it.
fn split(descriptor: FlowDescriptor) -> impl Iterator<Item = FlowDescriptor> {
    let flowspec = descriptor.flowspec;
    descriptor.filters.into_iter().map(move |filter| FlowDescriptor { flowspec, filters: vec![filter] })
}
