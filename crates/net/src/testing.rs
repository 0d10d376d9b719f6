//! The drivers of the tests in `tests/`, for a rule's test in the file of its queue or router.
#![allow(dead_code, reason = "each test uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[path = "../tests/common/mod.rs"]
pub mod driver;
#[path = "../tests/routers/setup.rs"]
pub mod router;
#[path = "../tests/queues/source.rs"]
pub mod source;
