//! Sections, symbols and relocations of a relocatable ELF object for eBPF (System V ABI, chapter 4: 64 bits,
//! little-endian, REL relocations, as clang writes them).

use crate::bytes::{slice, text_at, u16_at, u32_at, u64_at};
use crate::error::{LoadError, Loaded};

const MACHINE_BPF: u16 = 247;
const TYPE_RELOCATABLE: u16 = 1;
const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const REL_BYTES: usize = 16;
const SYMTAB: u32 = 2;
const REL: u32 = 9;
const NOBITS: u32 = 8;
const FLAG_CODE: u64 = 4;

/// One section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a> {
    pub name: &'a str,
    kind: u32,
    flags: u64,
    /// What is in the file; nothing for `.bss`.
    pub data: &'a [u8],
    /// How long it is in memory.
    pub size: u64,
    link: u32,
    info: u32,
}

impl Section<'_> {
    pub fn is_code(&self) -> bool {
        self.flags & FLAG_CODE != 0 && self.kind != NOBITS
    }
}

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    Object,
    Function,
    Section,
    Other,
}

/// One symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol<'a> {
    pub name: &'a str,
    pub kind: SymbolKind,
    pub is_weak: bool,
    /// The section that it is in; `None` if it is defined elsewhere.
    pub section: Option<usize>,
    pub value: u64,
    pub size: u64,
}

/// One place that depends on a symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    pub offset: u64,
    pub symbol: usize,
}

/// An object's parts.
#[derive(Debug)]
pub(crate) struct Elf<'a> {
    pub sections: Vec<Section<'a>>,
    pub symbols: Vec<Symbol<'a>>,
}

fn damaged(what: &str) -> LoadError {
    LoadError::Elf(what.to_owned())
}

impl<'a> Elf<'a> {
    /// Reads an object's headers, sections and symbols.
    pub fn new(file: &'a [u8]) -> Loaded<Self> {
        if file.get(..4) != Some(b"\x7fELF") {
            return Err(damaged("no ELF header"));
        }
        match (file.get(4), file.get(5)) {
            (Some(2), Some(1)) => {}
            (_, Some(2)) => return Err(LoadError::Endianness),
            _ => return Err(damaged("not ELF of 64 bits")),
        }
        let header = || damaged("the ELF header is cut off");
        if u16_at(file, 18).ok_or_else(header)? != MACHINE_BPF {
            return Err(damaged("for another machine than eBPF"));
        }
        if u16_at(file, 16) != Some(TYPE_RELOCATABLE) {
            return Err(damaged("not a relocatable object, as clang -c writes it"));
        }
        let table = u64_at(file, 40).ok_or_else(header)?;
        let count = usize::from(u16_at(file, 60).ok_or_else(header)?);
        let names = usize::from(u16_at(file, 62).ok_or_else(header)?);
        let table = usize::try_from(table).map_err(|_| header())?;
        let headers = slice(file, table, count * SECTION_BYTES)
            .ok_or_else(|| damaged("its table of sections is beyond the end of the file"))?;
        let mut sections = Vec::with_capacity(count);
        let mut name_offsets = Vec::with_capacity(count);
        for header in headers.chunks_exact(SECTION_BYTES) {
            let section = section(file, header).ok_or_else(|| {
                damaged(&format!("section {} is beyond the end of the file", sections.len()))
            })?;
            name_offsets.push(u32_at(header, 0).unwrap_or(0) as usize);
            sections.push(section);
        }
        let texts = sections.get(names).map(|s| s.data).ok_or_else(|| damaged("no names of sections"))?;
        for (section, &at) in sections.iter_mut().zip(&name_offsets) {
            section.name = text_at(texts, at).ok_or_else(|| damaged("a section without a name"))?;
        }
        let symbols = symbols(&sections)?;
        Ok(Elf { sections, symbols })
    }

    /// The section of this name, with its number.
    pub fn find(&self, name: &str) -> Option<(usize, &Section<'a>)> {
        self.sections.iter().enumerate().find(|(_, section)| section.name == name)
    }

    /// The relocations of a section, in the order of the file.
    pub fn relocations(&self, section: usize) -> Loaded<Vec<Relocation>> {
        let mut all = Vec::new();
        for table in self.sections.iter().filter(|s| s.kind == REL && s.info as usize == section) {
            for entry in table.data.chunks_exact(REL_BYTES) {
                let (offset, info) = (u64_at(entry, 0).unwrap_or(0), u64_at(entry, 8).unwrap_or(0));
                let symbol = (info >> 32) as usize;
                if symbol >= self.symbols.len() {
                    return Err(damaged(&format!("a relocation in {} has no symbol", table.name)));
                }
                all.push(Relocation { offset, symbol });
            }
        }
        Ok(all)
    }
}

fn section<'a>(file: &'a [u8], header: &[u8]) -> Option<Section<'a>> {
    let kind = u32_at(header, 4)?;
    let (at, size) = (usize::try_from(u64_at(header, 24)?).ok()?, u64_at(header, 32)?);
    let data = if kind == NOBITS { &[] } else { slice(file, at, usize::try_from(size).ok()?)? };
    let (link, info) = (u32_at(header, 40)?, u32_at(header, 44)?);
    Some(Section { name: "", kind, flags: u64_at(header, 8)?, data, size, link, info })
}

fn symbols<'a>(sections: &[Section<'a>]) -> Loaded<Vec<Symbol<'a>>> {
    let Some(table) = sections.iter().find(|s| s.kind == SYMTAB) else { return Ok(Vec::new()) };
    let texts =
        sections.get(table.link as usize).map(|s| s.data).ok_or_else(|| damaged("no symbol names"))?;
    let read = |entry: &[u8]| {
        let info = *entry.get(4)?;
        let section = usize::from(u16_at(entry, 6)?);
        let kind = match info & 15 {
            0 | 1 => SymbolKind::Object,
            2 => SymbolKind::Function,
            3 => SymbolKind::Section,
            _ => SymbolKind::Other,
        };
        Some(Symbol {
            name: text_at(texts, u32_at(entry, 0)? as usize)?,
            kind,
            is_weak: info >> 4 == 2,
            section: Some(section).filter(|&s| s != 0 && s < sections.len()),
            value: u64_at(entry, 8)?,
            size: u64_at(entry, 16)?,
        })
    };
    table
        .data
        .chunks_exact(SYMBOL_BYTES)
        .map(read)
        .collect::<Option<_>>()
        .ok_or_else(|| damaged("its symbols"))
}
