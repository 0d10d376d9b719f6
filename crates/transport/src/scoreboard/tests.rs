use super::*;
use proptest::prelude::*;

#[test]
fn three_segments_above_a_hole_make_it_lost() {
    let mut b = Scoreboard::default();
    b.advance(10);
    assert_eq!(b.sack(11, 13), 2);
    assert_eq!(b.judge(), 0);
    assert_eq!(b.sack(11, 14), 1);
    assert_eq!(b.judge(), 1);
    assert_eq!(b.next_lost(), Some(10));
    b.retransmitted(10, 14);
    assert_eq!((b.lost(), b.next_lost()), (0, None));
    assert_eq!(b.advance(14), 1);
    assert!(b.is_clear());
}

#[test]
fn losses_are_reported_once_and_again_when_the_retransmission_is_lost() {
    let mut b = Scoreboard::default();
    b.keep_losses();
    b.sack(1, 5);
    b.judge();
    assert_eq!((b.take_losses(), b.take_losses()), (vec![(0, 1)], vec![]));
    b.retransmitted(0, 8);
    b.lose_all(8);
    assert_eq!(b.take_losses(), [(0, 1), (5, 8)]);
}

#[test]
fn holes_are_sent_again_in_order() {
    let mut b = Scoreboard::default();
    b.sack(2, 4);
    b.sack(6, 7);
    b.sack(9, 20);
    assert_eq!(b.judge(), 2 + 2 + 2);
    let mut order = vec![];
    while let Some(seq) = b.next_lost() {
        order.push(seq);
        b.retransmitted(seq, 20);
    }
    assert_eq!(order, [0, 1, 4, 5, 7, 8]);
}

#[test]
fn a_retransmission_that_later_segments_overtake_is_lost_again() {
    let mut b = Scoreboard::default();
    b.sack(1, 5);
    b.judge();
    b.retransmitted(0, 8);
    b.sack(1, 10);
    assert_eq!(b.judge(), 0);
    b.sack(1, 11);
    assert_eq!(b.judge(), 1);
    assert_eq!(b.next_lost(), Some(0));
}

#[test]
fn a_timeout_loses_all_that_has_not_arrived() {
    let mut b = Scoreboard::default();
    b.sack(3, 5);
    b.lose_all(8);
    assert_eq!((b.lost(), b.sacked()), (6, 2));
    b.forget_losses();
    assert_eq!((b.lost(), b.sacked()), (0, 2));
}

/// The same rules, segment by segment, without runs.
#[derive(Default)]
struct Plain {
    states: Vec<State>,
    marks: Vec<u64>,
    base: usize,
}

impl Plain {
    fn count(&self, s: State) -> u64 {
        self.states[self.base..].iter().filter(|&&x| x == s).count() as u64
    }

    fn judge(&mut self) {
        for i in self.base..self.states.len() {
            let above =
                |from: usize| self.states[from..].iter().filter(|&&s| s == State::Sacked).count() as u64;
            let lost = match self.states[i] {
                State::Outstanding => above(i) >= DUP_THRESH,
                State::Retransmitted => above((self.marks[i] as usize).min(self.states.len())) >= DUP_THRESH,
                _ => false,
            };
            if lost {
                self.states[i] = State::Lost;
            }
        }
    }
}

proptest! {
    #[test]
    fn runs_say_what_a_list_of_single_segments_says(
        steps in proptest::collection::vec((0u8..10, 0u64..40, 1u64..6), 1..120)
    ) {
        const N: u64 = 48;
        let mut board = Scoreboard::default();
        let mut reference =
            Plain { states: vec![State::Outstanding; N as usize], marks: vec![0; N as usize], base: 0 };
        let mut next = 40;
        for (what, at, length) in steps {
            match what {
                0 => {
                    let to = (reference.base as u64 + length).min(next);
                    let known = reference.states[reference.base..to as usize]
                        .iter().filter(|&&s| s == State::Sacked).count() as u64;
                    prop_assert_eq!(board.advance(to), to - reference.base as u64 - known);
                    reference.base = to as usize;
                }
                1..=5 => {
                    let (start, end) = (at, (at + length).min(next));
                    let mut newly = 0;
                    for i in start.max(reference.base as u64)..end {
                        newly += u64::from(reference.states[i as usize] != State::Sacked);
                        reference.states[i as usize] = State::Sacked;
                    }
                    prop_assert_eq!(board.sack(start, end), newly);
                    board.judge();
                    reference.judge();
                }
                6 | 7 => {
                    let first = (reference.base..N as usize).find(|&i| reference.states[i] == State::Lost);
                    prop_assert_eq!(board.next_lost(), first.map(|i| i as u64));
                    if let Some(i) = first {
                        board.retransmitted(i as u64, next);
                        reference.states[i] = State::Retransmitted;
                        reference.marks[i] = next;
                    }
                }
                8 => next = (next + 1).min(N),
                _ if length == 1 => {
                    board.lose_all(next);
                    for i in reference.base..next as usize {
                        if reference.states[i] != State::Sacked {
                            reference.states[i] = State::Lost;
                        }
                    }
                }
                _ => {}
            }
            prop_assert_eq!(board.sacked(), reference.count(State::Sacked));
            prop_assert_eq!(board.lost(), reference.count(State::Lost));
        }
    }
}
