//! Background traffic of a run: which sessions open connections when, and what is counted of them.

use crate::path::Counts;
use longfat_sim::{
    BackgroundFigures, BackgroundMark, BackgroundPlan, Plan, Series, Session, TRANSFER_COLUMNS, Workload,
    background_figures, sessions,
};
use longfat_units::Time;
use std::sync::Arc;

/// What is counted of one background source.
struct Source<'a> {
    plan: &'a BackgroundPlan,
    /// Connections opened and completed.
    connections: BackgroundMark,
    /// Packets and bytes of all of its connections.
    counts: Arc<Counts>,
    /// The counts when the measurement began.
    before: BackgroundMark,
}

impl Source<'_> {
    fn now(&self) -> BackgroundMark {
        BackgroundMark {
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
    /// Names the connection's streams.
    pub name: String,
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
    transfers: Series,
}

impl<'a> Background<'a> {
    /// The sources of a plan, none of which has opened a connection.
    pub fn new(plan: &'a Plan) -> Self {
        let source = |plan: &'a BackgroundPlan| Source {
            plan,
            connections: BackgroundMark::default(),
            counts: Arc::default(),
            before: BackgroundMark::default(),
        };
        Background {
            sources: plan.background.iter().map(source).collect(),
            sessions: sessions(plan.seed, &plan.background),
            transfers: Series::new(TRANSFER_COLUMNS),
        }
    }

    /// Returns when each session opens its first connection.
    pub fn first_openings(&self) -> impl Iterator<Item = (usize, Time)> {
        self.sessions.iter().map(|session| session.next_at).enumerate()
    }

    /// Returns the workload that a session belongs to.
    pub fn workload(&self, session: usize) -> &'a dyn Workload {
        self.sources[self.sessions[session].group].plan.workload()
    }

    /// A session opens its next connection.
    pub fn open(&mut self, now: Time, session: usize) -> Opening {
        let session = &mut self.sessions[session];
        let bytes = session.open(now);
        let source = &mut self.sources[session.group];
        let planned = source.plan.workload().connection();
        source.connections.open(bytes.map(|payload| planned.ip_bytes(payload)));
        Opening {
            name: format!("{}/{}", session.name, session.opened),
            bytes,
            next_at: session.next_at,
            counts: source.counts.clone(),
        }
    }

    /// A session's connection, opened at `began`, is complete; or the kernel has given it up, with `bytes` of
    /// `None`. Returns when the session opens its next connection, if it has waited for this one.
    pub fn close(&mut self, now: Time, session: usize, began: Time, bytes: Option<u64>) -> Option<Time> {
        let session = &mut self.sessions[session];
        if let Some(bytes) = bytes {
            let (from_s, span_s) = (began.as_secs_f64(), now.since(began).as_secs_f64());
            self.transfers.push(&[session.group as f64, from_s, span_s, bytes as f64]);
            self.sources[session.group].connections.completed += 1;
        }
        session.completed(now).then_some(session.next_at)
    }

    /// Takes the connections that are complete.
    pub fn take_transfers(&mut self) -> Series {
        std::mem::replace(&mut self.transfers, Series::new(TRANSFER_COLUMNS))
    }

    /// The measurement begins.
    pub fn begin_measurement(&mut self) {
        for source in &mut self.sources {
            source.before = source.now();
        }
    }

    /// Returns the sources' figures for the measurement from `from` until now.
    pub fn figures(&self, from: Time, now: Time) -> Vec<BackgroundFigures> {
        let figures = |source: &Source<'_>| {
            background_figures(source.plan.workload(), (from, source.before), (now, source.now()))
        };
        self.sources.iter().map(figures).collect()
    }
}
