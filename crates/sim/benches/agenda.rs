//! The cost of taking the earliest event off the agenda and of planning that source's next one.

#[path = "../src/drive/agenda.rs"]
#[allow(dead_code, unused_imports, reason = "the agenda is private to the crate; its tests are not run here")]
mod agenda;
#[path = "../src/model/order.rs"]
#[allow(dead_code, reason = "flows have an order, and there are none here")]
mod order;

/// Where the agenda looks for the order.
mod model {
    pub(crate) use crate::order;
}

use agenda::Agenda;
use divan::Bencher;
use divan::counter::ItemsCount;
use longfat_units::{Interval, Time};

const EVENTS: u64 = 10_000;

/// Hold model: each event plans its source's next one, at steps that differ from source to source and time to
/// time.
#[divan::bench(args = [4, 10, 100, 1000, 10_000, 100_000])]
fn hold(bencher: Bencher, sources: usize) {
    let mut agenda = Agenda::new(sources);
    for slot in 0..sources {
        agenda.set(slot, Time::from_ns(7919 * slot as u64 % 1_000_003));
    }
    let mut draw = 1u64;
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(move || {
        for _ in 0..EVENTS {
            let (at, slot) = agenda.first();
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            agenda.set(slot, at + Interval::from_ns(1 + (draw >> 44)));
        }
        agenda.first()
    });
}

fn main() {
    divan::main();
}
