//! What is declared of a table: its columns, and what each of them means.

use serde::Serialize;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A truth; `null` where it is not known.
    Bool,
    /// A whole number below 2^32: labels, ports, codes.
    U32,
    /// A count: of packets, of bytes.
    U64,
    /// A whole number that may be negative.
    I64,
    /// A finite number: a mean, a quantile, a length of time in seconds.
    F64,
    /// A text: a name, an address, a word of a few.
    Utf8,
    /// Picoseconds since the start of the run; seconds in data frames.
    Time,
    /// A span in picoseconds, perhaps negative; seconds in data frames.
    Span,
    /// A value with fields of its own, as JSON: what happened, which differs from row to row.
    Json,
    /// Several values of one type.
    List(&'static Type),
    /// Values by name: a list of pairs in data frames, an object in JSON.
    Map {
        /// What the names are called.
        key: &'static str,
        /// What the values are called.
        value: &'static str,
        /// What the values are.
        of: &'static Type,
    },
}

impl Type {
    /// Are cells times or spans, in picoseconds?
    pub const fn is_time(self) -> bool {
        matches!(self, Type::Time | Type::Span)
    }

    /// As the documentation writes it.
    pub fn words(self) -> String {
        match self {
            Type::Bool => "bool".into(),
            Type::U32 => "u32".into(),
            Type::U64 => "u64".into(),
            Type::I64 => "i64".into(),
            Type::F64 | Type::Time | Type::Span => "f64".into(),
            Type::Utf8 => "str".into(),
            Type::Json => "JSON".into(),
            Type::List(of) => format!("list of {}", of.words()),
            Type::Map { key, value, of } => format!("list of {{{key}: str, {value}: {}}}", of.words()),
        }
    }
}

/// What users are told of a column before there are rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDecl {
    /// Its name in data frames; the unit is the last word where there is one.
    pub name: &'static str,
    /// What its cells are.
    pub kind: Type,
    /// In what its numbers count: `packets`, `bytes`, `s`; empty for names, addresses and the like.
    pub unit: &'static str,
    /// What a cell says, and why one may be absent.
    pub meaning: &'static str,
    /// May a cell be absent?
    pub nullable: bool,
}

impl ColumnDecl {
    /// Its name in JSON, where times are picoseconds: `time_ps` for `time_s`.
    pub fn exact_name(&self) -> String {
        match self.name.strip_suffix("_s") {
            Some(stem) if self.kind.is_time() => format!("{stem}_ps"),
            _ => self.name.to_string(),
        }
    }
}

/// What users are told of a table before there are rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableDecl {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What a row is.
    pub meaning: &'static str,
    /// Its columns, in the order in which they are shown.
    pub columns: &'static [ColumnDecl],
    /// Columns that tell a row from all others.
    pub key: &'static [&'static str],
}

impl Serialize for Type {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.words())
    }
}

impl Serialize for ColumnDecl {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut made = to.serialize_struct("ColumnDecl", 7)?;
        made.serialize_field("name", self.name)?;
        made.serialize_field("exact_name", &self.exact_name())?;
        made.serialize_field("type", &self.kind)?;
        made.serialize_field("time", &self.kind.is_time())?;
        made.serialize_field("unit", self.unit)?;
        made.serialize_field("meaning", self.meaning)?;
        made.serialize_field("nullable", &self.nullable)?;
        made.end()
    }
}

impl Serialize for TableDecl {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut made = to.serialize_struct("TableDecl", 4)?;
        made.serialize_field("name", self.name)?;
        made.serialize_field("meaning", self.meaning)?;
        made.serialize_field("key", self.key)?;
        made.serialize_field("columns", self.columns)?;
        made.end()
    }
}

/// A column's name from the name of its field: `type` of `r#type`.
pub const fn column_name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Declares a table: a type for its rows, and a [`TableDecl`] that cannot disagree with it.
///
/// ```
/// use twinplane_base as base;
///
/// base::table! {
///     /// What becomes of labelled packets.
///     pub struct Example in "example" key ["label"] {
///         /// The label that packets arrive with.
///         label: u32,
///         /// Packets that arrived with it.
///         packets: u64 = "packets",
///         /// Where they went; absent if they were dropped.
///         to: Option<String>,
///     }
/// }
/// let mut rows = base::table::Rows::new();
/// rows.push(Example { label: 16, packets: 3, to: None });
/// assert_eq!(rows.finish().len(), 1);
/// ```
///
/// Most rows show one value. `of (arguments) from value: Type` behind the key adds a function `of`, which makes a row:
/// a cell is the field of the value that has the column's name, unless another expression stands behind `=>`.
///
/// ```
/// use twinplane_base as base;
///
/// pub struct Counters {
///     sent: u64,
///     refused: u64,
/// }
/// base::table! {
///     /// What went through each port.
///     pub struct PortRow in "example" key ["port"] of (port: u32) from c: &Counters {
///         /// The port.
///         port: u32 => port,
///         /// Frames sent.
///         sent: u64 = "frames",
///         /// Frames offered, those refused included.
///         offered: u64 = "frames" => c.sent + c.refused,
///     }
/// }
/// let table: base::table::Table = [PortRow::of(7, &Counters { sent: 2, refused: 1 })].into_iter().collect();
/// assert_eq!(table.len(), 1);
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $meaning:literal])+
        $vis:vis struct $row:ident $(<$life:lifetime>)? in $name:literal key [$($key:literal),* $(,)?] {
            $($(#[doc = $doc:literal])+ $field:ident : $kind:ty $(= $unit:literal)?),+ $(,)?
        }
    ) => {
        $(#[doc = $meaning])+
        $vis struct $row $(<$life>)? {
            $($(#[doc = $doc])+ pub $field: $kind,)+
        }
        impl $(<$life>)? $crate::table::Row for $row $(<$life>)? {
            const DECL: &'static $crate::table::TableDecl = &$crate::table::TableDecl {
                name: $name,
                meaning: concat!($($meaning),+).trim_ascii(),
                columns: &[$($crate::table::ColumnDecl {
                    name: $crate::table::column_name(stringify!($field)),
                    kind: <$kind as $crate::table::Cell>::TYPE,
                    unit: concat!($($unit)?),
                    meaning: concat!($($doc),+).trim_ascii(),
                    nullable: <$kind as $crate::table::Cell>::NULLABLE,
                }),+],
                key: &[$($key),*],
            };
            fn push(self, columns: &mut [$crate::table::Column]) {
                let mut columns = columns.iter_mut();
                $(if let Some(column) = columns.next() {
                    $crate::table::Cell::put(self.$field, column);
                })+
            }
        }
    };
    (
        $(#[doc = $meaning:literal])+
        $vis:vis struct $row:ident $(<$life:lifetime>)? in $name:literal key [$($key:literal),* $(,)?]
        of ($($given:ident : $given_type:ty),* $(,)?) from $from:ident : $from_type:ty {
            $($(#[doc = $doc:literal])+ $field:ident : $kind:ty $(= $unit:literal)? $(=> $value:expr)?),+ $(,)?
        }
    ) => {
        $crate::table! {
            $(#[doc = $meaning])+
            $vis struct $row $(<$life>)? in $name key [$($key),*] {
                $($(#[doc = $doc])+ $field : $kind $(= $unit)?),+
            }
        }
        impl $(<$life>)? $row $(<$life>)? {
            /// The row that shows a value.
            $vis fn of($($given: $given_type,)* $from: $from_type) -> Self {
                Self { $($field: $crate::table!(@cell $from $field $($value)?)),+ }
            }
        }
    };
    (@cell $from:ident $field:ident) => {
        $from.$field
    };
    (@cell $from:ident $field:ident $value:expr) => {
        $value
    };
}
