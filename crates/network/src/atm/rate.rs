//! What links have left for cells of circuits and of virtual paths.

use super::{AtmProblem, between};
use crate::description::Description;
use base::describe::Describe;
use base::{Rate, Span};
use node::atm::Service;
use std::collections::BTreeMap;

/// What is agreed about the cells of a circuit or of a virtual path.
#[derive(Clone, Copy, Debug)]
pub struct Agreed {
    pub service: Service,
    pub pcr: Option<Rate>,
    pub tolerance: Option<Span>,
}

/// How much of the rates of links is promised to those of constant bit rate, by link.
#[derive(Debug, Default)]
pub struct Promises(BTreeMap<usize, u64>);

impl Promises {
    /// Refuses a peak rate that a link does not have, or has promised to others.
    pub fn promise(
        &mut self,
        description: &Description,
        links: &[usize],
        agreed: Agreed,
    ) -> Result<(), AtmProblem> {
        let service = agreed.service;
        if agreed.pcr == Some(Rate(0)) {
            return Err(AtmProblem::PeakOfNothing {});
        }
        let Some(peak) = agreed.pcr else {
            return match (service, agreed.tolerance) {
                (Service::Cbr, _) => Err(AtmProblem::CbrWithoutPeak {}),
                (Service::Ubr, Some(_)) => Err(AtmProblem::ToleranceWithoutPeak {}),
                (Service::Ubr, None) => Ok(()),
            };
        };
        for &link in links {
            let spec = &description.links[link];
            let is_promised = spec.vp.as_ref().is_none_or(|vp| vp.service() == Service::Cbr);
            if service == Service::Cbr && !is_promised {
                return Err(AtmProblem::CbrOverUbr { between: between(description, link) });
            }
            let rate = spec.rate;
            let before = self.0.get(&link).copied().unwrap_or(0);
            let sum = if service == Service::Cbr { before.saturating_add(peak.0) } else { peak.0 };
            if rate > Rate(0) && sum > rate.0 {
                let (pcr, rate) = (peak.write().shown(), rate.write().shown());
                let between = between(description, link);
                return Err(match (service, before) {
                    (Service::Cbr, 1..) => {
                        let promised = Rate(before).write().shown();
                        AtmProblem::Oversold { pcr, between, rate, promised }
                    }
                    _ => AtmProblem::PeakAboveLink { pcr, between, rate },
                });
            }
            if service == Service::Cbr {
                self.0.insert(link, sum);
            }
        }
        Ok(())
    }
}
