//! A file that gets whole pieces only, and that a full disk leaves as it is.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Pieces go to the file when there is this much of them, bytes.
const AT_ONCE: usize = 1 << 16;

/// A file that is being written.
#[derive(Debug)]
pub struct Stream {
    file: File,
    /// Whether it is a FIFO, which a signal ends.
    is_fifo: bool,
    /// Bytes in the file.
    written: u64,
    failure: Option<io::Error>,
}

impl Stream {
    /// Creates the file, or empties it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        let is_fifo = is_fifo(&file)?;
        Ok(Stream { file, is_fifo, written: 0, failure: None })
    }

    /// Whether so many bytes are worth a call of the system.
    pub const fn is_much(bytes: usize) -> bool {
        bytes >= AT_ONCE
    }

    /// Whether nothing more can be written.
    pub const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Bytes in the file.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Writes all of these whole pieces. Returns whether they are in the file; otherwise none of them is.
    pub fn write(&mut self, pieces: &[u8]) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let done = if self.is_fifo { write_to_fifo(&self.file, pieces) } else { self.file.write_all(pieces) };
        if let Err(error) = done {
            // a part of them may be there; a FIFO cannot be cut
            drop(self.file.set_len(self.written));
            self.failure = Some(error);
            return false;
        }
        self.written += pieces.len() as u64;
        true
    }

    /// Takes the reason why nothing more can be written, if there is one.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

/// Writes all of these bytes to a FIFO. A signal ends it, as it does not end [`Write::write_all`], which
/// would wait for ever if the reader has stopped reading. The signal shows as an error, or as a part that was
/// written.
fn write_to_fifo(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    if file.write(bytes)? < bytes.len() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

#[cfg(unix)]
fn is_fifo(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::FileTypeExt;
    Ok(file.metadata()?.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_fifo(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// What the system says, without its number.
pub fn said(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
