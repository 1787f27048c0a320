//! Captures that clients began.

use crate::names;
use crate::protocol;
use engine::capture::{CaptureId, CaptureSpec, CaptureTarget, CaptureTo};
use network::Network;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The most captures at a time.
const OPEN_MAX: usize = 64;

struct Open {
    id: CaptureId,
    link: usize,
    path: PathBuf,
}

/// All that are open.
#[derive(Default)]
pub struct Captures {
    open: Vec<Open>,
}

impl Captures {
    /// Begins a capture on a link; answers with its number and the path of its file.
    pub fn begin(
        &mut self,
        network: &mut Network,
        asked: &protocol::Capture,
        epoch_ns: u64,
    ) -> Result<Value, String> {
        let path = PathBuf::from(&asked.path);
        if !path.is_absolute() {
            return Err(format!("capture: '{}' is not an absolute path", path.display()));
        }
        if self.open.len() >= OPEN_MAX {
            return Err(format!("capture: {OPEN_MAX} are open already"));
        }
        if let Some(other) = self.open.iter().find(|open| open.path == path) {
            return Err(format!("capture: {} is being written by capture {}", path.display(), other.id.0));
        }
        let link = names::link(network, &asked.link)?;
        let id = network.link_id(link).map_err(|error| error.to_string())?;
        let mut spec = CaptureSpec::new(CaptureTarget::Link(id), CaptureTo::File(path.clone()));
        (spec.max_packets, spec.epoch_ns) = (asked.max_packets, epoch_ns);
        let id = network.world_mut().capture(spec).map_err(|error| error.to_string())?;
        self.open.push(Open { id, link, path });
        Ok(json!({"capture": id.0}))
    }

    /// Ends one by its number.
    pub fn end(&mut self, network: &mut Network, number: u32) -> Result<Value, String> {
        let place = self.open.iter().position(|open| open.id.0 == number);
        let place = place.ok_or(format!("capture {number}: there is none of that number"))?;
        let open = self.open.remove(place);
        let summary = network.world_mut().finish_capture(open.id).map_err(|error| error.to_string())?;
        Ok(json!({"capture": number, "path": open.path, "packets": summary.packets}))
    }

    /// Ends every capture that is open, the latest first; the first error is returned after all have ended.
    pub fn end_all(&mut self, network: &mut Network) -> Result<(), String> {
        let mut result = Ok(());
        while let Some(number) = self.open.last().map(|open| open.id.0) {
            result = self.end(network, number).map(drop).and(result);
        }
        result
    }

    /// Ends those that have all they were to have.
    pub fn end_full(&mut self, network: &mut Network) -> Result<(), String> {
        let full = |open: &&Open| network.world().capture_progress(open.id).is_none_or(|found| found.1);
        let full: Vec<u32> = self.open.iter().filter(full).map(|open| open.id.0).collect();
        full.into_iter().try_for_each(|number| self.end(network, number).map(drop))
    }

    /// Number, link, path and packets so far of each capture that is open.
    pub fn status(&self, network: &Network) -> Value {
        let row = |open: &Open| {
            let packets = network.world().capture_progress(open.id).map(|found| found.0);
            json!({"capture": open.id.0, "link": open.link, "path": open.path, "packets": packets})
        };
        self.open.iter().map(row).collect()
    }
}
