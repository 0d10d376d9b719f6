//! What distinguishes flows from each other, independent of where a run keeps them.

use longfat_wire::FlowId;

/// The identities of flows. A [`FlowId`] is an index, which another flow may have had before; what an
/// element hashes, or remembers beyond a flow's last packet, is its identity.
#[derive(Clone, Debug, Default)]
pub struct Identities(Vec<u64>);

impl Identities {
    /// The flow that now has this index has this identity.
    pub fn begins(&mut self, flow: FlowId, identity: u64) {
        let index = flow.0 as usize;
        if self.0.len() <= index {
            let known = self.0.len() as u64;
            self.0.extend(known..=index as u64); // each its own index, as `of` returns it
        }
        self.0[index] = identity;
    }

    /// The identity of a flow: its index if none was given.
    #[inline]
    pub fn of(&self, flow: FlowId) -> u64 {
        self.0.get(flow.0 as usize).copied().unwrap_or(u64::from(flow.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_the_identity_that_was_given_last_and_else_that_of_its_index() {
        let mut identities = Identities::default();
        identities.begins(FlowId(3), 77);
        let of = |identities: &Identities| [0, 2, 3, 4, u32::MAX].map(|flow| identities.of(FlowId(flow)));
        assert_eq!(of(&identities), [0, 2, 77, 4, u64::from(u32::MAX)]);
        identities.begins(FlowId(3), 78);
        identities.begins(FlowId(0), u64::MAX);
        assert_eq!(of(&identities), [u64::MAX, 2, 78, 4, u64::from(u32::MAX)]);
    }
}
