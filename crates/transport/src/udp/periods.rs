//! When an on-off source is on.

use longfat_units::parameters::Parameters;
use longfat_units::{Distribution, Interval, Stream};

/// The on- and off-periods of a source.
#[derive(Clone, Debug)]
pub(super) struct Periods {
    on: Distribution,
    off: Distribution,
    stream: Stream,
    /// When this on-period began, since the start.
    began: Interval,
    /// How long the source was on before this period.
    before: Interval,
    /// Length of this on-period.
    length: Interval,
}

impl Periods {
    pub(super) fn new(p: &Parameters, mut stream: Stream) -> Self {
        let length = |name| match p.word("periods") {
            "exponential" => Distribution::Exponential(0.0, p.number(name)),
            _ => Distribution::Fixed(p.number(name)),
        };
        let on = length("on");
        let first = Interval::from_secs_f64(on.draw(&mut stream));
        Periods {
            on,
            off: length("off"),
            stream,
            began: Interval::ZERO,
            before: Interval::ZERO,
            length: first,
        }
    }

    /// How long after its start the source has been on for `sending` in total. Successive calls never ask for
    /// less.
    pub(super) fn when(&mut self, sending: Interval) -> Interval {
        while sending >= self.before + self.length {
            let pause = Interval::from_secs_f64(self.off.draw(&mut self.stream));
            self.began = self.began + self.length + pause;
            self.before = self.before + self.length;
            self.length = Interval::from_secs_f64(self.on.draw(&mut self.stream));
        }
        self.began + sending.saturating_sub(self.before)
    }
}
