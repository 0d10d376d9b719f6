//! What tests that need more than this machine may have do without it.

/// Says why a test is skipped; with LONGFAT_LIVE = require it fails instead.
pub fn skipped(reason: &str) {
    assert!(
        std::env::var_os("LONGFAT_LIVE").is_none_or(|wanted| wanted != "require"),
        "LONGFAT_LIVE=require, but: {reason}"
    );
    eprintln!("skipped: {reason}");
}
