//! The records of a capture file: pcap and pcapng, compressed or not.
//!
//! Files differ from what their formats say, so only what is needed is believed: a snap length in a header is
//! not, nor are options, nor an order of time. What cannot be read is counted with its reason; where the next
//! record cannot be found any more, reading ends with what there was.

use super::record::{Contents, Damage, Record, Source};
use super::unpack::unpack;
use super::{pcap, pcapng};
use std::io::Read;

const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Hands each record of a file to `take`, in the order of the file.
///
/// # Errors
/// Returns what is wrong if nothing can be read at all.
pub fn records(
    input: impl Read,
    take: &mut dyn FnMut(&mut Contents, &Record<'_>),
) -> Result<Contents, Damage> {
    let mut contents = Contents::default();
    let (input, packed) = unpack(input)?;
    let mut source = Source::new(input, packed);
    let read = if source.begins(&PCAPNG)? { pcapng::read } else { pcap::read };
    match read(&mut source, &mut contents, take) {
        Ok(()) => {}
        Err(damage) if contents.packets == 0 => return Err(damage),
        Err(Damage(reason)) => contents.damage = Some(reason),
    }
    Ok(contents)
}
