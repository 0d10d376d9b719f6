//! The whole scenario.

use super::background::{BACKGROUND, Background};
use super::flow::{Flow, Sample};
use super::link::{Bottleneck, Link, Node};
use super::program::Program;
use crate::form::Maybe;
use crate::forms::{DURATION, SEEDS, TEXT, WINDOW, whole};
use crate::keys::{Checked, Tables, one_table, table};
use crate::tree::Table;

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
}

impl Checked for Scenario {
    /// An empty list of programs is not written.
    fn tidy(&self, written: &mut Table) {
        if self.program.is_empty() {
            written.remove("program");
        }
    }
}
