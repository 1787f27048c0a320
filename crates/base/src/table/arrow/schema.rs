//! What the columns are: format, name, unit and meaning.

use crate::table::{ColumnDecl, TableDecl, Type};
use core::ffi::{c_char, c_void};
use core::ptr::null;
use std::ffi::CString;

const NULLABLE: i64 = 2;

/// The type of an array. Whoever holds it calls `release` once, which dropping it does.
#[repr(C)]
pub struct ArrowSchema {
    /// The type, by letters of the specification.
    pub format: *const c_char,
    /// Name of the column, ended by a zero byte.
    pub name: *const c_char,
    /// Pairs of texts, each behind its length.
    pub metadata: *const c_char,
    /// 2: values may be absent.
    pub flags: i64,
    /// How many children there are.
    pub n_children: i64,
    /// Types of columns, of the items of a list, of the parts of a struct.
    pub children: *mut *mut ArrowSchema,
    /// Null: no column is encoded by a dictionary.
    pub dictionary: *mut ArrowSchema,
    /// Gives everything back; absent if that has happened.
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    /// The box that `release` frees.
    pub private_data: *mut c_void,
}

// SAFETY: it owns all that it points to, and nothing of that is bound to a thread.
unsafe impl Send for ArrowSchema {}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: by the contract of the interface it may be called as long as it is there.
            unsafe { release(self) };
        }
    }
}

/// What a schema points to.
struct Private {
    format: CString,
    name: CString,
    metadata: Vec<u8>,
    children: Box<[*mut ArrowSchema]>,
}

unsafe extern "C" fn release(schema: *mut ArrowSchema) {
    // SAFETY: whoever calls hands over a schema that `make` made and nobody has released.
    unsafe {
        let private = Box::from_raw((*schema).private_data.cast::<Private>());
        for &child in &private.children {
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

/// Pairs as the specification wants them: numbers of the machine's order before each text.
fn metadata(pairs: &[(&str, &str)]) -> Vec<u8> {
    let pairs: Vec<_> = pairs.iter().filter(|pair| !pair.1.is_empty()).collect();
    let mut made = (pairs.len() as i32).to_ne_bytes().to_vec();
    for text in pairs.into_iter().flat_map(|(key, value)| [key, value]) {
        made.extend((text.len() as i32).to_ne_bytes());
        made.extend(text.as_bytes());
    }
    made
}

fn text(text: &str) -> CString {
    // Names and formats are ours and have no zero bytes.
    CString::new(text).unwrap_or_default()
}

fn make(name: &str, format: &str, metadata: Vec<u8>, children: Vec<ArrowSchema>) -> ArrowSchema {
    let children: Box<[_]> = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut private = Box::new(Private { format: text(format), name: text(name), metadata, children });
    ArrowSchema {
        format: private.format.as_ptr(),
        name: private.name.as_ptr(),
        metadata: if private.metadata.is_empty() { null() } else { private.metadata.as_ptr().cast() },
        flags: NULLABLE,
        n_children: private.children.len() as i64,
        children: private.children.as_mut_ptr(),
        dictionary: core::ptr::null_mut(),
        release: Some(release),
        private_data: Box::into_raw(private).cast(),
    }
}

fn of(name: &str, kind: Type, metadata: Vec<u8>) -> ArrowSchema {
    let (format, children) = match kind {
        Type::Bool => ("b", vec![]),
        Type::U32 => ("I", vec![]),
        Type::U64 => ("L", vec![]),
        Type::I64 => ("l", vec![]),
        // Times are seconds outside.
        Type::F64 | Type::Time | Type::Span => ("g", vec![]),
        Type::Utf8 | Type::Json => ("U", vec![]),
        Type::List(of_) => ("+L", vec![of("item", *of_, Vec::new())]),
        Type::Map { key, value, of: of_ } => {
            let parts = vec![of(key, Type::Utf8, Vec::new()), of(value, *of_, Vec::new())];
            ("+L", vec![make("item", "+s", Vec::new(), parts)])
        }
    };
    make(name, format, metadata, children)
}

fn column(decl: &ColumnDecl) -> ArrowSchema {
    let pairs = [("unit", decl.unit), ("meaning", decl.meaning)];
    of(decl.name, decl.kind, metadata(&pairs))
}

/// The schema of a table, with unit and meaning of each column as its metadata.
pub fn schema(decl: &TableDecl) -> ArrowSchema {
    let pairs = [("table", decl.name), ("meaning", decl.meaning)];
    make(decl.name, "+s", metadata(&pairs), decl.columns.iter().map(column).collect())
}
