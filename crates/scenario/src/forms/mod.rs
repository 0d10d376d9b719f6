//! The forms of all kinds of values: one file each where the value has a syntax of its own.

mod algorithm;
mod basic;
mod buffer;
mod disturbance;
mod drawn;
mod element;
mod loss;
mod rate;
mod receiver;
mod steps;
mod trace;

pub use algorithm::{ALGORITHM, Algorithm, Carrier, PACING, row_named, table_of};
pub use basic::*;
pub use buffer::{BUFFER, Buffer, MOST_PACKETS};
pub use disturbance::{
    ADDED_DELAY, Added, DUPLICATE, DelaySteps, Handovers, OUTAGES, Outage, REORDER, Reorder,
};
pub use drawn::{DRAWN_RTT, DRAWN_TIME, Drawn, MEASURED_SIZES, RTT_SUCH_AS, Rows, weighted_mean};
pub use element::{
    Element, ElementKind, QUEUE, ROUTER, default, file_words, parameter_schema, row_schema, written,
};
pub use loss::LOSS;
pub use rate::{Rate, Sine, VARYING_RATE};
pub use receiver::{RECEIVER, Receiver};
pub use trace::Source;
