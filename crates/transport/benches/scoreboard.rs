//! The SACK scoreboard: acknowledgements without losses, and whole recoveries after losses of different
//! shapes.

use divan::Bencher;
use divan::counter::ItemsCount;
use longfat_transport::Scoreboard;

/// Delayed acknowledgements in order, none lost: the usual case.
#[divan::bench]
fn in_order(bencher: Bencher) {
    const ACKS: u64 = 10_000;
    let mut board = Scoreboard::default();
    bencher.counter(ItemsCount::new(ACKS)).bench_local(move || {
        for _ in 0..ACKS {
            let to = divan::black_box(board.base() + 2);
            board.advance(to);
        }
        board.base()
    });
}

/// A window of which every `every`-th segment is lost, until all is acknowledged: an acknowledgement for each
/// segment that arrives, with the block it belongs to, and a retransmission whenever one is due. Items are
/// segments.
fn recovery(window: u64, every: u64) -> u64 {
    let mut board = Scoreboard::default();
    let mut again = 0;
    for seq in (0..window).filter(|seq| seq % every != 0) {
        board.sack(seq - seq % every + 1, seq + 1);
        board.judge();
        if let Some(lost) = board.next_lost() {
            board.retransmitted(lost, window + again);
            again += 1;
        }
    }
    let mut known = 0;
    for seq in (0..window).step_by(every as usize) {
        known += board.advance((seq + every).min(window));
    }
    known + again
}

/// A burst of losses at the end of slow-start: every second segment.
#[divan::bench(args = [100, 1000, 10_000, 100_000, 1_000_000])]
fn every_second_lost(bencher: Bencher, window: u64) {
    bencher.counter(ItemsCount::new(window)).bench_local(|| recovery(divan::black_box(window), 2));
}

/// Losses thinly spread over the window: one in a hundred.
#[divan::bench(args = [1000, 10_000, 100_000])]
fn one_in_a_hundred_lost(bencher: Bencher, window: u64) {
    bencher.counter(ItemsCount::new(window)).bench_local(|| recovery(divan::black_box(window), 100));
}

/// A timeout with the whole window outstanding, each segment sent again and acknowledged.
#[divan::bench(args = [100, 1000, 10_000, 100_000, 1_000_000])]
fn timeout(bencher: Bencher, window: u64) {
    bencher.counter(ItemsCount::new(window)).bench_local(|| {
        let window = divan::black_box(window);
        let mut board = Scoreboard::default();
        board.lose_all(window);
        while let Some(seq) = board.next_lost() {
            board.retransmitted(seq, window);
            board.advance(seq + 1);
        }
        board.base()
    });
}

fn main() {
    divan::main();
}
