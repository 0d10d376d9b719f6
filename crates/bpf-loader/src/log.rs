//! Files for the verifier's output, in a folder where others may write too.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The most names that are tried (chosen here).
const MOST_NAMES: u32 = 1000;

/// Writes a file that did not exist before and that only this user can read. Returns its path.
///
/// Whoever may write to the folder can take a name first, also by a link to a file elsewhere; then the next
/// name is tried.
pub fn write_new(folder: &Path, stem: &str, text: &str) -> io::Result<PathBuf> {
    let process = std::process::id();
    let mut result = Err(io::ErrorKind::AlreadyExists.into());
    for number in 0..MOST_NAMES {
        let path = folder.join(format!("{stem}-{process}-{number}.log"));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => return file.write_all(text.as_bytes()).map(|()| path),
            Err(error) => result = Err(error),
        }
        if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_name_that_somebody_has_taken_by_a_link_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("longfat-log-test-{}", std::process::id()));
        fs::create_dir(&folder).expect("a new folder");
        let other = folder.join("other");
        fs::write(&other, "untouched").expect("written");
        let first = folder.join(format!("lf_stcp-{}-0.log", std::process::id()));
        symlink(&other, &first).expect("linked");
        let path = write_new(&folder, "lf_stcp", "rejected").expect("written");
        assert_ne!(path, first);
        assert_eq!(fs::read_to_string(&path).expect("read"), "rejected");
        assert_eq!(fs::read_to_string(&other).expect("read"), "untouched");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
