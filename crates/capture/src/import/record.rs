//! What a capture file has: records, and beside them what its reader counts.

use super::reason::Reason;
use crate::stream::said;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, BufRead, Read};

/// The longest record that is read, bytes: 64 of the largest packets that libpcap captures. A longer one is
/// damage.
pub const MOST_BYTES: u32 = 1 << 24;

/// Why a capture cannot be read any further.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Damage(pub String);

/// What a file holds, beside the TCP packets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    /// Packets read.
    pub packets: u64,
    /// Those of them that are no TCP packet, or cannot be read, by reason.
    pub left_out: BTreeMap<Reason, u64>,
    /// The comment of the file, if it has one.
    pub comment: String,
    /// Why the rest could not be read, if so.
    pub damage: Option<String>,
    /// Packets that the capturing program itself reports as missed.
    pub missed: u64,
    /// Packets without a time.
    pub untimed: u64,
    /// Packets of an interface that the file does not describe.
    pub undescribed: u64,
    /// TCP packets that are cut within their options.
    pub cut_options: u64,
}

impl Contents {
    /// Packets that are left out.
    pub fn others(&self) -> u64 {
        self.left_out.values().sum()
    }

    pub(super) fn leave_out(&mut self, reason: Reason) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}

/// A record of a file: a packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// When, ns since 1970-01-01; `None` where the file has no time.
    pub at_ns: Option<u64>,
    /// The interface, counted from 0 over the whole file.
    pub interface: u32,
    /// Other interfaces may show the same packet.
    pub several: bool,
    /// Its link type; `None` if the file does not describe the interface.
    pub link: Option<u32>,
    /// What was kept of it.
    pub bytes: &'a [u8],
    /// The length that it had, bytes.
    pub original: u32,
    /// The capture says that it went no further.
    pub dropped: bool,
}

fn broken(error: &io::Error) -> String {
    if ends_early(error) {
        return "its compressed data end early, or something else follows them".to_owned();
    }
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
            format!("damaged: {}", said(error))
        }
        _ => said(error),
    }
}

/// Whether the decoder met the end of the file within its data. An end between reads is no error:
/// [`Source::cut`] reports it.
fn ends_early(error: &io::Error) -> bool {
    let causes = core::iter::successors(Some(error as &(dyn Error + 'static)), |&cause| cause.source());
    causes
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::UnexpectedEof)
}

/// The bytes of a file, taken piece by piece.
pub struct Source<'a> {
    input: Box<dyn BufRead + 'a>,
    is_compressed: bool,
    piece: Vec<u8>,
    position: u64,
    record_start: u64,
}

impl<'a> Source<'a> {
    /// The bytes of `input`; `is_compressed` if the file has them so.
    pub fn new(input: Box<dyn BufRead + 'a>, is_compressed: bool) -> Self {
        Source { input, is_compressed, piece: Vec::new(), position: 0, record_start: 0 }
    }

    /// Whether the next bytes are these.
    pub fn begins(&mut self, with: &[u8]) -> Result<bool, Damage> {
        let next = self.input.fill_buf().map_err(|error| Damage(broken(&error)))?;
        Ok(next.starts_with(with))
    }

    /// Whether nothing follows; otherwise a record begins here.
    pub fn is_over(&mut self) -> Result<bool, Damage> {
        self.record_start = self.position;
        self.input.fill_buf().map(<[u8]>::is_empty).map_err(|error| Damage(broken(&error)))
    }

    /// The damage of the record that has begun, which is `what`.
    pub fn damage(&self, what: &str) -> Damage {
        Damage(format!("damaged: {what}, {}", self.location()))
    }

    fn location(&self) -> String {
        let unpacked = if self.is_compressed { " of what is unpacked" } else { "" };
        format!("at byte {}{unpacked}", self.record_start)
    }

    /// The damage of a file whose bytes end before those that a record has.
    fn cut(&self) -> Damage {
        Damage(match (self.position, self.record_start) {
            (0, _) => "it is empty when it is unpacked".to_owned(),
            (_, 0) => "it ends within the header of a capture: it was cut short, or is none".to_owned(),
            _ => format!(
                "it was cut short, or something else follows its packets: no whole packet begins {}",
                self.location()
            ),
        })
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.piece(N as u32)?);
        Ok(bytes)
    }

    /// The next `length` bytes, which are no more than [`MOST_BYTES`].
    pub fn piece(&mut self, length: u32) -> Result<&[u8], Damage> {
        self.piece.clear();
        let read = self.input.by_ref().take(u64::from(length)).read_to_end(&mut self.piece);
        match read {
            Ok(bytes) => {
                self.position += bytes as u64;
                if bytes == length as usize { Ok(&self.piece) } else { Err(self.cut()) }
            }
            Err(error) => Err(Damage(broken(&error))),
        }
    }

    /// Skips `length` bytes.
    pub fn skip(&mut self, length: u64) -> Result<(), Damage> {
        let skipped = io::copy(&mut self.input.by_ref().take(length), &mut io::sink());
        match skipped {
            Ok(bytes) => {
                self.position += bytes;
                if bytes == length { Ok(()) } else { Err(self.cut()) }
            }
            Err(error) => Err(Damage(broken(&error))),
        }
    }
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Little,
    Big,
}

impl Order {
    pub const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        }
    }

    pub const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The number at this place of `bytes`, if they are long enough.
    pub fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(bytes.get(at..)?.first_chunk().copied()?))
    }

    /// The number at this place of `bytes`, if they are long enough.
    pub fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(bytes.get(at..)?.first_chunk().copied()?))
    }
}
