//! Values that change in steps, as a scenario file writes them: a list of pairs of time and value.

use crate::problem::{Refusal, refuse};
use crate::tree::Value;
use crate::units::TIME;

/// The most steps.
pub const MOST_STEPS: usize = 100_000;
/// The latest time of a step, s.
pub const LATEST_S: f64 = 1e6;

/// Reads pairs of a time in s and a value, which are called `name`; `examples` are two of them. If
/// `from_start`, the first step has to be at the beginning of the run.
pub fn read(
    value: &Value,
    name: &str,
    examples: (&str, &str),
    parse: impl Fn(&Value) -> Result<f64, Refusal>,
    from_start: bool,
) -> Result<Vec<(f64, f64)>, Refusal> {
    let second = format!("[\"10 s\", \"{}\"]", examples.1);
    let Some(pairs) = value.list().filter(|pairs| (1..=MOST_STEPS).contains(&pairs.len())) else {
        let accepted = format!(
            "a list of 1 to {MOST_STEPS} pairs of time and {name} such as [[\"0 s\", \"{}\"], {second}]",
            examples.0
        );
        return Err(Refusal::new("this is no such list", accepted).within("steps").at_part("steps"));
    };
    let mut steps: Vec<(f64, f64)> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let within = |refusal: Refusal| {
            refusal.within(&format!("steps, pair {}", index + 1)).at_part(&format!("steps.{index}"))
        };
        let Some([time, second_value]) = pair.value.list() else {
            return refuse("this is not a pair", format!("a time and a {name} such as {second}"))
                .map_err(within);
        };
        let step = (
            TIME.parse_within(&time.value, (0.0, LATEST_S), "10 s").map_err(within)?,
            parse(&second_value.value).map_err(within)?,
        );
        if from_start && steps.is_empty() && step.0 != 0.0 {
            return refuse("the first step is later", "\"0 s\", the beginning of the run").map_err(within);
        }
        if steps.last().is_some_and(|before| step.0 <= before.0) {
            return refuse("the time is not later", "a time after the one before").map_err(within);
        }
        steps.push(step);
    }
    Ok(steps)
}
