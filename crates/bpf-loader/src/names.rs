//! Names of algorithms, as sockets select them.

use crate::error::Error;
use crate::kernel::{AVAILABLE, LONGEST_NAME};
use std::path::Path;

/// Returns the names that sockets may select at present.
///
/// # Errors
/// The kernel's list cannot be read.
pub fn available() -> Result<Vec<String>, Error> {
    let listed = std::fs::read_to_string(AVAILABLE).map_err(|e| Error::io(Path::new(AVAILABLE), &e))?;
    Ok(listed.split_whitespace().map(str::to_owned).collect())
}

/// Returns the name of the algorithm in an object, which is that of the file.
pub fn own_name(object: &Path) -> String {
    object.file_stem().unwrap_or(object.as_os_str()).to_string_lossy().into_owned()
}

/// Returns another name for an algorithm, shortened to what the kernel accepts.
pub fn numbered(own: &str, number: u32) -> String {
    let suffix = format!("_{number}");
    let stem: String = own.chars().take(LONGEST_NAME - suffix.len()).collect();
    stem + &suffix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_names_are_as_long_as_the_kernel_accepts() {
        assert_eq!(numbered("lf_hstcp", 2), "lf_hstcp_2");
        assert_eq!(numbered("lf_westwoodplus", 2), "lf_westwoodpl_2");
        assert_eq!(numbered("lf_westwoodplus", 12), "lf_westwoodp_12");
    }
}
