//! A user's own algorithm, written as a Python class, behind the interface of the native ones.

mod asked;
mod told;

use asked::{Asked, Hook, Wrong};
use longfat_transport::cc::{
    Ack, Congestion, CongestionControl, Delivery, Internals, LostSegment, Opening, Properties, SendingTimes,
    Window,
};
use longfat_units::{Interval, Time};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use pyo3::{PyClass, PyClassInitializer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
pub use told::{PyAck, PyCongestion, PyDelivery, PyLostSegment, PyOpening, PyWindow};

/// The most quantities that an algorithm records.
const MOST_RECORDED: usize = 64;

/// Ctrl-C that Python raised in the midst of a user's code: it ends the run and is nobody's failure. Shared
/// by the algorithms of a run.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<Option<PyErr>>>);

impl Interrupt {
    /// Keeps the exception if Ctrl-C raised it, and returns whether it did.
    pub fn keep(&self, py: Python<'_>, error: &PyErr) -> bool {
        let is_interrupt = error.is_instance_of::<PyKeyboardInterrupt>(py);
        if is_interrupt {
            self.slot().get_or_insert_with(|| error.clone_ref(py));
        }
        is_interrupt
    }

    /// What was kept.
    pub fn take(&self) -> Option<PyErr> {
        self.slot().take()
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an algorithm has read round-trip times that may include the wait of delayed acknowledgements.
#[derive(Clone, Default)]
pub struct Reads(Arc<AtomicBool>);

impl Reads {
    /// Whether it has.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls the user's object; what it raises is kept until the sender asks.
pub struct UserAlgorithm {
    object: Py<PyAny>,
    failure: Option<String>,
    interrupt: Interrupt,
    /// What it has recorded.
    recorded: Internals,
    reads_rtt: Reads,
    asked: Asked,
    gathered: Gathered,
}

/// Acknowledgements that the object is told of in one call.
#[derive(Default)]
struct Gathered {
    number: u32,
    together: Option<Ack>,
}

impl Gathered {
    fn add(&mut self, ack: &Ack) {
        self.number += 1;
        self.together = Some(self.together.map_or(*ack, |earlier| Ack {
            acked: earlier.acked + ack.acked,
            newly_delivered: earlier.newly_delivered + ack.newly_delivered,
            rtt: ack.rtt.or(earlier.rtt),
            one_way_delay: ack.one_way_delay.or(earlier.one_way_delay),
            ..*ack
        }));
    }

    fn take(&mut self) -> Option<Ack> {
        self.number = 0;
        self.together.take()
    }
}

impl UserAlgorithm {
    /// The algorithm behind this object, which has `on_ack(ack, window)` and `on_congestion(event, window)`,
    /// or `on_delivery(sample, window)`. Fails with the reason if it asks for what there is not.
    pub fn new(
        object: &Bound<'_, PyAny>,
        interrupt: Interrupt,
        mut reads_rtt: Reads,
    ) -> Result<Self, String> {
        let asked = Asked::new(object).map_err(|wrong| match wrong {
            Wrong::Raised(error) => described(object.py(), &error, &interrupt),
            Wrong::Set(what, accepted) => format!("{what}: {accepted}"),
            Wrong::Returned(what) => what,
        })?;
        if asked.properties.sending_times != SendingTimes::Unused {
            reads_rtt = Reads::default(); // they do not include the wait
        }
        let object = object.clone().unbind();
        let recorded = Internals::default();
        let gathered = Gathered::default();
        Ok(UserAlgorithm { object, failure: None, interrupt, recorded, reads_rtt, asked, gathered })
    }

    /// The facts about it.
    pub const fn properties(&self) -> Properties {
        self.asked.properties
    }

    /// Calls a method, if the object has it and has not failed, and reads what it sets. Returns what came of
    /// it.
    fn attempt<T>(
        &mut self,
        hook: Hook,
        at: Option<Time>,
        call: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, Wrong>,
    ) -> Option<T> {
        if self.failure.is_some() || !self.asked.hooks.has(hook) {
            return None;
        }
        Python::attach(|py| {
            let object = self.object.bind(py);
            let wrong = match call(object).and_then(|done| self.asked.steering.read(object).map(|()| done)) {
                Ok(done) => return Some(done),
                Err(wrong) => wrong,
            };
            let at = at.map_or_else(String::new, |at| format!(" at {} s", at.as_secs_f64()));
            self.failure = Some(match wrong {
                Wrong::Raised(error) => described(py, &error, &self.interrupt),
                Wrong::Set(what, accepted) => format!("{} left {what}{at}: {accepted}", hook.name()),
                Wrong::Returned(what) => format!(
                    "{} returned {what}{at}; accepted: a method without yield or async that returns None and \
                     sets its decision in window",
                    hook.name()
                ),
            });
            None
        })
    }

    /// Calls `on_ack` for what has been gathered, if anything.
    fn tell_gathered(&mut self, w: &mut Window) {
        if let Some(ack) = self.gathered.take() {
            let seen = PyAck::new(&ack, self.reads_rtt.clone());
            self.call(Hook::Ack, Some(ack.now), w, |py| object(py, seen));
        }
    }

    /// Calls a method with what it is told, if anything, and the window. What has happened before comes
    /// before it.
    fn call(
        &mut self,
        hook: Hook,
        at: Option<Time>,
        w: &mut Window,
        told: impl FnOnce(Python<'_>) -> PyResult<Option<Py<PyAny>>>,
    ) {
        self.tell_gathered(w);
        let before = *w;
        let called = self.attempt(hook, at, |object| {
            let py = object.py();
            let window = Py::new(py, PyWindow::new(before))?;
            let returned = match told(py)? {
                Some(told) => object.call_method1(hook.interned(py), (told, window.clone_ref(py))),
                None => object.call_method1(hook.interned(py), (window.clone_ref(py),)),
            }?;
            refuse_value(&returned)?;
            Ok(window.borrow_mut(py).take())
        });
        let Some((window, recorded)) = called else { return };
        *w = window;
        recorded.iter().for_each(|(name, value)| self.recorded.record(name, *value));
        if self.recorded.len() > MOST_RECORDED {
            self.failure = Some(format!(
                "it records more than {MOST_RECORDED} quantities; accepted: up to {MOST_RECORDED} names"
            ));
        }
    }

    /// Calls a method that is told the time alone.
    fn call_at(&mut self, hook: Hook, now: Time, w: &mut Window) {
        self.call(hook, Some(now), w, |py| Ok(Some(PyFloat::new(py, now.as_secs_f64()).into_any().unbind())));
    }
}

/// Refuses what a method returned, unless it is `None`: the method of a generator or a coroutine has not run.
fn refuse_value(returned: &Bound<'_, PyAny>) -> Result<(), Wrong> {
    if returned.is_none() {
        return Ok(());
    }
    let kind = returned.get_type().name()?.to_string();
    if kind == "coroutine" {
        returned.call_method0("close")?; // Python would warn that it was never awaited
    }
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    Err(Wrong::Returned(format!("{article} {kind}")))
}

/// What a method is told, as an object of Python.
fn object<A: PyClass + Into<PyClassInitializer<A>>>(py: Python<'_>, told: A) -> PyResult<Option<Py<PyAny>>> {
    Ok(Some(Py::new(py, told)?.into_any()))
}

/// The failure that an exception is. Ctrl-C is none: it is kept, and the caller of the run asks for it first.
pub fn described(py: Python<'_>, error: &PyErr, interrupt: &Interrupt) -> String {
    if interrupt.keep(py, error) { "interrupted".to_owned() } else { describe(py, error) }
}

/// An exception with its traceback, as Python prints it.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let lines = py
        .import("traceback")
        .and_then(|m| {
            m.call_method1("format_exception", (error.get_type(py), error.value(py), error.traceback(py)))
        })
        .and_then(|lines| lines.extract::<Vec<String>>());
    lines.map_or_else(|_| error.to_string(), |l| l.concat().trim_end().to_owned())
}

impl CongestionControl for UserAlgorithm {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.gathered.add(ack);
        if self.gathered.number >= self.asked.acks_per_call || w.in_slow_start() {
            self.tell_gathered(w);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.call(Hook::Congestion, Some(event.now), w, |py| object(py, PyCongestion::from(event)));
    }

    fn on_sample(&mut self, ack: &Ack) {
        let seen = PyAck::new(ack, self.reads_rtt.clone());
        self.attempt(Hook::Sample, Some(ack.now), |object| {
            refuse_value(&object.call_method1(Hook::Sample.interned(object.py()), (seen,))?)
        });
    }

    fn on_recovered(&mut self, now: Time, w: &mut Window) {
        self.call_at(Hook::Recovered, now, w);
    }

    fn on_undo(&mut self, w: &mut Window) {
        self.call(Hook::Undo, None, w, |_| Ok(None));
    }

    fn on_timer(&mut self, now: Time, w: &mut Window) {
        self.call_at(Hook::Timer, now, w);
    }

    fn pacing_rate(&self, _: &Window, _: Interval) -> Option<f64> {
        self.asked.steering.rate
    }

    fn send_quantum(&self) -> f64 {
        self.asked.steering.quantum
    }

    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        self.call(Hook::Open, Some(opening.now), w, |py| object(py, PyOpening::from(opening)));
    }

    fn on_delivery(&mut self, delivery: &Delivery, w: &mut Window) {
        self.call(Hook::Delivery, Some(delivery.now), w, |py| object(py, PyDelivery::from(delivery)));
    }

    fn on_lost(&mut self, lost: &LostSegment, w: &mut Window) {
        self.call(Hook::Lost, Some(lost.now), w, |py| object(py, PyLostSegment::from(lost)));
    }

    fn on_timeout(&mut self, now: Time, w: &mut Window) {
        self.call_at(Hook::Timeout, now, w);
    }

    fn on_restart(&mut self, now: Time, _: Option<Time>, w: &mut Window) {
        self.call_at(Hook::Restart, now, w);
    }

    fn holds_back(&self) -> bool {
        self.asked.steering.holds_back
    }

    fn internals(&self, out: &mut Internals) {
        self.recorded.iter().for_each(|(name, value)| out.record(name, value));
    }

    fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}
