//! Congestion control algorithms: one file each, one line each in the list of [`controller`].
//!
//! The shared sender detects losses, recovers and paces; an algorithm gets values and moves a [`Window`].
//! `congestion_control` and `row` say what an algorithm is; the algorithms use those two and never the list.

mod aggregation;
mod congestion_control;
mod controller;
mod guided;
mod low_priority;
mod round;
mod row;
mod windowed;

pub mod africa;
pub mod aimd;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod cdg;
pub mod copa;
pub mod ctcp;
pub mod cubic;
pub mod dctcp;
pub mod erica;
pub mod fast;
pub mod hstcp;
pub mod hstcp_lp;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod jetmax;
pub mod ledbat;
pub mod ledbat_plus_plus;
pub mod lp;
pub mod ltcp;
pub mod maxnet;
pub mod nv;
pub mod prague;
pub mod ptcp;
pub mod rcp;
pub mod stcp;
#[cfg(test)]
mod testing;
pub mod tri_s;
pub mod vcp;
pub mod vegas;
pub mod veno;
pub mod vivace;
pub mod westwood;
pub mod xcp;
pub mod xcp_r;
pub mod yeah;

pub use congestion_control::{
    Ack, Cause, Congestion, CongestionControl, Delivery, Echo, Internals, LEAST_SSTHRESH, LostSegment,
    MOST_CWND, MarkSample, Opening, Repair, Window,
};
pub use controller::{Algorithm, Controller, algorithms, find};
pub use longfat_units::parameters::{Kind, Parameter, ParameterError, Parameters, Value};
pub use row::{LossDetection, Properties, Protocol, Row, SendingTimes};
