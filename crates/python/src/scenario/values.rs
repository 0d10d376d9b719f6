//! Values of scenarios in Python and in the core.

use longfat_scenario::form::View;
use longfat_scenario::read::{self, DeTable, DeValue};
use longfat_scenario::tree::{Item, Object, Table, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

pyo3::create_exception!(
    _core,
    Refused,
    PyValueError,
    "A scenario is refused: args[0] is a list with a text for each problem."
);

/// Tables and lists of Python within each other: as many as TOML may have.
const DEEPEST: usize = 80;

/// The same with lists for tuples, as files have them.
pub fn with_lists(value: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = value.py();
    if let Ok(dict) = value.cast::<PyDict>() {
        for (key, part) in dict.iter() {
            if !(part.is_instance_of::<PyString>() || part.is_instance_of::<PyFloat>()) {
                dict.set_item(key, with_lists(part)?)?;
            }
        }
        Ok(value)
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let parts = value.try_iter()?.map(|part| with_lists(part?)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, parts)?.into_any())
    } else {
        Ok(value)
    }
}

/// A value of Python. Objects that files cannot have are kept.
pub fn of_python(
    value: &Bound<'_, PyAny>,
    python: &Bound<'_, PyAny>,
    objects: &mut Vec<Py<PyAny>>,
    depth: usize,
) -> PyResult<Item> {
    if depth > DEEPEST {
        let line = format!(
            "a value is nested too deeply; accepted: up to {DEEPEST} tables and lists within each other"
        );
        return Err(Refused::new_err(vec![line]));
    }
    let found = if let Ok(text) = value.cast::<PyString>() {
        Value::Text(text.to_str()?.to_owned())
    } else if let Ok(switch) = value.cast::<PyBool>() {
        Value::Bool(switch.is_true())
    } else if value.is_instance_of::<PyInt>() {
        match value.extract::<i64>().map(i128::from).or_else(|_| value.extract::<i128>()) {
            Ok(number) => Value::Integer(number),
            // beyond every range, and not what stands for "infinite"
            Err(_) => Value::Float(if value.lt(0)? { f64::MIN } else { f64::MAX }),
        }
    } else if let Ok(number) = value.cast::<PyFloat>() {
        Value::Float(number.value())
    } else if value.is_none() {
        Value::Null
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| of_python(&item?, python, objects, depth + 1));
        Value::List(items.collect::<PyResult<Vec<_>>>()?)
    } else if let Ok(mapping) = value.cast::<PyMapping>() {
        Value::Table(table_of_python(mapping, python, objects, depth + 1)?)
    } else if value.hasattr("isoformat")? {
        Value::Moment(value.str()?.to_string())
    } else if let Ok(switch) = value.extract::<bool>() {
        Value::Bool(switch) // of numpy
    } else if let Ok(number) = value.extract::<f64>() {
        Value::of_number(number)
    } else {
        let name = python.call_method1("name_of", (value,))?.extract()?;
        objects.push(value.clone().unbind());
        Value::Object(Object { name, index: objects.len() - 1, is_callable: value.is_callable() })
    };
    Ok(Item::new(found))
}

/// The same of a mapping.
pub fn table_of_python(
    mapping: &Bound<'_, PyMapping>,
    python: &Bound<'_, PyAny>,
    objects: &mut Vec<Py<PyAny>>,
    depth: usize,
) -> PyResult<Table> {
    let mut table = Table::default();
    for pair in mapping.items()? {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        table.set(key.str()?.to_str()?, of_python(&value, python, objects, depth)?);
    }
    Ok(table)
}

/// A value as Python has it.
pub fn to_python<'py>(py: Python<'py>, value: &Value, objects: &[Py<PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(switch) => switch.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(number) => match i64::try_from(*number) {
            Ok(short) => short.into_pyobject(py)?.into_any(),
            Err(_) => number.into_pyobject(py)?.into_any(),
        },
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) | Value::Moment(text) => text.into_pyobject(py)?.into_any(),
        Value::Object(object) => objects[object.index].clone_ref(py).into_bound(py),
        Value::List(items) => {
            let items = items.iter().map(|item| to_python(py, &item.value, objects));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Table(table) => table_to_python(py, table, objects)?.into_any(),
    })
}

/// The same of a table.
pub fn table_to_python<'py>(
    py: Python<'py>,
    table: &Table,
    objects: &[Py<PyAny>],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, item) in table.iter() {
        dict.set_item(key, to_python(py, &item.value, objects)?)?;
    }
    Ok(dict)
}

/// A value of TOML as Python has it; `None` if it is a date, or has a number that is too large.
fn of_toml<'py>(py: Python<'py>, value: &DeValue<'_>) -> Option<Bound<'py, PyAny>> {
    Some(match value {
        DeValue::String(text) => PyString::new(py, text).into_any(),
        DeValue::Integer(number) => PyInt::new(py, read::integer(number)?).into_any(),
        DeValue::Float(number) => PyFloat::new(py, read::float(number)?).into_any(),
        DeValue::Boolean(switch) => PyBool::new(py, *switch).to_owned().into_any(),
        DeValue::Datetime(_) => return None,
        DeValue::Array(items) => {
            let items = items.iter().map(|item| of_toml(py, item.get_ref()));
            PyList::new(py, items.collect::<Option<Vec<_>>>()?).ok()?.into_any()
        }
        DeValue::Table(table) => of_toml_table(py, table)?.into_any(),
    })
}

/// The same of a table.
pub fn of_toml_table<'py>(py: Python<'py>, table: &DeTable<'_>) -> Option<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table {
        dict.set_item(key.get_ref(), of_toml(py, value.get_ref())?).ok()?;
    }
    Some(dict)
}

/// SI numbers as Python has them.
pub fn view_to_python<'py>(py: Python<'py>, view: &View) -> PyResult<Bound<'py, PyAny>> {
    Ok(match view {
        View::None => py.None().into_bound(py),
        View::Bool(switch) => switch.into_pyobject(py)?.to_owned().into_any(),
        View::Integer(number) => number.into_pyobject(py)?.into_any(),
        View::Float(number) => number.into_pyobject(py)?.into_any(),
        View::Text(text) => text.into_pyobject(py)?.into_any(),
        View::List(items) => {
            let items = items.iter().map(|item| view_to_python(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        View::Fields(fields) => {
            let dict = PyDict::new(py);
            for (name, field) in fields {
                dict.set_item(name, view_to_python(py, field)?)?;
            }
            dict.into_any()
        }
    })
}

/// A plain value of Python: numbers, texts and switches.
pub fn plain(value: &Bound<'_, PyAny>) -> Value {
    if let Ok(switch) = value.cast::<PyBool>() {
        Value::Bool(switch.is_true())
    } else if let Ok(text) = value.cast::<PyString>() {
        Value::Text(text.to_string())
    } else if let Ok(number) = value.extract::<f64>() {
        Value::of_number(number)
    } else {
        Value::Null
    }
}

/// The numbers of the objects in a table, in order.
pub fn objects_of(table: &Table, found: &mut Vec<usize>) {
    for (_, item) in table.iter() {
        objects_below(&item.value, found);
    }
}

fn objects_below(value: &Value, found: &mut Vec<usize>) {
    match value {
        Value::Object(object) => found.push(object.index),
        Value::List(items) => items.iter().for_each(|item| objects_below(&item.value, found)),
        Value::Table(table) => objects_of(table, found),
        _ => {}
    }
}
