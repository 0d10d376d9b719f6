//! Threads that stay, for work that is too short to start threads for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::Thread;

/// How often a thread looks for what comes next before it sleeps, some 0.2 ms in all: waking it takes about
/// as long on a virtual machine, and the steps of environments follow each other more quickly.
const LOOKS: usize = 10_000;

/// Pieces of work, by number. Each is done once, by one of several threads.
pub trait Pieces: Send + Sync {
    /// Does this piece. If it panics, the piece itself records what is not done.
    fn piece(&self, number: usize);
}

/// Work that several threads share.
struct Job<P> {
    pieces: P,
    number: usize,
    taken: AtomicUsize,
}

/// A job of any kind.
trait Shared: Send + Sync {
    /// Does pieces until none is left.
    fn work(&self);
}

impl<P: Pieces> Shared for Job<P> {
    fn work(&self) {
        loop {
            let number = self.taken.fetch_add(1, Ordering::Relaxed);
            if number >= self.number {
                return;
            }
            // the other pieces are done nevertheless, and the owner gets all of them back
            let _ = catch_unwind(AssertUnwindSafe(|| self.pieces.piece(number)));
        }
    }
}

/// A job that a thread is asked to help with, if it comes before the owner has it back.
struct Call {
    job: Weak<dyn Shared>,
    owner: Thread,
}

/// A job in the hands of a thread that helps.
struct Help {
    // fields are dropped in this order: the thread that is woken finds the job given back
    job: Arc<dyn Shared>,
    _wakes: Wakes,
}

/// Wakes a thread when it is dropped.
struct Wakes(Thread);

impl Drop for Wakes {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

/// The threads of a process, each by what leads to it. A forked child has none of its parent's.
struct Pool {
    process: u32,
    threads: Vec<Sender<Call>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { process: 0, threads: Vec::new() });

/// Does all pieces, in this thread and in up to `helpers` others. Returns them when all are done.
///
/// Then no other thread has a part of them any more, or is about to drop one. Pieces have objects of Python:
/// a thread that drops such an object without the GIL takes a lock of pyo3, and if the process forks at that
/// moment, the child waits for this lock for ever.
pub fn share<P: Pieces + 'static>(pieces: P, number: usize, helpers: usize) -> P {
    let mut job = Arc::new(Job { pieces, number, taken: AtomicUsize::new(0) });
    call(&job, helpers.min(number.saturating_sub(1)));
    job.work();
    // every piece is done once the last thread that helps has given the job back
    loop {
        looked_out(|| Arc::strong_count(&job) == 1);
        match Arc::try_unwrap(job) {
            Ok(job) => return job.pieces,
            Err(held) => job = held,
        }
        std::thread::park();
    }
}

/// Looks out for something for a while; returns whether it came.
fn looked_out(mut came: impl FnMut() -> bool) -> bool {
    (0..LOOKS).any(|_| {
        std::hint::spin_loop();
        came()
    })
}

/// Gives a job to up to `helpers` threads of the pool: to none while another thread gives them one, and to
/// fewer if no more can be started.
fn call<P: Pieces + 'static>(job: &Arc<Job<P>>, helpers: usize) {
    let Ok(mut pool) = POOL.try_lock() else { return };
    let Pool { process, threads } = &mut *pool;
    if *process != std::process::id() {
        *process = std::process::id();
        // their threads are the parent's: dropping the ends of their channels could wait for them
        std::mem::forget(std::mem::take(threads));
    }
    while threads.len() < helpers {
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new().name("longfat".to_owned());
        if thread.spawn(move || serve(&receiver)).is_err() {
            break;
        }
        threads.push(sender);
    }
    for thread in threads.iter().take(helpers) {
        let call = Call { job: Arc::downgrade(job) as Weak<dyn Shared>, owner: std::thread::current() };
        let _ = thread.send(call); // a thread that is gone does nothing; the others do its part
    }
}

/// What a thread of the pool does, until the process ends.
fn serve(calls: &Receiver<Call>) {
    loop {
        let mut next = None;
        looked_out(|| {
            next = calls.try_recv().ok();
            next.is_some()
        });
        let Some(call) = next.or_else(|| calls.recv().ok()) else { return };
        let Some(job) = call.job.upgrade() else { continue };
        let help = Help { job, _wakes: Wakes(call.owner) };
        help.job.work();
    }
}
