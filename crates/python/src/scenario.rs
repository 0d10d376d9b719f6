//! Scenarios as objects of Python, and what a reader asks of Python.

pub mod values;

use longfat_scenario::at::Context;
use longfat_scenario::forms::{DURATIONS_S, ElementKind, written};
use longfat_scenario::keys::{self, Keys};
use longfat_scenario::memory::{self, Estimate};
use longfat_scenario::plan::Plan;
use longfat_scenario::problem::{Problem, Refusal};
use longfat_scenario::read::DeTable;
use longfat_scenario::resolve::{self, Resolved};
use longfat_scenario::stacks::{STACKS, Setting as StackSetting, Stack, Word};
use longfat_scenario::tables::{FILES, Placed, Scenario};
use longfat_scenario::tree::{Item, Table, Value};
use longfat_scenario::units::TIME;
use longfat_scenario::world::{Files, Own, OwnFacts, World};
use longfat_scenario::{changes, notes, read, reference, schema, stub, write};
use longfat_units::parameters::Value as Setting;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping};
use pythonize::pythonize;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
pub use values::Refused;
use values::{
    objects_of, of_python, of_toml_table, plain, table_of_python, table_to_python, to_python, view_to_python,
    with_lists,
};

/// The machine that runs Python: its files, and a module of Python that knows users' own algorithms.
struct Machine<'py> {
    python: &'py Bound<'py, PyAny>,
    objects: &'py [Py<PyAny>],
    /// What Python raised that is no refusal, such as a KeyboardInterrupt.
    raised: RefCell<Option<PyErr>>,
}

impl Machine<'_> {
    fn ask<T>(&self, answer: PyResult<T>) -> Result<T, String> {
        answer.map_err(|error| {
            let py = self.python.py();
            if error.is_instance_of::<PyValueError>(py) {
                return error.value(py).to_string();
            }
            let line = error.to_string();
            self.raised.borrow_mut().get_or_insert(error);
            line
        })
    }
}

impl World for Machine<'_> {
    fn bytes(&self, path: &Path, most: u64) -> Result<Vec<u8>, String> {
        Files.bytes(path, most)
    }

    fn whole(&self, path: &Path) -> PathBuf {
        Files.whole(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        Files.is_file(path)
    }

    fn own(&self, own: &Own, parameters: &[(String, Value)]) -> Result<(OwnFacts, String), String> {
        let py = self.python.py();
        let answer = || -> PyResult<(bool, bool, String)> {
            let given = PyDict::new(py);
            for (name, value) in parameters {
                given.set_item(name, to_python(py, value, self.objects)?)?;
            }
            let what = match own {
                Own::Object(object) => self.objects[object.index].clone_ref(py).into_bound(py),
                Own::Python(name) => name.into_pyobject(py)?.into_any(),
                Own::Ebpf(path, name) => (path, name).into_pyobject(py)?.into_any(),
            };
            self.python.call_method1("own", (what, given))?.extract()
        };
        let (needs_marks, model_based, name) = self.ask(answer())?;
        Ok((OwnFacts { needs_marks, model_based }, name))
    }

    fn kernel_has(&self, name: &str) -> bool {
        let answer = self.python.call_method1("kernel_has", (name,)).and_then(|found| found.extract());
        self.ask(answer).unwrap_or(false)
    }
}

fn refused(problems: &[Problem], source: &str, text: Option<&str>) -> PyErr {
    /// The problems that are shown with their lines; errors.py shows as many. Finding a line reads the text.
    const WITH_LINES: usize = 10;
    let shown = |(number, problem): (usize, &Problem)| match text.filter(|_| number < WITH_LINES) {
        Some(text) => problem.in_text(source, text),
        None => format!("{source}: {problem}"),
    };
    let lines: Vec<String> = problems.iter().enumerate().map(shown).collect();
    Refused::new_err(lines)
}

/// What was found, or the error that the whole scenario is refused.
fn accepted<T>(found: Result<T, Refusal>, source: &str) -> PyResult<T> {
    let whole = |refusal| Problem { key: String::new(), value: None, refusal, span: None };
    found.map_err(|refusal| refused(&[whole(refusal)], source, None))
}

/// A scenario.
#[pyclass(name = "Scenario", module = "longfat._core", frozen)]
pub struct PyScenario {
    scenario: Scenario,
    objects: Vec<Py<PyAny>>,
    /// What follows from it, from the first question about it to its run.
    resolved: Mutex<Option<Arc<Resolved>>>,
}

impl PyScenario {
    fn of(scenario: Scenario, objects: Vec<Py<PyAny>>) -> PyScenario {
        PyScenario { scenario, objects, resolved: Mutex::default() }
    }

    /// Its plan, with the fast driver and queues.
    pub fn resolved(&self) -> PyResult<Arc<Resolved>> {
        let mut kept = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resolved) = &*kept {
            return Ok(Arc::clone(resolved));
        }
        let resolved = accepted(resolve::resolve(&self.scenario, true), "scenario")?;
        Ok(Arc::clone(kept.insert(Arc::new(resolved))))
    }

    /// A plan to run. A run of many flows has memory for one plan: it does not stay here.
    pub fn plan(&self, fast: bool) -> PyResult<Plan> {
        let resolved = self.resolved()?;
        *self.resolved.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let plan = Arc::try_unwrap(resolved).map_or_else(|shared| shared.plan.clone(), |only| only.plan);
        Ok(Plan { fast, ..plan })
    }

    fn copy_objects(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.objects.iter().map(|object| object.clone_ref(py)).collect()
    }
}

/// Sets dotted keys.
fn change(
    tables: &mut Table,
    values: Option<&Bound<'_, PyDict>>,
    python: &Bound<'_, PyAny>,
    objects: &mut Vec<Py<PyAny>>,
    source: &str,
) -> PyResult<()> {
    for (key, value) in values.into_iter().flatten() {
        let value = of_python(&value, python, objects, 0)?;
        accepted(changes::set(tables, &key.to_string(), value), source)?;
    }
    Ok(())
}

fn read_tables(
    tables: Table,
    objects: Vec<Py<PyAny>>,
    source: &str,
    text: Option<&str>,
    base: &Path,
    stack: Option<&str>,
    python: &Bound<'_, PyAny>,
) -> PyResult<PyScenario> {
    let machine = Machine { python, objects: &objects, raised: RefCell::new(None) };
    // messages name files as the caller does, but without what a path can do without
    let base: PathBuf = base.strip_prefix(".").unwrap_or(base).components().collect();
    let found = read::scenario(tables, &Context { world: &machine, base: &base, stack });
    if let Some(error) = machine.raised.into_inner() {
        return Err(error);
    }
    match found {
        Ok(scenario) => Ok(PyScenario::of(scenario, objects)),
        Err(problems) => Err(refused(&problems, source, text)),
    }
}

#[pymethods]
impl PyScenario {
    /// Reads tables. `python` is the module that knows users' own algorithms; `overrides` are as for `parse`.
    #[staticmethod]
    #[pyo3(signature = (tables, python, source, base, stack=None, overrides=None))]
    fn read(
        tables: &Bound<'_, PyMapping>,
        python: &Bound<'_, PyAny>,
        source: &str,
        base: PathBuf,
        stack: Option<&str>,
        overrides: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyScenario> {
        let mut objects = Vec::new();
        let mut tables = table_of_python(tables, python, &mut objects, 0)?;
        change(&mut tables, overrides, python, &mut objects, source)?;
        read_tables(tables, objects, source, None, &base, stack, python)
    }

    /// Reads a TOML text. `overrides` replace its values by dotted keys; `first` are programs before its own;
    /// `lasting` replaces its duration, and its window is then the whole run.
    #[staticmethod]
    #[pyo3(signature = (text, python, source, base, stack=None, overrides=None, first=None, lasting=None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn parse(
        text: &str,
        python: &Bound<'_, PyAny>,
        source: &str,
        base: PathBuf,
        stack: Option<&str>,
        overrides: Option<&Bound<'_, PyDict>>,
        first: Option<&Bound<'_, PyAny>>,
        lasting: Option<&str>,
    ) -> PyResult<PyScenario> {
        let mut objects = Vec::new();
        let mut tables = read::parse(text).map_err(|problems| refused(&problems, source, Some(text)))?;
        change(&mut tables, overrides, python, &mut objects, source)?;
        if let Some(first) = first {
            let mut programs = match of_python(first, python, &mut objects, 0)?.value {
                Value::List(items) => items,
                _ => Vec::new(),
            };
            match tables.remove("program").map(|item| item.value) {
                None => tables.set("program", Value::List(programs)),
                Some(Value::List(own)) => {
                    programs.extend(own);
                    tables.set("program", Value::List(programs));
                }
                Some(wrong) => tables.set("program", wrong), // it will be refused
            }
        }
        if let Some(duration) = lasting {
            tables.remove("window");
            tables.set("duration", Value::from(duration));
        }
        read_tables(tables, objects, source, Some(text), &base, stack, python)
    }

    /// The same with other values for dotted keys.
    fn with_values(&self, values: &Bound<'_, PyDict>, python: &Bound<'_, PyAny>) -> PyResult<PyScenario> {
        let mut objects = self.copy_objects(values.py());
        let mut tables = write::tables(&self.scenario);
        let keys: Vec<String> = values.keys().iter().map(|key| key.to_string()).collect();
        changes::make_room_for_stacks(&mut tables, keys.iter().map(String::as_str));
        change(&mut tables, Some(values), python, &mut objects, "scenario")?;
        read_tables(tables, objects, "scenario", None, Path::new(""), None, python)
    }

    /// Its seed.
    #[getter]
    const fn seed(&self) -> i64 {
        self.scenario.seed
    }

    /// The same with another seed, which is in the range of seeds.
    fn with_seed(&self, py: Python<'_>, seed: i64) -> PyScenario {
        let scenario = Scenario { seed, ..self.scenario.clone() };
        PyScenario::of(scenario, self.copy_objects(py))
    }

    /// The same for so many seconds, with metrics of the whole run.
    fn lasting(&self, py: Python<'_>, duration_s: f64) -> PyResult<PyScenario> {
        let found = TIME.within(duration_s, DURATIONS_S).map_err(|refusal| refusal.within("duration"));
        let duration_s = accepted(found, "scenario")?;
        let scenario = Scenario { duration: duration_s, window: None, ..self.scenario.clone() };
        Ok(PyScenario::of(scenario, self.copy_objects(py)))
    }

    /// The same with every default written out.
    fn filled(&self, py: Python<'_>) -> PyResult<PyScenario> {
        let filled = accepted(resolve::filled(&self.scenario), "scenario")?;
        Ok(PyScenario::of(filled, self.copy_objects(py)))
    }

    /// Its tables as a file has them.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        table_to_python(py, &write::tables(&self.scenario), &self.objects)
    }

    /// Its text. `traces` has other names for files, by their SHA-256.
    fn toml(&self, traces: &Bound<'_, PyDict>) -> PyResult<String> {
        let mut tables = write::tables(&self.scenario);
        for (digest, name) in traces {
            let (digest, name): (String, String) = (digest.extract()?, name.extract()?);
            rename(&mut tables, &digest, &name);
        }
        Ok(write::toml(&tables))
    }

    /// Its values in SI numbers.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view_to_python(py, &keys::view(&self.scenario))
    }

    /// What follows from its network: the rate of hosts' links, the RTT of programs, the largest packet, and
    /// the load that each background asks for.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let network = accepted(self.scenario.network(), "scenario")?;
        let dict = PyDict::new(py);
        dict.set_item("access_bps", network.access_bps)?;
        dict.set_item("program_rtt_s", network.program_rtt_s)?;
        dict.set_item("packet_bytes", network.packet_bytes)?;
        let asked = self.scenario.background.iter().zip(&network.backgrounds);
        dict.set_item("asked_bps", asked.map(|(part, path)| part.asked_bps(path.rates)).collect::<Vec<_>>())?;
        Ok(dict)
    }

    /// Its plan.
    fn planned<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_lists(pythonize(py, &self.resolved()?.plan)?)
    }

    /// The tables behind each flow and each background of the plan.
    fn owners(&self) -> PyResult<(Vec<usize>, Vec<usize>)> {
        let resolved = self.resolved()?;
        Ok((resolved.flows.clone(), resolved.background.clone()))
    }

    /// The version of its results: the last one that gave other bytes than the one before.
    fn results_version(&self) -> PyResult<u32> {
        let plan = serde_json::to_value(&self.resolved()?.plan);
        plan.map(|plan| longfat_sim::results_version(&plan)).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// About how much memory a run takes at most, bytes, and the plan's key with the greatest part of that.
    fn memory(&self) -> PyResult<(f64, String)> {
        let resolved = self.resolved()?;
        let Estimate { bytes, key } = memory::estimate(&resolved.plan, &resolved.flows);
        Ok((bytes, key))
    }

    /// What would be accepted, in words, for that key within so many bytes.
    fn largest_within(&self, bytes: f64) -> PyResult<String> {
        let resolved = self.resolved()?;
        Ok(memory::largest_within(&resolved.plan, &resolved.flows, bytes))
    }

    /// Its key behind one of the plan.
    fn written_key(&self, key: &str) -> PyResult<String> {
        Ok(self.resolved()?.written_key(key))
    }

    /// The names of flows, backgrounds and programs.
    fn names(&self) -> (Vec<String>, Vec<String>, Vec<String>) {
        (self.scenario.flow_names(), self.scenario.background_names(), self.scenario.program_names())
    }

    /// The names of the links, ways back included.
    fn link_names(&self) -> PyResult<Vec<String>> {
        let network = accepted(self.scenario.network(), "scenario")?;
        Ok(network.ways.into_iter().map(|way| way.name).collect())
    }

    /// Lines on settings that are probably mistakes.
    fn warnings(&self) -> PyResult<Vec<String>> {
        accepted(notes::warnings(&self.scenario), "scenario")
    }

    /// Lines to know when reading the results.
    fn notes(&self) -> PyResult<Vec<String>> {
        accepted(notes::notes(&self.scenario), "scenario")
    }

    /// The metrics without a meaning here.
    fn meaningless_metrics(&self) -> PyResult<Vec<&'static str>> {
        Ok(accepted(notes::meaningless_metrics(&self.scenario), "scenario")?.to_vec())
    }

    /// Whether another seed can give another result.
    fn varies(&self) -> bool {
        self.scenario.varies()
    }

    /// The files of its traces, each content once: path, SHA-256, content.
    fn traces<'py>(&self, py: Python<'py>) -> Vec<(PathBuf, String, Bound<'py, PyBytes>)> {
        let mut found: Vec<(PathBuf, String, Bound<'py, PyBytes>)> = Vec::new();
        for source in write::sources(&self.scenario) {
            if found.iter().all(|(_, digest, _)| *digest != source.sha256) {
                found.push((source.path.clone(), source.sha256.clone(), PyBytes::new(py, &source.bytes)));
            }
        }
        found
    }

    /// The keys of stacks in which each flow and background over TCP differs from each stack: its key, then
    /// names of stacks with keys.
    fn unlike(&self) -> Vec<(String, notes::Exceptions)> {
        notes::unlike_stacks(&self.scenario)
    }

    fn __eq__(&self, other: &PyScenario) -> bool {
        let own = |found: &PyScenario| {
            let mut indices = Vec::new();
            objects_of(&write::tables(&found.scenario), &mut indices);
            indices
        };
        let is_same = |(mine, theirs): (&usize, &usize)| self.objects[*mine].is(&other.objects[*theirs]);
        self.scenario == other.scenario && own(self).iter().zip(&own(other)).all(is_same)
    }
}

/// Puts another name for the file of this digest.
fn rename(tables: &mut Table, digest: &str, name: &str) {
    let is_it = tables.get("sha256").is_some_and(|item| item.value.text() == Some(digest));
    if is_it && tables.has("trace") {
        tables.set("trace", Value::from(name));
    }
    for item in tables.values_mut() {
        match &mut item.value {
            Value::Table(table) => rename(table, digest, name),
            Value::List(items) => {
                for item in items {
                    if let Value::Table(table) = &mut item.value {
                        rename(table, digest, name);
                    }
                }
            }
            _ => {}
        }
    }
}

/// toml_tables(text) -> dict or None
///
/// The tables of a TOML text; None if it is not TOML, or has what only Python knows, such as dates.
#[pyfunction]
pub fn toml_tables<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyDict>> {
    of_toml_table(py, DeTable::parse(text).ok()?.get_ref())
}

/// Reads "key=value".
#[pyfunction]
pub fn assignment<'py>(py: Python<'py>, text: &str) -> PyResult<(String, Bound<'py, PyAny>)> {
    let (key, value) =
        changes::assignment(text).map_err(|refusal| PyValueError::new_err(refusal.to_string()))?;
    Ok((key, to_python(py, &value, &[])?))
}

/// The keys of a connection, with their defaults as files write them.
#[pyfunction]
pub fn connection_keys<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for key in Placed::doc().keys {
        dict.set_item(key.name, to_python(py, &key.default, &[])?)?;
    }
    Ok(dict)
}

/// written_parameter(kind, row, parameter, value) -> float, str or bool
///
/// A value of a registry as a scenario file writes it.
#[pyfunction]
pub fn written_parameter<'py>(
    py: Python<'py>,
    row: &str,
    parameter: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let kinds = [ElementKind::Algorithm, ElementKind::Queue, ElementKind::Router];
    let found = kinds.iter().flat_map(|kind| kind.rows()).filter(|entry| entry.is_called(row));
    let declared = found.flat_map(|entry| entry.parameters).find(|declared| declared.name == parameter);
    let Some(declared) = declared else {
        return Err(PyValueError::new_err(format!("{row} has no parameter {parameter:?}")));
    };
    let setting = match plain(value) {
        Value::Text(word) => Setting::Word(word),
        other => Setting::Number(other.number().unwrap_or(f64::NAN)),
    };
    to_python(py, &written(declared, &setting), &[])
}

/// stacks() -> list
///
/// Every stack with its settings: what `longfat list stacks --json` prints.
#[pyfunction]
pub fn stacks<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
    let word = |value: &Option<Word>| value.map_or(Value::Null, Value::from);
    let setting = |setting: &StackSetting| {
        let others = setting.algorithms.iter().flat_map(|(names, value)| {
            names.iter().map(move |name| ((*name).to_owned(), value.map_or(Value::Null, Value::from)))
        });
        Item::from(Table::of([
            ("key", Value::from(setting.key)),
            ("value", word(&setting.value)),
            ("source", setting.source.into()),
            ("algorithms", Table::of(others).into()),
        ]))
    };
    let texts = |lines: &[&str]| Value::List(lines.iter().map(|line| Item::from(*line)).collect());
    let stack = |stack: &Stack| {
        let table = Table::of([
            ("name", Value::from(stack.name)),
            ("title", stack.title.into()),
            ("era", stack.era.into()),
            ("summary", stack.summary.into()),
            ("keys", Value::List(stack.settings().map(setting).collect())),
            ("unknown", texts(stack.unknown)),
        ]);
        to_python(py, &table.into(), &[])
    };
    PyList::new(py, STACKS.iter().map(stack).collect::<PyResult<Vec<_>>>()?)
}

/// scenario_schema() -> dict
///
/// The JSON Schema of scenario files.
#[pyfunction]
pub fn scenario_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize(py, &schema::scenario_schema())?)
}

/// definition(what) -> str
///
/// What is made of the definition of scenarios: "schema", the text of schemas/scenario.json; "constructors",
/// that of scenario/tables.py; "kernel", a list of the keys that the kernel decides; or the rows of a table
/// of the reference, by its name.
#[pyfunction]
pub fn definition(what: &str) -> PyResult<String> {
    match what {
        "schema" => Ok(schema::printed(&schema::scenario_schema())),
        "constructors" => Ok(stub::stub()),
        "kernel" => Ok(reference::kernels()),
        name => reference::tables()
            .into_iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, keys, elsewhere)| reference::table(&keys, elsewhere.as_ref()))
            .ok_or_else(|| PyValueError::new_err(format!("there is no table {name:?}"))),
    }
}

/// larger_files(bytes) -> float
///
/// The share of files with more bytes, of those that short flows carry by default.
#[pyfunction]
pub fn larger_files(bytes: f64) -> f64 {
    FILES.larger(bytes)
}
