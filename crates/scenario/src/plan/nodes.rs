//! The nodes that links join, in plans that name them.

use super::connection::ConnectionPlan;
use super::error::{PlanError, bad};
use super::link::CheckedLink;

/// Most nodes of a plan: the table of routes has a row of nodes for each node.
pub const MOST_NODES: u32 = 1000;

/// Checks the nodes of the links, and that each connection's paths, by the connections' keys, follow them.
pub fn check<'a>(
    links: &[CheckedLink],
    connections: impl Iterator<Item = (String, &'a ConnectionPlan)>,
) -> Result<(), PlanError> {
    let given = links.iter().filter(|link| link.nodes.is_some()).count();
    for (i, link) in links.iter().enumerate() {
        let at = format!("links[{i}].nodes");
        match link.nodes {
            None if given > 0 => return bad(at, "give the nodes of all links, or of none"),
            Some((from, to)) if from == to || from.max(to) >= MOST_NODES => {
                let accepted = format!("accepted: two different nodes below {MOST_NODES}");
                return bad(at, format!("[{from}, {to}]; {accepted}"));
            }
            _ => {}
        }
    }
    for (at, connection) in connections {
        for (name, path) in [("forward", &connection.forward), ("reverse", &connection.reverse)] {
            let nodes = path.iter().map(|&link| links.get(link)?.nodes).collect::<Option<Vec<_>>>();
            if nodes.is_some_and(|nodes| nodes.windows(2).any(|pair| pair[0].1 != pair[1].0)) {
                let what =
                    format!("{path:?} is not a path: a link begins at another node than the last one ends");
                return bad(format!("{at}.{name}"), what);
            }
        }
    }
    Ok(())
}
