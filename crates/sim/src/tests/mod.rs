//! Tests that need the inside of a run.

mod messages;
