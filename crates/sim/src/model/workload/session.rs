//! The sessions of a run: the members of all background traffic, each with its random streams.

use super::source::{Source, Workload};
use crate::model::order::Order;
use longfat_scenario::plan::{CheckedBackground, CheckedConnection, Streams, Traffic, ranks};
use longfat_units::{Interval, Time};

/// The list of kinds.
fn workload(traffic: &Traffic) -> &dyn Workload {
    match traffic {
        Traffic::Web(web) => web,
        Traffic::Surge(surge) => surge,
        Traffic::Short(short) => short,
        Traffic::Bulk(bulk) => bulk,
        Traffic::Onoff(onoff) => onoff,
    }
}

/// IP bytes that a background offers to the network, from the bytes of the transfers that it opened and the
/// packets that it sent; `None` if it sends as much as it can.
pub fn offered_bytes(
    traffic: &Traffic,
    of_transfers: u64,
    packets_sent: u64,
    connection: &CheckedConnection,
) -> Option<u64> {
    workload(traffic).offered_bytes(of_transfers, packets_sent, connection)
}

/// A source in a run.
pub struct Session {
    /// Index of the background that it belongs to.
    pub group: usize,
    /// When it opens its next connection.
    pub next_at: Time,
    /// Its number among all sessions, in the order of the backgrounds' names.
    number: u32,
    /// Its random streams.
    streams: Streams,
    /// How many connections it has opened.
    opened: u64,
    /// It opens no connection from then on.
    stop: Time,
    source: Box<dyn Source>,
}

impl Session {
    /// Opens a connection. Returns its payload in bytes, endless if `None`, and its random streams.
    pub fn open(&mut self, now: Time) -> (Option<u64>, Streams) {
        let opened = self.source.open(now);
        self.next_at = self.unless_stopped(opened.next_at);
        self.opened += 1;
        (opened.bytes, self.streams.of_connection(self.opened))
    }

    /// Where the connection that it opened last stands among others at the same time.
    pub const fn order(&self) -> Order {
        Order::of_connection(self.number, self.opened)
    }

    /// The connection that it opened last is complete. Returns whether the session has waited for that.
    pub fn completed(&mut self, now: Time) -> bool {
        let Some(at) = self.source.completed(now) else { return false };
        // later than now, so that times alone order the connections
        self.next_at = self.unless_stopped(at.max(now + Interval::from_ns(1)));
        true
    }

    fn unless_stopped(&self, at: Time) -> Time {
        if at < self.stop { at } else { Time::NEVER }
    }
}

/// The sessions of all background traffic.
pub fn sessions(seed: u64, backgrounds: &[CheckedBackground]) -> Vec<Session> {
    each_session(seed, backgrounds).collect()
}

/// The sessions of all background traffic, one by one.
pub fn each_session(seed: u64, backgrounds: &[CheckedBackground]) -> impl Iterator<Item = Session> {
    let names: Vec<&str> = backgrounds.iter().map(|background| &*background.name).collect();
    let ranks = ranks(&names);
    let first = move |group: usize| {
        let earlier = backgrounds.iter().zip(&ranks).filter(|(_, rank)| **rank < ranks[group]);
        earlier.map(|(background, _)| workload(&background.traffic).members()).sum::<u64>()
    };
    backgrounds.iter().enumerate().flat_map(move |(group, background)| {
        let (workload, first_number) = (workload(&background.traffic), first(group));
        (0..workload.members()).map(move |i| {
            let streams = Streams::of_session(seed, &background.name, i);
            let mut source = workload.member(&|what| streams.stream(what));
            let (first, stop) = (source.first(), background.connection.stop());
            let number = (first_number + i) as u32;
            let mut session = Session { group, next_at: first, number, streams, opened: 0, stop, source };
            session.next_at = session.unless_stopped(first);
            session
        })
    })
}
