//! An object's congestion controls: which program is in which member of which `struct tcp_congestion_ops`.

use crate::btf::{Btf, Type, TypeId, essential};
use crate::bytes::u32_at;
use crate::elf::{Elf, Relocation};
use crate::error::{LoadError, Loaded};
use crate::kernel_model::model;
use crate::program::Code;
use crate::verify;

/// The callbacks, in the order of the kernel's structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callback {
    Ssthresh,
    CongAvoid,
    SetState,
    CwndEvent,
    /// Since Linux 7.1, instead of CA_EVENT_TX_START.
    CwndEventTxStart,
    InAckEvent,
    PktsAcked,
    MinTsoSegs,
    CongControl,
    UndoCwnd,
    SndbufExpand,
    Init,
    Release,
}

impl Callback {
    pub const ALL: [Callback; 13] = [
        Callback::Ssthresh,
        Callback::CongAvoid,
        Callback::SetState,
        Callback::CwndEvent,
        Callback::CwndEventTxStart,
        Callback::InAckEvent,
        Callback::PktsAcked,
        Callback::MinTsoSegs,
        Callback::CongControl,
        Callback::UndoCwnd,
        Callback::SndbufExpand,
        Callback::Init,
        Callback::Release,
    ];

    /// The name of the member.
    pub const fn name(self) -> &'static str {
        match self {
            Callback::Ssthresh => "ssthresh",
            Callback::CongAvoid => "cong_avoid",
            Callback::SetState => "set_state",
            Callback::CwndEvent => "cwnd_event",
            Callback::CwndEventTxStart => "cwnd_event_tx_start",
            Callback::InAckEvent => "in_ack_event",
            Callback::PktsAcked => "pkts_acked",
            Callback::MinTsoSegs => "min_tso_segs",
            Callback::CongControl => "cong_control",
            Callback::UndoCwnd => "undo_cwnd",
            Callback::SndbufExpand => "sndbuf_expand",
            Callback::Init => "init",
            Callback::Release => "release",
        }
    }

    /// How many arguments it has; `cong_control` has another number in older kernels.
    pub const fn arguments(self) -> usize {
        match self {
            Callback::CongAvoid => 3,
            Callback::SetState | Callback::CwndEvent | Callback::InAckEvent | Callback::PktsAcked => 2,
            Callback::CongControl => 4,
            _ => 1,
        }
    }

    fn of(name: &str) -> Option<Self> {
        Callback::ALL.into_iter().find(|callback| callback.name() == name)
    }
}

/// A program that is in a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// Its number in the code.
    pub function: usize,
    pub arguments: usize,
    /// The frames of its deepest nest of calls.
    pub frames: usize,
    pub uses_maps: bool,
}

/// One congestion control.
#[derive(Clone, Debug)]
pub(crate) struct Ops {
    /// Its name in the kernel.
    pub name: String,
    /// The name of the variable, by which an object's congestion controls can be told apart as well.
    pub variable: String,
    /// TCP_CONG_NEEDS_ECN: its connections negotiate ECN.
    pub needs_ecn: bool,
    pub programs: [Option<Program>; Callback::ALL.len()],
}

impl Ops {
    /// The program in this member.
    pub const fn program(&self, callback: Callback) -> Option<&Program> {
        self.programs[callback as usize].as_ref()
    }

    /// Whether it controls the window in every phase.
    pub const fn is_model_based(&self) -> bool {
        self.program(Callback::CongControl).is_some()
    }

    pub fn uses_maps(&self) -> bool {
        self.programs.iter().flatten().any(|program| program.uses_maps)
    }
}

/// A congestion control, and why the kernel would not register it, if it lacks something: an object may hold
/// such a one beside others.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub ops: Ops,
    pub incomplete: Option<LoadError>,
}

const SECTIONS: [&str; 2] = [".struct_ops", ".struct_ops.link"];
const STRUCTURE: &str = "tcp_congestion_ops";
/// The most characters of a name, with the zero at its end (TCP_CA_NAME_MAX).
const NAME_BYTES: usize = 16;
const NEEDS_ECN: u32 = 2;
/// TCP_CONG_NON_RESTRICTED and TCP_CONG_NEEDS_ECN.
const FLAGS: u32 = 3;

/// Reads all congestion controls. `functions` finds the function that a relocation of a section names.
pub(crate) fn read(
    elf: &Elf,
    btf: &Btf,
    code: &Code,
    function: impl Fn(&Relocation) -> Option<usize>,
) -> Loaded<Vec<Described>> {
    let mut all = Vec::new();
    for name in SECTIONS {
        let Some((section, placed)) = elf.find(name) else { continue };
        let relocations = elf.relocations(section)?;
        for (variable, of, ..) in btf.variables(name) {
            let (id, structure) = btf.stripped(of);
            if essential(structure.name()) != STRUCTURE {
                continue;
            }
            let symbol = elf.symbols.iter().find(|s| s.name == variable && s.section == Some(section));
            let at = symbol.and_then(|s| usize::try_from(s.value).ok());
            let bytes = at.zip(btf.size(id)).and_then(|(at, n)| placed.data.get(at..)?.get(..n as usize));
            let (Some(at), Some(bytes)) = (at, bytes) else {
                let reason = "its structure is beyond the end of the section".to_owned();
                return Err(LoadError::Algorithm { name: variable.to_owned(), reason });
            };
            let pointer = |member: usize| {
                let place = (at + member) as u64;
                relocations.iter().find(|r| r.offset == place).map(&function)
            };
            all.push(one(variable, btf, id, bytes, code, pointer)?);
        }
    }
    if all.is_empty() { Err(LoadError::NoStructOps) } else { Ok(all) }
}

fn one(
    variable: &str,
    btf: &Btf,
    structure: TypeId,
    bytes: &[u8],
    code: &Code,
    pointer: impl Fn(usize) -> Option<Option<usize>>,
) -> Loaded<Described> {
    let refused = |reason: String| LoadError::Algorithm { name: variable.to_owned(), reason };
    let Type::Composite { members, .. } = btf.get(structure) else {
        return Err(refused("not a structure".to_owned()));
    };
    let (mut name, mut flags, mut functions) = (String::new(), 0, Vec::new());
    for member in members {
        let at = member.bit_offset as usize / 8;
        let size = btf.size(member.of).unwrap_or(0) as usize;
        let value = bytes.get(at..at + size).unwrap_or(&[]);
        let named = pointer(at);
        match (essential(&member.name), Callback::of(essential(&member.name)), named) {
            (_, Some(callback), Some(Some(function))) => {
                functions.push((callback, function, arguments(btf, member.of, callback)));
            }
            (_, Some(_), Some(None)) => {
                return Err(refused(format!("member {} is no program of the object", member.name)));
            }
            (_, Some(_), None) => {}
            ("name", ..) => {
                let end = value.iter().position(|&b| b == 0).unwrap_or(value.len());
                name = String::from_utf8_lossy(&value[..end]).replace(char::is_control, "?");
            }
            ("flags", ..) => flags = u32_at(value, 0).unwrap_or(0),
            (_, None, None) if value.iter().all(|&b| b == 0) => {}
            ("get_info", ..) => {
                return Err(refused("the kernel takes no get_info from a program".to_owned()));
            }
            (other, ..) => {
                let word =
                    if is_known(other) { "the kernel does not permit to set" } else { "the kernel has no" };
                return Err(refused(format!("{word} member {other}")));
            }
        }
    }
    if name.is_empty() || name.len() >= NAME_BYTES || !name.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(refused(format!("name {name:?}; accepted: 1 to {} characters", NAME_BYTES - 1)));
    }
    if flags & !FLAGS != 0 {
        return Err(refused(format!("flags {flags:#x}; accepted: {FLAGS:#x}, or parts of it")));
    }
    let mut programs = [None; Callback::ALL.len()];
    for (callback, function, arguments) in functions {
        let found = verify::check(code, function)?;
        let (frames, uses_maps) = (found.frames, found.uses_maps);
        programs[callback as usize] = Some(Program { function, arguments, frames, uses_maps });
    }
    let ops = Ops { name, variable: variable.to_owned(), needs_ecn: flags & NEEDS_ECN != 0, programs };
    let lacks = |callback: Callback| ops.program(callback).is_none();
    let lack = if let Some(needed) = [Callback::Ssthresh, Callback::UndoCwnd].into_iter().find(|&c| lacks(c))
    {
        Some(format!("no {}; the kernel requires it", needed.name()))
    } else if lacks(Callback::CongAvoid) && lacks(Callback::CongControl) {
        Some("neither cong_avoid nor cong_control; the kernel requires one".to_owned())
    } else {
        None
    };
    Ok(Described { ops, incomplete: lack.map(refused) })
}

fn is_known(member: &str) -> bool {
    let structures = model().btf.iter().filter(|(_, t)| t.name() == STRUCTURE);
    structures.into_iter().any(|(_, t)| match t {
        Type::Composite { members, .. } => members.iter().any(|m| m.name == member),
        _ => false,
    })
}

/// How many arguments the object takes the callback to have: `cong_control` gained two with Linux 6.10.
fn arguments(btf: &Btf, member: TypeId, callback: Callback) -> usize {
    let usual = callback.arguments();
    let Type::Pointer(to) = btf.stripped(member).1 else { return usual };
    match btf.stripped(*to).1 {
        Type::Prototype { parameters } if callback == Callback::CongControl && parameters.len() == 2 => 2,
        _ => usual,
    }
}
