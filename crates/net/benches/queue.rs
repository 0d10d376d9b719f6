//! Drop-tail at a constant rate: arithmetic departures, the plain queue, and the pipe behind them.

use divan::Bencher;
use divan::counter::ItemsCount;
use longfat_net::queue::{DropTail, Limit};
use longfat_net::{Address, ConstantFifo, DropReason, Element, Pipe, Sink};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{FlowId, Kind, SimPacket};

const PACKETS: u64 = 10_000;

/// What a queue wants done, counted.
#[derive(Default)]
struct Counting {
    dropped: u64,
}

impl Sink<SimPacket> for Counting {
    fn forward(&mut self, _packet: SimPacket) {}
    fn drop(&mut self, _packet: SimPacket, _reason: DropReason) {
        self.dropped += 1;
    }
    fn marked(&mut self, _reason: DropReason) {}
    fn set_timer(&mut self, _at: Time) {}
    fn originate(&mut self, _packet: SimPacket, _to: Address) {}
}

fn packet(seq: u64) -> SimPacket {
    SimPacket::new(Kind::Data, FlowId(0), seq, 1500, Time::ZERO)
}

/// Packets that come 5 % faster than they leave: the queue is full and drops one in 21.
#[divan::bench(args = [175, 12_500])]
#[expect(clippy::expect_used, reason = "1 Gbit/s is a rate")]
fn constant_fifo(bencher: Bencher, limit: u64) {
    let rate = Rate::from_bps(1e9).expect("a rate");
    let gap = Interval::from_ns(rate.transmission(1500).as_ns() * 20 / 21);
    let mut queue = ConstantFifo::new(rate, Limit::Packets(limit));
    let mut now = Time::ZERO;
    let mut step = move || {
        now += gap;
        queue.offer(now, 1500)
    };
    (0..30 * limit).for_each(|_| {
        step();
    });
    bencher
        .counter(ItemsCount::new(PACKETS))
        .bench_local(move || (0..PACKETS).filter(|_| step().is_some()).count());
}

/// The same load on the plain form: an arrival, and most times a departure.
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

/// A pipe with so many packets under way: one in, one out.
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
