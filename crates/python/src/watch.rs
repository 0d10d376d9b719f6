//! Looks after the core while it works: for signals such as Ctrl-C, and for the memory that a run takes.

use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
#[expect(clippy::disallowed_types, reason = "how often signals are looked for changes no result")]
use std::time::Instant;

/// Signals are looked for this often (chosen here: a fiftieth of a second is not noticed).
const EVERY: Duration = Duration::from_millis(20);

/// The message of the error that Python gets after a panic.
pub const CORE_FAILED: &str = "the core failed; its message is above";

/// Ends a run at a signal, or when it takes more memory than it may.
pub struct Watch {
    #[expect(clippy::disallowed_types, reason = "how often signals are looked for changes no result")]
    looked: Instant,
    /// The most resident memory of this process, bytes.
    most: Option<u64>,
    allowed: u64,
    /// Why the run ends.
    reason: Option<PyErr>,
}

impl Watch {
    /// Watches a run that begins now and may take `allowed` bytes.
    #[expect(clippy::disallowed_types, reason = "how often signals are looked for changes no result")]
    pub fn new(allowed: Option<u64>) -> Self {
        let most = allowed.and_then(|allowed| Some(resident()?.saturating_add(allowed)));
        Watch { looked: Instant::now(), most, allowed: allowed.unwrap_or_default(), reason: None }
    }

    /// Whether the run may go on. Takes nanoseconds, except now and then.
    pub fn goes_on(&mut self) -> bool {
        if self.looked.elapsed() < EVERY {
            return true;
        }
        self.look();
        self.reason.is_none()
    }

    /// Why the run ends, if this has ended it.
    pub fn take(&mut self) -> Option<PyErr> {
        self.reason.take()
    }

    #[cold]
    #[expect(clippy::disallowed_types, reason = "how often signals are looked for changes no result")]
    fn look(&mut self) {
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.reason = Some(error);
        } else if self.most.is_some_and(|most| resident().is_some_and(|bytes| bytes > most)) {
            self.reason = Some(PyMemoryError::new_err(self.allowed));
        }
        self.looked = Instant::now();
    }
}

/// The resident memory of this process, bytes; `None` where the system does not report it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| 1024 * kib)
}

/// Works in another thread, and ends early at a signal. The thread then works on, and its result is dropped.
pub fn aside<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (done, outcome) = channel();
    let outcome = Mutex::new(outcome); // only this thread reads it, but the compiler cannot know
    let worker = std::thread::Builder::new().name("longfat".to_owned());
    worker.spawn(move || done.send(work()))?;
    loop {
        match py.detach(|| outcome.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(EVERY)) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(CORE_FAILED));
            }
        }
    }
}
