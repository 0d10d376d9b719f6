//! The lookahead of a run: the shortest time in which anything that leaves a link can reach a host or another
//! link.
//!
//! Nothing that happens within the lookahead can affect another link or host, so the fast driver handles that
//! much at a time where links keep in step. Where each link has a clock of its own, it asks for each what
//! comes from where, and how soon.

use crate::model::flow::{Flow, Route};
use crate::model::link::Link;
use longfat_units::{Interval, Time};
use std::collections::BTreeMap;

/// The lookahead, and how many flows have none longer: once the last of these has left, the lookahead grows.
#[derive(Clone, Copy, Debug)]
pub struct Lookahead {
    least: Interval,
    nearest: usize,
}

impl Lookahead {
    /// The lookahead of what never leaves: paths of background connections.
    pub fn new<'a>(links: &[Link], paths: impl Iterator<Item = &'a [usize]>) -> Self {
        Lookahead {
            least: paths.map(|path| onward(links, path)).fold(Interval::MAX, Interval::min),
            nearest: 1,
        }
    }

    /// The lookahead.
    #[inline]
    pub const fn least(&self) -> Interval {
        self.least
    }

    /// Includes a flow.
    pub fn include(&mut self, links: &[Link], flow: &Flow) {
        let least = of_route(links, &flow.route);
        if least < self.least {
            *self = Lookahead { least, nearest: 1 };
        } else if least == self.least {
            self.nearest += 1;
        }
    }

    /// A flow has left. Returns whether the lookahead may be longer now, and has to be computed again.
    pub fn exclude(&mut self, links: &[Link], flow: &Flow) -> bool {
        self.nearest -= usize::from(of_route(links, &flow.route) == self.least);
        self.nearest == 0
    }
}

/// Nothing that leaves a link on this route arrives anywhere sooner than this.
fn of_route(links: &[Link], route: &Route) -> Interval {
    let between = onward(links, &route.forward).min(onward(links, &route.reverse));
    between.min(route.to_end(true)).min(route.to_end(false))
}

/// The least delay of the links on this path that lead to another link: all but the last.
fn onward(links: &[Link], path: &[usize]) -> Interval {
    let onward = path.iter().rev().skip(1);
    onward.map(|&l| links[l].delay).min().unwrap_or(Interval::MAX)
}

/// From where packets come to each link, and how soon: directly from another link, or by way of a host that
/// answers.
#[derive(Debug)]
pub struct Approaches {
    /// For each link, in order, those from which packets come next, with the shortest time that this takes.
    of: Vec<Vec<(usize, Interval)>>,
}

impl Approaches {
    /// The approaches to these links of packets on these routes, and of packets that stay on the other paths.
    pub fn new<'a>(
        links: &[Link],
        routes: impl Iterator<Item = &'a Route>,
        paths: impl Iterator<Item = &'a [usize]>,
    ) -> Self {
        let mut of: Vec<BTreeMap<usize, Interval>> = vec![BTreeMap::new(); links.len()];
        let mut note = |from: usize, to: usize, time: Interval| {
            of[to].entry(from).and_modify(|least| *least = time.min(*least)).or_insert(time);
        };
        for path in paths {
            path.windows(2).for_each(|hop| note(hop[0], hop[1], links[hop[0]].delay));
        }
        for route in routes {
            for path in [&route.forward, &route.reverse] {
                path.windows(2).for_each(|hop| note(hop[0], hop[1], links[hop[0]].delay));
            }
            note(route.last(true), route.reverse[0], route.to_end(true));
            note(route.last(false), route.forward[0], route.to_end(false));
        }
        Approaches { of: of.into_iter().map(|from| from.into_iter().collect()).collect() }
    }

    /// Until when all arrivals at a link are known, if each link has been run up to its time in `clocks`, and
    /// each host as far as these allow.
    pub fn known(&self, link: usize, clocks: &[Time]) -> Time {
        self.of[link].iter().fold(Time::NEVER, |known, &(from, time)| known.min(clocks[from] + time))
    }
}
