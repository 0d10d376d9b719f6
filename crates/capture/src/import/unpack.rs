//! Compressed captures: gzip, zstd and xz, known by their first bytes.

use super::record::Damage;
use crate::stream::said;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::StreamingDecoder;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

/// The longest of the beginnings below, bytes.
const LONGEST: usize = 6;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
/// Compressed forms that are not read, and what unpacks them.
const REFUSED: [(&[u8], &str); 3] = [
    (b"BZh", "it is compressed with bzip2; unpack it first: bunzip2"),
    (&[0x04, 0x22, 0x4d, 0x18], "it is compressed with lz4; unpack it first: unlz4"),
    (b"PK\x03\x04", "it is a zip archive; unpack it first: unzip"),
];
/// The most memory that a compressed file may ask for, KiB: twice what `xz -9` and `zstd --ultra` need.
const MOST_KIB: u32 = 1 << 17;
/// The type of a zstd frame that holds no data: 0x184d2a50 to 0x184d2a5f, little endian (RFC 8878, section
/// 3.1.2).
const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// What the file holds once it is unpacked, and whether it was compressed.
///
/// # Errors
/// Returns why, if it is empty or compressed in a way that is not read.
pub fn unpack<'a>(mut input: impl Read + 'a) -> Result<(Box<dyn BufRead + 'a>, bool), Damage> {
    let mut magic = Vec::with_capacity(LONGEST);
    let begin = input.by_ref().take(LONGEST as u64).read_to_end(&mut magic);
    begin.map_err(|error| Damage(said(&error)))?;
    if magic.is_empty() {
        return Err(Damage("it is empty".to_owned()));
    }
    if let Some((_, reason)) = REFUSED.iter().find(|(begin, _)| magic.starts_with(begin)) {
        return Err(Damage((*reason).to_owned()));
    }
    let whole = BufReader::new(Cursor::new(magic.clone()).chain(input));
    Ok(if magic.starts_with(GZIP) {
        (Box::new(BufReader::new(MultiGzDecoder::new(whole))), true)
    } else if magic.starts_with(ZSTD) || magic.get(1..4) == Some(&SKIPPABLE) {
        (Box::new(BufReader::new(Zstd::Between(whole))), true)
    } else if magic.starts_with(XZ) {
        (Box::new(BufReader::new(XzReader::new_mem_limit(whole, true, MOST_KIB))), true)
    } else {
        (Box::new(whole), false)
    })
}

type Whole<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// The frames of a zstd file, one after the other: parallel compressors write many.
enum Zstd<R: Read> {
    Between(Whole<R>),
    Within(Box<StreamingDecoder<Whole<R>, ruzstd::decoding::FrameDecoder>>),
    /// The end, or an error.
    Over,
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match core::mem::replace(self, Zstd::Over) {
                Zstd::Between(mut input) => {
                    if input.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    if skip_frame(&mut input)? {
                        *self = Zstd::Between(input);
                        continue;
                    }
                    let most = u64::from(MOST_KIB) << 10;
                    let decoder = StreamingDecoder::new_with_max_window_size(input, most);
                    *self = Zstd::Within(Box::new(decoder.map_err(io::Error::other)?));
                }
                Zstd::Within(mut decoder) => match decoder.read(buffer)? {
                    0 if !buffer.is_empty() => *self = Zstd::Between(decoder.into_inner()),
                    bytes => {
                        *self = Zstd::Within(decoder);
                        return Ok(bytes);
                    }
                },
                Zstd::Over => return Ok(0),
            }
        }
    }
}

/// Skips a frame without data, if the next one is such a frame.
fn skip_frame(input: &mut impl BufRead) -> io::Result<bool> {
    let next = input.fill_buf()?;
    if next.get(1..4) != Some(&SKIPPABLE) {
        return Ok(false);
    }
    let mut header = [0; 8];
    input.read_exact(&mut header)?;
    let [_, _, _, _, length @ ..] = header;
    let length = u64::from(u32::from_le_bytes(length));
    let skipped = io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
    if skipped < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(true) }
}
