//! What a scenario may ask of the machine that reads it: files, users' own algorithms, the kernel's names.

use crate::tree::{Object, Value};
use std::fmt::Debug;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest trace or file of measured values.
pub const MOST_BYTES: u64 = 64_000_000;

/// A user's own algorithm.
#[derive(Clone, Debug, PartialEq)]
pub enum Own {
    /// A class or function that Python gave.
    Object(Object),
    /// "file.py:Class", with the whole path.
    Python(String),
    /// The congestion control of this name in an object with eBPF programs, or its only one.
    Ebpf(PathBuf, Option<String>),
}

/// What must be known of a user's own algorithm before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnFacts {
    /// It needs every mark reported (RFC 8257), and so negotiates ECN.
    pub needs_marks: bool,
    /// It controls the window in every phase.
    pub model_based: bool,
}

/// What a scenario may ask of the machine that reads it.
pub trait World {
    /// The content of a regular file with at most so many bytes; the error says why there is none.
    fn bytes(&self, path: &Path, most: u64) -> Result<Vec<u8>, String>;

    /// The whole path of a file that is there.
    fn whole(&self, path: &Path) -> PathBuf;

    /// Whether this is a file.
    fn is_file(&self, path: &Path) -> bool;

    /// Checks a user's own algorithm and its parameters. Returns its facts and its name there; the error is a
    /// line that names the file.
    fn own(&self, own: &Own, parameters: &[(String, Value)]) -> Result<(OwnFacts, String), String>;

    /// Whether the machine's kernel has a congestion control of this name.
    fn kernel_has(&self, name: &str) -> bool;
}

/// A machine with files, but without anything that runs users' algorithms.
#[derive(Clone, Copy, Debug)]
pub struct Files;

impl World for Files {
    fn bytes(&self, path: &Path, most: u64) -> Result<Vec<u8>, String> {
        read(path, most)
    }

    fn whole(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn own(&self, _own: &Own, _parameters: &[(String, Value)]) -> Result<(OwnFacts, String), String> {
        Err("users' own algorithms do not run here".to_owned())
    }

    fn kernel_has(&self, _name: &str) -> bool {
        false
    }
}

/// Reads a regular file; it does not wait for another program to write into a pipe.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err("a name of a file has no NUL".to_owned());
    }
    let said = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::WouldBlock {
            return "it waits for more, and so has no end".to_owned();
        }
        let text = error.to_string();
        text.split_once(" (os error").map_or(text.clone(), |(reason, _)| reason.to_owned())
    };
    // before it is opened, as opening a pipe waits
    if !fs::metadata(path).map_err(said)?.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    open(path).map_err(said)?.take(most + 1).read_to_end(&mut bytes).map_err(said)?;
    if bytes.len() as u64 > most {
        return Err(format!("more than {} MB", most as f64 / 1e6));
    }
    Ok(bytes)
}

/// Opens a file to read. Some of /proc's files look regular, and reading them would wait for more.
#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<fs::File> {
    fs::File::open(path)
}

/// Whether this error, or one behind it, is that the data end.
fn ends_early(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut behind = Some(error);
    while let Some(error) = behind {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            if io.kind() == std::io::ErrorKind::UnexpectedEof {
                return true;
            }
            // the source of an `io::Error` is that of the error that it wraps
            if io.get_ref().is_some_and(|inner| ends_early(inner)) {
                return true;
            }
        }
        behind = error.source();
    }
    false
}

const CUT_SHORT: &str = "its packed data end early: the file was cut short";
const DAMAGED: &str = "its packed data are damaged, or something follows them";
/// How each member of a file of gzip begins (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The lines of a text that another program wrote, of numbers that were measured.
///
/// It may be packed by gzip or zstd, and is in UTF-8, or in UTF-16 with its byte order mark.
///
/// # Errors
///
/// It is no such text, is damaged, or has more than `most` bytes unpacked.
pub fn measured_text(bytes: Vec<u8>, most: u64) -> Result<String, String> {
    let damaged = |error: std::io::Error| {
        let cut = ends_early(&error);
        (if cut { CUT_SHORT } else { DAMAGED }).to_owned()
    };
    let mut plain = Vec::new();
    if bytes.starts_with(&GZIP) {
        let mut rest = &*bytes;
        while !rest.is_empty() && plain.len() as u64 <= most {
            if !rest.starts_with(&GZIP) {
                return Err(DAMAGED.to_owned());
            }
            let mut member = flate2::bufread::GzDecoder::new(rest);
            let room = most + 1 - plain.len() as u64;
            member.by_ref().take(room).read_to_end(&mut plain).map_err(damaged)?;
            rest = member.into_inner();
        }
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let reader = ruzstd::decoding::StreamingDecoder::new(&*bytes).map_err(|_| CUT_SHORT.to_owned())?;
        reader.take(most + 1).read_to_end(&mut plain).map_err(damaged)?;
    } else {
        plain = bytes;
    }
    if plain.len() as u64 > most {
        return Err(format!("more than {} MB when unpacked", most as f64 / 1e6));
    }
    let unreadable = || "not a text in UTF-8 or UTF-16".to_owned();
    let utf16 = |of: fn([u8; 2]) -> u16| {
        let (units, rest) = plain[2..].as_chunks::<2>();
        let text = char::decode_utf16(units.iter().copied().map(of)).collect::<Result<String, _>>();
        text.ok().filter(|_| rest.is_empty()).ok_or_else(unreadable)
    };
    let text = match plain {
        _ if plain.starts_with(&[0xff, 0xfe]) => utf16(u16::from_le_bytes)?,
        _ if plain.starts_with(&[0xfe, 0xff]) => utf16(u16::from_be_bytes)?,
        _ => String::from_utf8(plain).map_err(|_| unreadable())?,
    };
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &str) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    }

    fn zstd(text: &str) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn a_packed_text_that_was_cut_short_is_told_from_one_with_something_behind() {
        let text: String = (0..2000).map(|time| format!("{}\n", time * 7 % 1999)).collect();
        for packed in [gzip(&text), zstd(&text)] {
            assert_eq!(measured_text(packed.clone(), 1 << 20).unwrap(), text);
            let half = packed[..packed.len() / 2].to_vec();
            assert_eq!(measured_text(half, 1 << 20).unwrap_err(), CUT_SHORT);
        }
        let followed = [gzip(&text), b"x".to_vec()].concat();
        assert!(measured_text(followed, 1 << 20).unwrap_err().contains("something follows"));
    }
}
