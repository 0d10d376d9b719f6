//! The records of `.BTF.ext` that say which instructions depend on the kernel's types (CO-RE; format:
//! docs.kernel.org/bpf/btf.html and docs.kernel.org/bpf/llvm_reloc.html).

use crate::btf::{Btf, TypeId};
use crate::bytes::{slice, u16_at, u32_at};
use crate::error::{LoadError, Loaded};

const MAGIC: u16 = 0xeb9f;
/// The most steps of a way (BPF_CORE_SPEC_MAX_LEN of libbpf, relo_core.h).
const MOST_STEPS: usize = 64;

/// What an instruction wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    FieldOffset,
    FieldSize,
    FieldExists,
    FieldSigned,
    FieldLeftShift,
    FieldRightShift,
    TypeIdLocal,
    TypeIdTarget,
    TypeExists,
    TypeSize,
    EnumExists,
    EnumValue,
    TypeMatches,
}

impl Wanted {
    const ALL: [Wanted; 13] = [
        Wanted::FieldOffset,
        Wanted::FieldSize,
        Wanted::FieldExists,
        Wanted::FieldSigned,
        Wanted::FieldLeftShift,
        Wanted::FieldRightShift,
        Wanted::TypeIdLocal,
        Wanted::TypeIdTarget,
        Wanted::TypeExists,
        Wanted::TypeSize,
        Wanted::EnumExists,
        Wanted::EnumValue,
        Wanted::TypeMatches,
    ];
}

/// One instruction that depends on the kernel's types.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Where it is in its section, bytes.
    pub offset: u32,
    /// The type in the object.
    pub root: TypeId,
    /// The way from there: numbers of members and elements; of an enumeration, the number of the value.
    pub path: Vec<u32>,
    pub wanted: Wanted,
}

/// The records of each section, by its name.
pub(crate) fn records(data: &[u8], btf: &Btf) -> Loaded<Vec<(String, Vec<Record>)>> {
    read(data, btf).ok_or_else(|| LoadError::Btf(".BTF.ext cannot be read".to_owned()))
}

fn read(data: &[u8], btf: &Btf) -> Option<Vec<(String, Vec<Record>)>> {
    if u16_at(data, 0)? != MAGIC {
        return None;
    }
    let header = u32_at(data, 4)? as usize;
    if header < 32 {
        return Some(Vec::new()); // older than CO-RE
    }
    let (at, bytes) = (u32_at(data, 24)? as usize, u32_at(data, 28)? as usize);
    let part = slice(data, header.checked_add(at)?, bytes)?;
    let mut sections = Vec::new();
    if part.is_empty() {
        return Some(sections);
    }
    let width = u32_at(part, 0)? as usize;
    if width < 16 {
        return None;
    }
    let mut at = 4;
    while at < part.len() {
        let name = btf.string(u32_at(part, at)?)?.to_owned();
        let bytes = (u32_at(part, at + 4)? as usize).checked_mul(width)?;
        let table = slice(part, at + 8, bytes)?;
        at += 8 + bytes;
        let records = table.chunks_exact(width).map(|r| record(r, btf)).collect::<Option<_>>()?;
        sections.push((name, records));
    }
    Some(sections)
}

fn record(r: &[u8], btf: &Btf) -> Option<Record> {
    let path = btf.string(u32_at(r, 8)?)?;
    let path: Vec<u32> = path.split(':').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    Some(Record {
        offset: u32_at(r, 0)?,
        root: u32_at(r, 4)?,
        path: Some(path).filter(|path| path.len() <= MOST_STEPS)?,
        wanted: *Wanted::ALL.get(u32_at(r, 12)? as usize)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_of_more_steps_than_libbpf_follows_is_refused() {
        let strings =
            |steps: usize| [b"\0".to_vec(), vec!["0"; steps].join(":").into_bytes(), vec![0]].concat();
        let record = [0, 1, 1, 0].map(u32::to_le_bytes).concat();
        let steps = |steps: usize| {
            let texts = strings(steps);
            let header = [0x0001_eb9f, 24, 0, 0, 0, texts.len() as u32].map(u32::to_le_bytes).concat();
            let btf = Btf::new(&[header, texts].concat()).ok()?;
            super::record(&record, &btf).map(|record| record.path.len())
        };
        assert_eq!(steps(64), Some(64));
        assert_eq!(steps(65), None);
    }
}
