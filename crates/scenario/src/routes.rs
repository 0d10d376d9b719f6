//! Shortest paths over links between nodes. A path with a smaller sum of delays is shorter; among equal sums
//! the one with fewer links, and among those the one whose first link comes first in the plan.

use longfat_units::Interval;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A link, as routing sees it.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The node it leads from.
    pub from: usize,
    /// The node it leads to.
    pub to: usize,
    /// Its propagation delay.
    pub delay: Interval,
}

/// Sum of delays in ns, number of links.
type Length = (u64, u32);

/// The link that a packet at a node takes towards another node.
#[derive(Clone, Debug)]
pub struct Routes {
    hops: Vec<Hop>,
    nodes: usize,
    /// The next link for each destination and each node.
    next: Vec<Option<u32>>,
}

impl Routes {
    /// Finds the routes from all nodes to these. There is none to a node at which no link begins or ends.
    pub fn new(hops: Vec<Hop>, destinations: impl Iterator<Item = usize>) -> Self {
        let nodes = hops.iter().map(|hop| hop.from.max(hop.to) + 1).max().unwrap_or(0);
        let mut next = vec![None; nodes * nodes];
        let mut into = vec![Vec::new(); nodes];
        for (link, hop) in hops.iter().enumerate() {
            into[hop.to].push(link);
        }
        for to in destinations.filter(|&to| to < nodes) {
            let row = &mut next[to * nodes..][..nodes];
            if row.iter().all(Option::is_none) {
                towards(to, &hops, &into, row);
            }
        }
        Routes { hops, nodes, next }
    }

    /// The node at which a link begins.
    pub fn begin(&self, link: usize) -> usize {
        self.hops[link].from
    }

    /// The node at which a link ends.
    pub fn end(&self, link: usize) -> usize {
        self.hops[link].to
    }

    /// The link that leads from node `at` towards node `to`; `None` at `to` itself or without a path.
    pub fn next(&self, at: usize, to: usize) -> Option<usize> {
        let known = at < self.nodes; // otherwise the index would lie in another row
        self.next.get(to * self.nodes + at).filter(|_| known).copied().flatten().map(|link| link as usize)
    }

    /// The links from one node to another, in order; `None` without a path.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let (mut at, mut path) = (from, Vec::new());
        while at != to {
            let link = self.next(at, to)?;
            path.push(link);
            at = self.end(link);
        }
        Some(path)
    }
}

/// Finds each node's next link towards node `to` (Dijkstra 1959, from the destination).
fn towards(to: usize, hops: &[Hop], into: &[Vec<usize>], next: &mut [Option<u32>]) {
    let mut lengths: Vec<Option<Length>> = vec![None; next.len()];
    lengths[to] = Some((0, 0));
    let mut open = BinaryHeap::from([Reverse(((0, 0), to))]);
    while let Some(Reverse((length, node))) = open.pop() {
        if lengths[node] != Some(length) {
            continue; // a shorter path was found meanwhile
        }
        for &link in &into[node] {
            let hop = hops[link];
            let longer = (length.0.saturating_add(hop.delay.as_ns()), length.1 + 1);
            let known = lengths[hop.from];
            let earlier = next[hop.from].is_none_or(|other| (link as u32) < other);
            if known.is_none_or(|known| longer < known) {
                lengths[hop.from] = Some(longer);
                next[hop.from] = Some(link as u32);
                open.push(Reverse((longer, hop.from)));
            } else if known == Some(longer) && hop.from != to && earlier {
                next[hop.from] = Some(link as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(links: &[(usize, usize, u64)]) -> Routes {
        let hop = |&(from, to, ms)| Hop { from, to, delay: Interval::from_millis(ms) };
        let hops: Vec<_> = links.iter().map(hop).collect();
        Routes::new(hops, 0..6)
    }

    #[test]
    fn the_path_with_the_least_delay_wins_over_the_one_with_fewer_links() {
        let routes = routes(&[(0, 3, 30), (0, 1, 5), (1, 2, 5), (2, 3, 5)]);
        assert_eq!(routes.path(0, 3), Some(vec![1, 2, 3]));
    }

    #[test]
    fn among_equally_long_paths_the_one_with_fewer_links_wins_and_then_the_first_in_the_plan() {
        assert_eq!(routes(&[(0, 1, 5), (1, 2, 5), (0, 2, 10)]).path(0, 2), Some(vec![2]));
        assert_eq!(routes(&[(0, 2, 5), (2, 3, 5), (0, 1, 5), (1, 3, 5)]).path(0, 3), Some(vec![0, 1]));
        assert_eq!(routes(&[(1, 3, 5), (2, 3, 5), (0, 2, 5), (0, 1, 5)]).path(0, 3), Some(vec![2, 1]));
        assert_eq!(routes(&[(0, 1, 7), (0, 1, 7)]).path(0, 1), Some(vec![0]));
    }

    #[test]
    fn links_without_delay_lead_everywhere_and_never_in_a_circle() {
        let routes = routes(&[(0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 0), (2, 0, 0), (0, 2, 0)]);
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)] {
            assert_eq!(routes.path(from, to).map(|path| path.len()), Some(1), "{from} to {to}");
        }
    }

    #[test]
    fn links_lead_one_way_and_a_node_is_at_no_distance_from_itself() {
        let routes = routes(&[(0, 1, 5), (1, 2, 5)]);
        assert_eq!(routes.path(2, 0), None);
        assert_eq!(routes.path(1, 1), Some(vec![]));
    }
}
