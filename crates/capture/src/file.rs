//! Blocks of pcapng, streamed into a file (draft-ietf-opsawg-pcapng).
//!
//! Only whole blocks reach the file, so it is valid whenever the program ends. When the disk is full the file keeps
//! what is there, and [`CaptureFile::finish`] says why there is no more.

use longfat_units::Time;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// Whole blocks go to the file when there is this much of them, bytes.
const AT_ONCE: usize = 1 << 16;
/// if_tsresol: 10^-9 s.
const NANOSECONDS: u8 = 9;

/// What a capture calls one of its interfaces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its rate in bit/s, if that is constant.
    pub bps: Option<u64>,
}

/// What became of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// Packets in the file.
    pub packets: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Packets that are not in the file, because it could not be written any further.
    pub missing: u64,
    /// Why, if so.
    pub failure: Option<String>,
}

/// A capture that is being written.
pub struct CaptureFile {
    blocks: PcapNgWriter<Vec<u8>>,
    file: File,
    /// Bytes and packets in the file.
    written: (u64, u64),
    /// Packets in blocks that are not in the file yet.
    waiting: u64,
    missing: u64,
    failure: Option<io::Error>,
}

impl CaptureFile {
    /// Creates the file, or empties it, and writes the interfaces. Packets are raw IP; at most `snap_bytes` of each
    /// are kept.
    pub fn create(
        path: &Path,
        program: &str,
        comment: &str,
        snap_bytes: u32,
        interfaces: &[Interface],
    ) -> io::Result<Self> {
        let file = File::create(path)?;
        let options = [
            (!comment.is_empty()).then(|| SectionHeaderOption::Comment(comment.to_owned().into())),
            Some(SectionHeaderOption::UserApplication(program.to_owned().into())),
        ];
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: options.into_iter().flatten().collect(),
            ..SectionHeaderBlock::default()
        };
        let mut blocks = PcapNgWriter::with_section_header(Vec::new(), section).map_err(io::Error::other)?;
        for interface in interfaces {
            let mut options = vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(&interface.name)),
                InterfaceDescriptionOption::IfDescription(Cow::Borrowed(&interface.description)),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            options.extend(interface.bps.map(InterfaceDescriptionOption::IfSpeed));
            let block = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: snap_bytes, options };
            blocks.write_pcapng_block(block).map_err(io::Error::other)?;
        }
        let mut capture =
            CaptureFile { blocks, file, written: (0, 0), waiting: 0, missing: 0, failure: None };
        capture.flush();
        match capture.failure.take() {
            Some(error) => Err(error),
            None => Ok(capture),
        }
    }

    /// Writes a packet, of which `bytes` are kept. Times are since 1970-01-01.
    pub fn write(&mut self, at: Time, interface: u32, bytes: &[u8], original: u32, comment: Option<&str>) {
        if self.failure.is_some() {
            self.missing += 1;
            return;
        }
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: Duration::from_nanos(at.as_ns()),
            original_len: original,
            data: Cow::Borrowed(bytes),
            options: comment
                .map(|text| EnhancedPacketOption::Comment(Cow::Borrowed(text)))
                .into_iter()
                .collect(),
        };
        match self.blocks.write_pcapng_block(block) {
            Ok(_) => self.waiting += 1,
            Err(error) => {
                self.failure = Some(io::Error::other(error));
                self.missing += 1;
            }
        }
        if self.blocks.get_ref().len() >= AT_ONCE {
            self.flush();
        }
    }

    /// Hands the blocks so far to the file.
    pub fn flush(&mut self) {
        let blocks = core::mem::take(self.blocks.get_mut());
        let packets = core::mem::take(&mut self.waiting);
        match self.failure.as_ref().map_or_else(|| self.file.write_all(&blocks), |_| Ok(())) {
            Ok(()) if self.failure.is_none() => {
                self.written.0 += blocks.len() as u64;
                self.written.1 += packets;
            }
            Ok(()) => self.missing += packets,
            Err(error) => {
                // a part of them may be there; a pipe cannot be cut, and has no reader any more
                drop(self.file.set_len(self.written.0));
                self.missing += packets;
                self.failure = Some(error);
            }
        }
        *self.blocks.get_mut() = blocks;
        self.blocks.get_mut().clear();
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Written {
        self.flush();
        let (bytes, packets) = self.written;
        Written { packets, bytes, missing: self.missing, failure: self.failure.map(|error| said(&error)) }
    }
}

/// What the system says, without its number.
fn said(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::{Block, PcapNgReader};

    fn capture(path: &Path) -> CaptureFile {
        let interface = Interface { name: "bottleneck".into(), description: "a link".into(), bps: Some(5) };
        CaptureFile::create(path, "Longfat", "", 96, &[interface]).expect("created")
    }

    #[test]
    fn what_is_flushed_is_a_valid_file_while_the_capture_goes_on() {
        let path = std::env::temp_dir().join(format!("longfat-capture-{}.pcapng", std::process::id()));
        let mut file = capture(&path);
        file.write(Time::from_ns(u64::MAX / 2), 0, &[1, 2, 3], 1500, Some("dropped: queue full"));
        file.flush();
        let mut reader = PcapNgReader::new(File::open(&path).expect("open")).expect("a section");
        let mut packets = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.expect("a block") {
                packets.push((
                    packet.timestamp.as_nanos() as u64,
                    packet.original_len,
                    packet.data.into_owned(),
                ));
            }
        }
        assert_eq!(packets, [(u64::MAX / 2, 1500, vec![1, 2, 3])]);
        assert_eq!(file.finish().packets, 1);
        std::fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn a_full_disk_ends_the_capture_and_says_so() {
        let full = Path::new("/dev/full");
        if full.exists() {
            let interface = Interface { name: "a".into(), description: String::new(), bps: None };
            let error = CaptureFile::create(full, "Longfat", "", 96, &[interface]).err().expect("no room");
            assert_eq!(said(&error), "No space left on device");
        }
    }
}
