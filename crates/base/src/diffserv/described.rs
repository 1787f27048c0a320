//! DiffServ of routers and of LSPs as users describe it.

use super::{DscpMap, TcMap, TunnelModel};
use crate::describe::{
    Choice, Describe, Named, Record, RecordSchema, Schema, Schemas, Value, malformed, near, unknown_word,
    wrong_type,
};
use crate::diagnostic::{At, Diagnostic};
use crate::label::Dscp;
use crate::phb::{Phb, PhbSet, SchedulingClass};

crate::problems! {
    /// What can be wrong with a mapping between PHBs and numbers of headers.
    pub enum DiffServProblem {
        /// A key that no value of three bits has.
        NoTc { value: String } is OutOfRange, "no-tc", "'{value}': the TC bits are 0 to 7";
        /// A list of PHBs that is not as long as there are values.
        NotEight { count: usize } is WrongType, "not-eight", "{count} PHBs: a list of eight is needed, for TC 0 to 7, or a mapping such as {{5: EF}}";
        /// One code point with two PHBs.
        DscpTwice { value: String } is Conflict, "dscp-twice", "code point {value} is there twice";
    }
}

/// PHBs of TC 0 to 7: a list of eight; or a mapping that changes those of the preconfigured map that it names.
impl Describe for TcMap {
    fn read(value: &Value) -> Result<TcMap, Diagnostic> {
        match value {
            Value::Map(entries) => {
                let mut found = *TcMap::PRECONFIGURED.as_array();
                for (key, phb) in entries {
                    let place = key.trim().parse::<usize>().ok().and_then(|tc| found.get_mut(tc));
                    let Some(place) = place else {
                        let problem = DiffServProblem::NoTc { value: key.clone() };
                        return Err(Diagnostic::new(problem).at(key.as_str()).on_key());
                    };
                    *place = Phb::read(phb).at(key.as_str())?;
                }
                Ok(TcMap::new(found))
            }
            Value::List(elements) => {
                let found: Vec<Phb> = Vec::read(value)?;
                let count = elements.len();
                let found: [Phb; 8] = found.try_into().map_err(|_| DiffServProblem::NotEight { count })?;
                Ok(TcMap::new(found))
            }
            other => Err(wrong_type(other, "a list of eight PHBs, or a mapping such as {5: EF}")),
        }
    }
    fn write(&self) -> Value {
        Value::List(self.as_array().iter().map(Phb::write).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        let phb = Phb::schema(known);
        Schema::OneOf(vec![Schema::Map(Box::new(phb.clone())), Schema::Tuple(vec![phb; 8])])
    }
}

/// PHBs by code point, of those that mean another than the recommended one; a list of pairs says the same.
impl Describe for DscpMap {
    fn read(value: &Value) -> Result<DscpMap, Diagnostic> {
        let mut found = DscpMap::default();
        let mut seen = PhbSet::default();
        let mut enter = |shown: String, point: Dscp, phb: Phb| {
            let code = Phb::of_dscp(point);
            if seen.contains(code) {
                return Err(Diagnostic::from(DiffServProblem::DscpTwice { value: shown }));
            }
            seen.insert(code);
            found.set(point, phb);
            Ok(())
        };
        match value {
            Value::Map(entries) => {
                for (key, phb) in entries {
                    let written = key.trim().parse::<u8>().map_or_else(|_| key.as_str().into(), Value::from);
                    let point = Dscp::read(&written).map_err(Diagnostic::on_key).at(key.as_str())?;
                    let phb = Phb::read(phb).at(key.as_str())?;
                    enter(key.clone(), point, phb).map_err(Diagnostic::on_key).at(key.as_str())?;
                }
            }
            Value::List(pairs) => {
                for (index, pair) in pairs.iter().enumerate() {
                    let (Some(point), Some(phb), None) = (pair.element(0), pair.element(1), pair.element(2))
                    else {
                        return Err(wrong_type(pair, "a pair of a code point and a PHB")).at(index);
                    };
                    let shown = point.shown();
                    let point = Dscp::read(point).at(0).at(index)?;
                    let phb = Phb::read(phb).at(1).at(index)?;
                    enter(shown, point, phb).at(index)?;
                }
            }
            other => return Err(wrong_type(other, "a mapping such as {63: EF}")),
        }
        Ok(found)
    }
    fn write(&self) -> Value {
        let pairs: Vec<(Dscp, Phb)> = (*self).into();
        Value::Map(pairs.into_iter().map(|(point, phb)| (point.value().to_string(), phb.write())).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::Map(Box::new(Phb::schema(known)))
    }
}

crate::record! {
    /// How a router supports DiffServ over MPLS (RFC 3270).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DiffServConfig {
        /// PHBs of TC 0 to 7 in E-LSPs for which no map is signalled (RFC 3270, 3.2.1 and 3.2.2).
        pub tc_map: TcMap = TcMap::PRECONFIGURED, was "exp_map";
        /// What the marking of an LSP has to do with that of its packets (RFC 3270, 2.6), unless the LSP has a model of
        /// its own.
        pub model: TunnelModel = TunnelModel::Pipe;
        /// PHBs that LSPs may ask for.
        pub supported: Option<PhbSet>, absent "all";
        /// PHBs of code points that mean another one here than they are recommended for.
        pub dscp: DscpMap = DscpMap::default();
    }
    read by hand;
}

impl Default for DiffServConfig {
    fn default() -> DiffServConfig {
        DiffServConfig {
            tc_map: TcMap::PRECONFIGURED,
            model: TunnelModel::Pipe,
            supported: None,
            dscp: DscpMap::default(),
        }
    }
}

/// `true` is all as usual.
impl Describe for DiffServConfig {
    fn read(value: &Value) -> Result<DiffServConfig, Diagnostic> {
        match value {
            Value::Bool(true) => Ok(DiffServConfig::default()),
            Value::Map(_) => DiffServConfig::read_record(value, ""),
            other => Err(wrong_type(other, "true, or a mapping")),
        }
    }
    fn write(&self) -> Value {
        self.write_record()
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("DiffServ", |known| {
            let record = DiffServConfig::record_schema(known);
            Named::Record(RecordSchema { short: vec![Schema::Bool], ..record })
        })
    }
}

crate::record! {
    /// An E-LSP: the TC bits say the PHB, by a map of its own, which is signalled, or by the preconfigured one of each
    /// router.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ELsp {
        /// PHBs of TC 0 to 7, signalled.
        pub map: Option<TcMap>, absent "the preconfigured ones of each router";
        /// Signal a DIFFSERV object even without a map: then it has no entries.
        pub signal: bool = false;
        /// Its tunnelling model (RFC 3270, 2.6), of which every router here is told.
        pub model: Option<TunnelModel>, absent "each router's own";
    }
}

crate::record! {
    /// An L-LSP: the label says the scheduling class, the TC bits the drop precedence.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LLsp {
        /// Its scheduling class, such as EF or AF1.
        pub class: SchedulingClass;
        /// Its tunnelling model (RFC 3270, 2.6), of which every router here is told.
        pub model: Option<TunnelModel>, absent "each router's own";
    }
}

crate::choice! {
    /// What the head end of an LSP asks for (RFC 3270, 5.3): `e-lsp`, `l-lsp AF1`, or a mapping with a kind.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum LspDiffServ by "kind" {
        /// The TC bits say the PHB.
        ELsp(ELsp) = "e-lsp",
        /// The label says the scheduling class.
        LLsp(LLsp) = "l-lsp",
    }
    read by hand;
}

/// The short forms.
const SHORT: &str = "e-lsp, or l-lsp with its scheduling class such as 'l-lsp AF1'";

impl Describe for LspDiffServ {
    fn read(value: &Value) -> Result<LspDiffServ, Diagnostic> {
        let Value::Text(text) = value else { return LspDiffServ::read_choice(value) };
        let (word, class) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        match (word, class.trim()) {
            ("e-lsp", "") => Ok(LspDiffServ::ELsp(ELsp::default())),
            ("l-lsp", class) if !class.is_empty() => {
                Ok(LspDiffServ::LLsp(LLsp { class: SchedulingClass::read(&class.into())?, model: None }))
            }
            ("e-lsp" | "l-lsp", _) => Err(malformed(value, SHORT)),
            _ if near(word, LspDiffServ::WORDS).is_empty() => Err(malformed(value, SHORT)),
            _ => Err(unknown_word(&word.into(), LspDiffServ::WORDS)),
        }
    }
    fn write(&self) -> Value {
        self.write_choice()
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("LspDiffServ", |known| {
            let short = vec![Schema::Text { form: SHORT, pattern: None }];
            Named::Choice(Choice { short, ..LspDiffServ::choice_schema(known) })
        })
    }
}

crate::described!(DiffServConfig, LspDiffServ);
