//! What an object needs of the kernel that runs it, as far as its file says, and which of that this crate
//! has. It reads objects too that [`Object::new`](crate::Object::new) refuses, so that everything that is
//! missing is seen at once.

use crate::btf::{Btf, Type};
use crate::btf_ext::{self, Wanted};
use crate::bytes::{text_at, u32_at};
use crate::core_relo::{self, Answer};
use crate::elf::Elf;
use crate::error::{LoadError, Loaded};
use crate::kernel_model::model;
use crate::maps::Kind;
use crate::program::op;
use crate::{helper_names, helpers, kfuncs, object};
use std::collections::BTreeMap;

/// The kinds of what an object needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeedKind {
    /// A helper function, by its number.
    Helper,
    /// A function of the kernel, by its name.
    Kfunc,
    /// A setting or variable of the kernel.
    Extern,
    /// A map.
    Map,
    /// A field, type or value of the kernel's types.
    Field,
}

impl NeedKind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            NeedKind::Helper => "helper",
            NeedKind::Kfunc => "kfunc",
            NeedKind::Extern => "extern",
            NeedKind::Map => "map",
            NeedKind::Field => "field",
        }
    }
}

/// One thing that an object needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What kind of thing.
    pub kind: NeedKind,
    /// Its name.
    pub name: String,
    /// Whether there is such a thing here.
    pub is_here: bool,
    /// Whether the object also works without it, as its file says: a weak symbol. What only code behind an
    /// existence check uses is needed all the same; whether such code is reached, the check of the whole
    /// object finds out.
    pub is_optional: bool,
}

/// What an object's file says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Its license.
    pub license: String,
    /// How many instructions it has.
    pub instructions: usize,
    /// What it needs, by kind and name.
    pub needs: Vec<Need>,
}

impl Needs {
    /// Reads an object's file.
    ///
    /// # Errors
    /// It is no eBPF object, or its types cannot be read.
    pub fn new(file: &[u8]) -> Result<Self, LoadError> {
        let elf = Elf::new(file)?;
        let btf = Btf::new(elf.find(".BTF").ok_or(LoadError::NoBtf)?.1.data)?;
        let mut found = Found::default();
        found.maps(&elf, &btf);
        found.settings(&elf, &btf);
        let mut instructions = 0;
        for (section, code) in elf.sections.iter().enumerate().filter(|(_, s)| s.is_code()) {
            instructions += code.data.len() / 8;
            found.calls(&elf, section)?;
        }
        found.fields(&elf, &btf)?;
        let license = elf.find("license").and_then(|(_, s)| text_at(s.data, 0)).unwrap_or("").to_owned();
        let needs = found.0.into_iter().map(|((kind, name), (is_here, is_optional))| Need {
            kind,
            name,
            is_here,
            is_optional,
        });
        Ok(Needs { license, instructions, needs: needs.collect() })
    }
}

/// Whether each is here, and whether it is optional.
#[derive(Default)]
struct Found(BTreeMap<(NeedKind, String), (bool, bool)>);

impl Found {
    fn add(&mut self, kind: NeedKind, name: impl Into<String>, is_here: bool, is_optional: bool) {
        self.0.insert((kind, name.into()), (is_here, is_optional));
    }

    fn maps(&mut self, elf: &Elf, btf: &Btf) {
        if elf.find(".maps").is_none() {
            return;
        }
        for (name, of, ..) in btf.variables(".maps") {
            let Type::Composite { members, .. } = btf.stripped(of).1 else { continue };
            let number = members.iter().filter(|m| m.name == "type").find_map(|member| {
                let Type::Pointer(to) = btf.stripped(member.of).1 else { return None };
                match btf.stripped(*to).1 {
                    Type::Array { count, .. } => Some(*count),
                    _ => None,
                }
            });
            let number = number.unwrap_or(0);
            self.add(NeedKind::Map, format!("{name} (type {number})"), Kind::of(number).is_some(), false);
        }
    }

    fn settings(&mut self, elf: &Elf, btf: &Btf) {
        for (name, ..) in btf.variables(".kconfig") {
            let is_weak = elf.symbols.iter().any(|s| s.name == name && s.is_weak);
            self.add(NeedKind::Extern, name, object::setting(name).is_some(), is_weak);
        }
    }

    /// Calls of helpers and of the kernel's functions in a section of code.
    fn calls(&mut self, elf: &Elf, section: usize) -> Loaded<()> {
        let data = elf.sections[section].data;
        for insn in data.chunks_exact(8).filter(|insn| insn[0] == op::CALL_HELPER && insn[1] >> 4 == 0) {
            let number = i64::from(u32_at(insn, 4).unwrap_or(0) as i32);
            // a call of a function of the kernel has no number before it is relocated
            if let Some(name) = helper_names::name(number) {
                self.add(NeedKind::Helper, format!("bpf_{name}"), helpers::name(number).is_some(), false);
            } else if number > 0 {
                self.add(NeedKind::Helper, format!("helper {number}"), false, false);
            }
        }
        for relocation in elf.relocations(section)? {
            let Some(symbol) = elf.symbols.get(relocation.symbol) else { continue };
            let at = usize::try_from(relocation.offset).unwrap_or(usize::MAX);
            if symbol.section.is_none() && data.get(at) == Some(&op::CALL_HELPER) {
                let is_here = kfuncs::number(symbol.name).is_some();
                self.add(NeedKind::Kfunc, symbol.name, is_here, symbol.is_weak);
            }
        }
        Ok(())
    }

    /// Fields, types and values of the kernel that instructions depend on. Those that are only asked for,
    /// whether they exist, are no need.
    fn fields(&mut self, elf: &Elf, btf: &Btf) -> Loaded<()> {
        let Some((_, extension)) = elf.find(".BTF.ext") else { return Ok(()) };
        for (_, records) in btf_ext::records(extension.data, btf)? {
            for record in records {
                let asks = matches!(
                    record.wanted,
                    Wanted::FieldExists | Wanted::TypeExists | Wanted::TypeMatches | Wanted::EnumExists
                );
                if asks || record.wanted == Wanted::TypeIdLocal {
                    continue;
                }
                let Some(name) = core_relo::described_way(btf, &record) else { continue };
                let answer = core_relo::resolve(btf, &model().btf, &record);
                self.add(NeedKind::Field, name, matches!(answer, Some(Answer::Value { .. })), false);
            }
        }
        Ok(())
    }
}
