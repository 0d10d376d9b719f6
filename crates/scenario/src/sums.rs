//! Sums of floats without rounding errors in between.

/// The sum of numbers, rounded once (Shewchuk 1997).
pub fn sum(values: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for &value in values {
        let mut x = value;
        let mut kept = 0;
        for index in 0..partials.len() {
            let mut y = partials[index];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        partials.push(x);
    }
    rounded(&partials)
}

/// The sum of parts that do not overlap, the smallest first. Where it lies half way between two floats, the
/// sign of the next part decides.
fn rounded(partials: &[f64]) -> f64 {
    let Some((&last, mut rest)) = partials.split_last() else { return 0.0 };
    let mut high = last;
    let mut low = 0.0;
    while let Some((&y, others)) = rest.split_last() {
        let x = high;
        high = x + y;
        low = y - (high - x);
        rest = others;
        if low != 0.0 {
            break;
        }
    }
    if let Some(&next) = rest.last()
        && ((low < 0.0 && next < 0.0) || (low > 0.0 && next > 0.0))
    {
        let doubled = low * 2.0;
        let x = high + doubled;
        if doubled == x - high {
            high = x;
        }
    }
    high
}
