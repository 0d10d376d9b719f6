//! Buffers that are used again and again, of a few sizes: a packet may wait in a queue for long, and a large
//! buffer with little in it would waste memory.

use longfat_wire::RealPacket;

/// The sizes, least first. The last one holds the largest packet of IP.
const SIZES: [usize; 3] = [1 << 11, 1 << 14, 1 << 16];
/// Most buffers of a size that are kept.
const MOST: usize = 1024;

/// The buffers of a thread.
#[derive(Default)]
pub struct Spare {
    buffers: [Vec<Vec<u8>>; SIZES.len()],
}

impl Spare {
    /// Returns a buffer with room for any packet.
    pub fn largest(&mut self) -> Vec<u8> {
        self.take(SIZES.len() - 1)
    }

    /// Returns the least buffer that holds the first `length` bytes of this one, with them.
    pub fn fitted(&mut self, buffer: Vec<u8>, length: usize) -> Vec<u8> {
        let size = SIZES.iter().position(|&size| length <= size).unwrap_or(SIZES.len());
        if size + 1 >= SIZES.len() {
            return buffer;
        }
        let mut fitted = self.take(size);
        fitted[..length].copy_from_slice(&buffer[..length]);
        self.keep(buffer);
        fitted
    }

    fn take(&mut self, size: usize) -> Vec<u8> {
        self.buffers[size].pop().unwrap_or_else(|| vec![0; SIZES[size]])
    }

    /// Keeps a buffer for later.
    pub fn keep(&mut self, buffer: Vec<u8>) {
        let size = SIZES.iter().position(|&size| size == buffer.len());
        if let Some(kept) = size.map(|size| &mut self.buffers[size]).filter(|kept| kept.len() < MOST) {
            kept.push(buffer);
        }
    }

    /// Keeps the buffer of a packet that has gone, if no other shares it.
    pub fn take_back(&mut self, packet: RealPacket) {
        if let Some(buffer) = packet.into_buffer() {
            self.keep(buffer);
        }
    }
}
