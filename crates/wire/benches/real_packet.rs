//! What a real packet costs a live router beside the system calls: reading its headers, and marking it.

use divan::{Bencher, black_box};
use etherparse::PacketBuilder;
use etherparse::TcpOptionElement::{Noop, Timestamp};
use longfat_wire::{Ecn, FlowId, Packet, RealPacket};

/// A segment with this payload and the timestamps that Linux sends.
fn segment(payload: usize) -> Vec<u8> {
    let builder = PacketBuilder::ipv4([198, 18, 0, 1], [198, 18, 0, 2], 64).tcp(40_000, 5001, 0, 1000);
    let builder = builder.ack(1).options(&[Noop, Noop, Timestamp(1, 2)]);
    let mut bytes = Vec::new();
    if let Ok(builder) = builder {
        let _ = builder.write(&mut bytes, &vec![0; payload]);
    }
    bytes
}

fn main() {
    divan::main();
}

/// Parses a packet, assigns it to a flow and looks for its timestamp, as the router does with each packet it
/// reads.
#[divan::bench(args = [0, 1448])]
fn read(bencher: Bencher, payload: usize) {
    let mut bytes = segment(payload);
    bencher.bench_local(|| {
        let read = match RealPacket::parse(black_box(std::mem::take(&mut bytes))) {
            Ok((mut packet, exchanged)) => {
                packet.assign(FlowId(u32::from(exchanged.source.1)), true);
                black_box((packet.stamp(), packet.kind(), packet.bytes()));
                packet.into_buffer().unwrap_or_default()
            }
            Err(bytes) => panic!("not a packet: {bytes:?}"),
        };
        bytes = read;
    });
}

/// Marks a packet for congestion and updates its checksum.
#[divan::bench]
fn mark(bencher: Bencher) {
    let Ok((mut packet, _)) = RealPacket::parse(segment(1448)) else { panic!("not a packet") };
    bencher.bench_local(|| {
        packet.set_ecn(black_box(Ecn::Capable));
        packet.set_ecn(black_box(Ecn::Marked));
    });
}
