//! Runs random plans by both drivers and compares the results byte by byte.
//!
//!     random_plans [COUNT] [--from SEED] [--packets N] [--reduce] [--print]
//!
//! Prints a line for each difference, with the seed of its plan, and at the end how many plans of each kind
//! there were, how many packets crossed links in them, and how many differed. The exit code is 1 if any did.
//! `--packets` sizes plans for up to about N packets instead of 60,000. With `--reduce` the smallest plan
//! that still differs follows each difference, in JSON. `--print` prints the plans and runs none. The example
//! `reference` runs a single plan.

#[path = "../../tests/common/mod.rs"]
#[allow(dead_code, unused_imports, reason = "tests use the rest")]
mod common;
mod compare;
mod draw;
#[path = "../../../scenario/tests/plan_of/mod.rs"]
mod plan_of;
mod reduce;

use compare::compare;
use draw::{Drawn, PACKETS, draw};
use longfat_sim::Outcome;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

struct Args {
    count: u64,
    from: u64,
    packets: (f64, f64),
    reduces: bool,
    prints: bool,
}

fn args(mut arguments: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args { count: 5000, from: 0, packets: PACKETS, reduces: false, prints: false };
    while let Some(word) = arguments.next() {
        let number = |word: &str, given: Option<String>| {
            given.and_then(|x| x.parse().ok()).ok_or(format!("{word}: give a whole number"))
        };
        match word.as_str() {
            "--from" => args.from = number(&word, arguments.next())?,
            "--packets" => args.packets.1 = (number(&word, arguments.next())? as f64).max(PACKETS.0),
            "--print" => args.prints = true,
            "--reduce" => args.reduces = true,
            count => args.count = number(count, Some(count.to_owned()))?,
        }
    }
    Ok(args)
}

/// The results of the fast driver, if it ends with any, and what differs.
fn compared(drawn: &Drawn) -> (Option<Outcome>, Option<String>) {
    match catch_unwind(AssertUnwindSafe(|| compare(drawn))) {
        Ok((outcome, differs)) => (Some(outcome), differs),
        Err(_) => (None, Some("a run panics".to_owned())),
    }
}

/// Plans, packets and differences of a kind.
#[derive(Default)]
struct Sum {
    plans: u64,
    packets: u64,
    differences: u64,
}

fn main() -> ExitCode {
    let args = match args(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for seed in args.from..args.from + args.count {
        let drawn = draw(seed, args.packets);
        if args.prints {
            println!("{}", plan_of::plan_of(&drawn.plan));
            continue;
        }
        let (outcome, differs) = compared(&drawn);
        if let Some(what) = &differs {
            println!("seed {seed}: {what}");
            if args.reduces {
                println!(
                    "{}",
                    plan_of::plan_of(&reduce::reduce(&drawn, |drawn| compared(drawn).1.is_some()).plan)
                );
            }
        }
        let packets =
            outcome.as_ref().map_or(0, |o| o.summary.links.iter().map(|link| link.packets_in).sum());
        let mut kinds = drawn.kinds;
        kinds.insert("all".to_owned());
        if let Some(outcome) = &outcome {
            kinds.insert(format!("driver: {}", outcome.driver));
            kinds.extend(outcome.servers.iter().map(|server| format!("server: {server}")));
        }
        for kind in kinds {
            let sum = sums.entry(kind).or_default();
            sum.plans += 1;
            sum.packets += packets;
            sum.differences += u64::from(differs.is_some());
        }
    }
    println!("{:44} {:>6} {:>12} {:>11}", "kind", "plans", "packets", "differences");
    for (kind, sum) in &sums {
        println!("{kind:44} {:>6} {:>12} {:>11}", sum.plans, sum.packets, sum.differences);
    }
    let any = sums.values().any(|sum| sum.differences > 0);
    if any { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
