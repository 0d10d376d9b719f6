//! Compares: reads inputs of scenarios, one JSON object a line, and writes their plans.
#![allow(clippy::unwrap_used, reason = "a tool of one move")]
use longfat_scenario::at::Context;
use longfat_scenario::tree::{Item, Table, Value};
use longfat_scenario::world::{Files, Own, OwnFacts, World};
use longfat_scenario::{memory, read, resolve, write};
use serde_json::{Value as Json, json};
use std::io::BufRead;
use std::path::{Path, PathBuf};

struct Loose;
impl World for Loose {
    fn bytes(&self, path: &Path, most: u64) -> Result<Vec<u8>, String> {
        Files.bytes(path, most)
    }
    fn whole(&self, path: &Path) -> PathBuf {
        Files.whole(path)
    }
    fn is_file(&self, path: &Path) -> bool {
        Files.is_file(path)
    }
    fn own(&self, own: &Own, _: &[(String, Value)]) -> Result<(OwnFacts, String), String> {
        let model_based = matches!(own, Own::Python(name) if name.contains("my_bbr"));
        Ok((OwnFacts { needs_marks: false, model_based }, "own".into()))
    }
    fn kernel_has(&self, _: &str) -> bool {
        false
    }
}

fn tree(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => {
            n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap()), |i| Value::Integer(i.into()))
        }
        Json::String(s) => Value::Text(s.clone()),
        Json::Array(a) => Value::List(a.iter().map(|x| Item::new(tree(x))).collect()),
        Json::Object(o) => Value::Table(Table::of(o.iter().map(|(k, v)| (k.clone(), tree(v))))),
    }
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let given: Json = serde_json::from_str(&line.unwrap()).unwrap();
        let base = PathBuf::from(given["base"].as_str().unwrap());
        let context = Context { world: &Loose, base: &base, stack: None };
        let mut source = String::new();
        let tables = match given.get("toml") {
            Some(text) => {
                source = text.as_str().unwrap().to_owned();
                read::parse(&source)
            }
            None => match tree(&given["dict"]) {
                Value::Table(t) => Ok(t),
                _ => unreachable!(),
            },
        };
        let out = match tables.and_then(|t| read::scenario(t, &context)) {
            Err(problems) => {
                let lines: Vec<String> = problems
                    .iter()
                    .map(|p| if source.is_empty() { p.to_string() } else { p.in_text("x.toml", &source) })
                    .collect();
                json!({"error": lines})
            }
            Ok(s) => match resolve::resolve(&s, true) {
                Err(e) => json!({"crash": e.to_string()}),
                Ok(r) => {
                    let f = resolve::filled(&s).unwrap();
                    let m = memory::estimate(&r.plan, &r.flows);
                    json!({"memory": [m.bytes, m.key], "plan": serde_json::to_value(&r.plan).unwrap(), "written": write::toml(&write::tables(&s)),
                        "filled": write::toml(&write::tables(&f)), "varies": s.varies(), "notes": longfat_scenario::notes::notes(&s).unwrap(), "warnings": longfat_scenario::notes::warnings(&s).unwrap(), "meaningless": longfat_scenario::notes::meaningless_metrics(&s).unwrap(), "names": s.flow_names()[..s.flow_names().len().min(50)]})
                }
            },
        };
        println!("{out}");
    }
}
