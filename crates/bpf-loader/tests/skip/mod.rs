//! Skips tests that need more than this machine may have.

/// Prints why a test is skipped; with LONGFAT_LIVE=require the test fails instead.
pub fn skipped(reason: &str) {
    assert!(
        std::env::var_os("LONGFAT_LIVE").is_none_or(|wanted| wanted != "require"),
        "LONGFAT_LIVE=require, but: {reason}"
    );
    eprintln!("skipped: {reason}");
}
