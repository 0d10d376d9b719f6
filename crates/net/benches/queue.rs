//! Queues: drop-tail with arithmetic departures, drop-tail by events, every discipline; and the pipe behind
//! them.

use divan::Bencher;
use divan::counter::ItemsCount;
use longfat_net::queue::{DropTail, Limit, Setup, find};
use longfat_net::{Address, ConstantFifo, Departures, DropReason, Element, Offered, Pipe, Sink};
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::{FlowId, Kind, Packet, SimPacket};

const PACKETS: u64 = 10_000;

/// Counts a queue's actions.
#[derive(Default)]
struct Counting {
    dropped: u64,
    timer: Time,
}

impl Sink<SimPacket> for Counting {
    fn forward(&mut self, _packet: SimPacket) {}
    fn drop(&mut self, _packet: SimPacket, _reason: DropReason) {
        self.dropped += 1;
    }
    fn marked(&mut self, _reason: DropReason) {}
    fn set_timer(&mut self, at: Time) {
        self.timer = at;
    }
    fn originate(&mut self, _packet: SimPacket, _to: Address) {}
}

fn packet(seq: u64) -> SimPacket {
    SimPacket::new(Kind::Data, FlowId(0), seq, 1500, Time::ZERO)
}

/// Packets that arrive 5 % faster than they leave: the queue is full and drops one in 21.
#[divan::bench(args = [175, 12_500])]
#[expect(clippy::expect_used, reason = "1 Gbit/s is a rate")]
fn constant_fifo(bencher: Bencher, limit: u64) {
    let rate = Rate::from_bps(1e9).expect("a rate");
    let gap = Interval::from_ns(rate.transmission(1500).as_ns() * 20 / 21);
    let mut queue = ConstantFifo::new(rate, Limit::Packets(limit), (Time::ZERO, Time::NEVER));
    let mut now = Time::ZERO;
    let mut step = move || {
        now += gap;
        queue.offer(now, 1500, false)
    };
    (0..30 * limit).for_each(|_| {
        step();
    });
    bencher
        .counter(ItemsCount::new(PACKETS))
        .bench_local(move || (0..PACKETS).filter(|_| matches!(step(), Offered::Departs(_))).count());
}

/// The same load on the form by events: an arrival, and most times a departure.
#[divan::bench(args = [175, 12_500])]
fn drop_tail(bencher: Bencher, limit: u64) {
    let mut queue = DropTail::new(Limit::Packets(limit));
    let mut out = Counting::default();
    (0..limit).for_each(|seq| queue.arrive(Time::ZERO, packet(seq), &mut out));
    bencher.counter(ItemsCount::new(PACKETS)).bench_local(move || {
        for seq in 0..PACKETS {
            queue.arrive(Time::ZERO, packet(seq), &mut out);
            if seq % 21 != 0 {
                divan::black_box(queue.next(Time::ZERO, &mut out));
            }
        }
        out.dropped
    });
}

/// Each discipline before 1 Gbit/s with room for 1000 packets, under the same load of a hundred flows: an
/// arrival, and most times a departure; what it draws, drops and times included.
#[divan::bench(args = ["droptail", "red", "choke", "blue", "sred", "codel", "fq_codel", "pie"])]
#[expect(clippy::expect_used, reason = "the rows exist, their defaults are sound, 1 Gbit/s is a rate")]
fn discipline(bencher: Bencher, name: &str) {
    let rate = Rate::from_bps(1e9).expect("a rate");
    let setup = Setup { limit: Limit::Packets(1000), rate, stream: Stream::new(1, "queue") };
    let row = find(name).expect("a row");
    let mut queue = row.instance::<SimPacket>(setup, &[]).expect("sound defaults");
    let gap = Interval::from_ns(rate.transmission(1500).as_ns() * 20 / 21);
    let mut out = Counting { timer: Time::NEVER, ..Counting::default() };
    let (mut now, mut free_at, mut seq) = (Time::ZERO, Time::ZERO, 0);
    let mut step = move || {
        now += gap;
        seq += 1;
        if out.timer <= now {
            queue.timer(out.timer, &mut out);
        }
        let mut next = packet(seq);
        next.flow = FlowId((seq % 100) as u32);
        queue.arrive(now, next, &mut out);
        if free_at <= now
            && let Some(sent) = queue.next(now, &mut out)
        {
            free_at = free_at.max(now) + rate.transmission(sent.bytes());
        }
        out.dropped
    };
    (0..100_000).for_each(|_| {
        step();
    });
    bencher.counter(ItemsCount::new(PACKETS)).bench_local(move || (0..PACKETS).map(|_| step()).sum::<u64>());
}

/// A pipe with this many packets under way: one in, one out.
#[divan::bench(args = [10, 1000, 100_000])]
fn pipe(bencher: Bencher, under_way: u64) {
    let mut pipe = Pipe::default();
    (0..under_way).for_each(|i| {
        pipe.push(Time::from_ns(i), packet(i));
    });
    let mut next = under_way;
    bencher.counter(ItemsCount::new(PACKETS)).bench_local(move || {
        for _ in 0..PACKETS {
            pipe.push(Time::from_ns(next), packet(next));
            next += 1;
            divan::black_box(pipe.pop());
        }
        pipe.head()
    });
}

fn main() {
    divan::main();
}
