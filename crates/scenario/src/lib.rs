//! Scenarios: what a file may say, its defaults, and how its parts fit together.
//!
//! [`read`] turns a text or a tree of values into a [`Scenario`](tables::Scenario), with a line for each
//! problem. [`resolve::resolve`] makes the [`plan`] of it that runs. The modules depend on each other in one
//! direction only:
//!
//! ```text
//! read, write           texts and trees to scenarios and back
//! schema, reference     the definition as a JSON Schema and as tables of the reference page
//! stub                  the definition as a module of typed constructors for Python
//! resolve, notes        plans; what to know about a scenario
//! memory, occupancy     about how much memory a run takes
//! fit                   what does not fit together in a scenario
//! network, routes       links, paths and what follows from them
//! plan                  the numbers of a run in SI units, and their check
//! tables, stacks        the keys, each defined once; presets of them
//! keys, forms, form     tables of keys; how files write one kind of value
//! units, tree, problem  quantities; values with their places; why something is refused
//! ```

pub mod at;
pub mod changes;
mod decimal;
mod fit;
pub mod form;
pub mod forms;
pub mod keys;
pub mod memory;
pub mod network;
pub mod notes;
mod occupancy;
pub mod plan;
pub mod problem;
pub mod read;
pub mod reference;
pub mod resolve;
mod routes;
pub mod schema;
mod sizes;
pub mod stacks;
pub mod stub;
mod sums;
pub mod tables;
pub mod text;
pub mod tree;
pub mod units;
pub mod world;
pub mod write;

pub use routes::{Hop, Routes};
