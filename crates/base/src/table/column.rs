//! The cells of a column, laid out as Arrow wants them: values end to end, offsets for what has no fixed length, a bit
//! for each cell that is there.

use super::Type;

/// Bits, the first the lowest of its byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    /// So many set bits.
    fn ones(len: usize) -> Bits {
        let mut made = Bits::default();
        (0..len).for_each(|_| made.push(true));
        made
    }

    /// Appends a bit; the lowest bit of a byte is the first.
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if bit {
            self.bytes[self.len / 8] |= 1 << (self.len % 8);
        }
        self.len += 1;
    }

    /// The bit at a place.
    pub fn get(&self, place: usize) -> bool {
        self.bytes[place / 8] >> (place % 8) & 1 == 1
    }

    /// The bytes that hold them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The values of a column. Offsets are one more than the cells, and begin with zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A bit for each truth.
    Bool(Bits),
    /// Labels, ports and codes.
    U32(Vec<u32>),
    /// 64-bit numbers, or times.
    U64(Vec<u64>),
    /// 64-bit numbers with a sign, or spans.
    I64(Vec<i64>),
    /// Figures that are no whole numbers.
    F64(Vec<f64>),
    /// Texts, one behind the other in one buffer.
    Utf8 {
        /// Where in the bytes each text begins and ends.
        offsets: Vec<i64>,
        /// The texts, end to end.
        bytes: Vec<u8>,
    },
    /// Lists of different lengths, their elements in one column.
    List {
        /// Where in the items each list begins and ends.
        offsets: Vec<i64>,
        /// The items of all lists, end to end.
        items: Box<Column>,
    },
    /// Values by name: names and values in two columns of equal length.
    Map {
        /// Where in the pairs each cell begins and ends.
        offsets: Vec<i64>,
        /// The names of all pairs.
        keys: Box<Column>,
        /// Values, each in the row of its name.
        values: Box<Column>,
    },
}

/// A column under construction, or made.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    kind: Type,
    len: usize,
    nulls: usize,
    /// Which cells are there; absent as long as all are.
    validity: Option<Bits>,
    data: Data,
}

impl Column {
    /// A column without cells, for cells of this type.
    pub fn new(kind: Type) -> Column {
        let data = match kind {
            Type::Bool => Data::Bool(Bits::default()),
            Type::U32 => Data::U32(Vec::new()),
            Type::U64 | Type::Time => Data::U64(Vec::new()),
            Type::I64 | Type::Span => Data::I64(Vec::new()),
            Type::F64 => Data::F64(Vec::new()),
            Type::Utf8 | Type::Json => Data::Utf8 { offsets: vec![0], bytes: Vec::new() },
            Type::List(of) => Data::List { offsets: vec![0], items: Box::new(Column::new(*of)) },
            Type::Map { of, .. } => Data::Map {
                offsets: vec![0],
                keys: Box::new(Column::new(Type::Utf8)),
                values: Box::new(Column::new(*of)),
            },
        };
        Column { kind, len: 0, nulls: 0, validity: None, data }
    }

    /// What its cells are.
    pub fn kind(&self) -> Type {
        self.kind
    }
    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether it has no cells.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// How many cells are absent.
    pub fn nulls(&self) -> usize {
        self.nulls
    }
    /// Which cells are there; absent if all are.
    pub fn validity(&self) -> Option<&Bits> {
        self.validity.as_ref()
    }
    /// The values; those of absent cells say nothing.
    pub fn data(&self) -> &Data {
        &self.data
    }
    /// Is the cell at a place absent?
    pub fn is_null(&self, place: usize) -> bool {
        self.validity.as_ref().is_some_and(|bits| !bits.get(place))
    }

    fn done(&mut self) {
        if let Some(bits) = &mut self.validity {
            bits.push(true);
        }
        self.len += 1;
    }

    /// Appends an absent cell.
    pub fn push_null(&mut self) {
        self.validity.get_or_insert_with(|| Bits::ones(self.len)).push(false);
        match &mut self.data {
            Data::Bool(bits) => bits.push(false),
            Data::U32(values) => values.push(0),
            Data::U64(values) => values.push(0),
            Data::I64(values) => values.push(0),
            Data::F64(values) => values.push(0.0),
            Data::Utf8 { offsets, .. } | Data::List { offsets, .. } | Data::Map { offsets, .. } => {
                offsets.push(offsets.last().copied().unwrap_or(0));
            }
        }
        self.len += 1;
        self.nulls += 1;
    }

    /// Appends a truth.
    ///
    /// # Panics
    /// As all that append: if the column is of another type, which [`Cell`](super::Cell) excludes.
    pub fn push_bool(&mut self, value: bool) {
        match &mut self.data {
            Data::Bool(bits) => bits.push(value),
            _ => self.other("bool"),
        }
        self.done();
    }

    /// Appends a 32-bit number.
    pub fn push_u32(&mut self, value: u32) {
        match &mut self.data {
            Data::U32(values) => values.push(value),
            _ => self.other("u32"),
        }
        self.done();
    }

    /// Appends a count or a time.
    pub fn push_u64(&mut self, value: u64) {
        match &mut self.data {
            Data::U64(values) => values.push(value),
            _ => self.other("u64"),
        }
        self.done();
    }

    /// Appends a number with a sign or a span.
    pub fn push_i64(&mut self, value: i64) {
        match &mut self.data {
            Data::I64(values) => values.push(value),
            _ => self.other("i64"),
        }
        self.done();
    }

    /// Appends a number; one that is not finite is absent.
    pub fn push_f64(&mut self, value: f64) {
        if !value.is_finite() {
            return self.push_null();
        }
        match &mut self.data {
            Data::F64(values) => values.push(value),
            _ => self.other("f64"),
        }
        self.done();
    }

    /// Appends a text as it is displayed, without making a string of it first.
    pub fn push_text(&mut self, value: impl core::fmt::Display) {
        use std::io::Write;
        match &mut self.data {
            Data::Utf8 { offsets, bytes } => {
                // Writing to memory does not fail.
                let _ = write!(bytes, "{value}");
                offsets.push(bytes.len() as i64);
            }
            _ => self.other("text"),
        }
        self.done();
    }

    /// Appends a cell with this text.
    pub fn push_str(&mut self, value: &str) {
        match &mut self.data {
            Data::Utf8 { offsets, bytes } => {
                bytes.extend_from_slice(value.as_bytes());
                offsets.push(bytes.len() as i64);
            }
            _ => self.other("text"),
        }
        self.done();
    }

    /// Appends a list, whose items `fill` appends to the column that it is given.
    pub fn push_list(&mut self, fill: impl FnOnce(&mut Column)) {
        match &mut self.data {
            Data::List { offsets, items } => {
                fill(items);
                offsets.push(items.len as i64);
            }
            _ => self.other("list"),
        }
        self.done();
    }

    /// Appends values by name; `fill` appends to the columns of names and of values.
    pub fn push_map(&mut self, fill: impl FnOnce(&mut Column, &mut Column)) {
        match &mut self.data {
            Data::Map { offsets, keys, values } => {
                fill(keys, values);
                debug_assert_eq!(keys.len, values.len);
                offsets.push(keys.len as i64);
            }
            _ => self.other("values by name"),
        }
        self.done();
    }

    #[cold]
    fn other(&self, given: &str) -> ! {
        panic!("a column of {} is given a {given}", self.kind.words())
    }
}
