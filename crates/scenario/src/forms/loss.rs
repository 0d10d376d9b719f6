//! Loss models of a link: independent losses, every n-th packet, and the Gilbert-Elliott chain.

use super::basic::{Number, Whole, share_of, whole};
use crate::at::At;
use crate::form::{Custom, Form, Under, any_of};
use crate::keys::{Checked, Inline, inline, table};
use crate::problem::{Refused, refuse};
use crate::tree::{Item, Value};
use longfat_net::LossModel;

table! {
    /// A two-state Markov chain that takes a step for each packet; all four are probabilities per packet.
    pub inline Chain {
        /// From the good state to the bad one.
        good_to_bad: f64 = PROBABILITY;
        /// From the bad state to the good one.
        bad_to_good: f64 = PROBABILITY;
        /// Loss in the good state.
        loss_good: f64 = PROBABILITY, else 0.0;
        /// Loss in the bad state.
        loss_bad: f64 = PROBABILITY, else 1.0;
    }
}

impl Checked for Chain {}

const RANDOM: Number = share_of(
    (0.0, 0.999_999),
    "a probability per packet, from 0 to below 1, such as 1e-5 or \"0.1 %\"",
    1e-5,
);
const EVERY: Under<Whole> = Under("every", whole((2, 1_000_000_000_000_000), "packets"));
const PROBABILITY: Number = share_of((0.0, 1.0), "a probability from 0 to 1", 0.1);
const CHAIN: Under<Inline<Chain>> = Under(
    "gilbert_elliott",
    inline(
        "good_to_bad and bad_to_good, and beside them loss_good (0 by default) and loss_bad (1 by default)",
    ),
);

fn read(item: &Item, at: &At<'_>) -> Result<LossModel, Refused> {
    match &item.value {
        Value::Integer(_) | Value::Float(_) | Value::Text(_) => Ok(match RANDOM.read(item, at)? {
            0.0 => LossModel::None,
            probability => LossModel::Random { probability },
        }),
        value if EVERY.fits(value) => {
            EVERY.read(item, at).map(|packets| LossModel::Every { packets: packets as u64 })
        }
        value if CHAIN.fits(value) => {
            let Chain { good_to_bad, bad_to_good, loss_good, loss_bad } = CHAIN.read(item, at)?;
            Ok(LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad })
        }
        _ => refuse(
            "this is no loss model",
            "a probability such as 1e-5, { every = 10000 } or \
             { gilbert_elliott = { good_to_bad = 1e-5, bad_to_good = 0.1 } }",
        ),
    }
}

/// What `of_random`, `of_every` and `of_chain` make of a loss model.
fn each<T>(
    model: &LossModel,
    of_random: fn(&f64) -> T,
    of_every: fn(&i64) -> T,
    of_chain: fn(&Chain) -> T,
) -> T {
    match *model {
        LossModel::None => of_random(&0.0),
        LossModel::Random { probability } => of_random(&probability),
        LossModel::Every { packets } => of_every(&(packets as i64)),
        LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            of_chain(&Chain { good_to_bad, bad_to_good, loss_good, loss_bad })
        }
    }
}

/// A loss model.
pub const LOSS: Custom<LossModel> = Custom {
    accepts: "a probability such as 1e-5",
    read,
    write: |loss| each(loss, |p| RANDOM.write(p), |n| EVERY.write(n), |chain| CHAIN.write(chain)),
    schema: || any_of([RANDOM.schema(), EVERY.schema(), CHAIN.schema()]),
    view: |loss| each(loss, |p| RANDOM.view(p), |n| EVERY.view(n), |chain| CHAIN.view(chain)),
};
