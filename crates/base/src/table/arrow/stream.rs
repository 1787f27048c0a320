//! A table as a stream of one batch, which some consumers take instead of an array.

use super::{ArrowArray, ArrowSchema, array, schema};
use crate::table::Table;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{null, null_mut};
use std::sync::Arc;

/// A schema and batches, asked for one by one. Whoever holds it calls `release` once, which dropping it does.
#[repr(C)]
pub struct ArrowArrayStream {
    /// Gives the schema; zero if that went well, as it always does here.
    pub get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    /// Gives the next batch, or a released one at the end.
    pub get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    /// What went wrong last: nothing ever does.
    pub get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    /// Gives everything back; absent if that has happened.
    pub release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    /// The box that `release` frees.
    pub private_data: *mut c_void,
}

// SAFETY: it owns a share in an unchanging table and nothing else.
unsafe impl Send for ArrowArrayStream {}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: by the contract of the interface it may be called as long as it is there.
            unsafe { release(self) };
        }
    }
}

struct Private {
    table: Arc<Table>,
    done: bool,
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the stream is one of ours, not released; `out` is room for a schema that holds nothing.
    unsafe {
        let private = &*(*stream).private_data.cast::<Private>();
        out.write(schema(private.table.decl()));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as above.
    unsafe {
        let private = &mut *(*stream).private_data.cast::<Private>();
        out.write(if private.done { ended() } else { array(&private.table) });
        private.done = true;
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
    // SAFETY: the stream is one of ours, and is released once.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Private>()));
        (*stream).release = None;
    }
}

fn ended() -> ArrowArray {
    ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null_mut(),
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    }
}

/// The table as a stream of one batch.
pub fn stream(table: &Arc<Table>) -> ArrowArrayStream {
    let private = Box::new(Private { table: Arc::clone(table), done: false });
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(private).cast(),
    }
}
