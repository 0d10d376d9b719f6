//! A run in progress: its state, and what happens to that state whichever driver moves it.

mod background;
mod forwarding;
mod inheritance;
pub mod lookahead;
pub mod messages;
mod sampling;
pub mod state;
