//! Cuts a failing programme down: fewer steps, fewer tunnels, as long as it still fails.

use super::programme::{Action, Programme};

/// The smallest programme found that still fails, with what it says.
pub fn shrink(programme: Programme, run: impl Fn(&Programme) -> Option<String>) -> (Programme, String) {
    let mut best = programme;
    let mut why = run(&best).unwrap_or_default();
    let mut attempt = |best: &mut Programme, candidate: Programme| {
        let failed = run(&candidate);
        let fails = failed.is_some();
        if let Some(text) = failed {
            (*best, why) = (candidate, text);
        }
        fails
    };
    // Chunks of steps, from half of them to one.
    let mut chunk = best.steps.len().div_ceil(2);
    while chunk > 0 {
        let mut start = 0;
        while start < best.steps.len() {
            let mut candidate = best.clone();
            let end = (start + chunk).min(candidate.steps.len());
            candidate.steps.drain(start..end);
            if !attempt(&mut best, candidate) {
                start += chunk;
            }
        }
        chunk /= 2;
    }
    for flag in 0..5 {
        let mut candidate = best.clone();
        match flag {
            0 => candidate.slow = false,
            1 => candidate.integrity = false,
            2 => candidate.hello = false,
            3 => candidate.refresh_reduction = false,
            _ => candidate.tear_under_faults = false,
        }
        attempt(&mut best, candidate);
    }
    for link in (0..best.links.len()).rev() {
        let mut candidate = best.clone();
        candidate.links[link].delay_us = 10;
        candidate.links[link].detection_ms = 0;
        attempt(&mut best, candidate);
    }
    for index in 0..best.steps.len() {
        let mut candidate = best.clone();
        if let Action::Set(_, plan) = &mut candidate.steps[index].action {
            plan.bandwidth_mbps = 0;
            plan.record = false;
            attempt(&mut best, candidate);
        }
    }
    (best, why)
}
