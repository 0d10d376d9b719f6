//! Threads that stay, for work that is too short to start threads for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Thread;

/// How often a thread looks for what comes next before it sleeps, some 0.2 ms in all: waking it takes about as long
/// on a virtual machine, and the steps of environments follow each other more quickly.
const LOOKS: usize = 10_000;

/// Pieces of work, by number. Each is done once, by one of several threads.
pub trait Pieces: Send + Sync {
    /// Does this piece.
    fn piece(&self, number: usize);
}

/// Work that several threads share.
struct Job<P> {
    pieces: Arc<P>,
    number: usize,
    taken: AtomicUsize,
    done: AtomicUsize,
    /// Who waits for the end.
    owner: Thread,
}

/// A job of any kind.
trait Shared: Send + Sync {
    /// Does pieces until none is left.
    fn labour(&self);
}

impl<P: Pieces> Shared for Job<P> {
    fn labour(&self) {
        loop {
            let number = self.taken.fetch_add(1, Ordering::Relaxed);
            if number >= self.number {
                return;
            }
            let _end = End(self);
            self.pieces.piece(number);
        }
    }
}

/// Counts a piece when it ends, even by a panic, so that nobody waits for it for ever.
struct End<'a, P>(&'a Job<P>);

impl<P> Drop for End<'_, P> {
    fn drop(&mut self) {
        // what the piece has done is seen by whoever sees the last count
        if self.0.done.fetch_add(1, Ordering::AcqRel) + 1 == self.0.number {
            self.0.owner.unpark();
        }
    }
}

/// The threads of a process, each by what leads to it. A forked child has none of its parent's.
struct Crew {
    process: u32,
    threads: Vec<Sender<Arc<dyn Shared>>>,
}

static CREW: Mutex<Crew> = Mutex::new(Crew { process: 0, threads: Vec::new() });

/// Does all pieces, in this thread and in up to `helpers` others. Returns when all are done.
pub fn share<P: Pieces + 'static>(pieces: &Arc<P>, number: usize, helpers: usize) {
    let (taken, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let job = Arc::new(Job { pieces: pieces.clone(), number, taken, done, owner: std::thread::current() });
    call(&job, helpers.min(number.saturating_sub(1)));
    job.labour();
    let is_done = || job.done.load(Ordering::Acquire) == number;
    if !looked_out(is_done) {
        while !is_done() {
            std::thread::park();
        }
    }
}

/// Looks out for something for a while; returns whether it came.
fn looked_out(mut came: impl FnMut() -> bool) -> bool {
    (0..LOOKS).any(|_| {
        std::hint::spin_loop();
        came()
    })
}

/// Gives a job to so many threads of the crew. If somebody else is calling it, or no thread can be had, there are fewer.
fn call<P: Pieces + 'static>(job: &Arc<Job<P>>, helpers: usize) {
    let Ok(mut crew) = CREW.try_lock() else { return };
    let Crew { process, threads } = &mut *crew;
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
        let _ = thread.send(job.clone()); // a thread that is gone does nothing; the others do its part
    }
}

/// What a thread of the crew does, until the process ends.
fn serve(jobs: &Receiver<Arc<dyn Shared>>) {
    loop {
        let mut next = None;
        looked_out(|| {
            next = jobs.try_recv().ok();
            next.is_some()
        });
        let Some(job) = next.or_else(|| jobs.recv().ok()) else { return };
        job.labour();
    }
}
