//! Waiting: for a time, for one descriptor, or for the first of many.

use longfat_units::Interval;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{Error, Result};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Most descriptors that one [`Watch::wait`] reports.
const MOST_EVENTS: usize = 256;

/// Whether a call failed only because it would have had to wait, or because a signal interrupted it.
pub fn would_block(error: &Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::AGAIN | Errno::INPROGRESS | Errno::INTR))
}

/// Waits for this long; a signal may end the wait early.
pub fn sleep(interval: Interval) {
    // with nothing to poll, only a signal ends the wait early; every caller looks at the clock again
    let _ = poll(&mut [], Some(&timespec(interval)));
}

/// Waits until the descriptor can be read, for `most` at most.
pub fn wait_until_readable(fd: BorrowedFd<'_>, most: Interval) -> Result<()> {
    match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&timespec(most))) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The same for the first of a few.
pub fn wait_until_any_readable<'f>(fds: impl Iterator<Item = BorrowedFd<'f>>, most: Interval) -> Result<()> {
    let mut watched: Vec<_> = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    match poll(&mut watched, Some(&timespec(most))) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn timespec(interval: Interval) -> Timespec {
    Timespec {
        tv_sec: (interval.as_ns() / 1_000_000_000).cast_signed(),
        tv_nsec: (interval.as_ns() % 1_000_000_000).cast_signed(),
    }
}

/// A descriptor that [`Watch::wait`] found ready.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// The caller's number for it.
    pub number: u64,
    /// It can be read, or its connection has ended.
    pub read: bool,
    /// It can be written, or its connection has ended.
    pub write: bool,
}

/// Watches many descriptors, each under a number that the caller chooses (epoll).
pub struct Watch {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Watch {
    /// Returns one that watches nothing yet.
    pub fn new() -> Result<Self> {
        Ok(Watch { epoll: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(MOST_EVENTS) })
    }

    /// Begins to watch a descriptor for being readable, and with `write` for being writable too.
    pub fn add(&self, fd: BorrowedFd<'_>, number: u64, write: bool) -> Result<()> {
        let write = if write { EventFlags::OUT } else { EventFlags::empty() };
        Ok(epoll::add(&self.epoll, fd, EventData::new_u64(number), EventFlags::IN | write)?)
    }

    /// Watches a descriptor only for being readable from now on.
    pub fn watch_reads(&self, fd: BorrowedFd<'_>, number: u64) -> Result<()> {
        Ok(epoll::modify(&self.epoll, fd, EventData::new_u64(number), EventFlags::IN)?)
    }

    /// Watches a descriptor only for changes from now on: it is reported as readable once now, and again
    /// whenever its state changes.
    pub fn watch_changes(&self, fd: BorrowedFd<'_>, number: u64) -> Result<()> {
        let flags = EventFlags::IN | EventFlags::ET;
        Ok(epoll::modify(&self.epoll, fd, EventData::new_u64(number), flags)?)
    }

    /// Waits until a descriptor is ready, for `most` at most, and puts those that are into `ready`.
    pub fn wait(&mut self, most: Interval, ready: &mut Vec<Ready>) -> Result<()> {
        ready.clear();
        // epoll_wait counts its timeout in whole milliseconds, ppoll in nanoseconds
        wait_until_readable(self.epoll.as_fd(), most)?;
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&Timespec::default())) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ended = EventFlags::ERR | EventFlags::HUP | EventFlags::RDHUP;
        ready.extend(self.events.iter().map(|event| {
            let (flags, data) = (event.flags, event.data);
            Ready {
                number: data.u64(),
                read: flags.intersects(EventFlags::IN | ended),
                write: flags.intersects(EventFlags::OUT | ended),
            }
        }));
        Ok(())
    }
}
