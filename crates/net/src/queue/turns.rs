//! Queues that take turns: deficit round robin (Shreedhar, Varghese: Efficient Fair Queuing using Deficit Round Robin,
//! SIGCOMM 1995), with priority for new queues if they join as such (RFC 8290, section 4).
//!
//! ```text
//! joins:  a queue that was not listed gets a quantum of credit, at the end of the new ones or of the old ones
//! turn:   of the first new queue, else of the first old one; without credit it gets a quantum more and goes to the end
//!         of the old ones
//! empty:  a new queue goes to the end of the old ones, an old one leaves the list
//! ```

use std::collections::VecDeque;

/// Whose turn it is among queues, which are known by their indices.
#[derive(Clone, Debug)]
pub struct Turns {
    quantum: i64,
    credit: Vec<i64>,
    listed: Vec<bool>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl Turns {
    /// So many queues, none of them listed; the quantum is in bytes, above 0.
    pub fn new(queues: usize, quantum: i64) -> Self {
        Turns {
            quantum,
            credit: vec![0; queues],
            listed: vec![false; queues],
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// A packet has joined this queue; if the queue is not listed, it joins the new ones.
    pub fn join(&mut self, index: usize) {
        if self.list(index) {
            self.new.push_back(index);
        }
    }

    /// The same, but it joins the old ones.
    pub fn join_old(&mut self, index: usize) {
        if self.list(index) {
            self.old.push_back(index);
        }
    }

    fn list(&mut self, index: usize) -> bool {
        if self.listed[index] {
            return false;
        }
        self.listed[index] = true;
        self.credit[index] = self.quantum;
        true
    }

    /// The listed queues.
    pub fn listed(&self) -> impl Iterator<Item = usize> + '_ {
        self.new.iter().chain(&self.old).copied()
    }

    /// How many queues are listed.
    pub fn len(&self) -> usize {
        self.new.len() + self.old.len()
    }

    /// The queue whose turn it is.
    pub fn next(&mut self) -> Option<usize> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let index = *list.front()?;
            if self.credit[index] > 0 {
                return Some(index);
            }
            self.credit[index] += self.quantum;
            list.pop_front();
            self.old.push_back(index);
        }
    }

    /// The queue whose turn it is has sent this many bytes.
    pub fn pay(&mut self, index: usize, bytes: u32) {
        self.credit[index] -= i64::from(bytes);
    }

    /// The queue whose turn it is has nothing to send.
    pub fn pass(&mut self) {
        // RFC 8290, section 4: otherwise a queue that empties between two packets would always be new
        if let Some(index) = self.new.pop_front() {
            self.old.push_back(index);
        } else {
            self.leave();
        }
    }

    /// The first of the old queues leaves the list.
    pub fn leave(&mut self) {
        if let Some(index) = self.old.pop_front() {
            self.listed[index] = false;
        }
    }

    /// The first of the old queues.
    pub fn first_old(&self) -> Option<usize> {
        self.old.front().copied()
    }
}
