//! The loss processes on a connection's path.

use longfat_net::{Loss, LossModel};
use longfat_scenario::plan::{ConnectionPlan, Streams};
use longfat_wire::Kind;

/// The loss processes that one connection meets: each has a state and a random stream of its own. There are
/// usually none.
#[derive(Clone, Debug, Default)]
pub struct PathLosses(Vec<(usize, Kind, Loss)>);

impl PathLosses {
    /// The processes of a connection. `links` returns the name of a link, by its index, and the losses that
    /// it has among data packets and among acknowledgements; `streams` are the connection's.
    pub fn new<'a>(
        links: impl Fn(usize) -> (&'a str, LossModel, LossModel),
        connection: &ConnectionPlan,
        streams: &Streams,
    ) -> Self {
        let on = |link, kind| {
            let (name, data, acks) = links(link);
            (link, name, kind, if kind == Kind::Data { data } else { acks })
        };
        let data = connection.forward.iter().map(|&link| on(link, Kind::Data));
        let acks = connection.reverse.iter().map(|&link| on(link, Kind::Ack));
        Self::of(data.chain(acks), streams)
    }

    /// The processes of a connection whose ends both send data, over these links.
    pub fn both_ways<'a>(
        links: impl Fn(usize) -> (&'a str, LossModel, LossModel),
        crossed: impl Iterator<Item = usize>,
        streams: &Streams,
    ) -> Self {
        let both = |link| {
            let (name, data, acks) = links(link);
            [(link, name, Kind::Data, data), (link, name, Kind::Ack, acks)]
        };
        Self::of(crossed.flat_map(both), streams)
    }

    fn of<'a>(all: impl Iterator<Item = (usize, &'a str, Kind, LossModel)>, streams: &Streams) -> Self {
        let lossy = all.filter(|(.., model)| *model != LossModel::None);
        let process = |(link, name, kind, model)| (link, kind, Loss::new(model, streams.loss(name, kind)));
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
