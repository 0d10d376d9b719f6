//! The loss processes on a connection's path.

use crate::plan::{ConnectionPlan, Streams};
use longfat_net::{Loss, LossModel};
use longfat_wire::Kind;

/// The loss processes that one connection meets: each has a state and a random stream of its own. There are
/// usually none.
#[derive(Clone, Debug, Default)]
pub struct PathLosses(Vec<(usize, Kind, Loss)>);

impl PathLosses {
    /// The processes of a connection. `models` returns the losses that a link, by its index, has among data
    /// packets and among acknowledgements; `streams` are the connection's.
    pub fn new(
        models: impl Fn(usize) -> (LossModel, LossModel),
        connection: &ConnectionPlan,
        streams: &Streams,
    ) -> Self {
        let data = connection.forward.iter().map(|&l| (l, Kind::Data, models(l).0));
        let acks = connection.reverse.iter().map(|&l| (l, Kind::Ack, models(l).1));
        Self::of(data.chain(acks), streams)
    }

    /// The processes of a connection whose ends both send data, over these links.
    pub fn both_ways(
        models: impl Fn(usize) -> (LossModel, LossModel),
        links: impl Iterator<Item = usize>,
        streams: &Streams,
    ) -> Self {
        Self::of(links.flat_map(|l| [(l, Kind::Data, models(l).0), (l, Kind::Ack, models(l).1)]), streams)
    }

    fn of(all: impl Iterator<Item = (usize, Kind, LossModel)>, streams: &Streams) -> Self {
        let lossy = all.filter(|(_, _, model)| *model != LossModel::None);
        let process = |(link, kind, model)| (link, kind, Loss::new(model, streams.loss(link, kind)));
        PathLosses(lossy.map(process).collect())
    }

    /// Whether the connection meets no loss process.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a loss process on this link takes the next packet of this kind.
    #[inline]
    pub fn strike(&mut self, link: usize, kind: Kind) -> bool {
        !self.0.is_empty() && self.0.iter_mut().any(|(l, k, loss)| *l == link && *k == kind && loss.strikes())
    }
}
