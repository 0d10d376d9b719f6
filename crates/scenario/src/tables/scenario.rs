//! The whole scenario.

use super::background::{BACKGROUND, Background};
use super::flow::{Flow, Sample};
use super::link::{Bottleneck, Link, Node};
use super::program::Program;
use crate::form::Maybe;
use crate::forms::{DURATION, MOST_FLOWS, SEEDS, TEXT, WINDOW, whole};
use crate::keys::{Checked, Tables, one_table};
use crate::network::Network;
use crate::problem::{Refusal, refuse};
use crate::table;
use crate::text::general;
use crate::tree::Table;
use crate::units::TIME;

/// The most samples of all flows, or of all links, of a run: 1.6 GB of series.
const MOST_SAMPLES: f64 = 20_000_000.0;
/// The most programs of a scenario (chosen here).
const MOST_PROGRAMS: usize = 100;

table! {
    /// A network, its flows and its traffic.
    pub struct Scenario {
        /// Any text; tables and figures have it as a heading.
        title: String = TEXT, else String::new();
        /// Length of the run.
        duration: f64 = DURATION;
        /// Changes every random draw.
        seed: i64 = whole(SEEDS, ""), else 1;
        /// Metrics are restricted to these times; by default they cover the whole run.
        window: Option<(f64, f64)> = Maybe(WINDOW), else None;
        /// The shared link of a dumbbell; or give `[[link]]`.
        bottleneck: Option<Bottleneck> = Maybe(one_table::<Bottleneck>()), else None;
        /// Points where links meet.
        node: Vec<Node> = Tables(one_table::<Node>()), else Vec::new();
        /// Links between nodes, in place of `[bottleneck]`.
        link: Vec<Link> = Tables(one_table::<Link>()), else Vec::new();
        /// The flows whose series are kept.
        flow: Vec<Flow> = Tables(one_table::<Flow>()), else Vec::new();
        /// Traffic that comes and goes.
        background: Vec<Background> = Tables(BACKGROUND), else Vec::new();
        /// Commands that run on the path in a live run.
        program: Vec<Program> = Tables(one_table::<Program>()), else Vec::new();
        /// How often series are sampled.
        sample: Sample = one_table::<Sample>(), else Sample::default();
    }
}

/// The first name that comes twice.
pub fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    let names: Vec<&str> = names.collect();
    let doubled: std::collections::BTreeSet<&str> =
        names.iter().copied().filter(|name| !seen.insert(*name)).collect();
    names.into_iter().find(|name| doubled.contains(name))
}

impl Scenario {
    /// The names of all flows, each of `count` on its own: given ones, else running numbers from 1.
    pub fn flow_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for flow in &self.flow {
            match &flow.name {
                None => names.extend((0..flow.count).map(|_| String::new())),
                Some(name) if flow.count == 1 => names.push(name.clone()),
                Some(name) => names.extend((1..=flow.count).map(|number| format!("{name}-{number}"))),
            }
        }
        for (index, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
            *name = (index + 1).to_string();
        }
        names
    }

    /// The names of the backgrounds: given ones, else kind and number.
    pub fn background_names(&self) -> Vec<String> {
        let numbered = self.background.iter().enumerate();
        let name = |(index, part): (usize, &Background)| match &part.connections().name {
            Some(name) => name.clone(),
            None => format!("{}-{}", part.kind(), index + 1),
        };
        numbered.map(name).collect()
    }

    /// The names of the programs: given ones, else program-1 and so on.
    pub fn program_names(&self) -> Vec<String> {
        let numbered = self.program.iter().enumerate();
        numbered
            .map(|(index, program)| program.name.clone().unwrap_or_else(|| format!("program-{}", index + 1)))
            .collect()
    }

    /// The times that metrics cover: the given window, else the whole run.
    pub fn metrics_window_s(&self) -> (f64, f64) {
        self.window.unwrap_or((0.0, self.duration))
    }

    /// Whether another seed can give another result; a user's own algorithm may draw numbers too.
    pub fn varies(&self) -> bool {
        let by_chance = |queue: &crate::forms::Element| {
            longfat_net::queue::find(queue.kind).is_some_and(|row| row.random)
        };
        let flow_varies = |flow: &Flow| {
            flow.rtt.as_ref().is_some_and(crate::forms::Drawn::is_random)
                || flow.start.is_random()
                || flow.host_tick > 0.0
                || flow.send_jitter > 0.0
                || flow.algorithm.is_random()
        };
        let link_varies = self.link.iter().any(|link| {
            link.loss.is_random()
                || link.ack_loss.is_random()
                || by_chance(&link.queue)
                || link.service_tick > 0.0
                || link.disturbed.is_random()
        });
        let bottleneck_varies = self.bottleneck.as_ref().is_some_and(|link| {
            link.loss.is_random()
                || link.ack_loss.is_random()
                || by_chance(&link.queue)
                || link.service_tick > 0.0
                || link.disturbed.is_random()
                || by_chance(&link.reverse_queue)
        });
        !self.background.is_empty() || link_varies || bottleneck_varies || self.flow.iter().any(flow_varies)
    }

    /// The links, the paths over them, and derived values.
    pub fn network(&self) -> Result<Network<'_>, Refusal> {
        Network::new(self)
    }

    fn programs_fit(&self, network: &Network<'_>) -> Result<(), Refusal> {
        if self.program.is_empty() {
            return Ok(());
        }
        if !self.link.is_empty() {
            return refuse(
                "[[program]] does not go with [[link]]",
                "with [[program]] a dumbbell, [bottleneck]",
            );
        }
        if network.program_rtt_s == 0.0 {
            return refuse(
                "bottleneck.rtt is missing, and there is no flow to take it from",
                "a time such as \"42 ms\"",
            );
        }
        if self.program.len() > MOST_PROGRAMS {
            return refuse(
                format!("there are {} programs", self.program.len()),
                format!("up to {MOST_PROGRAMS}"),
            );
        }
        let names = self.program_names();
        match twice(names.iter().map(String::as_str)) {
            Some(name) => refuse(format!("two programs are called \"{name}\""), "names that differ"),
            None => Ok(()),
        }
    }

    fn samples_fit(&self, flows: f64, links: usize) -> Result<(), Refusal> {
        for (key, period_s, series) in
            [("cwnd", self.sample.cwnd, flows), ("queue", self.sample.queue, links as f64)]
        {
            if self.duration / period_s * series > MOST_SAMPLES {
                let least_s = self.duration * series / MOST_SAMPLES;
                return refuse(
                    format!(
                        "sample.{key} = \"{}\" gives more than {MOST_SAMPLES} samples",
                        TIME.write(period_s)
                    ),
                    format!("from \"{} s\"", general(least_s, 2)),
                );
            }
        }
        Ok(())
    }
}

impl Checked for Scenario {
    fn check(&self) -> Result<(), Refusal> {
        let network = self.network()?;
        if self.flow.is_empty() && self.background.is_empty() && self.program.is_empty() {
            return refuse(
                "there is nothing to send",
                "at least one [[flow]], [[background]] or [[program]]",
            );
        }
        self.programs_fit(&network)?;
        if let Some((begin, end)) = self.window.filter(|(_, end)| *end > self.duration) {
            let [begin, end, most] = [begin, end, self.duration].map(|time| TIME.write(time));
            return refuse(
                format!("window = [\"{begin}\", \"{end}\"] ends after the run"),
                format!("up to {most}"),
            );
        }
        let flows: i128 = self.flow.iter().map(|flow| i128::from(flow.count)).sum();
        if flows > MOST_FLOWS {
            return refuse(format!("there are {flows} flows"), format!("up to {MOST_FLOWS}"));
        }
        let names: Vec<String> = self.flow_names().into_iter().chain(self.background_names()).collect();
        if let Some(name) = twice(names.iter().map(String::as_str)) {
            return refuse(format!("two flows or backgrounds are called \"{name}\""), "names that differ");
        }
        let lacks_rtt = |part: &Background| part.connections().rtt.is_none();
        if self.link.is_empty() && self.flow.is_empty() && self.background.iter().any(lacks_rtt) {
            return refuse(
                "background.rtt is missing, and there is no flow to take it from",
                "a time such as \"42 ms\"",
            );
        }
        self.samples_fit(flows as f64, network.ways.len())?;
        network.check_sources()?;
        network.check_buffers()
    }

    /// An empty list of programs is not written.
    fn tidy(&self, written: &mut Table) {
        if self.program.is_empty() {
            written.remove("program");
        }
    }
}
