//! What users write of a full mesh: sessions between all routers of an AS (RFC 4271, 9.2: what is told within an AS is
//! not passed on there, so that all have to tell each other).

use super::section::{BgpFamily, BgpNeighborSpec, BgpSpec};
use crate::services::WatchSpec;
use base::Span;
use base::describe::{Describe, Name, Named, Record, RecordSchema, Schema, Schemas, Value, wrong_type};
use base::diagnostic::Diagnostic;
use core::net::{IpAddr, Ipv4Addr};

base::record! {
    /// Settings of the sessions of a full mesh of BGP within an AS.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BgpMeshSpec called "BgpMesh" {
        /// Families of which routes are exchanged, if both ends want that.
        pub families: Option<Vec<BgpFamily>>, absent "ipv4";
        /// Name the router itself as the next hop of what comes from other ASes, so that only loopback addresses need
        /// routes.
        pub next_hop_self: bool = true;
        /// What both ends of a session sign its packets with (RFC 2385): 1 to 80 characters.
        pub password: Option<String>, absent "none";
        /// Have the other routers watched by BFD (RFC 5882) while there is a session: true, or how closely.
        pub bfd: WatchSpec, absent "false";
        /// Tell the others changes at most so often.
        pub advertisement_interval: Option<Span>, in 0..=3_600_000_000_000_000, absent "5 s (RFC 4271, 10)";
    }
}

impl Default for BgpMeshSpec {
    fn default() -> BgpMeshSpec {
        BgpMeshSpec {
            families: None,
            next_hop_self: true,
            password: None,
            bfd: WatchSpec::default(),
            advertisement_interval: None,
        }
    }
}

/// Is there a full mesh: `true`, or settings of its sessions?
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshSpec(pub Option<BgpMeshSpec>);

impl Describe for MeshSpec {
    fn read(value: &Value) -> Result<MeshSpec, Diagnostic> {
        match value {
            Value::Bool(true) => Ok(MeshSpec(Some(BgpMeshSpec::default()))),
            Value::Bool(false) | Value::Null => Ok(MeshSpec(None)),
            Value::Map(_) => BgpMeshSpec::read_record(value, "").map(Some).map(MeshSpec),
            other => Err(wrong_type(other, "true, false, or a mapping")),
        }
    }
    fn write(&self) -> Value {
        match &self.0 {
            None => Value::Bool(false),
            Some(usual) if *usual == BgpMeshSpec::default() => Value::Bool(true),
            Some(mesh) => mesh.write_record(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("BgpMesh", |known| {
            Named::Record(RecordSchema { short: vec![Schema::Bool], ..BgpMeshSpec::record_schema(known) })
        })
    }
    fn absent() -> Option<MeshSpec> {
        Some(MeshSpec(None))
    }
}

impl BgpSpec {
    /// The same with the other routers of the mesh, by router id, among the neighbours; nothing if there is no mesh.
    pub(super) fn meshed(&self, others: &[Ipv4Addr]) -> Option<BgpSpec> {
        let mesh = self.mesh.0.as_ref()?;
        let said = BgpNeighborSpec {
            asn: self.asn,
            import: None,
            export: None,
            families: mesh.families.clone(),
            receive_paths: false,
            send_paths: None,
            client: false,
            next_hop_self: mesh.next_hop_self,
            ttl_security: None,
            password: mesh.password.clone(),
            bfd: mesh.bfd,
            hold_time: None,
            maximum_prefixes: None,
            advertisement_interval: mesh.advertisement_interval,
        };
        let mut whole = self.clone();
        for id in others {
            let is_it = |name: &Name| name.parse() == Ok(IpAddr::V4(*id));
            if !self.neighbors.iter().any(|(name, _)| is_it(name)) {
                whole.neighbors.push((id.to_string().as_str().into(), said.clone()));
            }
        }
        Some(whole)
    }
}
