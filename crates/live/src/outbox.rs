//! Packets that are due at hosts. Those of one conversation that follow each other are handed over as one,
//! because the kernel's work for a packet costs far more than the packet's bytes. Only packets that are due
//! already are joined: none waits for another.

use crate::sys::clock::Clock;
use crate::sys::tun::Device;
use longfat_units::Time;
use longfat_wire::{Packet, RealPacket};
use std::io::Result;

/// Conversations whose packets are looked at for one that a packet follows, latest first.
const NEIGHBOURS: usize = 8;

/// Packets that are handed over as one.
#[derive(Default)]
pub struct Group {
    /// The side of the hosts.
    pub side: usize,
    /// The packets, each of which follows the one before it.
    pub packets: Vec<RealPacket>,
    /// When each was due.
    pub due: Vec<Time>,
    /// Payload of each packet but the last, bytes.
    step: usize,
    /// Bytes of all together.
    bytes: usize,
}

impl Group {
    fn begin(&mut self, side: usize, due: Time, packet: RealPacket) {
        (self.side, self.step, self.bytes) = (side, packet.payload_bytes(), packet.bytes() as usize);
        self.packets.push(packet);
        self.due.push(due);
    }

    /// Adds the packet if it follows those of the group. The error is the packet.
    fn join(&mut self, side: usize, due: Time, packet: RealPacket) -> std::result::Result<(), RealPacket> {
        let bytes = self.bytes + packet.payload_bytes();
        let follows = self.packets.last().is_some_and(|last| last.leads_to(&packet, self.step));
        if self.side != side || bytes > RealPacket::MOST_JOINED_BYTES || !follows {
            return Err(packet);
        }
        self.bytes = bytes;
        self.packets.push(packet);
        self.due.push(due);
        Ok(())
    }
}

/// The packets that are due now.
#[derive(Default)]
pub struct Outbox {
    /// Groups in the order of their first packets, and behind them spare ones.
    groups: Vec<Group>,
    used: usize,
    head: Vec<u8>,
}

impl Outbox {
    /// Adds a packet for a side's hosts, behind all that are there of its conversation.
    pub fn put(&mut self, side: usize, due: Time, mut packet: RealPacket) {
        for group in self.groups[..self.used].iter_mut().rev().take(NEIGHBOURS) {
            let same = group.packets.last().is_some_and(|last| last.flow() == packet.flow());
            match group.join(side, due, packet) {
                Ok(()) => return,
                Err(back) => packet = back,
            }
            if same && group.side == side {
                break; // an earlier group would be handed over before what came in between
            }
        }
        if self.used == self.groups.len() {
            self.groups.push(Group::default());
        }
        self.groups[self.used].begin(side, due, packet);
        self.used += 1;
    }

    /// Hands everything over, then calls `done` with each group, when it was handed over, and whether its
    /// hosts' kernel took it. The kernel may answer before the call returns: the time is that of the call.
    pub fn hand_over(
        &mut self,
        clock: &Clock,
        devices: &[Device<'_>; 2],
        mut done: impl FnMut(&mut Group, Time, bool),
    ) {
        for group in &mut self.groups[..self.used] {
            let handed = clock.now();
            let taken = write(devices, group, &mut self.head).is_ok();
            done(group, handed, taken);
            group.packets.clear();
            group.due.clear();
        }
        self.used = 0;
    }
}

fn write(devices: &[Device<'_>; 2], group: &Group, head: &mut Vec<u8>) -> Result<()> {
    head.clear();
    let offload = RealPacket::write_joined(&group.packets, head);
    devices[group.side].write(offload, head, RealPacket::payloads(&group.packets))
}
