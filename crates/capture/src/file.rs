//! Blocks of pcapng, streamed into a file (draft-ietf-opsawg-pcapng).
//!
//! Only whole blocks reach the file, so it is valid whenever the program ends. When the disk is full the file
//! keeps what is there, and [`CaptureFile::finish`] says why there is no more.

use crate::stream::{Stream, said};
use longfat_units::Time;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness};
use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::Duration;

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
    stream: Stream,
    /// Packets in the file.
    packets: u64,
    /// Packets in blocks that are not in the file yet.
    waiting: u64,
    missing: u64,
}

impl CaptureFile {
    /// Creates the file, or empties it, and writes the interfaces. Packets are raw IP; at most `snap_bytes`
    /// of each are kept.
    pub fn create(
        path: &Path,
        program: &str,
        comment: &str,
        snap_bytes: u32,
        interfaces: &[Interface],
    ) -> io::Result<Self> {
        let stream = Stream::create(path)?;
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
        let mut capture = CaptureFile { blocks, stream, packets: 0, waiting: 0, missing: 0 };
        capture.flush();
        match capture.stream.take_failure() {
            Some(error) => Err(error),
            None => Ok(capture),
        }
    }

    /// Writes a packet, of which `bytes` are kept. Times are since 1970-01-01.
    pub fn write(&mut self, at: Time, interface: u32, bytes: &[u8], original: u32, comment: Option<&str>) {
        if self.stream.has_failed() {
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
            Err(_) => self.missing += 1, // never: the interface is there, and the blocks are in memory
        }
        if Stream::is_much(self.blocks.get_ref().len()) {
            self.flush();
        }
    }

    /// Hands the blocks so far to the file.
    pub fn flush(&mut self) {
        let packets = core::mem::take(&mut self.waiting);
        if self.stream.write(self.blocks.get_ref()) {
            self.packets += packets;
        } else {
            self.missing += packets;
        }
        self.blocks.get_mut().clear();
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Written {
        self.flush();
        let failure = self.stream.take_failure().map(|error| said(&error));
        Written { packets: self.packets, bytes: self.stream.written(), missing: self.missing, failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use std::fs::File;

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
