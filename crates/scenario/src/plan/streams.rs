//! The random streams of a run and their names.
//!
//! Each component has streams of its own, seeded from the run's seed and the component's name, so adding a
//! component leaves the draws of all others as they were. A stream's name is `COMPONENT/WHAT`:
//!
//! | component | what |
//! |---|---|
//! | `link/NAME` | `queue`: all draws of the queue; `router`: all draws of the router around it; `reorder`, `jitter`, `duplicate`: which packets these disturbances take, and how long they last |
//! | `medium/NAME` | `handovers`: the propagation delays of a medium that one or more links share |
//! | `clock/NAME` | `phase`: the first tick of the clock by which one or more links serve their queues |
//! | `flow/NAME` | `start`, and what every connection draws |
//! | `background/NAME/SESSION` | what the source draws: `gaps`, `sizes`, `bodies`, `files`, `offs`, `start` |
//! | `background/NAME/SESSION/NUMBER` | what every connection draws |
//!
//! A connection draws from `rtt`, `tick`, `jitter`, `udp`, `quick-start`, `algorithm`, and `loss/LINK/KIND`
//! for each loss process on its path, where LINK is the link's name. A link has at most one router, whichever
//! kind that is: what `link/NAME/router` means depends on the kind (errors of estimates, drops, counters of
//! flows), and no two routers ever share it. Names are unique among links, among flows and among backgrounds,
//! so no two components share any stream.

use longfat_units::{Name, Stream};
use longfat_wire::Kind;

/// Makes the random streams of one component.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
    component: Name,
}

impl Streams {
    fn of(seed: u64, kind: &str, name: &str) -> Self {
        Streams { seed, component: Name::EMPTY.and(kind).and("/").and(name) }
    }

    /// The streams of the link with this name.
    pub fn of_link(seed: u64, name: &str) -> Self {
        Streams::of(seed, "link", name)
    }

    /// The streams of the clock with this name.
    pub fn of_clock(seed: u64, name: &str) -> Self {
        Streams::of(seed, "clock", name)
    }

    /// The streams of the medium with this name.
    pub fn of_medium(seed: u64, name: &str) -> Self {
        Streams::of(seed, "medium", name)
    }

    /// The streams of the flow with this name.
    pub fn of_flow(seed: u64, name: &str) -> Self {
        Streams::of(seed, "flow", name)
    }

    /// The streams of a session of background traffic, by its number.
    pub fn of_session(seed: u64, background: &str, session: u64) -> Self {
        Streams::of(seed, "background", background).of_connection(session)
    }

    /// The streams of a connection that this session opens, by its number.
    #[must_use]
    pub fn of_connection(&self, number: u64) -> Self {
        Streams { seed: self.seed, component: self.component.and("/").and_number(number) }
    }

    /// The stream for one purpose.
    pub fn stream(&self, what: &str) -> Stream {
        Stream::of(self.seed, self.component.and("/").and(what))
    }

    /// The stream of this connection's loss process on the link with this name.
    pub fn loss(&self, link: &str, kind: Kind) -> Stream {
        let name = self.component.and("/loss/").and(link).and(&format!("/{kind:?}"));
        Stream::of(self.seed, name)
    }

    /// What distinguishes the component from all others, with any seed: a hash of its name.
    pub const fn identity(&self) -> u64 {
        self.component.hash()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn components_of_the_same_name_share_no_stream() {
        let (link, flow) = (Streams::of_link(1, "a"), Streams::of_flow(1, "a"));
        let session = Streams::of_session(1, "a", 0);
        let (first, second) = (session.of_connection(1), session.of_connection(2));
        let clock = Streams::of_clock(1, "a").stream("phase");
        let mut streams = vec![link.stream("queue"), link.stream("router"), flow.stream("start"), clock];
        for connection in [&flow, &first, &second] {
            streams.extend(
                ["rtt", "tick", "jitter", "udp", "quick-start", "algorithm"]
                    .map(|what| connection.stream(what)),
            );
            streams.extend([Kind::Data, Kind::Ack].map(|kind| connection.loss("a", kind)));
            streams.push(connection.loss("b", Kind::Data));
        }
        streams
            .extend(["gaps", "sizes", "bodies", "files", "offs", "start"].map(|what| session.stream(what)));
        let count = streams.len();
        let draws: BTreeSet<u64> = streams.into_iter().map(|mut stream| stream.below(u64::MAX)).collect();
        assert_eq!(draws.len(), count);
    }

    #[test]
    fn a_stream_is_the_one_of_its_printed_name() {
        let draw = |mut stream: Stream| stream.below(u64::MAX);
        let named = |name| draw(Stream::new(7, name));
        assert_eq!(draw(Streams::of_link(7, "bottleneck").stream("router")), named("link/bottleneck/router"));
        assert_eq!(draw(Streams::of_flow(7, "1").loss("to", Kind::Ack)), named("flow/1/loss/to/Ack"));
        let connection = Streams::of_session(7, "web", 3).of_connection(12);
        assert_eq!(draw(connection.stream("rtt")), named("background/web/3/12/rtt"));
    }
}
