//! Explicit congestion headers on data packets.

use crate::path::{RECEIVER, at_ms, config};
use longfat_transport::cc::find;
use longfat_transport::{Receiver, Sender};
use longfat_units::Time;
use longfat_wire::{Address, Packet, SimPacket, Trail};

#[test]
fn what_routers_wrote_beside_a_header_does_not_travel_again_with_a_later_packet() {
    let mut sender =
        Sender::new(config(), find("xcp").expect("registered").instance(&[]).expect("no parameters"));
    let mut receiver = Receiver::new(RECEIVER);
    let mut sent = Vec::new();
    sender.start(Time::ZERO, &mut |packet| sent.push(packet));
    let mut trails = Vec::new();
    for round in 1..=3 {
        let arrived: Vec<SimPacket> = core::mem::take(&mut sent);
        for mut packet in arrived {
            let answer = receiver.on_packet(at_ms(100 * round - 50), &packet).expect("an answer");
            trails.extend(packet.trail().copied());
            if let Some(trail) = packet.trail_mut() {
                *trail = Trail { ttl: 3, last_router: Some(Address(7)) };
            }
            if let Some(extra) = packet.extra {
                sender.recycle(extra);
            }
            sender.on_packet(at_ms(100 * round), &answer, &mut |packet| sent.push(packet));
        }
    }
    assert!(trails.len() > 3, "{}", trails.len());
    assert!(trails.iter().all(|&trail| trail == Trail::default()), "{trails:?}");
}
