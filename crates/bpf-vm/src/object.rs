//! An object file, read, relocated and checked.

use crate::address::{MOST_MAPS, address, region, value_address};
use crate::algorithm::Algorithm;
use crate::btf::{Btf, Type};
use crate::btf_ext;
use crate::bytes::{text_at, u32_at};
use crate::core_relo::{self, Answer};
use crate::elf::{Elf, Relocation, Section, Symbol, SymbolKind};
use crate::error::{LoadError, Loaded};
use crate::host::HZ;
use crate::image::Image;
use crate::kernel_model::model;
use crate::kfuncs;
use crate::maps::{Kind, MOST_BYTES, Spec};
use crate::memory::FRAME_BYTES;
use crate::program::{Code, Function, Insn, Patch, class, decode, op};
use crate::struct_ops;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most instructions of an object (the kernel's limit for one program, BPF_COMPLEXITY_LIMIT_INSNS).
const MOST_INSTRUCTIONS: usize = 1_000_000;
/// The longest key of a map (chosen here: a frame of the stack).
const LONGEST_KEY: usize = FRAME_BYTES;
/// The kernel that the model stands for, as LINUX_KERNEL_VERSION has it.
const KERNEL_VERSION: u64 = 6 << 16 | 12 << 8;
/// Those that the kernel takes for programs (include/linux/license.h).
const LICENSES: [&str; 6] =
    ["GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"];

/// An object file with one or several congestion controls.
#[derive(Clone, Debug)]
pub struct Object {
    image: Arc<Image>,
}

impl Object {
    /// Reads, relocates and checks an object, as `clang -target bpf -g -c` writes it.
    ///
    /// # Errors
    ///
    /// What keeps it from running here, in one line.
    pub fn new(file: &[u8]) -> Result<Self, LoadError> {
        let elf = Elf::new(file)?;
        let types = elf.find(".BTF").ok_or(LoadError::NoBtf)?.1.data;
        let btf = Btf::new(types)?;
        if struct_ops_sections(&elf).next().is_none() {
            return Err(LoadError::NoStructOps);
        }
        check_license(&elf)?;
        let image = Loader::new(&elf, &btf)?.load()?;
        Ok(Object { image: Arc::new(image) })
    }

    /// The names of its congestion controls, as the kernel knows them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.image.algorithms.iter().map(|described| described.ops.name.as_str())
    }

    /// Its congestion controls: the name in the kernel, the variable, and why the kernel would not register
    /// it.
    pub fn described(&self) -> impl Iterator<Item = (&str, &str, Option<&LoadError>)> {
        self.image.algorithms.iter().map(|described| {
            (described.ops.name.as_str(), described.ops.variable.as_str(), described.incomplete.as_ref())
        })
    }

    /// The congestion control of this name (or of the variable with this name); without a name, the only one
    /// that the kernel would register. Connections of one [`Algorithm`] share the object's maps and global
    /// variables.
    ///
    /// # Errors
    ///
    /// There is none of this name, it lacks something, or there are several and no name was given.
    pub fn algorithm(&self, name: Option<&str>) -> Result<Algorithm, LoadError> {
        let all = &self.image.algorithms;
        let names = || self.names().collect::<Vec<_>>().join(", ");
        let index = match name {
            Some(wanted) => all
                .iter()
                .position(|d| d.ops.name == wanted || d.ops.variable == wanted)
                .ok_or_else(|| LoadError::NoSuchName { wanted: wanted.to_owned(), present: names() })?,
            None => {
                let mut complete = (0..all.len()).filter(|&i| all[i].incomplete.is_none());
                match (complete.next(), complete.next()) {
                    (Some(only), None) => only,
                    (None, _) if all.len() == 1 => 0,
                    _ => return Err(LoadError::Several(names())),
                }
            }
        };
        if let Some(incomplete) = &all[index].incomplete {
            return Err(incomplete.clone());
        }
        Ok(Algorithm::new(self.image.clone(), index))
    }
}

/// The value of a setting of the kernel.
pub(crate) fn setting(name: &str) -> Option<u64> {
    match name {
        "CONFIG_HZ" => Some(HZ),
        "LINUX_KERNEL_VERSION" => Some(KERNEL_VERSION),
        _ => None,
    }
}

fn struct_ops_sections<'e>(elf: &'e Elf) -> impl Iterator<Item = &'e Section<'e>> {
    elf.sections.iter().filter(|s| matches!(s.name, ".struct_ops" | ".struct_ops.link"))
}

fn check_license(elf: &Elf) -> Loaded<()> {
    let license = elf.find("license").and_then(|(_, s)| text_at(s.data, 0)).unwrap_or("");
    if LICENSES.contains(&license) { Ok(()) } else { Err(LoadError::License(license.to_owned())) }
}

/// Where a symbol's section went.
#[derive(Clone, Copy)]
enum Place {
    /// Code, from the instruction with this number on.
    Code(usize),
    /// The values of this map.
    Values(usize),
    /// Descriptions of maps.
    Maps,
}

struct Loader<'e> {
    elf: &'e Elf<'e>,
    btf: &'e Btf,
    places: BTreeMap<usize, Place>,
    /// The maps by where they are described in `.maps`.
    described: BTreeMap<u64, usize>,
    /// Addresses of the kernel's settings.
    settings: BTreeMap<String, u64>,
    maps: Vec<Spec>,
    constants: Vec<Vec<u8>>,
    code: Code,
}

impl<'e> Loader<'e> {
    fn new(elf: &'e Elf<'e>, btf: &'e Btf) -> Loaded<Self> {
        let mut loader = Loader {
            elf,
            btf,
            places: BTreeMap::new(),
            described: BTreeMap::new(),
            settings: BTreeMap::new(),
            maps: Vec::new(),
            constants: Vec::new(),
            code: Code::default(),
        };
        loader.read_maps()?;
        loader.read_data()?;
        loader.read_settings()?;
        loader.place_code()?;
        Ok(loader)
    }

    fn load(mut self) -> Loaded<Image> {
        self.relocate_data()?;
        let mut raw: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        for (&section, place) in &self.places {
            if matches!(place, Place::Code(_)) {
                raw.insert(section, self.elf.sections[section].data.to_vec());
            }
        }
        let mut patches = self.relocate_types(&mut raw)?;
        for (&section, raw) in &raw {
            let base = self.code.insns.len();
            for relocation in self.elf.relocations(section)? {
                let at = relocation.offset as usize / 8;
                if let Some(patch) = self.patch(raw, base + at, at, &relocation)? {
                    patches.entry((section, at)).or_insert(patch);
                }
            }
            self.decode(section, raw, base, &patches)?;
        }
        let function = |relocation: &Relocation| {
            let symbol = self.elf.symbols.get(relocation.symbol)?;
            let start = self.instruction(symbol, 0)?;
            self.code.functions.iter().position(|f| f.start == start)
        };
        let algorithms = struct_ops::read(self.elf, self.btf, &self.code, function)?;
        Ok(Image { code: self.code, maps: self.maps, constants: self.constants, algorithms })
    }

    fn add_map(&mut self, spec: Spec, constants: Vec<u8>) -> Loaded<usize> {
        spec.check()?;
        if self.maps.len() == MOST_MAPS {
            let reason = format!("more than {MOST_MAPS} maps and sections of data");
            return Err(LoadError::Map { map: spec.name, reason });
        }
        self.maps.push(spec);
        self.constants.push(constants);
        Ok(self.maps.len() - 1)
    }

    /// The symbol of a variable in a section.
    fn symbol(&self, name: &str, section: usize) -> Option<&'e Symbol<'e>> {
        self.elf.symbols.iter().find(|s| s.name == name && s.section == Some(section))
    }

    fn read_maps(&mut self) -> Loaded<()> {
        let Some((section, _)) = self.elf.find(".maps") else { return Ok(()) };
        self.places.insert(section, Place::Maps);
        let btf = self.btf;
        for (name, of, ..) in btf.variables(".maps") {
            let refused = |reason: String| LoadError::Map { map: name.to_owned(), reason };
            let Type::Composite { members, .. } = btf.stripped(of).1 else {
                return Err(refused("not described by a structure".to_owned()));
            };
            let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
            for member in members {
                let Type::Pointer(to) = btf.stripped(member.of).1 else { continue };
                let number = match (member.name.as_str(), btf.stripped(*to).1) {
                    ("key", _) => ("key_size", btf.size(*to)),
                    ("value", _) => ("value_size", btf.size(*to)),
                    ("values", _) => return Err(refused("a map of maps or programs".to_owned())),
                    (name, Type::Array { count, .. }) => (name, Some(*count)),
                    _ => continue,
                };
                numbers.insert(number.0, number.1.unwrap_or(0));
            }
            let number = |name: &str| numbers.get(name).copied().unwrap_or(0);
            let accepted = "arrays, hashes, LRU hashes (each also per CPU), socket storage, ring buffers";
            let kind = Kind::of(number("type"))
                .ok_or_else(|| refused(format!("of type {}; accepted: {accepted}", number("type"))))?;
            let spec = Spec {
                name: name.to_owned(),
                kind,
                key_bytes: number("key_size") as usize,
                value_bytes: number("value_size") as usize,
                most_entries: number("max_entries"),
                initial: Vec::new(),
                is_constant: false,
            };
            if spec.key_bytes > LONGEST_KEY {
                return Err(refused(format!("a key of {} bytes; accepted: {LONGEST_KEY}", spec.key_bytes)));
            }
            let at = self.symbol(name, section).ok_or_else(|| refused("it has no symbol".to_owned()))?.value;
            let map = self.add_map(spec, Vec::new())?;
            self.described.insert(at, map);
        }
        Ok(())
    }

    /// Global variables: each section is an array of one value.
    fn read_data(&mut self) -> Loaded<()> {
        for (number, section) in self.elf.sections.iter().enumerate() {
            let is = |kind: &str| section.name == kind || section.name.starts_with(&format!("{kind}."));
            let is_constant = is(".rodata");
            if section.size == 0 || !(is_constant || is(".data") || is(".bss")) {
                continue;
            }
            if section.size > MOST_BYTES {
                let reason = format!("{} bytes; accepted: at most {MOST_BYTES}", section.size);
                return Err(LoadError::Map { map: section.name.to_owned(), reason });
            }
            let map = self.add_map(data(section, is_constant), constants(section, is_constant))?;
            self.places.insert(number, Place::Values(map));
        }
        Ok(())
    }

    /// The kernel's settings that the object asks for, one after the other in a constant section of their
    /// own.
    fn read_settings(&mut self) -> Loaded<()> {
        let (btf, mut values, mut offsets) = (self.btf, Vec::new(), Vec::new());
        for (name, of, is_extern, _) in btf.variables(".kconfig") {
            let value = match setting(name) {
                Some(value) => value,
                _ if self.elf.symbols.iter().any(|s| s.name == name && s.is_weak) => 0,
                _ => return Err(LoadError::Extern(name.to_owned())),
            };
            let size = btf.size(of).filter(|&size| is_extern && size <= 8);
            let size = size.ok_or_else(|| LoadError::Extern(name.to_owned()))? as usize;
            offsets.push((name, values.len() as u32));
            values.extend_from_slice(&value.to_le_bytes()[..size]);
            values.resize(values.len().next_multiple_of(8), 0);
        }
        if values.is_empty() {
            return Ok(());
        }
        let spec = Spec {
            name: ".kconfig".to_owned(),
            kind: Kind::Array,
            key_bytes: 4,
            value_bytes: values.len(),
            most_entries: 1,
            initial: Vec::new(),
            is_constant: true,
        };
        let map = self.add_map(spec, values)?;
        self.settings.extend(offsets.into_iter().map(|(name, at)| (name.to_owned(), value_address(map, at))));
        Ok(())
    }

    /// Gives each section of code its place, and finds its functions.
    fn place_code(&mut self) -> Loaded<()> {
        let mut base = 0;
        for (number, section) in
            self.elf.sections.iter().enumerate().filter(|(_, s)| s.is_code() && s.size > 0)
        {
            if section.data.len() % 8 != 0 {
                return Err(LoadError::Elf(format!("{} ends within an instruction", section.name)));
            }
            self.places.insert(number, Place::Code(base));
            let count = section.data.len() / 8;
            let mut functions: Vec<Function> = Vec::new();
            let symbols = self.elf.symbols.iter();
            for symbol in symbols.filter(|s| s.kind == SymbolKind::Function && s.section == Some(number)) {
                let (at, size) = (symbol.value / 8, symbol.size / 8);
                if size == 0 || at.checked_add(size).is_none_or(|end| end > count as u64) {
                    return Err(LoadError::Elf(format!("function {} is beyond its section", symbol.name)));
                }
                let start = base + at as usize;
                functions.push(Function { name: symbol.name.to_owned(), start, end: start + size as usize });
            }
            functions.sort_by_key(|f| (f.start, f.end));
            functions.dedup_by_key(|f| f.start);
            if functions.windows(2).any(|pair| pair[0].end > pair[1].start) {
                return Err(LoadError::Elf(format!("functions of {} overlap", section.name)));
            }
            self.code.functions.extend(functions);
            base += count;
        }
        if base > MOST_INSTRUCTIONS {
            return Err(LoadError::Elf(format!(
                "{base} instructions; accepted: at most {MOST_INSTRUCTIONS}"
            )));
        }
        Ok(())
    }

    /// Adjusts instructions to the kernel's types.
    fn relocate_types(
        &mut self,
        raw: &mut BTreeMap<usize, Vec<u8>>,
    ) -> Loaded<BTreeMap<(usize, usize), Patch>> {
        let mut patches = BTreeMap::new();
        let Some((_, extension)) = self.elf.find(".BTF.ext") else { return Ok(patches) };
        for (name, records) in btf_ext::records(extension.data, self.btf)? {
            let Some((section, _)) = self.elf.find(&name) else { continue };
            let Some(raw) = raw.get_mut(&section) else { continue };
            for record in records {
                let damaged =
                    || LoadError::Btf(format!("a CO-RE record of {name} at byte {}", record.offset));
                let answer = core_relo::resolve(self.btf, &model().btf, &record).ok_or_else(damaged)?;
                let at = record.offset as usize / 8;
                let done = match answer {
                    Answer::Value { value, sizes } => adjust(raw, at, value, sizes).ok_or_else(damaged)?,
                    Answer::Missing(what) => Err(what),
                };
                if let Err(what) = done {
                    self.code.missing.push(what);
                    patches.insert((section, at), Patch::Missing(self.code.missing.len() as u32 - 1));
                }
            }
        }
        Ok(patches)
    }

    /// The instruction that a symbol names, `addend` bytes further on.
    fn instruction(&self, symbol: &Symbol, addend: i64) -> Option<usize> {
        match self.places.get(&symbol.section?)? {
            Place::Code(base) => {
                let at = i64::try_from(symbol.value).ok()?.checked_add(addend)?;
                usize::try_from(at / 8).ok().map(|at| base + at)
            }
            _ => None,
        }
    }

    /// The address of what a symbol names.
    fn address(&self, symbol: &Symbol, addend: i64) -> Loaded<u64> {
        let damaged =
            || LoadError::Elf(format!("a relocation names {:?}, which has no address", symbol.name));
        let Some(section) = symbol.section else {
            if let Some(&setting) = self.settings.get(symbol.name) {
                return Ok(setting);
            }
            return match kfuncs::number(symbol.name) {
                // whether it is there is all that a program may ask
                Some(number) => Ok(address(region::FUNCTION, 1 << 31 | number)),
                None if symbol.is_weak => Ok(0),
                None => Err(LoadError::Extern(symbol.name.to_owned())),
            };
        };
        let at =
            i64::try_from(symbol.value).ok().and_then(|at| at.checked_add(addend)).ok_or_else(damaged)?;
        match self.places.get(&section).ok_or_else(damaged)? {
            Place::Maps => {
                let map = self.described.get(&(at as u64)).ok_or_else(damaged)?;
                Ok(address(region::MAP, *map as u32))
            }
            // a pointer just before or beyond a variable is one, too
            Place::Values(map) => Ok(value_address(*map, 0).wrapping_add(at as u64)),
            Place::Code(_) => {
                let pc = self.instruction(symbol, addend).ok_or_else(damaged)?;
                Ok(address(region::FUNCTION, pc as u32))
            }
        }
    }

    /// What a relocation makes of the instruction `at` of its section, which is number `pc` of all.
    fn patch(&mut self, raw: &[u8], pc: usize, at: usize, relocation: &Relocation) -> Loaded<Option<Patch>> {
        let symbol = self.elf.symbols[relocation.symbol];
        let code = raw.get(8 * at).copied().unwrap_or(0);
        let imm = i64::from(u32_at(raw, 8 * at + 4).unwrap_or(0) as i32);
        match code {
            op::LD_IMM64 => Ok(Some(Patch::Address(self.address(&symbol, imm)?))),
            op::CALL_HELPER if symbol.section.is_some() => {
                let callee = self.instruction(&symbol, 8 * (imm + 1));
                let reason = || self.code.refused(pc, format!("calls {:?}, which is no code", symbol.name));
                callee.map(|callee| Some(Patch::Local(callee))).ok_or_else(reason)
            }
            op::CALL_HELPER => match kfuncs::number(symbol.name) {
                Some(number) => Ok(Some(Patch::Kfunc(number))),
                None if symbol.is_weak => {
                    self.code.missing.push(format!("kfunc {}", symbol.name));
                    Ok(Some(Patch::Missing(self.code.missing.len() as u32 - 1)))
                }
                None => Err(LoadError::Kfunc(symbol.name.to_owned())),
            },
            _ => Ok(None),
        }
    }

    fn decode(
        &mut self,
        section: usize,
        raw: &[u8],
        base: usize,
        patches: &BTreeMap<(usize, usize), Patch>,
    ) -> Loaded<()> {
        let mut is_second_half = false;
        for at in 0..raw.len() / 8 {
            let insn = if is_second_half {
                Insn { op: op::SECOND_HALF, dst: 0, src: 0, off: 0, imm: 0 }
            } else {
                let patch = patches.get(&(section, at)).copied();
                decode(raw, at, base, patch).map_err(|reason| self.code.refused(base + at, reason))?
            };
            let is_wide = raw[8 * at] == op::LD_IMM64 && at + 1 < raw.len() / 8;
            is_second_half = !is_second_half && is_wide;
            self.code.insns.push(insn);
        }
        Ok(())
    }

    /// Pointers among global variables.
    fn relocate_data(&mut self) -> Loaded<()> {
        let values: Vec<(usize, usize)> = self
            .places
            .iter()
            .filter_map(|(&section, place)| match place {
                Place::Values(map) => Some((section, *map)),
                _ => None,
            })
            .collect();
        for (section, map) in values {
            for relocation in self.elf.relocations(section)? {
                let symbol = self.elf.symbols[relocation.symbol];
                let place = usize::try_from(relocation.offset).ok();
                let addend = place.and_then(|at| crate::bytes::u64_at(self.elf.sections[section].data, at));
                let (Some(at), Some(addend)) = (place, addend) else {
                    let name = self.elf.sections[section].name;
                    return Err(LoadError::Elf(format!("a relocation is beyond the end of {name}")));
                };
                let pointer = self.address(&symbol, addend as i64)?.to_le_bytes();
                let both = [&mut self.constants[map], &mut self.maps[map].initial];
                for values in both.into_iter().filter(|values| values.len() >= at + 8) {
                    values[at..at + 8].copy_from_slice(&pointer);
                }
            }
        }
        Ok(())
    }
}

fn data(section: &Section, is_constant: bool) -> Spec {
    Spec {
        name: section.name.to_owned(),
        kind: Kind::Array,
        key_bytes: 4,
        value_bytes: section.size as usize,
        most_entries: 1,
        initial: if is_constant { Vec::new() } else { section.data.to_vec() },
        is_constant,
    }
}

fn constants(section: &Section, is_constant: bool) -> Vec<u8> {
    if is_constant { section.data.to_vec() } else { Vec::new() }
}

/// Puts a value into an instruction, and the kernel's size of the field into a load or store. `None` if the
/// instruction takes none; the inner error names why the field cannot be used.
fn adjust(raw: &mut [u8], at: usize, value: u64, sizes: Option<(u32, u32)>) -> Option<Result<(), String>> {
    let insn = raw.get_mut(8 * at..)?;
    let code = *insn.first()?;
    match code & 7 {
        class::ALU32 | class::ALU64 => {
            insn.get_mut(4..8)?.copy_from_slice(&(value as u32).to_le_bytes());
        }
        class::LDX | class::ST | class::STX => {
            insn.get_mut(2..4)?.copy_from_slice(&(u16::try_from(value).ok()?).to_le_bytes());
            if let Some((mine, theirs)) = sizes.filter(|(mine, theirs)| mine != theirs) {
                let bits = match theirs {
                    1 => 0x10,
                    2 => 0x08,
                    4 => 0x00,
                    8 => 0x18,
                    _ => return Some(Err(format!("a field of {mine} bytes, which has {theirs}"))),
                };
                insn[0] = code & !0x18 | bits;
            }
        }
        _ if code == op::LD_IMM64 => {
            insn.get_mut(4..8)?.copy_from_slice(&(value as u32).to_le_bytes());
            insn.get_mut(12..16)?.copy_from_slice(&((value >> 32) as u32).to_le_bytes());
        }
        _ => return None,
    }
    Some(Ok(()))
}
