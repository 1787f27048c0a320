//! What is in the columns.

use crate::table::{Column, Data, Table, Type};
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::Arc;

/// The values of an array. Whoever holds it calls `release` once, which dropping it does.
#[repr(C)]
pub struct ArrowArray {
    /// How many values there are.
    pub length: i64,
    /// How many of them are absent.
    pub null_count: i64,
    /// Rows to skip at the start of the buffers; always zero here, since nothing is cut.
    pub offset: i64,
    /// How many buffers there are: bits of what is there, then offsets or values, then bytes.
    pub n_buffers: i64,
    /// How many children there are.
    pub n_children: i64,
    /// Validity bits first (null if every cell is there), then offsets or values, as the type asks.
    pub buffers: *mut *const c_void,
    /// Columns, items of a list, parts of a struct.
    pub children: *mut *mut ArrowArray,
    /// Null: no column is encoded by a dictionary.
    pub dictionary: *mut ArrowArray,
    /// Gives everything back; absent if that has happened.
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    /// The box that `release` frees.
    pub private_data: *mut c_void,
}

// SAFETY: it owns, alone or with other arrays of the same unchanging table, all that it points to.
unsafe impl Send for ArrowArray {}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: by the contract of the interface it may be called as long as it is there.
            unsafe { release(self) };
        }
    }
}

/// What an array points to. Each has a share in the table, since a consumer may keep a column and release the rest.
struct Private {
    _table: Arc<Table>,
    _seconds: Vec<f64>,
    buffers: Box<[*const c_void]>,
    children: Box<[*mut ArrowArray]>,
}

unsafe extern "C" fn release(array: *mut ArrowArray) {
    // SAFETY: whoever calls hands over an array that `make` made and nobody has released.
    unsafe {
        let private = Box::from_raw((*array).private_data.cast::<Private>());
        for &child in &private.children {
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

/// Where consumers may look though there is nothing: some refuse a null pointer.
static NOTHING: u64 = 0;

fn pointer<T>(values: &[T]) -> *const c_void {
    if values.is_empty() { (&raw const NOTHING).cast() } else { values.as_ptr().cast() }
}

struct Maker<'a> {
    table: &'a Arc<Table>,
}

impl Maker<'_> {
    fn make(
        &self,
        (length, nulls): (usize, usize),
        buffers: Vec<*const c_void>,
        seconds: Vec<f64>,
        children: Vec<ArrowArray>,
    ) -> ArrowArray {
        let children: Box<[_]> = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let table = Arc::clone(self.table);
        let mut private =
            Box::new(Private { _table: table, _seconds: seconds, buffers: buffers.into(), children });
        ArrowArray {
            length: length as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: private.buffers.len() as i64,
            n_children: private.children.len() as i64,
            buffers: private.buffers.as_mut_ptr(),
            children: private.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release),
            private_data: Box::into_raw(private).cast(),
        }
    }

    fn column(&self, column: &Column) -> ArrowArray {
        let size = (column.len(), column.nulls());
        let there = column.validity().map_or(null(), |bits| pointer(bits.bytes()));
        let plain = |values| self.make(size, vec![there, values], vec![], vec![]);
        match column.data() {
            Data::U64(ps) if column.kind() == Type::Time => {
                self.seconds(size, there, ps.iter().map(|&ps| ps as f64 / 1e12).collect())
            }
            Data::I64(ps) if column.kind() == Type::Span => {
                self.seconds(size, there, ps.iter().map(|&ps| ps as f64 / 1e12).collect())
            }
            Data::Bool(bits) => plain(pointer(bits.bytes())),
            Data::U32(values) => plain(pointer(values)),
            Data::U64(values) => plain(pointer(values)),
            Data::I64(values) => plain(pointer(values)),
            Data::F64(values) => plain(pointer(values)),
            Data::Utf8 { offsets, bytes } => {
                self.make(size, vec![there, pointer(offsets), pointer(bytes)], vec![], vec![])
            }
            Data::List { offsets, items } => {
                self.make(size, vec![there, pointer(offsets)], vec![], vec![self.column(items)])
            }
            Data::Map { offsets, keys, values } => {
                let parts = vec![self.column(keys), self.column(values)];
                let pairs = self.make((keys.len(), 0), vec![null()], vec![], parts);
                self.make(size, vec![there, pointer(offsets)], vec![], vec![pairs])
            }
        }
    }

    fn seconds(&self, size: (usize, usize), there: *const c_void, seconds: Vec<f64>) -> ArrowArray {
        let values = pointer(&seconds);
        self.make(size, vec![there, values], seconds, vec![])
    }
}

/// The values of a table, which lives as long as any of them.
pub fn array(table: &Arc<Table>) -> ArrowArray {
    let maker = Maker { table };
    let columns = table.columns().iter().map(|column| maker.column(column)).collect();
    maker.make((table.len(), 0), vec![null()], vec![], columns)
}
