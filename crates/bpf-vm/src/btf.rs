//! Types, names and strings (BTF; format: docs.kernel.org/bpf/btf.html).

use crate::bytes::{LONGEST_TEXT, slice, text_at, u16_at, u32_at};
use crate::error::{LoadError, Loaded};

const MAGIC: u16 = 0xeb9f;
/// The longest chain of typedefs and modifiers, and the deepest nest of anonymous structures (as in libbpf).
pub(crate) const DEEPEST: usize = 32;

/// The number of a type; 0 is void.
pub(crate) type TypeId = u32;

/// A member of a structure or union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Empty for an anonymous structure or union.
    pub name: String,
    pub of: TypeId,
    /// Where it begins, bits.
    pub bit_offset: u32,
    /// The bits of a bitfield; 0 for what is none.
    pub bits: u32,
}

/// A variable in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub var: TypeId,
    pub offset: u32,
    pub size: u32,
}

/// One type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    Int {
        name: String,
        size: u32,
        signed: bool,
    },
    Pointer(TypeId),
    Array {
        of: TypeId,
        count: u32,
    },
    /// A structure, or a union.
    Composite {
        name: String,
        is_union: bool,
        size: u32,
        members: Vec<Member>,
    },
    Enum {
        name: String,
        size: u32,
        signed: bool,
        values: Vec<(String, i64)>,
    },
    /// A structure or union of which only the name is known.
    Forward {
        name: String,
    },
    Typedef {
        name: String,
        to: TypeId,
    },
    /// const, volatile, restrict, or a tag.
    Modifier(TypeId),
    Function {
        name: String,
        prototype: TypeId,
    },
    /// The types of the parameters.
    Prototype {
        parameters: Vec<TypeId>,
    },
    Variable {
        name: String,
        of: TypeId,
        is_extern: bool,
    },
    Section {
        name: String,
        variables: Vec<Placed>,
    },
    Float {
        name: String,
        size: u32,
    },
    Tag,
}

impl Type {
    /// Its name, if it has one.
    pub fn name(&self) -> &str {
        match self {
            Type::Int { name, .. }
            | Type::Composite { name, .. }
            | Type::Enum { name, .. }
            | Type::Forward { name }
            | Type::Typedef { name, .. }
            | Type::Function { name, .. }
            | Type::Variable { name, .. }
            | Type::Section { name, .. }
            | Type::Float { name, .. } => name,
            _ => "",
        }
    }
}

/// All types of an object, or of the kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Btf {
    types: Vec<Type>,
    strings: Vec<u8>,
}

fn damaged(what: impl Into<String>) -> LoadError {
    LoadError::Btf(what.into())
}

impl Btf {
    /// Those given; the first is number 1.
    pub fn of(types: impl IntoIterator<Item = Type>) -> Self {
        Btf { types: std::iter::once(Type::Void).chain(types).collect(), strings: vec![0] }
    }

    /// Reads a `.BTF` section.
    pub fn new(data: &[u8]) -> Loaded<Self> {
        let header = || damaged("the header is cut off");
        if u16_at(data, 0).ok_or_else(header)? != MAGIC {
            return Err(damaged("no BTF header"));
        }
        let part = |at: usize| -> Option<&[u8]> {
            let head = u32_at(data, 4)? as usize;
            slice(data, head.checked_add(u32_at(data, at)? as usize)?, u32_at(data, at + 4)? as usize)
        };
        let types = part(8).ok_or_else(header)?;
        let strings = part(16).ok_or_else(header)?;
        let mut btf = Btf { types: vec![Type::Void], strings: strings.to_vec() };
        let mut at = 0;
        while at < types.len() {
            let number = btf.types.len();
            let (read, next) = btf.read(types, at).ok_or_else(|| {
                let longest = LONGEST_TEXT - 1;
                damaged(format!("type {number} cannot be read, or has a name of more than {longest} bytes"))
            })?;
            btf.types.push(read);
            at = next;
        }
        btf.iter().try_for_each(|(number, each)| {
            let wrong = btf.size_error(each);
            wrong.map_or(Ok(()), |why| Err(damaged(format!("type {number}, {}: {why}", each.name()))))
        })?;
        Ok(btf)
    }

    /// What is wrong with the sizes of a type: libbpf divides by them, and copies members without a look. The
    /// kernel has these limits for enumerations, floating-point numbers and members (kernel/bpf/btf.c of Linux
    /// 6.12, `btf_enum_check_meta` and others); integers have the sizes of C's types.
    fn size_error(&self, of: &Type) -> Option<String> {
        match of {
            Type::Int { size, .. } if !matches!(size, 1 | 2 | 4 | 8 | 16) => {
                Some(format!("an integer of {size} bytes"))
            }
            Type::Enum { size, .. } if !matches!(size, 1 | 2 | 4 | 8) => {
                Some(format!("an enumeration of {size} bytes"))
            }
            Type::Float { size, .. } if !matches!(size, 2 | 4 | 8 | 12 | 16) => {
                Some(format!("a number of {size} bytes"))
            }
            Type::Composite { size, members, .. } => {
                let beyond = members.iter().find(|member| self.end(member) > 8 * u64::from(*size))?;
                Some(format!("member {:?} ends behind its {size} bytes", beyond.name))
            }
            _ => None,
        }
    }

    /// Where a member ends in its structure, bits.
    fn end(&self, member: &Member) -> u64 {
        let bits = match member.bits {
            0 => 8 * u64::from(self.size(member.of).unwrap_or(0)),
            bits => u64::from(bits),
        };
        u64::from(member.bit_offset) + bits
    }

    /// Reads one type. Returns it and where the next one begins.
    fn read(&self, data: &[u8], at: usize) -> Option<(Type, usize)> {
        let name = self.string(u32_at(data, at)?)?.to_owned();
        let info = u32_at(data, at + 4)?;
        let size = u32_at(data, at + 8)?; // or another type's number
        let (kind, count, flag) = (info >> 24 & 31, (info & 0xffff) as usize, info >> 31 != 0);
        let mut next = at + 12;
        let mut take = |bytes: usize| {
            let found = slice(data, next, bytes)?;
            next += bytes;
            Some(found)
        };
        let read = match kind {
            1 => {
                let detail = u32_at(take(4)?, 0)?;
                Type::Int { name, size, signed: detail >> 24 & 1 != 0 }
            }
            2 => Type::Pointer(size),
            3 => {
                let detail = take(12)?;
                Type::Array { of: u32_at(detail, 0)?, count: u32_at(detail, 8)? }
            }
            4 | 5 => {
                let read = |m: &[u8]| {
                    let offset = u32_at(m, 8)?;
                    let (bit_offset, bits) =
                        if flag { (offset & 0xff_ffff, offset >> 24) } else { (offset, 0) };
                    let name = self.string(u32_at(m, 0)?)?.to_owned();
                    Some(Member { name, of: u32_at(m, 4)?, bit_offset, bits })
                };
                let members = take(12 * count)?.chunks_exact(12).map(read).collect::<Option<_>>()?;
                Type::Composite { name, is_union: kind == 5, size, members }
            }
            6 => {
                let read = |v: &[u8]| {
                    let bits = u32_at(v, 4)?;
                    let value = if flag { i64::from(bits as i32) } else { i64::from(bits) };
                    Some((self.string(u32_at(v, 0)?)?.to_owned(), value))
                };
                let values = take(8 * count)?.chunks_exact(8).map(read).collect::<Option<_>>()?;
                Type::Enum { name, size, signed: flag, values }
            }
            7 => Type::Forward { name },
            8 => Type::Typedef { name, to: size },
            9..=11 | 18 => Type::Modifier(size),
            12 => Type::Function { name, prototype: size },
            13 => {
                let parameters =
                    take(8 * count)?.chunks_exact(8).map(|p| u32_at(p, 4)).collect::<Option<_>>()?;
                Type::Prototype { parameters }
            }
            14 => Type::Variable { name, of: size, is_extern: u32_at(take(4)?, 0)? == 2 },
            15 => {
                let read = |v: &[u8]| {
                    Some(Placed { var: u32_at(v, 0)?, offset: u32_at(v, 4)?, size: u32_at(v, 8)? })
                };
                let variables = take(12 * count)?.chunks_exact(12).map(read).collect::<Option<_>>()?;
                Type::Section { name, variables }
            }
            16 => Type::Float { name, size },
            17 => {
                take(4)?;
                Type::Tag
            }
            19 => {
                let read = |v: &[u8]| {
                    let value = u64::from(u32_at(v, 8)?) << 32 | u64::from(u32_at(v, 4)?);
                    Some((self.string(u32_at(v, 0)?)?.to_owned(), value as i64))
                };
                let values = take(12 * count)?.chunks_exact(12).map(read).collect::<Option<_>>()?;
                Type::Enum { name, size, signed: flag, values }
            }
            _ => return None,
        };
        Some((read, next))
    }

    /// The string at this place of the table of strings.
    pub fn string(&self, at: u32) -> Option<&str> {
        text_at(&self.strings, at as usize)
    }

    /// The type with this number; void if there is none.
    pub fn get(&self, id: TypeId) -> &Type {
        self.types.get(id as usize).unwrap_or(&Type::Void)
    }

    /// All types with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0..).zip(&self.types)
    }

    /// The type behind typedefs and modifiers, with its number.
    pub fn stripped(&self, mut id: TypeId) -> (TypeId, &Type) {
        for _ in 0..DEEPEST {
            match self.get(id) {
                Type::Typedef { to, .. } | Type::Modifier(to) => id = *to,
                found => return (id, found),
            }
        }
        (0, &Type::Void)
    }

    /// The bytes of a type; `None` if it has no size, or one that cannot be.
    pub fn size(&self, id: TypeId) -> Option<u32> {
        let mut id = id;
        let mut times = 1_u32;
        for _ in 0..DEEPEST {
            match self.stripped(id).1 {
                Type::Int { size, .. }
                | Type::Composite { size, .. }
                | Type::Enum { size, .. }
                | Type::Float { size, .. } => return size.checked_mul(times),
                Type::Pointer(_) => return times.checked_mul(8),
                Type::Array { of, count } => {
                    times = times.checked_mul(*count)?;
                    id = *of;
                }
                _ => return None,
            }
        }
        None
    }

    /// The variables of a section, by name.
    pub fn variables(&self, section: &str) -> impl Iterator<Item = (&str, TypeId, bool, Placed)> {
        let placed = self.types.iter().find_map(|t| match t {
            Type::Section { name, variables } if name == section => Some(variables),
            _ => None,
        });
        placed.into_iter().flatten().filter_map(|placed| match self.get(placed.var) {
            Type::Variable { name, of, is_extern } => Some((name.as_str(), *of, *is_extern, *placed)),
            _ => None,
        })
    }
}

/// A name without its flavour: `tcp_sock___old` is a `tcp_sock`.
pub(crate) fn essential(name: &str) -> &str {
    match name.rfind("___") {
        Some(at) if at > 0 && at + 3 < name.len() => &name[..at],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A section with one forward declaration of a name of this length.
    fn section(name_bytes: usize) -> Vec<u8> {
        let strings = [&[0][..], &vec![b'n'; name_bytes], &[0]].concat();
        let header = [0x0001_eb9f, 24, 0, 12, 12, strings.len() as u32];
        let forward = [1, 7 << 24, 0];
        let numbers = header.iter().chain(&forward).flat_map(|number: &u32| number.to_le_bytes());
        numbers.chain(strings).collect()
    }

    /// A section whose types are these words, with "n" as the only name.
    fn types(words: &[u32]) -> Vec<u8> {
        let header = [0x0001_eb9f, 24, 0, 4 * words.len() as u32, 4 * words.len() as u32, 3];
        let numbers = header.iter().chain(words).flat_map(|number| number.to_le_bytes());
        numbers.chain(*b"\0n\0").collect()
    }

    fn error(words: &[u32]) -> Option<String> {
        Btf::new(&types(words)).err().map(|error| error.to_string())
    }

    const INT: u32 = 1 << 24;
    const ONE_MEMBER: u32 = 4 << 24 | 1;

    #[test]
    fn an_integer_without_bytes_is_refused() {
        assert_eq!(error(&[1, INT, 4, 32]), None);
        let expected = "damaged BTF: type 1, n: an integer of 0 bytes";
        assert_eq!(error(&[1, INT, 0, 32]).as_deref(), Some(expected));
    }

    #[test]
    fn a_member_beyond_its_structure_is_refused() {
        let structure = |bit_offset: u32| [1, INT, 4, 32, 1, ONE_MEMBER, 8, 1, 1, bit_offset];
        assert_eq!(error(&structure(32)), None);
        let expected = "damaged BTF: type 2, n: member \"n\" ends behind its 8 bytes";
        for bit_offset in [33, 64, u32::MAX] {
            assert_eq!(error(&structure(bit_offset)).as_deref(), Some(expected), "{bit_offset}");
        }
    }

    #[test]
    fn a_bitfield_counts_with_its_bits() {
        let bitfield =
            |bit_offset: u32| [1, INT, 4, 32, 1, 1 << 31 | ONE_MEMBER, 4, 1, 1, 3 << 24 | bit_offset];
        assert_eq!(error(&bitfield(29)), None);
        assert!(error(&bitfield(30)).is_some());
    }

    #[test]
    fn a_name_that_the_kernel_would_refuse_for_its_length_is_refused() {
        let read = Btf::new(&section(511)).map(|btf| btf.get(1).name().len());
        assert_eq!(read, Ok(511));
        let error = "type 1 cannot be read, or has a name of more than 511 bytes";
        assert_eq!(Btf::new(&section(512)).map(|_| ()), Err(LoadError::Btf(error.to_owned())));
    }
}
