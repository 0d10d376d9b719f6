//! Captures of packets, pcapng files that Wireshark, tshark and tcptrace read; and logs of senders, qlog
//! files.
//!
//! ```text
//! recorder   a tap on a simulated run: which packet is written when, and with which comment
//! headers    a simulated packet as IP with TCP or UDP
//! file       blocks of pcapng
//! live       a writer of real packets, for routers
//! import     the TCP connections of any capture
//! qlog       another tap: what each sender does, as a log of events
//! stream     a file that gets whole pieces only
//! ```
//!
//! A simulated packet has no addresses, and its sequence numbers count segments. [`Recorder`] makes of it
//! what the same stack would send: IPv4 and TCP (or UDP) with the model's own lengths, options and flags.

mod file;
mod headers;
mod import;
mod live;
mod qlog;
mod recorder;
mod stream;

pub use file::{CaptureFile, Interface, Written};
pub use import::{Captured, CapturedFlow, Contents, Damage, Reason, Row, Segment, Steps, flows, segments};
pub use live::{LiveRecorder, Watch};
pub use qlog::{Qlog, Version};
pub use recorder::{Recorder, Recording};
pub use stream::said;
