//! Background traffic of a run: which sessions open connections when, and what is counted of them.

use crate::path::Counts;
use longfat_sim::{
    BackgroundCounters, BackgroundSummary, CheckedBackground, CheckedRun, Series, Session, Streams,
    TransferSample, background_summary, sessions,
};
use longfat_units::Time;
use std::sync::Arc;

/// What is counted of one background source.
struct Source<'a> {
    plan: &'a CheckedBackground,
    /// Connections opened and completed.
    connections: BackgroundCounters,
    /// Packets and bytes of all of its connections.
    counts: Arc<Counts>,
    /// The counts when the measured span began.
    before: BackgroundCounters,
}

impl Source<'_> {
    fn counters(&self) -> BackgroundCounters {
        BackgroundCounters {
            bytes_delivered: self.counts.delivered_bytes.get(),
            received_bytes: self.counts.received_bytes.get(),
            packets_sent: self.counts.packets_sent.get(),
            packets_lost: self.counts.packets_lost.get(),
            ..self.connections
        }
    }
}

/// A connection that a session opens.
pub struct Opening {
    /// The connection's random streams.
    pub streams: Streams,
    /// Payload, bytes; endless if `None`.
    pub bytes: Option<u64>,
    /// When the session opens its next connection: never if it waits for this one to complete.
    pub next_at: Time,
    /// Where the connection's packets are counted.
    pub counts: Arc<Counts>,
}

/// The background sources of a run.
pub struct Background<'a> {
    sources: Vec<Source<'a>>,
    sessions: Vec<Session>,
    transfers: Series<TransferSample>,
}

impl<'a> Background<'a> {
    /// The sources of a plan, none of which has opened a connection.
    pub fn new(plan: &'a CheckedRun) -> Self {
        let source = |plan: &'a CheckedBackground| Source {
            plan,
            connections: BackgroundCounters::default(),
            counts: Arc::default(),
            before: BackgroundCounters::default(),
        };
        Background {
            sources: plan.background.iter().map(source).collect(),
            sessions: sessions(plan.seed, &plan.background),
            transfers: Series::default(),
        }
    }

    /// Returns when each session opens its first connection.
    pub fn first_openings(&self) -> impl Iterator<Item = (usize, Time)> {
        self.sessions.iter().map(|session| session.next_at).enumerate()
    }

    /// Returns the plan of the source that a session belongs to.
    pub fn plan(&self, session: usize) -> &'a CheckedBackground {
        self.sources[self.sessions[session].group].plan
    }

    /// A session opens its next connection.
    pub fn open(&mut self, now: Time, session: usize) -> Opening {
        let session = &mut self.sessions[session];
        let (bytes, streams) = session.open(now);
        let source = &mut self.sources[session.group];
        let planned = &source.plan.connection;
        source.connections.open(bytes.map(|payload| planned.ip_bytes(payload)));
        Opening { streams, bytes, next_at: session.next_at, counts: source.counts.clone() }
    }

    /// A session's connection, opened at `began`, is complete; or the kernel has given it up, with `bytes` of
    /// `None`. Returns when the session opens its next connection, if it has waited for this one.
    pub fn close(&mut self, now: Time, session: usize, began: Time, bytes: Option<u64>) -> Option<Time> {
        let session = &mut self.sessions[session];
        if let Some(bytes) = bytes {
            self.transfers.push(&TransferSample {
                group: session.group as f64,
                start_s: began.as_secs_f64(),
                duration_s: now.since(began).as_secs_f64(),
                bytes: bytes as f64,
                delivery_s: f64::NAN,
            });
            self.sources[session.group].connections.completed += 1;
        }
        session.completed(now).then_some(session.next_at)
    }

    /// Takes the connections that are complete.
    pub fn take_transfers(&mut self) -> Series<TransferSample> {
        std::mem::take(&mut self.transfers)
    }

    /// The measured span begins.
    pub fn begin_measured(&mut self) {
        for source in &mut self.sources {
            source.before = source.counters();
        }
    }

    /// Returns the sources' summaries of the measured span, from `from` until now.
    pub fn summaries(&self, from: Time, now: Time) -> Vec<BackgroundSummary> {
        let summary = |source: &Source<'_>| {
            background_summary(source.plan, (from, source.before), (now, source.counters()))
        };
        self.sources.iter().map(summary).collect()
    }
}
