//! The lookahead of a run: the shortest time in which anything that leaves a link can reach a host or another
//! link.
//!
//! Nothing that happens within the lookahead can affect another link or host, so the fast driver handles that
//! much at a time.

use crate::model::flow::{Flow, Route};
use crate::model::link::Link;
use longfat_units::Interval;

/// The lookahead, and how many flows have none longer: once the last of these has left, the lookahead grows.
#[derive(Clone, Copy, Debug)]
pub struct Lookahead {
    least: Interval,
    nearest: usize,
}

impl Lookahead {
    /// The lookahead of what never leaves: paths of background connections, and messages, which take no less
    /// than `messages` if there are any.
    pub fn new<'a>(
        links: &[Link],
        paths: impl Iterator<Item = &'a [usize]>,
        messages: Option<Interval>,
    ) -> Self {
        let onward = paths.map(|path| onward(links, path)).fold(Interval::MAX, Interval::min);
        let shortest = links.iter().map(|link| link.delay).min().unwrap_or(Interval::MAX);
        let messages = messages.map_or(Interval::MAX, |least| least.min(shortest));
        Lookahead { least: onward.min(messages), nearest: 1 }
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
    // the last link's own delay comes before the stretch that only this flow uses
    let last = |path: &[usize]| path.last().map_or(Interval::ZERO, |&l| links[l].delay);
    let between = onward(links, &route.forward).min(onward(links, &route.reverse));
    let there = last(&route.forward) + route.forward_delay;
    between.min(there).min(last(&route.reverse) + route.reverse_delay)
}

/// The least delay of the links on this path that lead to another link: all but the last.
fn onward(links: &[Link], path: &[usize]) -> Interval {
    let onward = path.iter().rev().skip(1);
    onward.map(|&l| links[l].delay).min().unwrap_or(Interval::MAX)
}
