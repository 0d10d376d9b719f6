//! Buffer sizes: packets, bytes, a time at the link's rate, or a share of the bandwidth-delay product.

use super::basic::{RTTS_S, number_schema, whole_text_schema};
use crate::decimal::Decimal;
use crate::form::{Custom, View, any_of};
use crate::problem::{Refusal, refuse};
use crate::text::shown;
use crate::tree::Value;
use crate::units::{SIZE, TIME, meant, split};
use serde_json::{Value as Json, json};

/// The most packets of a buffer.
pub const MOST_PACKETS: u64 = 1_000_000_000;
/// The most BDPs of a buffer.
const MOST_BDPS: u64 = 10_000;
const BDP_UNITS: [&str; 3] = ["% BDP", "%BDP", "BDP"];
const ACCEPTED: &str = "\"20 % BDP\", \"175 packets\", \"512 KiB\" or \"10 ms\"";

/// Room for waiting packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Buffer {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
    /// What the link's rate carries in so many seconds.
    Time(Decimal),
    /// So many bandwidth-delay products.
    Bdp(Decimal),
}

impl Buffer {
    /// One bandwidth-delay product.
    pub fn one_bdp() -> Buffer {
        Buffer::Bdp(Decimal::from(1))
    }

    /// The exact size in bytes on a link of this rate; `None` for a size in packets. `rtt_s` is the RTT of
    /// the BDP.
    pub fn bytes(&self, rate_bps: f64, rtt_s: f64) -> Option<Decimal> {
        let time = match self {
            Buffer::Packets(_) => return None,
            Buffer::Bytes(bytes) => return Some(Decimal::from(*bytes)),
            Buffer::Time(time) => time.clone(),
            Buffer::Bdp(share) => share.product(&Decimal::of(rtt_s)),
        };
        // an eighth is 125 thousandths
        Some(Decimal::of(rate_bps).product(&time).times(125).shifted(-3))
    }

    /// As a file writes it.
    pub fn written(&self) -> String {
        match self {
            Buffer::Packets(packets) => format!("{packets} packets"),
            Buffer::Bytes(bytes) => format!("{bytes} B"),
            Buffer::Time(time) => format!("{} s", time.plain()),
            Buffer::Bdp(share) => format!("{} % BDP", share.clone().shifted(2).plain()),
        }
    }

    fn view(&self) -> View {
        let (name, value) = match self {
            Buffer::Packets(packets) => ("packets", View::Integer(*packets as i64)),
            Buffer::Bytes(bytes) => ("bytes", View::Integer(*bytes as i64)),
            Buffer::Time(time) => ("time_s", View::Float(time.to_f64())),
            Buffer::Bdp(share) => ("bdp", View::Float(share.to_f64())),
        };
        View::Fields(vec![(name, value)])
    }
}

fn read(value: &Value) -> Result<Buffer, Refusal> {
    if value.number().is_some() {
        let hint = match value {
            Value::Integer(number) if *number > 0 => format!(", did you mean \"{number} packets\"?"),
            _ => String::new(),
        };
        return refuse(format!("a buffer needs a unit{hint}"), ACCEPTED);
    }
    let Some((amount, unit)) = value.text().and_then(split) else {
        return refuse("this is not a buffer", ACCEPTED);
    };
    let text = value.text().unwrap_or_default();
    if unit == "packets" || unit == "packet" {
        return match amount.whole() {
            Some(packets) if (1..=i128::from(MOST_PACKETS)).contains(&packets) => {
                Ok(Buffer::Packets(packets as u64))
            }
            _ => {
                let accepted = format!("a whole number of packets from 1 to {MOST_PACKETS}");
                refuse(format!("{} is no such number", shown(value)), accepted)
            }
        };
    }
    if !amount.is_positive() {
        return refuse("it holds less than a packet", ACCEPTED);
    }
    if BDP_UNITS.contains(&&*unit) {
        let share = if unit == "BDP" { amount } else { amount.shifted(-2) };
        if share > Decimal::from(MOST_BDPS) {
            return refuse("the buffer is too large", format!("up to {} % BDP", MOST_BDPS * 100));
        }
        return Ok(Buffer::Bdp(share));
    }
    if let Some(size) = SIZE.scaled(amount.clone(), &unit) {
        if size > Decimal::from(MOST_PACKETS) {
            return refuse("the buffer is too large", format!("up to {}", SIZE.write(MOST_PACKETS as f64)));
        }
        return Ok(Buffer::Bytes(size.ratio_floor(&Decimal::from(1))));
    }
    if let Some(time) = TIME.scaled(amount, &unit) {
        if time > Decimal::of(RTTS_S.1) {
            return refuse("the buffer is too large", format!("up to {}", TIME.write(RTTS_S.1)));
        }
        return Ok(Buffer::Time(time));
    }
    if unit.is_empty() {
        return refuse(format!("a buffer needs a unit, did you mean \"{} packets\"?", text.trim()), ACCEPTED);
    }
    let units: Vec<&str> =
        ["packets", "% BDP", "BDP"].into_iter().chain(SIZE.unit_names()).chain(TIME.unit_names()).collect();
    refuse(format!("\"{unit}\" is not a unit of a buffer{}", meant(text, &units)), ACCEPTED)
}

fn schema() -> Json {
    let units: Vec<&str> = BDP_UNITS.into_iter().chain(SIZE.unit_names()).chain(TIME.unit_names()).collect();
    let mut schema = any_of([
        whole_text_schema("A count", "175 packets", &["packets", "packet"]),
        number_schema("A buffer", "20 % BDP", &units, false),
    ]);
    schema["description"] = "Packets, a size, a time at the link's rate, or a share of the BDP".into();
    schema["examples"] = json!(["20 % BDP", "175 packets", "512 KiB", "10 ms"]);
    schema
}

/// Room for waiting packets.
pub const BUFFER: Custom<Buffer> = Custom {
    accepts: ACCEPTED,
    read: |item, _| Ok(read(&item.value)?),
    write: |value| value.written().into(),
    schema,
    view: Buffer::view,
};
