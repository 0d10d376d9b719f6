//! Losses on a path outside of queues: random, periodic, bursty.
//!
//! Each flow meets its own instance, with its own random stream: adding a flow does not change the losses of
//! any other.

use longfat_units::Stream;
use serde::{Deserialize, Serialize};

/// Which packets are lost; in JSON an object whose `kind` names the variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LossModel {
    /// Nothing.
    None,
    /// Each packet independently with this probability.
    Random {
        /// Probability in [0, 1].
        probability: f64,
    },
    /// The last of every `packets` packets.
    Every {
        /// Period in packets, at least 1.
        packets: u64,
    },
    /// Gilbert 1960, Elliott 1963: a good and a bad state, changed (or not) before each packet.
    GilbertElliott {
        /// Probability to go from good to bad.
        good_to_bad: f64,
        /// Probability to go from bad to good.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

impl LossModel {
    /// Whether the losses differ from seed to seed.
    pub const fn is_random(&self) -> bool {
        matches!(self, LossModel::Random { .. } | LossModel::GilbertElliott { .. })
    }
}

/// A running loss process.
#[derive(Clone, Debug)]
pub struct Loss {
    model: LossModel,
    stream: Stream,
    /// Packets that pass before the next loss (random and periodic).
    spare: u64,
    bad: bool,
}

impl Loss {
    /// The process of this model, drawing from `stream`; starts in the good state.
    pub fn new(model: LossModel, mut stream: Stream) -> Self {
        let spare = match model {
            LossModel::Random { probability } if probability > 0.0 => stream.geometric(probability),
            LossModel::Every { packets } => packets.saturating_sub(1),
            _ => u64::MAX,
        };
        Loss { model, stream, spare, bad: false }
    }

    /// Whether the next packet is lost.
    #[inline]
    pub fn strikes(&mut self) -> bool {
        if self.spare > 0 && !matches!(self.model, LossModel::GilbertElliott { .. }) {
            self.spare -= u64::from(self.spare != u64::MAX);
            return false;
        }
        self.strike()
    }

    fn strike(&mut self) -> bool {
        match self.model {
            LossModel::None => false,
            LossModel::Random { probability } => {
                self.spare = self.stream.geometric(probability);
                true
            }
            LossModel::Every { packets } => {
                self.spare = packets.saturating_sub(1);
                true
            }
            LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let leave = if self.bad { bad_to_good } else { good_to_bad };
                self.bad ^= self.stream.unit() < leave;
                self.stream.unit() < if self.bad { loss_bad } else { loss_good }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost_of(n: u32, model: LossModel) -> Vec<u32> {
        let mut loss = Loss::new(model, Stream::new(1, "loss"));
        (0..n).filter(|_| loss.strikes()).collect()
    }

    #[test]
    fn every_third_packet_is_lost() {
        assert_eq!(lost_of(9, LossModel::Every { packets: 3 }), [2, 5, 8]);
        assert_eq!(lost_of(3, LossModel::Every { packets: 1 }), [0, 1, 2]);
    }

    #[test]
    fn random_losses_have_their_probability() {
        let lost = lost_of(1_000_000, LossModel::Random { probability: 0.01 }).len();
        assert!((9_700..10_300).contains(&lost), "{lost}");
        assert_eq!(lost_of(1000, LossModel::Random { probability: 0.0 }).len(), 0);
        assert_eq!(lost_of(1000, LossModel::Random { probability: 1.0 }).len(), 1000);
    }

    #[test]
    fn gilbert_elliott_loses_in_bursts_at_its_stationary_rate() {
        let model = LossModel::GilbertElliott {
            good_to_bad: 0.001,
            bad_to_good: 0.099,
            loss_good: 0.0,
            loss_bad: 0.5,
        };
        let lost = lost_of(4_000_000, model);
        // stationary probability of the bad state .01, half of its packets lost
        let rate = lost.len() as f64 / 4e6;
        assert!((rate - 0.005).abs() < 0.0003, "{rate}");
        let next_too = lost.windows(2).filter(|w| w[1] == w[0] + 1).count() as f64 / lost.len() as f64;
        assert!((next_too - 0.901 * 0.5).abs() < 0.02, "{next_too}");
    }
}
