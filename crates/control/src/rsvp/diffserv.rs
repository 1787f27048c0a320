//! DiffServ of LSPs: the DIFFSERV object of a Path, and what an LSP's labels mean by it (RFC 3270, 5.3).
//!
//! A node without DiffServ configuration does not support the object: its class number has the form 0bbbbbbb, so the
//! Path is refused with "Unknown Object Class" (RFC 3270, 5.4; RFC 2205, 3.10).
//!
//! The object may change in a later Path. It is judged anew, by the same rules; if it stands, the entry of the LSP
//! changes in one step, and the Path goes on at once; if not, the sender is told, and the LSP stays as it was.

use super::Rsvp;
use super::command::TunnelId;
use super::error::Problem;
use super::lsp::{Lsp, Role, SessionKey};
use base::plane::{Encaps, LspClasses, TcMap, TcSource, TunnelModel};
use base::{DiffServConfig, ELsp, LLsp, LspDiffServ, Phb};
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, diffserv};
use wire::rsvp::{DiffServ, MapEntry, Path, PhbId, Session, class};

const fn problem(value: u16) -> Problem {
    Problem::Error(error_code::DIFFSERV, value)
}

/// What is wrong with the DIFFSERV object of a Path. Called before anything else is looked at, since the object may
/// be the only thing that is wrong with a Path of another kind.
pub(super) fn check_path(config: Option<&DiffServConfig>, path: &Path) -> Result<(), Problem> {
    if let Some(object) = path.common.unknown.iter().find(|object| object.class == class::DIFFSERV) {
        return Err(match (config, object.c_type) {
            (None, c_type) => unsupported(c_type),
            // RFC 3270, 5.3: MAPnb does not suit the length.
            (Some(_), 1) => problem(diffserv::INVALID_MAPPING),
            (Some(_), 2) => problem(diffserv::UNSUPPORTED_PSC),
            (Some(_), c_type) => Problem::c_type(class::DIFFSERV, c_type),
        });
    }
    let Some(object) = &path.diffserv else { return Ok(()) };
    if config.is_some() && !(is_tunnel(&path.session) && path.label_request.is_some()) {
        return Err(problem(diffserv::UNEXPECTED_OBJECT));
    }
    check(config, object)
}

const fn is_tunnel(session: &Session) -> bool {
    matches!(session, Session::LspTunnelIpv4 { .. })
}

const fn unsupported(c_type: u8) -> Problem {
    Problem::Error(error_code::UNKNOWN_CLASS, u16::from_be_bytes([class::DIFFSERV, c_type]))
}

/// What is wrong with a DIFFSERV object, at a node with this configuration.
pub(super) fn check(config: Option<&DiffServConfig>, object: &DiffServ) -> Result<(), Problem> {
    let c_type = if matches!(object, DiffServ::ELsp(_)) { 1 } else { 2 };
    let supported = config.ok_or(unsupported(c_type))?.supported();
    match object {
        DiffServ::ELsp(map) => {
            // RFC 3270, 5.3: more than eight entries, an EXP (now TC) value twice, or a PHBID that is none make the
            // mapping invalid.
            let twice = (0..8u8).any(|tc| map.iter().filter(|entry| entry.tc == tc).count() > 1);
            if map.len() > 8 || twice || map.iter().any(|entry| is_malformed(entry.phb)) {
                return Err(problem(diffserv::INVALID_MAPPING));
            }
            let serves = |entry: &MapEntry| entry.phb.phb().is_some_and(|phb| supported.contains(phb));
            if map.iter().all(serves) { Ok(()) } else { Err(problem(diffserv::UNSUPPORTED_PHB)) }
        }
        DiffServ::LLsp(class) => {
            let phbs = class.scheduling_class().map(|class| class.phbs());
            let served = phbs.is_some_and(|all| all.intersection(supported) == all);
            if served { Ok(()) } else { Err(problem(diffserv::UNSUPPORTED_PSC)) }
        }
    }
}

/// Is it no PHBID of one PHB (RFC 3140, 2)? Those that are not of standards are well formed, though nobody supports
/// them.
const fn is_malformed(id: PhbId) -> bool {
    const NOT_STANDARD: u16 = 0x0001;
    const DSCP: u16 = 0xfc00;
    const ZERO: u16 = 0x000c;
    if id.0 & NOT_STANDARD != 0 { id.0 & (ZERO | PhbId::SET) != 0 } else { id.0 & !DSCP != 0 }
}

/// The object that the head end of an LSP sends.
pub(super) fn object(spec: &LspDiffServ) -> Option<DiffServ> {
    match *spec {
        LspDiffServ::ELsp(ELsp { map: Some(map), .. }) => {
            let entry = |(tc, phb): (u8, &Phb)| MapEntry { tc, phb: PhbId::of(*phb) };
            Some(DiffServ::ELsp((0..8).zip(map.as_array()).map(entry).collect()))
        }
        LspDiffServ::ELsp(ELsp { map: None, signal, .. }) => signal.then(|| DiffServ::ELsp(Vec::new())),
        LspDiffServ::LLsp(LLsp { class, .. }) => Some(DiffServ::LLsp(PhbId::of_class(class))),
    }
}

/// What TC bits mean by an object that stood its check. Values that a signalled mapping leaves out mean default
/// forwarding, as all do of a mapping that says nothing (RFC 3270, 3.2.1).
fn encaps(object: &DiffServ, preconfigured: TcMap) -> Encaps {
    match object {
        DiffServ::ELsp(map) if map.is_empty() => Encaps::ELsp(preconfigured),
        DiffServ::ELsp(map) => {
            let of = |tc: usize| map.iter().find(|entry| usize::from(entry.tc) == tc);
            let phb = |tc| of(tc).and_then(|entry| entry.phb.phb()).unwrap_or_default();
            Encaps::ELsp(TcMap::new(core::array::from_fn(phb)))
        }
        DiffServ::LLsp(class) => match class.scheduling_class() {
            Some(class) => Encaps::LLsp(class),
            None => Encaps::ELsp(preconfigured),
        },
    }
}

impl Lsp {
    /// The DIFFSERV object of its Path.
    pub(super) fn diffserv(&self) -> Option<&DiffServ> {
        self.rare.as_ref()?.diffserv.as_ref()
    }
}

impl Rsvp {
    /// Does the label of an LSP alone identify what its TC bits mean, or what becomes of them? Then it needs one of
    /// its own: explicit null is the same for all LSPs, and is read with the node's preconfigured mapping and model.
    pub(super) fn has_own_context(&self, lsp: &Lsp) -> bool {
        let Some(config) = &self.config.diffserv else { return false };
        let usual = LspClasses { model: config.model, encaps: Encaps::ELsp(config.tc_map) };
        matches!(self.classes(lsp), TcSource::DiffServ(own) if own != usual)
    }

    /// Sets or clears the tunnelling model of a tunnel's LSPs here; entries that there are follow.
    pub(super) fn tunnel_model(&mut self, from: Ipv4Addr, tunnel: TunnelId, model: Option<TunnelModel>) {
        let session = SessionKey { end_point: tunnel.to, tunnel_id: tunnel.id, extended: from };
        let before = match model {
            Some(model) => self.models.insert(session, model),
            None => self.models.remove(&session),
        };
        if before == model || self.config.diffserv.is_none() {
            return;
        }
        let members: Vec<u32> = self.store.session(&session).collect();
        for index in members {
            self.classes_changed(index);
            if self.store.get(index).is_some_and(|lsp| lsp.role() == Role::Egress) {
                self.egress_reserve(index);
            }
        }
    }

    /// A Path has changed what the labels of an LSP mean: its entry, if it has one, is written anew.
    pub(super) fn classes_changed(&mut self, index: u32) {
        if self.store.get(index).is_some_and(|lsp| lsp.is_reserved() && lsp.in_label.is_some()) {
            self.install(index);
        }
    }

    /// What the entries of an LSP do with traffic classes.
    pub(super) fn classes(&self, lsp: &Lsp) -> TcSource {
        let Some(config) = &self.config.diffserv else { return self.config.tc };
        let encaps = match lsp.diffserv() {
            Some(object) => encaps(object, config.tc_map),
            // RFC 3270, 5.3: without the object it is an E-LSP with the preconfigured mapping.
            None if self.config.tc == TcSource::Copy => Encaps::ELsp(config.tc_map),
            None => return self.config.tc,
        };
        let model = self.models.get(&lsp.session).copied().unwrap_or(config.model);
        TcSource::DiffServ(LspClasses { model, encaps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{PhbSet, TrafficClass};

    fn phb(name: &str) -> Phb {
        name.parse().expect(name)
    }
    fn entry(tc: u8, name: &str) -> MapEntry {
        MapEntry { tc, phb: PhbId::of(phb(name)) }
    }

    #[test]
    fn what_a_head_end_sends_means_the_same_further_on() {
        let all: PhbSet = (0..64).filter_map(Phb::new).collect();
        let config = DiffServConfig { supported: Some(all), ..DiffServConfig::default() };
        let map = TcMap::new([phb("EF"); 8]);
        let lsps = (0..64)
            .filter_map(Phb::new)
            .map(|p| LspDiffServ::LLsp(LLsp { class: p.scheduling_class(), model: None }));
        let mapped = [Some(map), Some(TcMap::PRECONFIGURED), None]
            .map(|map| LspDiffServ::ELsp(ELsp { map, signal: true, model: None }));
        for spec in lsps.chain(mapped) {
            let object = object(&spec).expect("an object");
            assert_eq!(check(Some(&config), &object), Ok(()), "{object}");
            assert_eq!(encaps(&object, config.tc_map), spec.encaps(config.tc_map));
        }
        assert_eq!(object(&LspDiffServ::ELsp(ELsp { map: None, signal: false, model: None })), None);
    }

    #[test]
    fn each_fault_of_an_object_has_its_code() {
        let few = [phb("EF"), phb("AF11"), Phb::DEFAULT].into_iter().collect();
        let config = DiffServConfig { supported: Some(few), ..DiffServConfig::default() };
        let e_lsp = |map: &[MapEntry]| check(Some(&config), &DiffServ::ELsp(map.to_vec()));
        assert_eq!(e_lsp(&[entry(1, "EF"), entry(2, "EF")]), Ok(()));
        assert_eq!(e_lsp(&[entry(1, "EF"), entry(1, "AF11")]), Err(problem(diffserv::INVALID_MAPPING)));
        assert_eq!(e_lsp(&[entry(1, "CS7")]), Err(problem(diffserv::UNSUPPORTED_PHB)));
        let odd = |bits| e_lsp(&[MapEntry { tc: 0, phb: PhbId(bits) }]);
        assert_eq!(odd(0xb802), Err(problem(diffserv::INVALID_MAPPING)), "a set");
        assert_eq!(odd(0xb840), Err(problem(diffserv::INVALID_MAPPING)), "bits that are zero");
        assert_eq!(odd(0x1231), Err(problem(diffserv::UNSUPPORTED_PHB)), "experimental");
        assert_eq!(odd(0x1235), Err(problem(diffserv::INVALID_MAPPING)), "bits that are zero");
        assert_eq!(odd(0x1233), Err(problem(diffserv::INVALID_MAPPING)), "an experimental set");
        let nine: Vec<MapEntry> = (0..9).map(|tc| entry(tc & 7, "EF")).collect();
        assert_eq!(e_lsp(&nine), Err(problem(diffserv::INVALID_MAPPING)));
        let l_lsp = |bits| check(Some(&config), &DiffServ::LLsp(PhbId(bits)));
        assert_eq!(l_lsp(0xb800), Ok(()));
        // AF12 and AF13 are not served, so the class is not.
        assert_eq!(l_lsp(0x2802), Err(problem(diffserv::UNSUPPORTED_PSC)));
        assert_eq!(l_lsp(0x2800), Err(problem(diffserv::UNSUPPORTED_PSC)), "one of a group");
        assert_eq!(check(None, &DiffServ::LLsp(PhbId(0xb800))), Err(Problem::Error(13, 0x4102)));
        assert_eq!(check(None, &DiffServ::ELsp(Vec::new())), Err(Problem::Error(13, 0x4101)));
    }

    #[test]
    fn values_that_a_mapping_leaves_out_are_default() {
        let object = DiffServ::ELsp(vec![entry(5, "EF"), entry(2, "AF12")]);
        let Encaps::ELsp(map) = encaps(&object, TcMap::PRECONFIGURED) else { panic!("an E-LSP") };
        let names: Vec<String> = (0..8).map(|tc| map.phb(TrafficClass::truncate(tc)).to_string()).collect();
        let d = "default";
        assert_eq!(names, [d, d, "AF12", d, d, "EF", d, d]);
    }
}
