//! The order of names. What happens at the same time to flows that share nothing else happens in this order,
//! so that it depends neither on where they stand in a plan nor on what else stands there.

use core::cmp::Ordering;

/// The place of each name among all of them, in the order of [`compare`].
pub fn ranks(names: &[&str]) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..names.len() as u32).collect();
    sorted.sort_by(|&a, &b| compare(names[a as usize], names[b as usize])); // names usually come in order
    let mut ranks = vec![0; names.len()];
    for (rank, index) in (0..).zip(sorted) {
        ranks[index as usize] = rank;
    }
    ranks
}

/// Compares two names byte by byte, but numbers in them by their values: flow 9 comes before flow 10.
fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    loop {
        match (left.first(), right.first()) {
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let ((x, rest), (y, other)) = (number(left), number(right));
                match x.len().cmp(&y.len()).then_with(|| x.cmp(y)) {
                    Ordering::Equal => (left, right) = (rest, other),
                    unequal => return unequal,
                }
            }
            (Some(x), Some(y)) if x == y => (left, right) = (&left[1..], &right[1..]),
            // the same but for zeros before a number
            (None, None) => return a.cmp(b),
            (x, y) => return x.cmp(&y),
        }
    }
}

/// The digits of the number at the beginning, without zeros before it, and what is behind it.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let zeros = text.iter().take_while(|&&digit| digit == b'0').count();
    let text = &text[zeros..];
    text.split_at(text.iter().take_while(|digit| digit.is_ascii_digit()).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_in_order_with_numbers_by_their_values() {
        let names = ["", "0", "1", "2", "010", "10", "a", "a-9", "a-10", "a-10b", "b", "b1-2", "b01-10", "c"];
        assert!(names.windows(2).all(|pair| compare(pair[0], pair[1]) == Ordering::Less), "{names:?}");
        assert_eq!(ranks(&["10", "b", "9", "a"]), [1, 3, 0, 2]);
    }

    proptest! {
        #[test]
        fn the_order_is_total_and_names_are_equal_only_to_themselves(
            names in prop::collection::vec("[0-2ab]{0,4}", 3),
        ) {
            let (a, b, c) = (&*names[0], &*names[1], &*names[2]);
            prop_assert_eq!(compare(a, b), compare(b, a).reverse());
            prop_assert_eq!(compare(a, b) == Ordering::Equal, a == b);
            if compare(a, b) != Ordering::Greater && compare(b, c) != Ordering::Greater {
                prop_assert_ne!(compare(a, c), Ordering::Greater);
            }
        }
    }
}
