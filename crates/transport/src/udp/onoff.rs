//! On-off: constant bit rate while on, nothing while off (the UDP flows of Lopez Pacheco 2008, section 3.2,
//! that take away and give back capacity). It begins with an on-period.
//!
//! ```text
//! packet n leaves when the source has been on for  n 8 (mss + headers) / rate
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | rate | 50 | Mbit/s of IP packets | Lopez Pacheco 2008, section 3.2 | none |
//! | on | 10 | s | the same | none |
//! | off | 10 | s | chosen here: the thesis starts each of its flows by itself | |

use super::cbr::{Counter, Source};
use super::periods::Periods;
use super::row::{RATE, Row};
use longfat_units::Entry;
use longfat_units::parameters::Parameter;

/// The row.
pub const ROW: Row<Source, Counter> = Row {
    entry: Entry {
        name: "onoff",
        title: "On-off",
        aliases: &["on-off"],
        citation: "Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on heterogeneous \
                   high speed networks, thesis, ENS Lyon, 2008, section 3.2",
        page: "onoff",
        parameters: &[
            RATE,
            Parameter::number("on", 10.0, (1e-3, 1e6), "s", "length of an on-period, or its mean"),
            Parameter::number("off", 10.0, (0.0, 1e6), "s", "length of an off-period, or its mean"),
            Parameter::choice(
                "periods",
                &["constant", "exponential"],
                "exponential: lengths of periods are drawn from the flow's own stream",
            ),
        ],
        style: None,
    },
    reliable: false,
    answered: false,
    random: true,
    build: |p, config, stream| (Source::new(p, config, Some(Periods::new(p, stream))), Counter::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, ms};

    fn source(periods: &str) -> Path<Source, Counter> {
        let given = [
            ("rate", Value::Number(12.0)),
            ("on", Value::Number(0.1)),
            ("off", Value::Number(0.3)),
            ("periods", Value::Word(periods.to_owned())),
        ];
        Path::new(&ROW, &given, &config())
    }

    #[test]
    fn constant_periods_send_at_the_rate_while_on_and_nothing_while_off() {
        let mut path = source("constant");
        path.run(ms(1000), |_, _| false);
        // a packet a millisecond from 0, 400 and 800 ms on, for 100 ms each
        let due: Vec<u64> = (0..100).chain(400..500).chain(800..900).collect();
        assert_eq!(
            path.sent.iter().map(|&(at, _)| at).collect::<Vec<_>>(),
            due.into_iter().map(ms).collect::<Vec<_>>()
        );
    }

    #[test]
    fn exponential_periods_keep_the_mean_rate_and_vary() {
        let mut path = source("exponential");
        path.run(ms(4_000_000), |_, _| false);
        // 1000 packets a second for a quarter of the time
        let share = path.sent.len() as f64 / 4_000_000.0;
        assert!((share - 0.25).abs() < 0.01, "{share}");
        let pauses: Vec<f64> = path
            .sent
            .windows(2)
            .map(|w| w[1].0.since(w[0].0).as_secs_f64())
            .filter(|&gap_s| gap_s > 0.0011)
            .collect();
        let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
        let above = pauses.iter().filter(|&&gap_s| gap_s > 0.6).count() as f64 / pauses.len() as f64;
        assert!((mean / 0.3 - 1.0).abs() < 0.05, "{mean}");
        // of an exponential distribution e^-2 lies above twice the mean
        assert!((above - 0.135).abs() < 0.02, "{above}");
    }
}
