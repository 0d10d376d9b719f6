//! What the targets in `fuzz_targets` do with their input, so that a test or a debugger can do it too.
//!
//! | target | input | has to hold |
//! |---|---|---|
//! | `plan` | JSON | no panic; both drivers give the same bytes |
//! | `packet` | bytes off a wire | no panic; a changed packet keeps its length, ports and right checksums |
//! | `queue` | a discipline, its parameters, packets and times | what goes in comes out once, or is dropped once |
//! | `capacity` | a trace's times, steps or a sine, and packets | transmissions end in order, and carry no more than the capacity |
//! | `capture` | a pcapng or pcap file | no panic; its connections add up, or it is refused |
//! | `reader` | a scenario's text | it is refused with an offer, or it has a plan and stays the same |
//! | `ebpf` | an object with eBPF programs | it is refused, or runs and ends, with one line |

pub mod bytes;
pub mod capacity;
pub mod capture;
pub mod ebpf;
pub mod json;
pub mod packet;
pub mod plan;
pub mod queue;
pub mod reader;
