//! Loss models of a link: independent losses, every n-th packet, and the Gilbert-Elliott chain.

use super::basic::{inline_table, share, share_schema, whole_number, whole_schema};
use crate::form::{Custom, View, any_of, table_schema};
use crate::problem::{Refusal, refuse};
use crate::tree::{Item, Table, Value};
use serde_json::Value as Json;

const PROBABILITIES: (f64, f64) = (0.0, 0.999_999);
const EVERY_PACKETS: (i128, i128) = (2, 1_000_000_000_000_000);
const PROBABILITY: &str = "a probability per packet, from 0 to below 1, such as 1e-5 or \"0.1 %\"";

/// Which packets a link loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each with this probability.
    Random(f64),
    /// Every n-th packet of each flow.
    Every(u64),
    /// A two-state Markov chain that takes a step for each packet; all four are probabilities per packet.
    GilbertElliott {
        /// From the good state to the bad one.
        good_to_bad: f64,
        /// Back.
        bad_to_good: f64,
        /// Loss in the good state.
        loss_good: f64,
        /// Loss in the bad state.
        loss_bad: f64,
    },
}

impl Loss {
    /// None.
    pub const NONE: Loss = Loss::Random(0.0);

    /// Whether the losses differ from seed to seed.
    pub fn is_random(&self) -> bool {
        match self {
            Loss::Random(probability) => *probability > 0.0,
            Loss::Every(_) => false,
            Loss::GilbertElliott { .. } => true,
        }
    }
}

fn read(value: &Value) -> Result<Loss, Refusal> {
    match value {
        Value::Integer(_) | Value::Float(_) | Value::Text(_) => {
            return share(value, PROBABILITIES, PROBABILITY).map(Loss::Random);
        }
        Value::Table(table) if table.has_only(&["every"], &[]) => {
            let value = table.get("every").map_or(&Value::Null, |item| &item.value);
            let packets = whole_number(value, EVERY_PACKETS, "packets");
            return packets
                .map(|n| Loss::Every(n as u64))
                .map_err(|refusal| refusal.within("every").at_part("every"));
        }
        Value::Table(table) if table.has_only(&["gilbert_elliott"], &[]) => {
            return read_chain(table.get("gilbert_elliott").map_or(&Value::Null, |item| &item.value));
        }
        _ => {}
    }
    refuse(
        "this is no loss model",
        "a probability such as 1e-5, { every = 10000 } or \
         { gilbert_elliott = { good_to_bad = 1e-5, bad_to_good = 0.1 } }",
    )
}

fn read_chain(value: &Value) -> Result<Loss, Refusal> {
    let (required, optional) = (["good_to_bad", "bad_to_good"], ["loss_good", "loss_bad"]);
    let accepted =
        "good_to_bad and bad_to_good, and beside them loss_good (0 by default) and loss_bad (1 by default)";
    let chain = inline_table(value, &required, &optional, accepted)
        .map_err(|refusal| refusal.within("gilbert_elliott").at_part("gilbert_elliott"))?;
    let part = |key: &str, default: f64| match chain.get(key) {
        None => Ok(default),
        Some(Item { value, .. }) => {
            share(value, (0.0, 1.0), "a probability from 0 to 1").map_err(|refusal| {
                let place = format!("gilbert_elliott.{key}");
                refusal.within(&place).at_part(&place)
            })
        }
    };
    Ok(Loss::GilbertElliott {
        good_to_bad: part("good_to_bad", 0.0)?,
        bad_to_good: part("bad_to_good", 0.0)?,
        loss_good: part("loss_good", 0.0)?,
        loss_bad: part("loss_bad", 1.0)?,
    })
}

fn parts(good_to_bad: f64, bad_to_good: f64, loss_good: f64, loss_bad: f64) -> [(&'static str, f64); 4] {
    [
        ("good_to_bad", good_to_bad),
        ("bad_to_good", bad_to_good),
        ("loss_good", loss_good),
        ("loss_bad", loss_bad),
    ]
}

fn write(loss: &Loss) -> Value {
    match *loss {
        Loss::Random(probability) => Value::Float(probability),
        Loss::Every(packets) => Table::of([("every", Value::Integer(packets.into()))]).into(),
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            let chain = parts(good_to_bad, bad_to_good, loss_good, loss_bad);
            Table::of([("gilbert_elliott", Table::of(chain.map(|(key, p)| (key, Value::Float(p)))))]).into()
        }
    }
}

fn view(loss: &Loss) -> View {
    match *loss {
        Loss::Random(probability) => View::Float(probability),
        Loss::Every(packets) => View::Fields(vec![("every", View::Integer(packets as i64))]),
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            let chain = parts(good_to_bad, bad_to_good, loss_good, loss_bad);
            let chain = chain.into_iter().map(|(key, p)| (key, View::Float(p))).collect();
            View::Fields(vec![("gilbert_elliott", View::Fields(chain))])
        }
    }
}

fn schema() -> Json {
    let probability = share_schema((0.0, 1.0));
    let every = whole_schema(EVERY_PACKETS, "packets");
    let chain = table_schema(
        &[("good_to_bad", probability.clone()), ("bad_to_good", probability.clone())],
        &[("loss_good", probability.clone()), ("loss_bad", probability)],
    );
    any_of([
        share_schema(PROBABILITIES),
        table_schema(&[("every", every)], &[]),
        table_schema(&[("gilbert_elliott", chain)], &[]),
    ])
}

/// A loss model.
pub const LOSS: Custom<Loss> =
    Custom { accepts: "a probability such as 1e-5", read: |value, _| read(value), write, schema, view };
