//! What a user's object asks of the sender: the methods that it has, which are looked up once, and the values
//! that it sets, which are read after each call.

use longfat_transport::cc::{Properties, SendingTimes};
use longfat_units::Interval;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// The shortest period of a timer, seconds (chosen here): one shorter is taken for a mistake in the unit.
const SHORTEST_PERIOD_S: f64 = 1e-6;
/// The most acknowledgements of one call (chosen here).
const MOST_ACKS_PER_CALL: u32 = 1000;
/// The round-trip times are those of [`SendingTimes::RoundTrips`].
const ROUND_TRIPS: &str = "round-trips";
/// The same with [`SendingTimes::RoundTripsAndLosses`].
const AND_LOSSES: &str = "round-trips-and-losses";

/// Why an object is no algorithm, or not any longer.
pub enum Wrong {
    /// Its code raised.
    Raised(PyErr),
    /// What it set, e.g. "pacing_rate = -1.0", and what it may set.
    Set(String, &'static str),
    /// What a method returned, which has no meaning.
    Returned(String),
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Self {
        Wrong::Raised(error)
    }
}

/// The methods that the sender calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    Ack,
    Congestion,
    Sample,
    Recovered,
    Undo,
    Timer,
    Delivery,
    Open,
    Lost,
    Timeout,
    Restart,
}

impl Hook {
    const ALL: [Hook; 11] = [
        Hook::Ack,
        Hook::Congestion,
        Hook::Sample,
        Hook::Recovered,
        Hook::Undo,
        Hook::Timer,
        Hook::Delivery,
        Hook::Open,
        Hook::Lost,
        Hook::Timeout,
        Hook::Restart,
    ];
    /// Those of model-based algorithms alone.
    const OF_MODELS: [Hook; 4] = [Hook::Open, Hook::Lost, Hook::Timeout, Hook::Restart];

    /// The name of the method.
    pub const fn name(self) -> &'static str {
        match self {
            Hook::Ack => "on_ack",
            Hook::Congestion => "on_congestion",
            Hook::Sample => "on_sample",
            Hook::Recovered => "on_recovered",
            Hook::Undo => "on_undo",
            Hook::Timer => "on_timer",
            Hook::Delivery => "on_delivery",
            Hook::Open => "on_open",
            Hook::Lost => "on_lost",
            Hook::Timeout => "on_timeout",
            Hook::Restart => "on_restart",
        }
    }

    /// The same as an object of Python, made once.
    pub fn interned(self, py: Python<'_>) -> &Bound<'_, PyString> {
        static NAMES: PyOnceLock<[Py<PyString>; Hook::ALL.len()]> = PyOnceLock::new();
        let names = || Hook::ALL.map(|hook| PyString::intern(py, hook.name()).unbind());
        NAMES.get_or_init(py, names)[self as usize].bind(py)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The methods that an object has.
#[derive(Clone, Copy)]
pub struct Hooks(u16);

impl Hooks {
    fn new(object: &Bound<'_, PyAny>) -> Result<Self, Wrong> {
        let mut hooks = Hooks(0);
        for hook in Hook::ALL {
            let Some(found) = attribute(object, hook.name())? else { continue };
            if !found.is_callable() {
                return Err(wrong(hook.name(), &found, "it must be a method"));
            }
            hooks.0 |= hook.bit();
        }
        if hooks.has(Hook::Delivery) {
            hooks.0 &= !Hook::Ack.bit(); // on_delivery comes in its place
        } else if let Some(alone) = Hook::OF_MODELS.into_iter().find(|&hook| hooks.has(hook)) {
            return Err(Wrong::Set(
                alone.name().to_owned(),
                "it needs on_delivery(sample, window) beside it",
            ));
        } else {
            hooks.0 |= Hook::Ack.bit() | Hook::Congestion.bit(); // Python says which one is missing
        }
        Ok(hooks)
    }

    /// Whether the sender should call this method.
    pub const fn has(self, hook: Hook) -> bool {
        self.0 & hook.bit() != 0
    }
}

/// The values that an object sets, as last read.
#[derive(Clone, Copy)]
pub struct Steering {
    sets_rate: bool,
    sets_quantum: bool,
    sets_holding: bool,
    /// The pacing rate, segments per second.
    pub rate: Option<f64>,
    /// The most segments that leave together.
    pub quantum: f64,
    /// Whether samples count as limited by the application.
    pub holds_back: bool,
}

impl Steering {
    fn new(object: &Bound<'_, PyAny>) -> Result<Self, Wrong> {
        let mut steering = Steering {
            sets_rate: attribute(object, "pacing_rate")?.is_some(),
            sets_quantum: attribute(object, "send_quantum")?.is_some(),
            sets_holding: attribute(object, "holds_back")?.is_some(),
            rate: None,
            quantum: 1.0,
            holds_back: false,
        };
        steering.read(object)?;
        Ok(steering)
    }

    /// Reads what the object sets now.
    pub fn read(&mut self, object: &Bound<'_, PyAny>) -> Result<(), Wrong> {
        if self.sets_rate {
            let name = "pacing_rate";
            let accepted = "it must be a finite number of segments per second above 0, or None";
            let given = value(object, name)?;
            self.rate = match given.extract::<Option<f64>>() {
                Ok(rate) if rate.is_none_or(|rate| rate.is_finite() && rate > 0.0) => rate,
                _ => return Err(wrong(name, &given, accepted)),
            };
        }
        if self.sets_quantum {
            let name = "send_quantum";
            let given = value(object, name)?;
            self.quantum = match given.extract::<f64>() {
                Ok(quantum) if quantum.is_finite() && quantum >= 1.0 => quantum,
                _ => return Err(wrong(name, &given, "it must be a finite number of segments, at least 1")),
            };
        }
        if self.sets_holding {
            let name = "holds_back";
            let given = value(object, name)?;
            self.holds_back = match given.extract::<bool>() {
                Ok(holds_back) => holds_back,
                Err(_) => return Err(wrong(name, &given, "it must be True or False")),
            };
        }
        Ok(())
    }
}

/// All of it.
pub struct Asked {
    /// The methods that it has.
    pub hooks: Hooks,
    /// The values that it sets.
    pub steering: Steering,
    /// The facts that stay as they are.
    pub properties: Properties,
    /// How many acknowledgements out of slow-start it is told of in one call.
    pub acks_per_call: u32,
}

impl Asked {
    /// What this object asks for.
    pub fn new(object: &Bound<'_, PyAny>) -> Result<Self, Wrong> {
        let hooks = Hooks::new(object)?;
        Ok(Asked {
            hooks,
            steering: Steering::new(object)?,
            properties: Properties {
                model_based: hooks.has(Hook::Delivery),
                shrinks: true, // on_ack may also measure, or change the rate
                samples: hooks.has(Hook::Sample),
                sending_times: sending_times(object)?,
                timer_period: timer_period(object, hooks.has(Hook::Timer))?,
                ..Properties::CUSTOM
            },
            acks_per_call: acks_per_call(object, hooks.has(Hook::Ack))?,
        })
    }
}

fn sending_times(object: &Bound<'_, PyAny>) -> Result<SendingTimes, Wrong> {
    let name = "sending_times";
    let Some(given) = attribute(object, name)? else { return Ok(SendingTimes::Unused) };
    match given.extract::<Option<String>>().as_ref().map(Option::as_deref) {
        Ok(None) => Ok(SendingTimes::Unused),
        Ok(Some(ROUND_TRIPS)) => Ok(SendingTimes::RoundTrips),
        Ok(Some(AND_LOSSES)) => Ok(SendingTimes::RoundTripsAndLosses),
        _ => Err(wrong(name, &given, "it must be \"round-trips\", \"round-trips-and-losses\" or None")),
    }
}

fn timer_period(object: &Bound<'_, PyAny>, has_method: bool) -> Result<Option<Interval>, Wrong> {
    let name = "timer_period_s";
    match (attribute(object, name)?, has_method) {
        (None, false) => Ok(None),
        (None, true) => Err(Wrong::Set("on_timer".to_owned(), "it needs timer_period_s beside it")),
        (Some(_), false) => Err(Wrong::Set(name.to_owned(), "it needs on_timer(now_s, window) beside it")),
        (Some(given), true) => match given.extract::<f64>() {
            Ok(period_s) if period_s.is_finite() && period_s >= SHORTEST_PERIOD_S => {
                Ok(Some(Interval::from_secs_f64(period_s)))
            }
            _ => Err(wrong(name, &given, "it must be a finite number of seconds, at least 1e-6")),
        },
    }
}

fn acks_per_call(object: &Bound<'_, PyAny>, has_method: bool) -> Result<u32, Wrong> {
    let name = "acks_per_call";
    let Some(given) = attribute(object, name)? else { return Ok(1) };
    if !has_method {
        return Err(Wrong::Set(name.to_owned(), "it needs on_ack(ack, window), which on_delivery replaces"));
    }
    match given.extract::<u32>() {
        Ok(number) if (1..=MOST_ACKS_PER_CALL).contains(&number) => Ok(number),
        _ => Err(wrong(name, &given, "it must be a whole number from 1 to 1000")),
    }
}

/// An attribute of the object, if it has it. A property that raises AttributeError is there.
fn attribute<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    match object.getattr_opt(name)? {
        None if object.get_type().hasattr(name)? => object.getattr(name).map(Some),
        found => Ok(found),
    }
}

/// The value of an attribute or a property, or what a method returns.
fn value<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = object.getattr(name)?;
    if found.is_callable() { found.call0() } else { Ok(found) }
}

fn wrong(name: &str, given: &Bound<'_, PyAny>, accepted: &'static str) -> Wrong {
    match given.repr() {
        Ok(given) => Wrong::Set(format!("{name} = {given}"), accepted),
        Err(error) => Wrong::Raised(error),
    }
}
