//! Which thread routes over which links, and from which side connections are opened.
//!
//! Packets that one side's hosts send enter a router's thread at that side. Where the links can be divided so
//! that no connection needs both groups in one direction, as in a dumbbell, each side's thread has one group:
//! data take one and acknowledgements the other. Otherwise a single thread has all links and reads both
//! sides.

use longfat_sim::{CheckedRun, ConnectionPlan};

/// Which thread has which links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// For each link the side whose packets cross it; `None` if those of both sides do.
    sides: Option<Vec<usize>>,
    links: usize,
}

impl Layout {
    /// The layout for the connections of a run over this many links. What programs at the first side send
    /// crosses the first link, and what those at the second side send the second one. Messages between
    /// routers may take any link.
    pub fn new(run: &CheckedRun, links: usize, programs: bool, messages: bool) -> Self {
        if messages {
            return Layout { sides: None, links };
        }
        let flows = run.flows.iter().map(|flow| &*flow.connection);
        let background = run.background.iter().map(|background| &*background.connection);
        let programs = programs.then_some((&[0][..], &[1][..]));
        let connections = flows.chain(background).map(|c| (&c.forward[..], &c.reverse[..]));
        let ways: Vec<_> = programs.into_iter().chain(connections).collect();
        Layout { sides: divided(&ways, links), links }
    }

    /// The sides that each thread reads, and the links that it has, by index.
    pub fn threads(&self) -> Vec<(Vec<usize>, Vec<usize>)> {
        match &self.sides {
            None => vec![(vec![0, 1], (0..self.links).collect())],
            Some(sides) => [0, 1]
                .map(|side| (vec![side], (0..self.links).filter(|&link| sides[link] == side).collect()))
                .into(),
        }
    }

    /// The side from which a connection is opened.
    pub fn side(&self, connection: &ConnectionPlan) -> usize {
        self.sides.as_ref().map_or(0, |sides| sides[connection.forward[0]])
    }
}

/// Gives each link a side, so that a connection's links in one direction all have one and those in the other
/// direction the other; `None` if that cannot be done. A link that nothing crosses has the first side.
fn divided(ways: &[(&[usize], &[usize])], links: usize) -> Option<Vec<usize>> {
    let mut sides: Vec<Option<usize>> = vec![None; links];
    let mut rest: Vec<_> = ways.iter().collect();
    while !rest.is_empty() {
        let known = |way: &(&[usize], &[usize])| {
            let forward = way.0.iter().find_map(|&link| sides[link]);
            forward.or_else(|| way.1.iter().find_map(|&link| sides[link]).map(|side| 1 - side))
        };
        // with nothing known of any of them, the first is opened from the first side
        let at = rest.iter().position(|way| known(way).is_some()).unwrap_or(0);
        let side = known(rest[at]).unwrap_or(0);
        let (forward, reverse) = rest.remove(at);
        for (path, side) in [(forward, side), (reverse, 1 - side)] {
            for &link in *path {
                if *sides[link].get_or_insert(side) != side {
                    return None;
                }
            }
        }
    }
    Some(sides.into_iter().map(|side| side.unwrap_or(0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dumbbell_has_a_thread_for_each_link_whichever_way_connections_go() {
        let (there, back): (&[usize], &[usize]) = (&[0], &[1]);
        for ways in [vec![(there, back)], vec![(there, back), (back, there)]] {
            assert_eq!(divided(&ways, 2), Some(vec![0, 1]));
        }
    }

    #[test]
    fn what_programs_at_the_first_side_send_crosses_the_first_link_even_if_all_flows_go_backwards() {
        let (there, back): (&[usize], &[usize]) = (&[0], &[1]);
        assert_eq!(divided(&[(back, there)], 2), Some(vec![1, 0]));
        assert_eq!(divided(&[(there, back), (back, there)], 2), Some(vec![0, 1]));
    }

    #[test]
    fn a_parking_lot_has_a_thread_for_each_direction() {
        let long: (&[usize], &[usize]) = (&[0, 1, 2], &[5, 4, 3]);
        let short: Vec<(&[usize], &[usize])> = vec![(&[0], &[3]), (&[1], &[4]), (&[2], &[5]), long];
        assert_eq!(divided(&short, 6), Some(vec![0, 0, 0, 1, 1, 1]));
        let layout = Layout { sides: divided(&short, 6), links: 6 };
        assert_eq!(layout.threads(), [(vec![0], vec![0, 1, 2]), (vec![1], vec![3, 4, 5])]);
    }

    #[test]
    fn one_thread_has_all_links_if_routers_send_each_other_messages() -> Result<(), longfat_sim::PlanError> {
        let link = |name| {
            format!(
                r#"{{"name": "{name}", "rate_bps": 1e7, "delay_s": 0.0, "layer2": false,
                "service_tick_s": 0.0, "loss": {{"kind": "none"}},
                "ack_loss": {{"kind": "none"}}, "queue": {{"kind": "droptail", "limit_packets": 9}}}}"#
            )
        };
        let plan = longfat_sim::Plan::from_json(&format!(
            r#"{{"seed": 1, "duration_s": 1.0, "window_s": [0.0, 1.0], "links": [{}, {}], "flows": [],
            "background": [], "sample": {{"flows_s": 0.1, "links_s": 0.1, "internals": false}},
            "events": false, "fast": true}}"#,
            link("a"),
            link("b"),
        ))?;
        let plan: longfat_sim::CheckedPlan = plan.check()?;
        assert_eq!(Layout::new(&plan, 2, false, true).threads(), [(vec![0, 1], vec![0, 1])]);
        assert_eq!(Layout::new(&plan, 2, false, false).threads().len(), 2);
        Ok(())
    }

    #[test]
    fn links_that_a_connection_needs_in_both_directions_are_one_threads() {
        let ring: Vec<(&[usize], &[usize])> = vec![(&[0], &[1, 2]), (&[1], &[2, 0]), (&[2], &[0, 1])];
        assert_eq!(divided(&ring, 3), None);
        let layout = Layout { sides: None, links: 3 };
        assert_eq!(layout.threads(), [(vec![0, 1], vec![0, 1, 2])]);
    }
}
