//! What distinguishes flows from each other, whatever place a run keeps them at.

use longfat_wire::FlowId;

/// The identities of flows. A [`FlowId`] is a place, which another flow may have taken before; what an
/// element hashes, or remembers beyond a flow's last packet, is its identity.
#[derive(Clone, Debug, Default)]
pub struct Identities(Vec<u64>);

impl Identities {
    /// The flow that now has this place has this identity.
    pub fn begins(&mut self, flow: FlowId, identity: u64) {
        let place = flow.0 as usize;
        if self.0.len() <= place {
            let known = self.0.len() as u64;
            self.0.extend(known..=place as u64); // each its own place, as `of` returns it
        }
        self.0[place] = identity;
    }

    /// The identity of a flow: its place if none was given.
    #[inline]
    pub fn of(&self, flow: FlowId) -> u64 {
        self.0.get(flow.0 as usize).copied().unwrap_or(u64::from(flow.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_the_identity_that_was_given_last_and_else_that_of_its_place() {
        let mut identities = Identities::default();
        identities.begins(FlowId(3), 77);
        let of = |identities: &Identities| [0, 2, 3, 4, u32::MAX].map(|flow| identities.of(FlowId(flow)));
        assert_eq!(of(&identities), [0, 2, 77, 4, u64::from(u32::MAX)]);
        identities.begins(FlowId(3), 78);
        identities.begins(FlowId(0), u64::MAX);
        assert_eq!(of(&identities), [u64::MAX, 2, 78, 4, u64::from(u32::MAX)]);
    }
}
