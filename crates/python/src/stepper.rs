//! A run that pauses, as an object of Python; and many of them that go on together.

use crate::scenario::PyScenario;
use crate::thread_pool::{Pieces, share};
use crate::watch::{CORE_FAILED, Watch};
use crate::{Built, algorithm, build, raise, to_result};
use longfat_sim::{FlowSample, LinkSample, Rates, RunError, Sample, Stepped};
use longfat_transport::{Steer, Watched};
use longfat_units::{Rate, Time};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// What belongs to a run that pauses.
struct State {
    /// `None` once its outcome was taken, or after an error.
    run: Option<Stepped>,
    watch: Watch,
    interrupt: algorithm::Interrupt,
    readers: Vec<(String, algorithm::Reads)>,
    intervals: Intervals,
}

impl State {
    fn run(&mut self) -> PyResult<&mut Stepped> {
        self.run.as_mut().ok_or_else(|| {
            PyRuntimeError::new_err("this simulation has ended early; make a new one to begin again")
        })
    }

    /// Goes on to `to`, unless it is stopped.
    fn advance(&mut self, to: Time, goes_on: &AtomicBool) -> Result<(), RunError> {
        let Some(run) = &mut self.run else { return Ok(()) };
        let watch = &mut self.watch;
        let outcome = run.advance(to, &mut || goes_on.load(Ordering::Relaxed) && watch.goes_on());
        if outcome.is_err() {
            goes_on.store(false, Ordering::Relaxed);
            self.run = None; // it stopped in the midst of a batch
        }
        outcome
    }

    /// Goes on to `to`, and looks at the sender of a flow.
    fn advance_and_look(&mut self, to: Time, flow: usize, goes_on: &AtomicBool) -> Result<Row, RunError> {
        self.advance(to, goes_on)?;
        let Some(run) = &mut self.run else { return Ok([f64::NAN; COLUMNS]) };
        let now = run.now();
        Ok(run.look(flow).map_or([f64::NAN; COLUMNS], |seen| self.intervals.end(now, &seen)))
    }

    /// What stopped the run from outside, as an error of Python, if that has not been raised yet.
    fn pending(&mut self) -> Option<PyErr> {
        self.watch.take().or_else(|| self.interrupt.take())
    }

    /// The error of Python for what came of going on.
    fn raised(&mut self, outcome: Result<(), RunError>) -> PyResult<()> {
        self.pending().map_or_else(|| outcome.map_err(raise), Err)
    }
}

/// Stepper(scenario, algorithms, rates, memory_bytes=None)
///
/// A run of a scenario that pauses at times of the caller's choice; see `simulate`. With `rates`, the rates
/// of links can be set. Flows and links are known by their position.
#[pyclass(frozen, module = "longfat._core")]
pub struct Stepper(Mutex<State>);

impl Stepper {
    /// The state, if no other thread has it: waiting for that thread with the GIL could take forever.
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        self.0.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                PyRuntimeError::new_err("another thread steps this simulation; wait until its step has ended")
            }
            TryLockError::Poisoned(_) => PyRuntimeError::new_err(CORE_FAILED),
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Stepped) -> T) -> PyResult<T> {
        Ok(act(self.state()?.run()?))
    }
}

#[pymethods]
impl Stepper {
    /// The names of what `flow` returns.
    #[classattr]
    const FLOW: &'static [&'static str] = FlowSample::COLUMNS;
    /// The names of what `link` returns.
    #[classattr]
    const LINK: &'static [&'static str] = LinkSample::COLUMNS;
    /// The names of what `advance_all` returns.
    #[classattr]
    const INTERVAL: [&'static str; COLUMNS] = INTERVAL;

    #[new]
    #[pyo3(signature = (scenario, algorithms, rates, memory_bytes=None))]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, PyScenario>,
        algorithms: &Bound<'_, PyDict>,
        rates: bool,
        memory_bytes: Option<u64>,
    ) -> PyResult<Self> {
        let mut watch = Watch::new(memory_bytes);
        let rates = if rates { Rates::Settable } else { Rates::Planned };
        let Built { run, interrupt, readers } =
            build(py, scenario.get().plan(true)?, algorithms, rates, &mut watch)?;
        let run = Some(Stepped::new(run));
        let intervals = Intervals::default();
        Ok(Stepper(Mutex::new(State { run, watch, interrupt, readers, intervals })))
    }

    /// When it pauses, nanoseconds.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.with(|run| run.now().as_ns())
    }

    /// When it ends, nanoseconds.
    #[getter]
    fn end_ns(&self) -> PyResult<u64> {
        self.with(|run| run.end().as_ns())
    }

    /// Whether it has ended.
    #[getter]
    fn done(&self) -> PyResult<bool> {
        self.with(|run| run.is_done())
    }

    /// Packets that all links have begun to send so far.
    #[getter]
    fn packets(&self) -> PyResult<u64> {
        self.with(Stepped::packets)
    }

    /// Goes on to this time, nanoseconds, or to the end. Returns whether it has ended.
    fn advance(&self, py: Python<'_>, to_ns: u64) -> PyResult<bool> {
        let mut state = self.state()?;
        let state = &mut *state;
        state.run()?;
        let outcome = py.detach(|| state.advance(Time::from_ns(to_ns), &AtomicBool::new(true)));
        state.raised(outcome)?;
        Ok(state.run()?.is_done())
    }

    /// The state of a flow, in the order of `FLOW`.
    fn flow(&self, index: usize) -> PyResult<Vec<f64>> {
        self.with(|run| run.flow(index).values().collect())
    }

    /// The state of a link, in the order of `LINK`.
    fn link(&self, index: usize) -> PyResult<Vec<f64>> {
        self.with(|run| run.link(index).values().collect())
    }

    /// Whether a flow can be steered and watched: TCP carries it.
    fn is_tcp(&self, index: usize) -> PyResult<bool> {
        self.with(|run| run.is_tcp(index))
    }

    /// Steers a flow: its window in segments, which may be held, and its pacing rate in segments per second.
    #[pyo3(signature = (index, cwnd=None, holds=false, rate=None))]
    fn steer(&self, index: usize, cwnd: Option<f64>, holds: bool, rate: Option<f64>) -> PyResult<bool> {
        self.with(|run| run.steer(index, Some(Steer { cwnd, holds, rate })))
    }

    /// Leaves a flow to its algorithm again.
    fn release(&self, index: usize) -> PyResult<bool> {
        self.with(|run| run.steer(index, None))
    }

    /// Begins an interval of what happens at the sender of a flow, the first one of a series.
    fn watch(&self, index: usize) -> PyResult<bool> {
        let mut state = self.state()?;
        let run = state.run()?;
        let watches = run.watch(index);
        let (now, seen) = (run.now(), run.look(index));
        state.intervals = seen.map_or_else(Intervals::default, |seen| Intervals::begin(now, &seen));
        Ok(watches)
    }

    /// Sets the rate of a link from now on, bit/s. Returns why that cannot be, if so.
    fn set_rate(&self, index: usize, rate_bps: f64) -> PyResult<Option<String>> {
        let Some(rate) = Rate::from_bps(rate_bps) else {
            return Ok(Some(format!("{rate_bps} bit/s is no rate")));
        };
        self.with(|run| run.set_rate(index, rate).err().map(|reason| reason.to_string()))
    }

    /// What `simulate` returns, once the run has ended. Afterwards the run is gone.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = self.state()?;
        if !state.run()?.is_done() {
            return Err(PyRuntimeError::new_err("this simulation has not ended"));
        }
        let outcome = state.run.take().and_then(Stepped::finish);
        let outcome = outcome.ok_or_else(|| PyRuntimeError::new_err("this simulation has not ended"))?;
        to_result(py, outcome, &state.readers)
    }
}

/// How many values tell of an interval.
const COLUMNS: usize = 13;
const INTERVAL: [&str; COLUMNS] = [
    "span_s",
    "sent",
    "delivered",
    "lost",
    "rtts",
    "rtt_s",
    "rtt_increase_s",
    "srtt_s",
    "base_rtt_s",
    "cwnd",
    "ssthresh",
    "least_rtt_s",
    "most_pps",
];
type Row = [f64; COLUMNS];

/// Intervals that follow each other, of what happens at one sender.
struct Intervals {
    /// When the last one ended.
    from: Time,
    /// What the sender had counted by then.
    counted: Counted,
    /// The least mean round-trip time of one; NaN without any.
    least_rtt_s: f64,
    /// The most packets per second that one has delivered.
    most_pps: f64,
}

#[derive(Clone, Copy, Default)]
struct Counted {
    sent: f64,
    delivered: f64,
    lost: f64,
}

impl Counted {
    fn of(seen: &Watched) -> Self {
        Counted { sent: seen.sent as f64, delivered: seen.delivered as f64, lost: seen.retransmits as f64 }
    }
}

impl Default for Intervals {
    fn default() -> Self {
        let counted = Counted::default();
        Intervals { from: Time::ZERO, counted, least_rtt_s: f64::NAN, most_pps: 0.0 }
    }
}

impl Intervals {
    fn begin(now: Time, seen: &Watched) -> Self {
        Intervals { from: now, counted: Counted::of(seen), ..Intervals::default() }
    }

    /// Ends an interval, and returns what has happened in it.
    fn end(&mut self, now: Time, seen: &Watched) -> Row {
        let (before, counted) = (self.counted, Counted::of(seen));
        let span_s = now.since(self.from).as_secs_f64();
        let delivered = counted.delivered - before.delivered;
        self.least_rtt_s = self.least_rtt_s.min(seen.rtt_mean_s); // what is not NaN, if one is
        if span_s > 0.0 {
            self.most_pps = self.most_pps.max(delivered / span_s);
        }
        (self.from, self.counted) = (now, counted);
        [
            span_s,
            counted.sent - before.sent,
            delivered,
            counted.lost - before.lost,
            seen.rtts as f64,
            seen.rtt_mean_s,
            seen.rtt_increase_s,
            seen.srtt_s,
            seen.base_rtt_s,
            seen.window.cwnd,
            seen.window.ssthresh,
            self.least_rtt_s,
            self.most_pps,
        ]
    }
}

/// advance_all(steppers, to_ns, flows, threads) -> bytes
///
/// Lets each run go on to its time, with this many threads and without the GIL. Returns what has happened
/// since the last such time at the sender of one flow of each: rows in the order of `Stepper.INTERVAL`, as
/// little-endian f64.
#[pyfunction]
pub fn advance_all<'py>(
    py: Python<'py>,
    steppers: Vec<Py<Stepper>>,
    to_ns: Vec<u64>,
    flows: Vec<usize>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    if steppers.len() != to_ns.len() || steppers.len() != flows.len() {
        return Err(PyValueError::new_err("as many times and flows as simulations are needed"));
    }
    for stepper in &steppers {
        stepper.get().state()?.run()?;
    }
    let number = steppers.len();
    let flight = Flight {
        outcomes: steppers.iter().map(|_| Mutex::new(None)).collect(),
        goes_on: AtomicBool::new(true),
        steppers,
        to_ns,
        flows,
    };
    let Flight { outcomes, steppers, .. } = py.detach(|| share(flight, number, threads.saturating_sub(1)));
    let mut states = steppers.iter().map(|stepper| stepper.get().state()).collect::<PyResult<Vec<_>>>()?;
    // a run that ends early interrupts the others: what ended it comes before their interruptions
    let pending = states.iter_mut().fold(None, |first: Option<PyErr>, state| {
        let own = state.pending();
        first.or(own)
    });
    if let Some(interrupt) = pending {
        return Err(interrupt);
    }
    let outcomes =
        outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or_else(PoisonError::into_inner));
    let (mut rows, mut errors) = (Vec::with_capacity(COLUMNS * 8 * states.len()), Vec::new());
    for outcome in outcomes {
        let failed = || PyRuntimeError::new_err(CORE_FAILED);
        match outcome.ok_or_else(failed)? {
            Ok(row) => rows.extend(row.iter().flat_map(|value| value.to_le_bytes())),
            Err(error) => errors.push(error),
        }
    }
    if let Some(error) = errors.into_iter().min_by_key(|error| matches!(error, RunError::Interrupted)) {
        return Err(raise(error));
    }
    Ok(PyBytes::new(py, &rows))
}

/// Runs that go on together, and what comes of each.
struct Flight {
    steppers: Vec<Py<Stepper>>,
    to_ns: Vec<u64>,
    flows: Vec<usize>,
    outcomes: Vec<Mutex<Option<Result<Row, RunError>>>>,
    goes_on: AtomicBool,
}

impl Pieces for Flight {
    fn piece(&self, number: usize) {
        // a run that another thread of Python has taken meanwhile counts as one that failed
        let Ok(mut state) = self.steppers[number].get().0.try_lock() else { return };
        let to = Time::from_ns(self.to_ns[number]);
        let outcome = state.advance_and_look(to, self.flows[number], &self.goes_on);
        *self.outcomes[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
}
