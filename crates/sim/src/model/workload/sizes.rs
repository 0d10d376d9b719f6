//! Tests that the sizes of files are drawn as Barford and Crovella (SIGMETRICS 1998) describe them.

use crate::model::workload::testing::{DRAWS, assert_fits, normal_cdf, sorted};
use longfat_scenario::plan::FileSizes;
use longfat_units::{Strata, Stream, math};

/// The values that the paper prints.
const PRINTED: FileSizes = FileSizes {
    body_mu: 9.357,
    body_sigma: 1.318,
    tail_share: 0.07,
    tail_least_bytes: 133_000.0,
    tail_shape: 1.1,
    largest_bytes: 1e12,
};

#[test]
fn the_body_of_the_files_is_the_printed_lognormal() {
    let mut stream = Stream::new(3, "body");
    let body = FileSizes { tail_share: 0.0, ..PRINTED };
    let whole = normal_cdf((math::ln(133_000.0) - 9.357) / 1.318);
    assert!((whole - 0.968).abs() < 0.001, "{whole}"); // a table of the normal distribution at 1.852
    let xs = sorted(|| body.draw(&mut stream));
    assert_fits(&xs, |x| normal_cdf((math::ln(x) - 9.357) / 1.318) / whole);
}

#[test]
fn seven_files_in_a_hundred_lie_in_the_printed_pareto_tail() {
    let mut stream = Stream::new(3, "tail");
    let xs = sorted(|| PRINTED.draw(&mut stream));
    let tail: Vec<f64> = xs.iter().copied().filter(|&x| x >= 133_000.0).collect();
    let share = tail.len() as f64 / DRAWS as f64;
    assert!((share - 0.07).abs() < 0.005, "{share}"); // 2.8 standard deviations
    assert_fits(&tail, |x| 1.0 - math::pow(133_000.0 / x, 1.1));
}

#[test]
fn no_file_is_larger_than_the_bound_and_the_rest_keep_their_shape() {
    let mut stream = Stream::new(3, "bound");
    let bounded = FileSizes { tail_share: 1.0, largest_bytes: 1_330_000.0, ..PRINTED };
    let xs = sorted(|| bounded.draw(&mut stream));
    assert!(xs.iter().all(|&x| (133_000.0..=1_330_000.0).contains(&x)));
    let within = 1.0 - math::pow(0.1, 1.1);
    assert_fits(&xs, |x| (1.0 - math::pow(133_000.0 / x, 1.1)) / within);
}

#[test]
fn evenly_drawn_files_have_the_printed_body_and_tail_too() {
    let (mut units, mut bodies) = (Strata::new(Stream::new(3, "units")), Stream::new(3, "bodies"));
    let xs = sorted(|| PRINTED.at(units.unit(), &mut bodies));
    let (body, tail) = xs.split_at(xs.partition_point(|&x| x < 133_000.0));
    assert_eq!(tail.len(), DRAWS * 7 / 100);
    let whole = normal_cdf((math::ln(133_000.0) - 9.357) / 1.318);
    assert_fits(body, |x| normal_cdf((math::ln(x) - 9.357) / 1.318) / whole);
    assert_fits(tail, |x| 1.0 - math::pow(133_000.0 / x, 1.1));
}

#[test]
fn the_tail_index_is_estimated_back_from_the_largest_files() {
    let (mut units, mut bodies) = (Strata::new(Stream::new(3, "units")), Stream::new(3, "bodies"));
    for index in [1.1, 1.5] {
        let files = FileSizes { tail_shape: index, ..PRINTED };
        let mut xs = sorted(|| files.at(units.unit(), &mut bodies));
        // Hill 1975, from the thousand largest: its standard error is a thirtieth of the index
        let largest = xs.split_off(xs.len() - 1001);
        let logs: f64 = largest[1..].iter().map(|x| math::ln(x / largest[0])).sum();
        let estimated = 1000.0 / logs;
        assert!((estimated - index).abs() < 0.1, "{estimated} for {index}");
    }
}
