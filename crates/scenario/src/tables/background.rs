//! Background traffic: the keys of each kind, and how a load becomes numbers. How the kinds behave is in the
//! simulator's workloads.

use super::transport::{Direction, Placed, Transport};
use crate::at::At;
use crate::form::{Custom, Form, Maybe, TableDoc, View};
use crate::forms::{
    ALGORITHM, Algorithm, DRAWN_RTT, DRAWN_TIME, Drawn, GAP, GAPS_S, MEASURED_SIZES, MOMENT, MOST_SESSIONS,
    NAME, Number, RATES_BPS, Rows, TRANSFER, Words, number, number_schema, share_of, size, weighted_mean,
    whole,
};
use crate::keys::{Checked, Keys, read, table, view, write};
use crate::problem::{Problem, Refusal, Refused, refuse, refuse_key};
use crate::sizes::{FileSizes, Habits};
use crate::text::{general, listed_words, shown, suggestion};
use crate::tree::{Item, Table, Value};
use crate::units::{RATE, TIME, split};
use longfat_units::parameters::Value as Setting;
use serde_json::{Value as Json, json};

/// The greatest load, as a share of the link: ten times its capacity.
pub const GREATEST_SHARE: f64 = 10.0;

/// Mean rate of IP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Bit/s.
    Bps(f64),
    /// A share of the rate of the link that the data cross.
    Share(f64),
}

/// The rates that loads refer to, bit/s: those of the narrowest link of a path, there and back.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// There.
    pub forward: f64,
    /// Back.
    pub reverse: f64,
}

const LOAD: Custom<Load> = Custom {
    accepts: "a share of the link such as \"20 %\", or a rate",
    read: |item, _| {
        if let Some((amount, unit)) = item.value.text().and_then(split)
            && unit == "%"
        {
            let share = amount.shifted(-2).to_f64();
            if !(0.0 < share && share <= GREATEST_SHARE) {
                let accepted = format!("above 0 %, up to {} %", general(GREATEST_SHARE * 100.0, 6));
                return refuse("there is no such load", accepted);
            }
            return Ok(Load::Share(share));
        }
        let bps = RATE.parse(&item.value, "").map_err(|refusal| {
            Refusal::new(
                refusal.what,
                format!("{}, or a share of the link such as \"20 %\"", refusal.accepted),
            )
        })?;
        Ok(RATE.within(bps.to_f64(), RATES_BPS).map(Load::Bps)?)
    },
    write: |load| match load {
        Load::Bps(bps) => RATE.write(*bps).into(),
        Load::Share(share) => format!("{} %", percent(*share)).into(),
    },
    schema: || {
        let units: Vec<&str> = ["%"].into_iter().chain(RATE.unit_names()).collect();
        number_schema("A load, as a share of the link or a rate", "20 %", &units, false)
    },
    view: |load| match load {
        Load::Bps(bps) => View::Float(*bps),
        Load::Share(share) => View::Fields(vec![("share", View::Float(*share))]),
    },
};

/// A percentage that is read as the same float.
fn percent(share: f64) -> String {
    crate::decimal::Decimal::of(share).shifted(2).plain()
}

/// A Pareto shape.
const fn shape() -> Number {
    number((1.001, 100.0), "a Pareto shape from 1.001 to 100 (at 1 and below the mean is infinite)", 1.2)
}

/// The constants that Barford and Crovella print, with a bound for the largest file that was chosen here:
/// about the size of the largest of 2000 files.
pub const FILES: FileSizes = FileSizes {
    body_mu: 9.357,
    body_sigma: 1.318,
    tail_share: 0.07,
    tail_least_bytes: 133_000.0,
    tail_shape: 1.1,
    largest_bytes: 10e6,
};

table! {
    /// The keys that all kinds share. Each transfer is a new connection.
    pub struct Connections {
        ..placed: Placed,
        /// Its name in results; by default its kind and number.
        name: Option<String> = Maybe(NAME), else None;
        /// Two-way propagation delay, drawn for each connection; by default the first flow's.
        rtt: Option<Drawn> = Maybe(DRAWN_RTT), else None;
        /// Which way data go.
        direction: Direction = Words(&[
            ("forward", Direction::Forward),
            ("reverse", Direction::Reverse),
            ("both", Direction::Both),
        ]), else Direction::Forward;
        /// From then on no connection opens, and endless ones send nothing new.
        stop: Option<f64> = Maybe(MOMENT), else None;
    }
}

table! {
    /// Sessions that ask for pages, whether or not the last page has arrived.
    pub struct Web {
        ..connections: Connections,
        /// Sessions that ask for pages.
        kind: &'static str = Words(&[("web", "web")]);
        /// The number of sessions in each direction.
        sessions: i64 = whole((0, MOST_SESSIONS), "sessions"), else 50; // 0, so that a grid may have such a point
        /// Mean of the exponential time between a session's pages.
        gap: f64 = GAP, else 1.0;
        /// Mean of the Pareto page size.
        page: f64 = size((1.0, 1e12), "10 kB"), else 9400.0; // LLS 2007: 50 sessions load 1.5 % of 250 Mbit/s
        /// Shape of the Pareto page size.
        shape: f64 = shape(), else 1.2; // LLS 2007
    }
}

table! {
    /// SURGE's user equivalents: each fetches objects file by file, then rests.
    pub struct Surge {
        ..connections: Connections,
        /// SURGE's users, who fetch objects file by file, then rest.
        kind: &'static str = Words(&[("surge", "surge")]);
        /// The number of users in each direction; this or `load`.
        users: Option<i64> = Maybe(whole((1, MOST_SESSIONS), "users")), else None;
        /// Mean rate of IP that the users offer to an idle path; sets their number.
        load: Option<Load> = Maybe(LOAD), else None;
        /// The size at which the tail of the file sizes ends.
        largest: f64 = size((1e6, 1e12), "10 MB"), else FILES.largest_bytes; // above where the tail begins
    }
}

table! {
    /// Short flows that start at exponential gaps, with a lognormal body and a Pareto tail of sizes.
    ///
    /// Ha, Kim, Le, Rhee, Xu, PFLDnet 2006; the slides print no constants, so those of SURGE are used.
    pub struct Short {
        ..connections: Connections,
        /// Short flows.
        kind: &'static str = Words(&[("short", "short")]);
        /// Mean of the exponential time between two starts in each direction; this or `load`.
        gap: Option<f64> = Maybe(GAP), else None;
        /// Mean rate of IP that the flows carry; sets the gap.
        load: Option<Load> = Maybe(LOAD), else None;
        /// Measured sizes, in place of the body and the tail that follow.
        sizes: Option<Rows> = Maybe(MEASURED_SIZES), else None;
        /// Mean of the logarithm of the bytes in the lognormal body.
        body_mu: f64 = number((0.0, 30.0), "the mean of the logarithm of bytes, from 0 to 30", 9.357),
            else FILES.body_mu;
        /// Standard deviation of the logarithm of the bytes in the lognormal body.
        body_sigma: f64 = number(
            (0.01, 10.0), "the standard deviation of the logarithm of bytes, from 0.01 to 10", 1.318
        ), else FILES.body_sigma;
        /// Share of flows in the Pareto tail.
        tail_share: f64 = share_of((0.0, 1.0), "a share from 0 to 1", 0.07), else FILES.tail_share;
        /// The size at which the tail begins.
        tail_least: f64 = TRANSFER, else FILES.tail_least_bytes;
        /// Tail index.
        tail_shape: f64 = number((0.1, 100.0), "a Pareto tail index from 0.1 to 100", 1.1),
            else FILES.tail_shape;
        /// The size at which the tail ends.
        largest: f64 = TRANSFER, else FILES.largest_bytes;
    }
}

table! {
    /// Long-lived flows without series of their own, which send as much as their algorithm allows.
    pub struct Bulk {
        ..connections: Connections,
        /// Long-lived flows.
        kind: &'static str = Words(&[("bulk", "bulk")]);
        /// The number of flows in each direction.
        flows: i64 = whole((1, MOST_SESSIONS), "flows");
        /// When a flow starts, drawn for each.
        start: Drawn = DRAWN_TIME, else Drawn::Fixed(0.0);
    }
}

table! {
    /// On-off sources over UDP that do not react to the network; the algorithm has their rate and periods.
    pub struct Onoff {
        ..connections: Connections,
        /// On-off sources that do not react to the network.
        kind: &'static str = Words(&[("onoff", "onoff")]);
        /// The number of sources in each direction.
        sources: i64 = whole((1, MOST_SESSIONS), "sources");
        /// Mean rate of IP of all sources together, in place of the algorithm's rate.
        load: Option<Load> = Maybe(LOAD), else None;
        /// When a source starts, drawn for each; uniform over an on- and an off-period by default.
        start: Option<Drawn> = Maybe(DRAWN_TIME), else None;
    }
}

/// The algorithm of on-off sources.
const ON_OFF: Algorithm = Algorithm::Listed("onoff", Vec::new());

impl Connections {
    fn check(&self, start: Option<&Drawn>) -> Result<(), Refusal> {
        self.transport.check()?;
        if !self.algorithm.is_listed() {
            let whose = if matches!(self.algorithm, Algorithm::Own(..)) {
                "of one's own"
            } else {
                "that only the kernel has"
            };
            return refuse_key(
                "algorithm",
                format!("background traffic does not take an algorithm {whose}"),
                "one that `longfat list algorithms` lists",
            );
        }
        match self.stop {
            Some(stop) if stop <= start.map_or(0.0, Drawn::least) => {
                let start = TIME.write(start.map_or(0.0, Drawn::least));
                refuse_key("stop", format!("it is not after the start, {start}"), "a later time")
            }
            _ => Ok(()),
        }
    }

    /// The load in each direction, bit/s.
    fn load_bps(&self, load: Option<Load>, path: Rates) -> Option<f64> {
        load.map(|load| match load {
            Load::Bps(bps) => bps,
            Load::Share(share) => share * self.rate(path),
        })
    }

    fn rate(&self, path: Rates) -> f64 {
        if self.direction == Direction::Reverse { path.reverse } else { path.forward }
    }

    /// The directions that it has.
    pub const fn directions(&self) -> &'static [Direction] {
        match self.direction {
            Direction::Forward => &[Direction::Forward],
            Direction::Reverse => &[Direction::Reverse],
            Direction::Both => &[Direction::Forward, Direction::Reverse],
        }
    }
}

macro_rules! checked {
    ($($Name:ident, $start:expr, $check:expr, $mean:expr;)*) => {$(
        impl Checked for $Name {
            const SHORTHANDS: &'static [&'static str] = Transport::SHORTHANDS;

            fn spelled_out(table: &Table, at: &At<'_>) -> Result<Option<Table>, Refusal> {
                spelled_out::<$Name>(table, at)
            }

            fn check(&self) -> Result<(), Refusal> {
                let start: fn(&$Name) -> Option<&Drawn> = $start;
                self.connections.check(start(self))?;
                let check: fn(&$Name) -> Result<(), Refusal> = $check;
                check(self)
            }

            fn derived(&self, out: &mut Vec<(&'static str, View)>) {
                self.transport.derived(out);
                let more: fn(&$Name) -> Option<f64> = $mean;
                out.extend(more(self).map(|bytes| ("mean_ip_bytes", View::Float(bytes))));
            }

            fn tidy(&self, written: &mut Table) {
                self.transport.tidy(written);
            }
        }
    )*};
}

checked! {
    Web, |_| None, |_| Ok(()), |_| None;
    Surge, |_| None, check_surge, |_| None;
    Short, |_| None, check_short, |short| Some(short.mean_ip_bytes());
    Bulk, |bulk| Some(&bulk.start), |_| Ok(()), |_| None;
    Onoff, |onoff| onoff.start.as_ref(), check_onoff, |_| None;
}

/// On-off sources have an algorithm of their own.
fn spelled_out<T: Keys>(table: &Table, at: &At<'_>) -> Result<Option<Table>, Refusal> {
    if T::TITLE == "Onoff" && !table.has("algorithm") {
        let mut given = table.clone();
        given.set("algorithm", ALGORITHM.write(&ON_OFF));
        return Ok(Some(Transport::spelled_out(&given, at)?.unwrap_or(given)));
    }
    Transport::spelled_out(table, at)
}

fn check_surge(surge: &Surge) -> Result<(), Refusal> {
    if surge.users.is_none() == surge.load.is_none() {
        return refuse(
            "it takes either users or a load",
            "either users, a whole number, or load, such as \"4 Mbit/s\" or \"2 %\"",
        );
    }
    Ok(())
}

fn check_short(short: &Short) -> Result<(), Refusal> {
    if short.gap.is_none() == short.load.is_none() {
        return refuse(
            "it takes either a gap or a load",
            "either gap, a time such as \"10 ms\", or load, such as \"20 %\"",
        );
    }
    if short.largest < short.tail_least {
        return refuse_key("largest", "it is below tail_least", "the lesser size as tail_least");
    }
    if !short.files().body_fits() {
        return refuse_key(
            "body_mu",
            "the middle of the body, exp(body_mu) bytes, is above tail_least",
            "a lower body_mu",
        );
    }
    let differs = [
        ("body_mu", short.body_mu != FILES.body_mu),
        ("body_sigma", short.body_sigma != FILES.body_sigma),
        ("tail_share", short.tail_share != FILES.tail_share),
        ("tail_least", short.tail_least != FILES.tail_least_bytes),
        ("tail_shape", short.tail_shape != FILES.tail_shape),
        ("largest", short.largest != FILES.largest_bytes),
    ];
    match differs.iter().find(|(_, differs)| *differs) {
        Some((key, _)) if short.sizes.is_some() => {
            refuse_key("sizes", format!("it replaces {key}"), "one of them")
        }
        _ => Ok(()),
    }
}

fn check_onoff(onoff: &Onoff) -> Result<(), Refusal> {
    if onoff.algorithm.name() != "onoff" {
        return refuse_key(
            "algorithm",
            "on-off sources do not take this algorithm",
            "\"onoff\", or { name = \"onoff\", on = \"1 s\" }",
        );
    }
    if onoff.load.is_some() && onoff.algorithm.has_given("rate") {
        return refuse_key("load", "it replaces algorithm.rate", "one of them");
    }
    Ok(())
}

impl Surge {
    /// The distributions that its users draw from; the constants are those of Barford and Crovella, the bound
    /// of the number of files that of the authors' program.
    pub fn habits(&self) -> Habits {
        Habits {
            sizes: FileSizes { largest_bytes: self.largest, ..FILES },
            files_shape: 2.43,
            files_most: 150,
            active_off_shape: 1.46,
            active_off_scale_s: 0.382,
            inactive_off_least_s: 1.0,
            inactive_off_shape: 1.5,
        }
    }
}

impl Short {
    /// The distribution of sizes, where they are not measured.
    pub fn files(&self) -> FileSizes {
        FileSizes {
            body_mu: self.body_mu,
            body_sigma: self.body_sigma,
            tail_share: self.tail_share,
            tail_least_bytes: self.tail_least,
            tail_shape: self.tail_shape,
            largest_bytes: self.largest,
        }
    }

    /// Mean bytes of IP that a flow carries, headers included.
    pub fn mean_ip_bytes(&self) -> f64 {
        let header = f64::from(self.header_bytes());
        if let Some(rows) = &self.sizes {
            let headers = |size: f64| header * (size.max(1.0) / self.mss).ceil();
            return weighted_mean(rows, |x| x) + weighted_mean(rows, headers);
        }
        let payload = self.files().mean_bytes();
        // the last packet is half full on average, and there is at least one
        payload + header * f64::max(1.0, payload / self.mss + 0.5)
    }
}

/// Traffic that comes and goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Background {
    /// Sessions that ask for pages.
    Web(Web),
    /// SURGE's users.
    Surge(Surge),
    /// Short flows.
    Short(Short),
    /// Long-lived flows.
    Bulk(Bulk),
    /// On-off sources.
    Onoff(Onoff),
}

macro_rules! each {
    ($self:expr, $part:ident => $call:expr) => {
        match $self {
            Background::Web($part) => $call,
            Background::Surge($part) => $call,
            Background::Short($part) => $call,
            Background::Bulk($part) => $call,
            Background::Onoff($part) => $call,
        }
    };
}

impl Background {
    /// The keys that all kinds share.
    pub fn connections(&self) -> &Connections {
        each!(self, part => &part.connections)
    }

    /// The same, to change them.
    pub fn connections_mut(&mut self) -> &mut Connections {
        each!(self, part => &mut part.connections)
    }

    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        each!(self, part => part.kind)
    }

    /// The load that is asked for in each direction, bit/s; `None` for a kind, or a source, without one.
    pub fn asked_bps(&self, path: Rates) -> Option<f64> {
        let load = match self {
            Background::Surge(part) => part.load,
            Background::Short(part) => part.load,
            Background::Onoff(part) => part.load,
            Background::Web(_) | Background::Bulk(_) => None,
        };
        self.connections().load_bps(load, path)
    }

    /// The same with its load worked out. `rtt` is the mean round-trip time.
    #[must_use]
    pub fn loaded(mut self, path: Rates, rtt_s: Option<f64>) -> Background {
        let load = self.asked_bps(path);
        match &mut self {
            Background::Surge(part) => {
                if let (Some(load_bps), Some(rtt_s)) = (load, rtt_s) {
                    let one_bps = part.habits().offered_bps(
                        rtt_s,
                        part.mss,
                        f64::from(part.header_bytes()),
                        part.initial_window,
                        part.rate(path),
                    );
                    let users = (load_bps / one_bps).round_ties_even().max(1.0);
                    part.users = Some((users as i128).min(MOST_SESSIONS) as i64);
                    part.load = None;
                }
            }
            Background::Short(part) => {
                if let Some(load_bps) = load {
                    let gap = 8.0 * part.mean_ip_bytes() / load_bps;
                    part.gap = Some(gap.clamp(GAPS_S.0, GAPS_S.1));
                    part.load = None;
                }
            }
            Background::Onoff(part) => {
                let filled = part.algorithm.filled();
                let seconds = |name: &str| filled.number(name).unwrap_or(0.0);
                let (on_s, off_s) = (seconds("on"), seconds("off"));
                part.start.get_or_insert(Drawn::Uniform(0.0, on_s + off_s));
                let mut algorithm = filled.clone();
                if let Some(load_bps) = load {
                    let rate_bps = load_bps / part.sources as f64 * (on_s + off_s) / on_s;
                    let rate = crate::units::to_declared(&RATE.write(rate_bps).into(), "Mbit/s");
                    algorithm = algorithm.with("rate", Setting::Number(rate.unwrap_or(f64::NAN)));
                }
                part.connections.placed.transport.algorithm = algorithm;
                part.load = None;
            }
            Background::Web(_) | Background::Bulk(_) => {}
        }
        self
    }
}

/// The form of a background: its `kind` decides which table it is.
pub struct BackgroundForm;

/// A background.
pub const BACKGROUND: BackgroundForm = BackgroundForm;

const KINDS: [&str; 5] = ["web", "surge", "short", "bulk", "onoff"];

impl Form for BackgroundForm {
    type Value = Background;

    fn accepts(&self) -> String {
        "a table".to_owned()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<Background, Refused> {
        // what is no table has no kind that is wrong: the first one refuses it
        let kind = item.value.table().map(|table| table.get("kind"));
        let given = kind.flatten();
        match kind.map_or(Some("web"), |kind| kind.and_then(|item| item.value.text())) {
            Some("web") => read(item, at).map(Background::Web),
            Some("surge") => read(item, at).map(Background::Surge),
            Some("short") => read(item, at).map(Background::Short),
            Some("bulk") => read(item, at).map(Background::Bulk),
            Some("onoff") => read(item, at).map(Background::Onoff),
            word => {
                let near = word.map_or_else(String::new, |word| suggestion(word, KINDS));
                let what = match given {
                    Some(_) => format!("there is no such kind{near}"),
                    None => "this key is missing".to_owned(),
                };
                Err(Refused::Keys(vec![Problem {
                    key: at.below("kind").to_string(),
                    value: given.map(|item| shown(&item.value)),
                    refusal: Refusal::new(what, listed_words(&KINDS)),
                    span: given.unwrap_or(item).span.clone(),
                }]))
            }
        }
    }

    fn write(&self, value: &Background) -> Value {
        each!(value, part => write(part)).into()
    }

    fn schema(&self) -> Json {
        let tables: Vec<Json> =
            self.tables().iter().map(|t| json!({"$ref": format!("#/$defs/{}", t.title)})).collect();
        json!({"oneOf": tables})
    }

    fn view(&self, value: &Background) -> View {
        each!(value, part => view(part))
    }

    fn tables(&self) -> Vec<TableDoc> {
        vec![Web::doc(), Surge::doc(), Short::doc(), Bulk::doc(), Onoff::doc()]
    }
}
