//! Explicit-rate routers: one file each, and one line each in a list. A router is an element around the queue
//! of a link: it sees packets before they join the queue and as they leave it, and writes into the headers of
//! those that carry one. A router that is a protocol's law and nothing else stands in the list of
//! [`protocols`], so that other routers can drive that law; every other router stands in [`list`].
//!
//! `row` says what a router is, `law` what a law is; routers use those and never the list.

mod behind;
mod law;
mod list;
mod protocols;
mod row;

pub mod dqw;
pub mod erica;
pub mod friendly;
pub mod jetmax;
pub mod maxnet;
pub mod ptp;
pub mod quickstart;
pub mod rcp;
pub mod vcp;
pub mod xcp;
mod xcp_i;

pub use law::{Controlled, DynLaw, Law, Laws, Stretch};
pub use list::*;
pub use protocols::*;
pub use row::{Router, Setup};
