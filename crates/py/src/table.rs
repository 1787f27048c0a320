//! Tables on their way to Python: by Arrow's C data interface to whoever makes data frames, as lists to who wants exact
//! values.

use base::table::{Column, Table, TableDecl, Value, arrow};
use network::tables::Scope;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyString};
use std::sync::Arc;

/// A table as it was when it was asked for.
#[pyclass(name = "Table", frozen)]
pub struct PyTable(Arc<Table>);

impl PyTable {
    /// Of a table of the core.
    pub fn new(table: Table) -> PyTable {
        PyTable(Arc::new(table))
    }
}

/// A cell as a Python object. Fields of a value of its own kind come by `json.loads`.
fn object<'py>(py: Python<'py>, value: &Value<'_>, loads: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::U64(value) => value.into_pyobject(py)?.into_any(),
        Value::I64(value) => value.into_pyobject(py)?.into_any(),
        Value::F64(value) => value.into_pyobject(py)?.into_any(),
        Value::Str(text) => PyString::new(py, text).into_any(),
        Value::Json(text) => loads.call1((*text,))?,
        Value::List(items, range) => {
            let made = PyList::empty(py);
            for place in range.clone() {
                made.append(object(py, &items.get(place), loads)?)?;
            }
            made.into_any()
        }
        Value::Map(keys, values, range) => {
            let made = PyDict::new(py);
            for place in range.clone() {
                made.set_item(object(py, &keys.get(place), loads)?, object(py, &values.get(place), loads)?)?;
            }
            made.into_any()
        }
    })
}

fn list<'py>(py: Python<'py>, column: &Column, loads: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let cells: Vec<_> = column.iter().map(|cell| object(py, &cell, loads)).collect::<PyResult<_>>()?;
    PyList::new(py, cells)
}

#[pymethods]
impl PyTable {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Lists of exact values by name: times are picoseconds (`time_ps`), values by name are dictionaries.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let loads = py.import("json")?.getattr("loads")?;
        let made = PyDict::new(py);
        for (decl, column) in self.0.decl().columns.iter().zip(self.0.columns()) {
            made.set_item(decl.exact_name(), list(py, column, &loads)?)?;
        }
        Ok(made)
    }

    /// The cells of a column as Python values, by the name that it has in data frames.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.0.column(name).ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
        list(py, column, &py.import("json")?.getattr("loads")?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, arrow::schema(self.0.decl()), c"arrow_schema")
    }

    /// The table as one struct array. A `requested_schema` is a wish, which the protocol lets us refuse.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let array = PyCapsule::new_with_value(py, arrow::array(&self.0), c"arrow_array")?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        PyCapsule::new_with_value(py, arrow::stream(&self.0), c"arrow_array_stream")
    }
}

/// The declarations of every table and of what it is asked for: those of networks, then those of what is measured.
fn entries() -> impl Iterator<Item = (Scope, &'static TableDecl)> {
    let measured = tester::testbed::TABLES.iter().map(|entry| (entry.scope, entry.decl));
    network::tables::declared().chain(measured)
}

/// What is declared of every table: a JSON list of scope and table, with meaning, key and columns.
#[pyfunction]
pub fn tables() -> String {
    let made = entries().map(|(scope, decl)| {
        let scope = base::table::word(&scope);
        serde_json::json!({"scope": scope, "table": decl})
    });
    serde_json::Value::from_iter(made).to_string()
}

/// A table without rows, by its place in the list of `tables`.
#[pyfunction]
pub fn empty_table(place: usize) -> PyResult<PyTable> {
    let (_, decl) = entries().nth(place).ok_or_else(|| PyKeyError::new_err(place))?;
    Ok(PyTable::new(Table::empty(decl)))
}
