//! Congestion control algorithms: one file each, one line each in the list of [`controller`].
//!
//! The shared sender detects losses, recovers and paces; an algorithm gets values and moves a [`Window`].
//! `congestion_control` and `row` say what an algorithm is; the algorithms use those two and never the list.

mod aggregation;
mod congestion_control;
mod controller;
mod guided;
mod round;
mod row;
mod windowed;

pub mod africa;
pub mod aimd;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod ctcp;
pub mod cubic;
pub mod erica;
pub mod fast;
pub mod hstcp;
pub mod hstcp_lp;
pub mod htcp;
pub mod illinois;
pub mod jetmax;
pub mod ltcp;
pub mod maxnet;
pub mod ptcp;
pub mod rcp;
pub mod stcp;
#[cfg(test)]
mod testing;
pub mod tri_s;
pub mod vcp;
pub mod vegas;
pub mod westwood;
pub mod xcp;
pub mod xcp_r;
pub mod yeah;

pub use congestion_control::{
    Ack, Cause, Congestion, CongestionControl, Delivery, LEAST_SSTHRESH, LostSegment, Opening, Repair,
    SendingTimes, Window,
};
pub use controller::{Algorithm, Controller, algorithms, find};
pub use longfat_units::parameters::{Kind, Parameter, ParameterError, Parameters, Value};
pub use row::{LossDetection, Row};
