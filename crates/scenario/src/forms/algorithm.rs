//! Congestion controls as a scenario names them: a row of the registry, a user's own, or one that only the
//! machine's kernel has.

use super::element::{
    self, ElementKind, filled, kind_schema, read_parameters, refused_by_row, split_table, view_parameters,
    with_owned_names, write_named,
};
use crate::at::At;
use crate::form::{Custom, View, any_of};
use crate::problem::{Refusal, refuse};
use crate::tree::{Item, Table, Value};
use crate::units::RATE;
use crate::world::{Own, OwnFacts};
use longfat_transport::cc::{self, Properties};
use longfat_transport::{Feedback, udp};
use longfat_units::parameters::Value as Setting;
use longfat_units::{Entry, Rate};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use std::collections::BTreeMap;

/// How the name of an object file with eBPF programs ends.
const OBJECT: &str = ".bpf.o";
/// The parameter of an object: percent of cwnd / srtt at which the kernel paces outside of slow-start.
pub const PACING: &str = "pacing_ca_ratio";

const ACCEPTED: &str = "a name such as \"hstcp\", or { name = \"hstcp\", low_window = 31 }, or \"file.py:Class\", or \"file.bpf.o\"";

/// What carries an algorithm's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// TCP.
    Tcp,
    /// UDP, answered by the receiver.
    Udp,
    /// UDP, never answered.
    Datagrams,
}

impl Carrier {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Carrier::Tcp => "tcp",
            Carrier::Udp => "udp",
            Carrier::Datagrams => "datagrams",
        }
    }
}

/// A congestion control.
#[derive(Clone, Debug, PartialEq)]
pub enum Algorithm {
    /// A row of the registry, with the parameters that are given, in the registry's units.
    Listed(&'static str, Vec<(&'static str, Setting)>),
    /// A user's own, by its name in files, with the parameters of its constructor.
    Own(String, Own, OwnFacts, Vec<(String, Value)>),
    /// One that only the machine's kernel has, by its name there.
    Kernel(String),
}

/// An algorithm as plans have it: one of the registry with its parameters, or "custom" for any other.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Planned {
    kind: String,
    parameters: BTreeMap<String, Setting>,
}

/// The name of what is not in the registry, in plans and results.
const CUSTOM: &str = "custom";

impl Serialize for Algorithm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = self.settings().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Planned { kind: self.listed_name().to_owned(), parameters }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Algorithm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Algorithm, D::Error> {
        let Planned { kind, parameters } = Planned::deserialize(deserializer)?;
        if kind == CUSTOM {
            return Ok(Algorithm::Kernel(kind));
        }
        let row = ElementKind::Algorithm.find(&kind, "").map_err(D::Error::custom)?;
        let given = parameters.into_iter().map(|(name, value)| {
            let known = row.parameters.iter().find(|parameter| parameter.name == name);
            known.map(|parameter| (parameter.name, value)).ok_or(name)
        });
        let given = given.collect::<Result<_, _>>();
        let unknown = |name| D::Error::custom(format!("{} has no parameter {name:?}", row.name));
        Ok(Algorithm::Listed(row.name, given.map_err(unknown)?))
    }
}

/// What the registry says of a kind of algorithm.
#[derive(Clone, Copy)]
enum Row {
    Tcp(&'static cc::Algorithm),
    Udp(&'static udp::Protocol),
}

impl Algorithm {
    /// Standard TCP.
    pub const STANDARD: Algorithm = Algorithm::Listed("reno", Vec::new());

    /// Its name in files.
    pub fn name(&self) -> &str {
        match self {
            Algorithm::Listed(name, _) => name,
            Algorithm::Own(name, ..) | Algorithm::Kernel(name) => name,
        }
    }

    /// Its name in plans and results: "custom" for what is not in the registry.
    pub const fn listed_name(&self) -> &str {
        match self {
            Algorithm::Listed(name, _) => name,
            _ => CUSTOM,
        }
    }

    /// Whether the registry has it.
    pub const fn is_listed(&self) -> bool {
        matches!(self, Algorithm::Listed(..))
    }

    /// Whether it is a congestion control of an object with eBPF programs.
    pub const fn is_ebpf(&self) -> bool {
        matches!(self, Algorithm::Own(_, Own::Ebpf(..), ..))
    }

    fn row(&self) -> Option<Row> {
        match self {
            Algorithm::Listed(name, _) => {
                cc::find(name).map(Row::Tcp).or_else(|| udp::find(name).map(Row::Udp))
            }
            _ => None,
        }
    }

    /// Its row's names and parameters.
    pub fn entry(&self) -> Option<&'static Entry> {
        self.row().map(|row| match row {
            Row::Tcp(row) => &row.entry,
            Row::Udp(row) => &row.entry,
        })
    }

    /// The facts of its row; `None` for what is not a TCP of the registry.
    fn properties(&self) -> Option<&'static Properties> {
        match self.row() {
            Some(Row::Tcp(row)) => Some(&row.properties),
            _ => None,
        }
    }

    /// What carries it.
    pub fn carrier(&self) -> Carrier {
        match self.row() {
            Some(Row::Udp(row)) if row.answered => Carrier::Udp,
            Some(Row::Udp(_)) => Carrier::Datagrams,
            _ => Carrier::Tcp,
        }
    }

    /// Whether it needs every mark reported (RFC 8257), as a user's own, and so negotiates ECN.
    pub const fn needs_marks(&self) -> bool {
        matches!(self, Algorithm::Own(_, _, OwnFacts { needs_marks: true, .. }, _))
    }

    /// Whether RFC 8511 has a factor for it.
    pub fn has_abe(&self) -> bool {
        self.properties().is_some_and(|facts| facts.beta_ecn.is_some())
    }

    /// Whether it responds to the extent of marking, and not just to a mark.
    pub fn is_scalable(&self) -> bool {
        self.properties().is_some_and(|facts| facts.feedback != Feedback::Classic)
    }

    /// Whether its data always carry ECT(1).
    pub fn sends_ect1(&self) -> bool {
        self.properties().is_some_and(|facts| facts.sends_ect1)
    }

    /// Whether it controls the window in every phase, slow-start included.
    pub fn is_model_based(&self) -> bool {
        match self {
            Algorithm::Own(_, _, facts, _) => facts.model_based,
            _ => self.properties().is_some_and(|facts| facts.model_based),
        }
    }

    /// The explicit protocol whose header its data packets carry.
    pub fn protocol(&self) -> Option<&'static str> {
        self.properties()?.protocol.map(|protocol| protocol.name)
    }

    /// The bytes of its explicit congestion header in every data packet.
    pub fn explicit_bytes(&self) -> u32 {
        self.properties().and_then(|facts| facts.protocol).map_or(0, |protocol| protocol.header_bytes)
    }

    /// Whether it may draw random numbers; a user's own may.
    pub fn is_random(&self) -> bool {
        match self.row() {
            Some(Row::Tcp(_)) => false,
            Some(Row::Udp(row)) => row.random,
            None => true,
        }
    }

    /// All parameters of a row of the registry, with the default of every one that is not given.
    pub fn settings(&self) -> Vec<(&'static str, Setting)> {
        match (self, self.entry()) {
            (Algorithm::Listed(_, given), Some(row)) => filled(row, given),
            _ => Vec::new(),
        }
    }

    fn setting(&self, name: &str) -> Option<Setting> {
        self.settings().into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// A number among these parameters.
    pub fn number(&self, name: &str) -> Option<f64> {
        if let Setting::Number(x) = self.setting(name)? { Some(x) } else { None }
    }

    /// A word among these parameters.
    pub fn word(&self, name: &str) -> Option<String> {
        if let Setting::Word(word) = self.setting(name)? { Some(word) } else { None }
    }

    /// Whether a parameter is given.
    pub fn has_given(&self, name: &str) -> bool {
        matches!(self, Algorithm::Listed(_, given) if given.iter().any(|(known, _)| *known == name))
    }

    /// The same with every default written out.
    #[must_use]
    pub fn filled(&self) -> Algorithm {
        match self {
            Algorithm::Listed(name, _) => Algorithm::Listed(name, self.settings()),
            other => other.clone(),
        }
    }

    /// The same with another value of a parameter, in the registry's unit.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Setting) -> Algorithm {
        if let Algorithm::Listed(_, given) = &mut self {
            match given.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => given.push((name, value)),
            }
        }
        self
    }

    /// The rate that the user sets, bit/s, of whatever has one and is not TCP.
    pub fn rate_bps(&self) -> Option<f64> {
        if self.carrier() == Carrier::Tcp {
            return None;
        }
        let parameter = self.entry()?.parameters.iter().find(|parameter| parameter.name == "rate")?;
        let given = Setting::Number(self.number("rate")?);
        RATE.parse(&element::written(parameter, &given), "").ok().map(|rate| rate.to_f64())
    }

    fn write(&self) -> Value {
        match self {
            Algorithm::Listed(name, given) => write_named((*name).into(), "name", self.entry(), given),
            Algorithm::Kernel(name) => name.clone().into(),
            Algorithm::Own(name, own, _, parameters) => {
                let name = match own {
                    Own::Object(object) => Value::Object(object.clone()),
                    _ => name.clone().into(),
                };
                if parameters.is_empty() {
                    return name;
                }
                let mut table = Table::of([("name", name)]);
                for (key, value) in parameters {
                    table.push(key.clone(), value.clone());
                }
                table.into()
            }
        }
    }
}

fn read(value: &Value, at: &At<'_>) -> Result<Algorithm, Refusal> {
    let (name, given) = split_table(value, ElementKind::Algorithm);
    if let Some(Value::Object(object)) = name
        && object.is_callable
    {
        return own(Own::Object(object.clone()), object.name.clone(), &given, at);
    }
    let Some(name) = name.and_then(Value::text) else { return refuse("this is not an algorithm", ACCEPTED) };
    let world = at.context.world;
    if name.contains(".py:") {
        let (file, class) = name.rsplit_once(':').unwrap_or((name, ""));
        let path = at.context.base.join(file);
        if !world.is_file(&path) {
            let accepted = "file.py:Class, relative to the scenario's folder";
            return refuse(format!("there is no file {}", path.display()), accepted);
        }
        let whole = format!("{}:{class}", world.whole(&path).display());
        return own(Own::Python(whole.clone()), whole, &given, at);
    }
    if let Some((file, wanted)) = name.split_once(OBJECT) {
        let path = at.context.base.join(format!("{file}{OBJECT}"));
        if !world.is_file(&path) || !(wanted.is_empty() || wanted.starts_with(':')) {
            let accepted = "file.bpf.o, or file.bpf.o:NAME, relative to the scenario's folder";
            return refuse(format!("there is no file {}{wanted}", path.display()), accepted);
        }
        let path = world.whole(&path);
        let wanted = wanted.strip_prefix(':').map(str::to_owned);
        return own(Own::Ebpf(path, wanted), String::new(), &given, at);
    }
    if [".py", ".o", ".so", ".c"].iter().any(|end| name.ends_with(end)) {
        return refuse(format!("\"{name}\" names a file"), "file.py:Class, or file.bpf.o");
    }
    let row = match ElementKind::Algorithm.find(name, ", or a file: \"file.py:Class\", \"file.bpf.o\"") {
        Ok(row) => row,
        Err(_) if world.kernel_has(name) => {
            if !given.is_empty() {
                return refuse(format!("{name} is the kernel's, with its own parameters"), "the name alone");
            }
            return Ok(Algorithm::Kernel(name.to_owned()));
        }
        Err(unknown) => return Err(unknown),
    };
    let parameters = read_parameters(row, &given, ElementKind::Algorithm)?;
    check(row.name, &parameters)?;
    Ok(Algorithm::Listed(row.name, parameters))
}

fn own(own: Own, name: String, given: &[(&str, &Item)], at: &At<'_>) -> Result<Algorithm, Refusal> {
    let parameters: Vec<(String, Value)> =
        given.iter().map(|(key, item)| ((*key).to_owned(), item.value.clone())).collect();
    let (facts, found) = at.context.world.own(&own, &parameters).map_err(|line| {
        let (what, accepted) = line.split_once("; accepted: ").unwrap_or((&line, "an algorithm that loads"));
        Refusal::new(what, accepted)
    })?;
    let (own, name) = match own {
        Own::Ebpf(path, _) => {
            let name = format!("{}:{found}", path.display());
            (Own::Ebpf(path, Some(found)), name)
        }
        own => (own, name),
    };
    Ok(Algorithm::Own(name, own, facts, parameters))
}

/// Refuses parameters that do not go with each other.
fn check(name: &str, parameters: &[(&'static str, Setting)]) -> Result<(), Refusal> {
    let given = with_owned_names(parameters);
    let error = match (cc::find(name), udp::find(name)) {
        (Some(row), _) => row.instance(&given).err(),
        // what hosts have for links is checked with the whole scenario
        (None, Some(row)) => {
            Rate::from_bps(f64::from(u32::MAX) * 1e6).and_then(|line| row.check(&given, line).err())
        }
        (None, None) => None,
    };
    error.map_or(Ok(()), |error| Err(refused_by_row(error)))
}

/// The row of an algorithm that a file writes as a name or a table; `None` for a user's own, and for what is
/// no algorithm.
pub fn row_named(value: &Value) -> Option<&'static Entry> {
    let (name, _) = split_table(value, ElementKind::Algorithm);
    ElementKind::Algorithm.find(name?.text()?, "").ok()
}

/// An algorithm as a table, however it is written.
pub fn table_of(value: &Value) -> Table {
    match value {
        Value::Table(table) => table.clone(),
        name => Table::of([("name", name.clone())]),
    }
}

/// A congestion control.
pub const ALGORITHM: Custom<Algorithm> = Custom {
    accepts: ACCEPTED,
    read: |item, at| Ok(read(&item.value, at)?),
    write: Algorithm::write,
    schema: || {
        let about = "A user's own, \"file.py:Class\", or \"file.bpf.o\" with eBPF programs";
        let own = json!({"type": "string", "pattern": r"\.py:|\.bpf\.o(:|$)", "description": about});
        let mut known = kind_schema(ElementKind::Algorithm)["anyOf"].as_array().cloned().unwrap_or_default();
        known.push(own.clone());
        known.push(json!({"type": "object", "properties": {"name": own}, "required": ["name"]}));
        any_of(known)
    },
    view: |value| {
        let (parameters, kind) = match value {
            Algorithm::Listed(_, given) => (&given[..], "listed"),
            Algorithm::Own(_, Own::Ebpf(..), ..) => (&[][..], "ebpf"),
            Algorithm::Own(..) => (&[][..], "own"),
            Algorithm::Kernel(_) => (&[][..], "kernel"),
        };
        View::Fields(vec![
            ("name", View::Text(value.name().to_owned())),
            ("parameters", view_parameters(parameters)),
            ("settings", view_parameters(&value.settings())),
            ("kind", View::Text(kind.to_owned())),
            ("transport", View::Text(value.carrier().name().to_owned())),
            ("needs_marks", View::Bool(value.needs_marks())),
            ("is_scalable", View::Bool(value.is_scalable())),
            ("is_model_based", View::Bool(value.is_model_based())),
            ("protocol", value.protocol().map_or(View::None, |name| View::Text(name.to_owned()))),
        ])
    },
};
