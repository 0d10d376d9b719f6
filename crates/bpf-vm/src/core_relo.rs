//! Where the object's fields are in the kernel's types (CO-RE): the way to a field is followed by names in
//! the object's types, then by the same names in the kernel's. The rules are those of
//! docs.kernel.org/bpf/llvm_reloc.html and of libbpf's guide (nakryiko.com/posts/bpf-core-reference-guide):
//! names match without their flavours, anonymous structures are looked through, and what is not there makes
//! an existence check false, or the instruction unusable.

use crate::btf::{Btf, DEEPEST, Type, TypeId, essential};
use crate::btf_ext::{Record, Wanted};
use crate::bytes::LONGEST_TEXT;

/// What a record comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Value {
        value: u64,
        /// The bytes of the field in the object and in the kernel, if the instruction reads or writes one
        /// that is no bitfield.
        sizes: Option<(u32, u32)>,
    },
    /// The kernel has no such thing; the text names it.
    Missing(String),
}

/// The place of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    bit_offset: u64,
    of: TypeId,
    /// The bits of a bitfield; 0 for what is none.
    bits: u32,
}

/// A step by name or number.
enum Step<'a> {
    Member(&'a str, TypeId),
    Element(u32),
}

/// What a record of `local` comes to in the types of `target`; `None` if the record is damaged.
pub(crate) fn resolve(local: &Btf, target: &Btf, record: &Record) -> Option<Answer> {
    let root = local.stripped(record.root).1;
    let candidate = candidate(local, target, record.root);
    let value = |value: u64| Some(Answer::Value { value, sizes: None });
    match record.wanted {
        Wanted::TypeIdLocal => value(u64::from(record.root)),
        Wanted::TypeExists | Wanted::TypeMatches => value(u64::from(candidate.is_some())),
        Wanted::TypeIdTarget => match candidate {
            Some(id) => value(u64::from(id)),
            None => Some(Answer::Missing(described(root))),
        },
        Wanted::TypeSize => match candidate.and_then(|id| target.size(id)) {
            Some(size) => value(u64::from(size)),
            None => Some(Answer::Missing(described(root))),
        },
        Wanted::EnumExists | Wanted::EnumValue => {
            let Type::Enum { values, .. } = root else { return None };
            let name = essential(&values.get(*record.path.first()? as usize)?.0);
            let found = candidate.and_then(|id| match target.stripped(id).1 {
                Type::Enum { values, .. } => values.iter().find(|(known, _)| essential(known) == name),
                _ => None,
            });
            match (record.wanted, found) {
                (Wanted::EnumExists, found) => value(u64::from(found.is_some())),
                (_, Some((_, number))) => value(*number as u64),
                (_, None) => Some(Answer::Missing(format!("value {name} of {}", described(root)))),
            }
        }
        _ => {
            let (field, steps, way) = walk(local, record)?;
            let index = *record.path.first()?;
            let found = candidate.and_then(|id| follow(local, target, id, index, &steps));
            match (record.wanted, found) {
                (Wanted::FieldExists, found) => value(u64::from(found.is_some())),
                (_, None) => Some(Answer::Missing(way)),
                (wanted, Some(found)) => answer(local, target, wanted, field, found),
            }
        }
    }
}

/// What a record depends on, in words: a field with its structure, a type, or a value of an enumeration.
pub(crate) fn described_way(local: &Btf, record: &Record) -> Option<String> {
    let root = local.stripped(record.root).1;
    match record.wanted {
        Wanted::EnumValue | Wanted::EnumExists => {
            let Type::Enum { values, .. } = root else { return None };
            let name = essential(&values.get(*record.path.first()? as usize)?.0);
            Some(format!("value {name} of {}", described(root)))
        }
        Wanted::TypeIdTarget | Wanted::TypeSize | Wanted::TypeExists | Wanted::TypeMatches => {
            Some(described(root))
        }
        _ => walk(local, record).map(|(_, _, way)| way),
    }
}

fn described(root: &Type) -> String {
    let word = match root {
        Type::Composite { is_union: true, .. } => "union ",
        Type::Composite { .. } | Type::Forward { .. } => "struct ",
        Type::Enum { .. } => "enum ",
        _ => "type ",
    };
    format!("{word}{}", root.name())
}

fn is_same_kind(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Composite { is_union, .. }, Type::Composite { is_union: other, .. }) => is_union == other,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// The kernel's type of the same name and kind.
fn candidate(local: &Btf, target: &Btf, root: TypeId) -> Option<TypeId> {
    let named = local.get(root);
    let wanted = if named.name().is_empty() { local.stripped(root).1 } else { named };
    let name = essential(wanted.name());
    if name.is_empty() {
        return None;
    }
    target.iter().find(|(_, t)| is_same_kind(t, wanted) && essential(t.name()) == name).map(|(id, _)| id)
}

/// Follows the way in the object's own types. Returns the field, the steps, and a text for them.
fn walk<'a>(local: &'a Btf, record: &Record) -> Option<(Field, Vec<Step<'a>>, String)> {
    let (&first, rest) = record.path.split_first()?;
    let (mut of, root) = local.stripped(record.root);
    let mut way = described(root);
    let mut bit_offset = 8 * u64::from(first) * u64::from(local.size(of)?);
    let (mut bits, mut steps) = (0, Vec::new());
    for &number in rest {
        match local.get(of) {
            Type::Composite { members, .. } => {
                let member = members.get(number as usize)?;
                bit_offset += u64::from(member.bit_offset);
                bits = member.bits;
                if !member.name.is_empty() {
                    steps.push(Step::Member(&member.name, member.of));
                    lengthen(&mut way, &format!(".{}", member.name));
                }
                of = local.stripped(member.of).0;
            }
            Type::Array { of: element, .. } => {
                bit_offset += 8 * u64::from(number) * u64::from(local.size(*element)?);
                steps.push(Step::Element(number));
                lengthen(&mut way, &format!("[{number}]"));
                (of, bits) = (local.stripped(*element).0, 0);
            }
            _ => return None,
        }
    }
    Some((Field { bit_offset, of, bits }, steps, way))
}

/// Adds a step to a text, which ends with dots where it would be longer than two names: an object may have a
/// text for each of its instructions.
fn lengthen(way: &mut String, step: &str) {
    if way.ends_with("...") {
        return;
    }
    way.push_str(if way.len() + step.len() <= 2 * LONGEST_TEXT { step } else { "..." });
}

/// Follows the same steps in the kernel's types.
fn follow(local: &Btf, target: &Btf, root: TypeId, index: u32, steps: &[Step]) -> Option<Field> {
    let of = target.stripped(root).0;
    let bit_offset = 8 * u64::from(index) * u64::from(target.size(of)?);
    let mut field = Field { bit_offset, of, bits: 0 };
    for step in steps {
        field = match step {
            Step::Member(name, wanted) => {
                let found = member(target, field.of, name, 0)?;
                if !are_compatible(local, *wanted, target, found.of, 0) {
                    return None;
                }
                Field { bit_offset: field.bit_offset + found.bit_offset, ..found }
            }
            Step::Element(number) => {
                let Type::Array { of, count } = target.get(field.of) else { return None };
                if number >= count && *count > 0 {
                    return None;
                }
                let bits = 8 * u64::from(*number) * u64::from(target.size(*of)?);
                Field { bit_offset: field.bit_offset + bits, of: target.stripped(*of).0, bits: 0 }
            }
        };
    }
    Some(field)
}

/// A member by name, which may be in an anonymous structure or union.
fn member(target: &Btf, of: TypeId, name: &str, depth: usize) -> Option<Field> {
    let Type::Composite { members, .. } = target.stripped(of).1 else { return None };
    if depth > DEEPEST {
        return None;
    }
    for member in members {
        let bit_offset = u64::from(member.bit_offset);
        if member.name == name {
            return Some(Field { bit_offset, of: target.stripped(member.of).0, bits: member.bits });
        }
        if member.name.is_empty()
            && let Some(inner) = self::member(target, member.of, name, depth + 1)
        {
            return Some(Field { bit_offset: bit_offset + inner.bit_offset, ..inner });
        }
    }
    None
}

/// Whether a field of the object can stand for one of the kernel.
fn are_compatible(local: &Btf, a: TypeId, target: &Btf, b: TypeId, depth: usize) -> bool {
    match (local.stripped(a).1, target.stripped(b).1) {
        (Type::Composite { .. }, Type::Composite { .. })
        | (Type::Pointer(_), Type::Pointer(_))
        | (Type::Int { .. }, Type::Int { .. })
        | (Type::Float { .. }, Type::Float { .. }) => true,
        (Type::Enum { name, .. }, Type::Enum { name: other, .. }) => {
            name.is_empty() || other.is_empty() || essential(name) == essential(other)
        }
        (Type::Array { of, .. }, Type::Array { of: other, .. }) => {
            depth < DEEPEST && are_compatible(local, *of, target, *other, depth + 1)
        }
        _ => false,
    }
}

/// The bytes through which a field is read: (offset, size).
fn storage(btf: &Btf, field: Field) -> Option<(u64, u32)> {
    let mut size = btf.size(field.of)?;
    let byte = field.bit_offset / 8;
    if field.bits == 0 {
        return Some((byte, size));
    }
    let end = field.bit_offset + u64::from(field.bits);
    loop {
        let at = byte / u64::from(size.max(1)) * u64::from(size);
        if end <= 8 * (at + u64::from(size)) {
            return Some((at, size));
        }
        size = size.checked_mul(2).filter(|&size| (2..=8).contains(&size))?;
    }
}

fn answer(local: &Btf, target: &Btf, wanted: Wanted, field: Field, found: Field) -> Option<Answer> {
    let (offset, size) = storage(target, found)?;
    let bits = if found.bits == 0 { 8 * u64::from(size) } else { u64::from(found.bits) };
    let value = match wanted {
        Wanted::FieldOffset => offset,
        Wanted::FieldSize => u64::from(size),
        Wanted::FieldSigned => match target.stripped(found.of).1 {
            Type::Int { signed, .. } | Type::Enum { signed, .. } => u64::from(*signed),
            _ => 0,
        },
        Wanted::FieldLeftShift => 64_u64.checked_sub(found.bit_offset + bits - 8 * offset)?,
        Wanted::FieldRightShift => 64_u64.checked_sub(bits)?,
        _ => return None,
    };
    let is_plain = |btf: &Btf, field: Field| {
        let of = btf.stripped(field.of).1;
        field.bits == 0 && matches!(of, Type::Int { .. } | Type::Enum { .. } | Type::Pointer(_))
    };
    let resized = wanted == Wanted::FieldOffset && is_plain(local, field) && is_plain(target, found);
    let sizes = resized.then(|| Some((local.size(field.of)?, size))).flatten();
    Some(Answer::Value { value, sizes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::Member;

    fn int(size: u32, signed: bool) -> Type {
        Type::Int { name: "n".to_owned(), size, signed }
    }

    fn composite(name: &str, size: u32, members: &[(&str, TypeId, u32, u32)]) -> Type {
        let member = |&(name, of, bit_offset, bits): &(&str, TypeId, u32, u32)| Member {
            name: name.to_owned(),
            of,
            bit_offset,
            bits,
        };
        Type::Composite {
            name: name.to_owned(),
            is_union: false,
            size,
            members: members.iter().map(member).collect(),
        }
    }

    /// 1: u32, 2: s8, 3: u64, 4: what the object knows of `pair`, 5: an array of three of them.
    fn object() -> Btf {
        let pair = composite("pair___mine", 8, &[("gone", 1, 0, 0), ("b", 1, 32, 0), ("few", 2, 40, 3)]);
        let values = vec![("FIRST".to_owned(), 7), ("LOST".to_owned(), 8)];
        Btf::of([
            int(4, false),
            int(1, true),
            int(8, false),
            pair,
            Type::Array { of: 4, count: 3 },
            composite("holder", 24, &[("pairs", 5, 0, 0)]),
            Type::Enum { name: "choice".to_owned(), size: 4, signed: false, values },
        ])
    }

    /// `b` has moved into an anonymous structure and has become 8 bytes, `few` begins at bit 10 and has five.
    fn kernel() -> Btf {
        let values = vec![("FIRST".to_owned(), -2)];
        Btf::of([
            int(8, false),
            composite("", 8, &[("b", 1, 0, 0)]),
            int(1, true),
            composite("pair", 24, &[("few", 3, 10, 5), ("", 2, 64, 0)]),
            Type::Array { of: 4, count: 2 },
            composite("holder", 56, &[("pairs", 5, 64, 0)]),
            Type::Enum { name: "choice".to_owned(), size: 4, signed: true, values },
        ])
    }

    fn asked(root: TypeId, path: &[u32], wanted: Wanted) -> Option<Answer> {
        resolve(&object(), &kernel(), &Record { offset: 0, root, path: path.to_vec(), wanted })
    }

    fn value(value: u64) -> Option<Answer> {
        Some(Answer::Value { value, sizes: None })
    }

    #[test]
    fn a_field_is_found_by_its_name_in_anonymous_structures_and_elements() {
        let moved = Some(Answer::Value { value: 8, sizes: Some((4, 8)) });
        assert_eq!(asked(4, &[0, 1], Wanted::FieldOffset), moved);
        assert_eq!(asked(4, &[0, 1], Wanted::FieldSize), value(8));
        assert_eq!(asked(4, &[0, 1], Wanted::FieldExists), value(1));
        // holder.pairs[1].b: 8 for pairs, 24 for the element, 8 for b
        let inner = Some(Answer::Value { value: 40, sizes: Some((4, 8)) });
        assert_eq!(asked(6, &[0, 0, 1, 1], Wanted::FieldOffset), inner);
        assert_eq!(asked(6, &[0, 0, 2, 1], Wanted::FieldExists), value(0), "the kernel has two elements");
    }

    #[test]
    fn a_bitfield_is_described_by_its_storage_and_two_shifts() {
        // bits 10 to 14: byte 1, of which bits 2 to 6
        assert_eq!(asked(4, &[0, 2], Wanted::FieldOffset), value(1));
        assert_eq!(asked(4, &[0, 2], Wanted::FieldSize), value(1));
        assert_eq!(asked(4, &[0, 2], Wanted::FieldSigned), value(1));
        assert_eq!(asked(4, &[0, 2], Wanted::FieldLeftShift), value(64 - 7));
        assert_eq!(asked(4, &[0, 2], Wanted::FieldRightShift), value(64 - 5));
    }

    #[test]
    fn what_the_kernel_lacks_does_not_exist_and_has_no_offset() {
        assert_eq!(asked(4, &[0, 0], Wanted::FieldExists), value(0));
        let missing = Some(Answer::Missing("struct pair___mine.gone".to_owned()));
        assert_eq!(asked(4, &[0, 0], Wanted::FieldOffset), missing);
    }

    #[test]
    fn types_and_values_of_enumerations_are_found_by_name() {
        assert_eq!(asked(4, &[0], Wanted::TypeSize), value(24));
        assert_eq!(asked(4, &[0], Wanted::TypeIdTarget), value(4));
        assert_eq!(asked(4, &[0], Wanted::TypeIdLocal), value(4));
        assert_eq!(asked(7, &[0], Wanted::EnumValue), value(-2_i64 as u64));
        assert_eq!(asked(7, &[1], Wanted::EnumExists), value(0));
        let missing = Some(Answer::Missing("value LOST of enum choice".to_owned()));
        assert_eq!(asked(7, &[1], Wanted::EnumValue), missing);
    }

    #[test]
    fn the_text_of_a_long_way_through_long_names_ends_with_dots() {
        let name = "m".repeat(LONGEST_TEXT - 1);
        let chain = Btf::of([composite("chain", 8, &[(&name, 1, 0, 0)])]);
        let record = Record { offset: 0, root: 1, path: vec![0; 64], wanted: Wanted::FieldOffset };
        let Some(Answer::Missing(way)) = resolve(&chain, &kernel(), &record) else { panic!("no such field") };
        assert_eq!(way, format!("struct chain.{name}..."));
    }

    #[test]
    fn a_way_that_leads_nowhere_is_damage() {
        assert_eq!(asked(4, &[0, 9], Wanted::FieldOffset), None);
        assert_eq!(asked(1, &[0, 0], Wanted::FieldOffset), None);
        assert_eq!(asked(4, &[], Wanted::FieldExists), None);
    }
}
