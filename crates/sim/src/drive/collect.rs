//! The first step of the [way over a link](super::cross): what comes to it in a batch.

use super::ahead;
use super::arrivals::{Arrivals, PLACE_BITS};
use super::backlog::{note, settle};
use crate::model::flow::Flow;
use crate::model::link::{End, Handle, LinkCounters, Origin};
use longfat_net::{GONE, Pipe, WAITS};
use longfat_units::Time;
use longfat_wire::{Extra, Kind, Packet, SimPacket};

/// The most arrivals that are sorted at once: the run cannot be stopped meanwhile. It is small in tests and
/// fuzzing, so that batches are cut there.
pub const MOST: usize = if cfg!(any(fuzzing, debug_assertions)) { 64 } else { 1 << 18 };

/// What has come to a link in a batch, and room that others have used.
#[derive(Default)]
pub struct Collected {
    pub(super) arrivals: Arrivals,
    /// The packets by their places.
    pub(super) handles: Vec<Handle>,
    /// What each of them carries besides the usual, at a link with a router.
    pub(super) extras: Vec<Option<Box<Extra>>>,
}

/// What is collected of a packet.
pub trait Record: Copy {
    /// Fills room that no packet has used yet.
    const NONE: Self;
    /// Writes what is collected of this packet, which comes from there at this time and has this number in
    /// its ring. Returns what stands there in place of the time.
    fn write(&mut self, at: Time, packet: &SimPacket, origin: Origin, number: u32) -> Time;
}

impl Record for Handle {
    const NONE: Self = Handle::NONE;

    #[inline(always)]
    fn write(&mut self, _: Time, packet: &SimPacket, origin: Origin, number: u32) -> Time {
        *self = Handle::of(packet, origin, number);
        WAITS
    }
}

/// The first step.
pub struct Collecting<'a> {
    pub link: usize,
    pub is_lossy: bool,
    pub from: Time,
    pub until: Time,
    pub flows: &'a mut [Flow],
    pub counters: &'a mut LinkCounters,
    pub arrivals: &'a mut Arrivals,
    pub noted: &'a mut Vec<End>,
    /// How many arrivals there are.
    pub len: usize,
    /// The same with those that loss processes took.
    pub admitted: usize,
}

impl Collecting<'_> {
    /// Collects what comes from another link.
    pub fn collect_from_link(&mut self, pipe: &mut Pipe<Handle>, handles: &mut Vec<Handle>) {
        let most = pipe.len().min(MOST - self.admitted);
        let room = room(handles, self.len, most);
        let &mut Collecting { link, is_lossy, from, until, len, .. } = self;
        let Collecting { flows, counters, noted, arrivals, .. } = self;
        let mut place = 0;
        let mut admitted = 0;
        arrivals.add(most, |keys| {
            admitted = pipe.admit(until, most, |_, at, handle| {
                let (id, _) = handle.end().host();
                if is_lossy && flows[id].losses.strike(link, handle.kind()) {
                    counters.packets_lost += 1;
                    settle(flows, noted, *handle, GONE);
                    return at;
                }
                debug_assert!(from <= at, "an arrival before the batch");
                keys[place] = (at.as_ns() - from.as_ns()) << PLACE_BITS | (len + place) as u64;
                room[place] = *handle;
                place += 1;
                at
            });
            place
        });
        pipe.leave(|_, _| true);
        self.len += place;
        self.admitted += admitted;
    }

    /// Collects what these ends have sent.
    #[inline(never)] // a loop that needs the registers
    pub fn collect_from_ends<R: Record>(&mut self, origins: &[Origin], records: &mut Vec<R>) {
        for (place, origin) in origins.iter().enumerate() {
            if ahead::pays(origins) {
                ahead::at(self.flows, origins, place + ahead::PIPE, Flow::prefetch_pipe);
                ahead::at(self.flows, origins, place + ahead::FIRST_PACKETS, Flow::prefetch_next);
                if self.is_lossy {
                    ahead::at(self.flows, origins, place + ahead::PIPE, |flow, _| flow.prefetch_losses());
                }
            }
            self.collect_from_end(*origin, records);
        }
    }

    #[inline(always)]
    fn collect_from_end<R: Record>(&mut self, origin: Origin, records: &mut Vec<R>) {
        let (id, data) = origin.end.host();
        let &mut Collecting { link, is_lossy, from, until, len, .. } = self;
        let flow = &mut self.flows[id];
        let (ring, losses) = flow.ring_and_losses(data);
        let most = ring.under_way().min(MOST - self.admitted);
        let room = room(records, len, most);
        let (mut lost_data, mut lost_others, mut admitted) = (0, 0, 0);
        let first = (len as u64).wrapping_sub(from.as_ns() << PLACE_BITS);
        let mut next = first;
        self.arrivals.add(most, |keys| {
            let mut room = keys.iter_mut().zip(room);
            let mut write = |number, at: Time, packet: &mut SimPacket| {
                debug_assert!(from <= at, "an arrival before the batch");
                let Some((key, record)) = room.next() else { return at };
                *key = (at.as_ns() << PLACE_BITS).wrapping_add(next);
                next += 1;
                record.write(at, packet, origin, number)
            };
            admitted = if is_lossy {
                ring.admit(until, most, |number, at, packet| {
                    if losses.strike(link, packet.kind) {
                        lost_data += u64::from(packet.kind == Kind::Data);
                        lost_others += u64::from(packet.kind != Kind::Data);
                        return GONE;
                    }
                    write(number, at, packet)
                })
            } else {
                ring.admit(until, most, write)
            };
            next.wrapping_sub(first) as usize
        });
        note(ring, origin.end, self.noted);
        self.len += next.wrapping_sub(first) as usize;
        self.admitted += admitted;
        if lost_data + lost_others > 0 {
            self.counters.packets_lost += lost_data + lost_others;
            flow.drop_many(lost_data, lost_others);
        }
    }
}

/// The `n` records behind the first `len`.
#[inline(always)]
fn room<R: Record>(records: &mut Vec<R>, len: usize, n: usize) -> &mut [R] {
    if records.len() < len + n {
        records.resize(len + n, R::NONE);
    }
    &mut records[len..len + n]
}

/// Takes out of its ring what a packet carries besides the usual.
pub fn take_extra(flows: &mut [Flow], handle: Handle) -> Option<Box<Extra>> {
    let (id, data) = handle.end().host();
    let (_, packet) = flows[id].on_the_way_mut(data).waiting_mut(handle.number())?;
    packet.extra.take()
}
