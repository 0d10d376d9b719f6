//! Refuses scenarios whose parts do not fit together.

use crate::forms::MOST_FLOWS;
use crate::network::{Entry, Network, differ};
use crate::problem::{Refusal, refuse, refuse_key};
use crate::tables::{Background, Scenario};
use crate::text::general;
use crate::units::TIME;

/// The most samples of all flows, or of all links, of a run: 1.6 GB of series.
const MOST_SAMPLES: f64 = 20_000_000.0;
/// The most programs of a scenario (chosen here).
const MOST_PROGRAMS: usize = 100;

impl Scenario {
    fn programs_fit(&self, network: &Network<'_>) -> Result<(), Refusal> {
        if self.program.is_empty() {
            return Ok(());
        }
        if !self.link.is_empty() {
            return refuse_key(
                "program.0",
                "[[program]] does not go with [[link]]",
                "with [[program]] a dumbbell, [bottleneck]",
            );
        }
        if network.program_rtt_s == 0.0 {
            return refuse_key(
                "bottleneck.rtt",
                "this key is missing, and there is no flow to take it from",
                "a time such as \"42 ms\"",
            );
        }
        if self.program.len() > MOST_PROGRAMS {
            return refuse_key(
                format!("program.{MOST_PROGRAMS}"),
                format!("there are {} programs", self.program.len()),
                format!("up to {MOST_PROGRAMS}"),
            );
        }
        let names = self.program_names();
        differ("programs", names.iter().enumerate().map(|(i, name)| (name.as_str(), Entry("program", i))))
    }

    fn samples_fit(&self, flows: f64, links: usize) -> Result<(), Refusal> {
        for (key, period_s, series) in
            [("cwnd", self.sample.cwnd, flows), ("queue", self.sample.queue, links as f64)]
        {
            if self.duration / period_s * series > MOST_SAMPLES {
                let least_s = self.duration * series / MOST_SAMPLES;
                return refuse_key(
                    format!("sample.{key}"),
                    format!("samples every {} are more than {MOST_SAMPLES}", TIME.write(period_s)),
                    format!("from \"{} s\"", general(least_s, 2)),
                );
            }
        }
        Ok(())
    }

    fn window_fits(&self) -> Result<(), Refusal> {
        match self.window {
            Some((_, end)) if end > self.duration => {
                refuse_key("window", "it ends after the run", format!("up to {}", TIME.write(self.duration)))
            }
            _ => Ok(()),
        }
    }

    fn flows_fit(&self, flows: i128) -> Result<(), Refusal> {
        if flows > MOST_FLOWS {
            return refuse(format!("there are {flows} flows"), format!("up to {MOST_FLOWS}"));
        }
        let tables = self.flow.iter().enumerate();
        let owners = tables.flat_map(|(i, flow)| (0..flow.count).map(move |_| Entry("flow", i)));
        let owners = owners.chain((0..self.background.len()).map(|i| Entry("background", i)));
        let names: Vec<String> = self.flow_names().into_iter().chain(self.background_names()).collect();
        differ("flows or backgrounds", names.iter().map(String::as_str).zip(owners))
    }

    fn backgrounds_have_rtt(&self) -> Result<(), Refusal> {
        let lacks_rtt = |part: &Background| part.connections().rtt.is_none();
        match self.background.iter().position(lacks_rtt) {
            Some(i) if self.link.is_empty() && self.flow.is_empty() => refuse_key(
                format!("background.{i}.rtt"),
                "this key is missing, and there is no flow to take it from",
                "a time such as \"42 ms\"",
            ),
            _ => Ok(()),
        }
    }

    /// What does not fit together in it: each line is about other keys.
    pub fn misfits(&self) -> Vec<Refusal> {
        let flows: i128 = self.flow.iter().map(|flow| i128::from(flow.count)).sum();
        let is_idle = self.flow.is_empty() && self.background.is_empty() && self.program.is_empty();
        let mut found = vec![self.window_fits(), self.flows_fit(flows)];
        if is_idle {
            let accepted = "at least one [[flow]], [[background]] or [[program]]";
            found.push(refuse("there is nothing to send", accepted));
        }
        match self.network() {
            Err(refusal) => found.push(Err(refusal)),
            // without traffic, nothing says what a BDP is
            Ok(_) if is_idle => {}
            Ok(network) => {
                let rtts = [self.programs_fit(&network), self.backgrounds_have_rtt()];
                // a BDP needs the round-trip time of programs or backgrounds, where there is nothing else
                if rtts.iter().all(Result::is_ok) {
                    found.push(network.check_buffers());
                }
                found.extend(rtts);
                found.push(self.samples_fit(flows as f64, network.ways.len()));
                found.push(network.check_sources());
            }
        }
        found.into_iter().filter_map(Result::err).collect()
    }
}
