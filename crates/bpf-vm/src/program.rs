//! Instructions, decoded once: what RFC 9669 encodes in several fields becomes one operation, and a jump
//! knows the number of the instruction that it goes to.

use crate::bytes::{u16_at, u32_at};
use crate::error::LoadError;

/// The operations. Those of RFC 9669 that one byte tells apart keep that byte; the others have numbers that
/// no accepted instruction uses.
pub(crate) mod op {
    pub const LD_IMM64: u8 = 0x18;
    pub const JUMP: u8 = 0x05;
    pub const MAY_GOTO: u8 = 0xe5;
    pub const EXIT: u8 = 0x95;
    pub const CALL_HELPER: u8 = 0x85;
    pub const ATOMIC32: u8 = 0xc3;
    pub const ATOMIC64: u8 = 0xdb;
    /// The second half of a wide instruction.
    pub const SECOND_HALF: u8 = 0x00;
    pub const CALL_LOCAL: u8 = 0x08;
    pub const CALL_KFUNC: u8 = 0x10;
    /// Depends on something that the kernel's types do not have; `imm` is its number in
    /// [`super::Code::missing`].
    pub const MISSING: u8 = 0x20;
    pub const SDIV64_K: u8 = 0x28;
    pub const SDIV64_X: u8 = 0x30;
    pub const SDIV32_K: u8 = 0x38;
    pub const SDIV32_X: u8 = 0x40;
    pub const SMOD64_K: u8 = 0x48;
    pub const SMOD64_X: u8 = 0x50;
    pub const SMOD32_K: u8 = 0x58;
    pub const SMOD32_X: u8 = 0x60;
    pub const MOVSX64_8: u8 = 0x68;
    pub const MOVSX64_16: u8 = 0x70;
    pub const MOVSX64_32: u8 = 0x78;
    pub const MOVSX32_8: u8 = 0x80;
    pub const MOVSX32_16: u8 = 0x88;
    pub const LOAD_ACQUIRE: u8 = 0x90;
    pub const STORE_RELEASE: u8 = 0x98;
}

/// The class of an operation: the three low bits of its byte.
pub(crate) mod class {
    pub const LDX: u8 = 1;
    pub const ST: u8 = 2;
    pub const STX: u8 = 3;
    pub const ALU32: u8 = 4;
    pub const JMP: u8 = 5;
    pub const JMP32: u8 = 6;
    pub const ALU64: u8 = 7;
}

/// The register that holds the end of the frame, and that no program sets.
pub(crate) const FRAME: u8 = 10;

/// One decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Insn {
    pub op: u8,
    pub dst: u8,
    pub src: u8,
    /// The distance of an access from the register; the instruction that comes after a jump or local call.
    pub off: i32,
    /// The constant, sign-extended as the instruction uses it.
    pub imm: i64,
}

/// A function of the object.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    /// Its instructions in [`Code::insns`].
    pub start: usize,
    pub end: usize,
}

/// All functions of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub insns: Vec<Insn>,
    /// In the order of their instructions.
    pub functions: Vec<Function>,
    /// What the kernel's types do not have, but some instruction depends on.
    pub missing: Vec<String>,
}

impl Code {
    /// The number of the function that holds this instruction.
    pub fn function_of(&self, pc: usize) -> Option<usize> {
        let after = self.functions.partition_point(|f| f.start <= pc);
        let index = after.checked_sub(1)?;
        (pc < self.functions[index].end).then_some(index)
    }

    /// The function's name and the instruction's number in it.
    pub fn place(&self, pc: usize) -> (String, usize) {
        match self.function_of(pc) {
            Some(f) => (self.functions[f].name.clone(), pc - self.functions[f].start),
            None => ("code outside of functions".to_owned(), pc),
        }
    }

    /// The refusal of an instruction.
    pub fn refused(&self, pc: usize, reason: impl Into<String>) -> LoadError {
        let (program, instruction) = self.place(pc);
        LoadError::Program { program, instruction, reason: reason.into() }
    }
}

/// What a relocation makes of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patch {
    /// A wide load of an address.
    Address(u64),
    /// A call of the function at this instruction.
    Local(usize),
    /// A call of the kernel's function with this number.
    Kfunc(u32),
    /// It depends on something that there is not.
    Missing(u32),
}

/// Decodes the instruction with the number `pc` among all, which is at `raw[8 * at..]` of its section; `base`
/// is the number of the section's first one. The reason, if it is refused.
pub(crate) fn decode(raw: &[u8], at: usize, base: usize, patch: Option<Patch>) -> Result<Insn, String> {
    let Some((&[code, registers], offset, imm)) = read(raw, at) else {
        return Err("the section ends within an instruction".to_owned());
    };
    let (dst, src) = (registers & 15, registers >> 4);
    let plain = Insn { op: code, dst, src, off: i32::from(offset), imm: i64::from(imm) };
    if let Some(Patch::Missing(number)) = patch {
        return Ok(Insn { op: op::MISSING, off: 0, imm: i64::from(number), ..plain });
    }
    if let Some(wrong) = [dst, src].into_iter().find(|&register| register > FRAME) {
        return Err(format!("register r{wrong}; there are r0 to r10"));
    }
    let unknown =
        || Err(format!("unknown instruction, code {code:#04x}, offset {offset}, constant {imm:#x}"));
    let target = |distance: i64| {
        // beyond the end of the section: found by the check of jumps
        let next = (base + at + 1) as i64 + distance;
        i32::try_from(next).map_err(|_| "a jump beyond the program".to_owned())
    };
    match code & 7 {
        0 if code == op::LD_IMM64 => {
            let Some((&[0, 0], 0, high)) = read(raw, at + 1) else {
                return Err("a wide load without its second half".to_owned());
            };
            let constant = i64::from(high) << 32 | i64::from(imm as u32);
            match (src, patch) {
                (_, Some(Patch::Address(address))) => Ok(Insn { src: 0, imm: address as i64, ..plain }),
                (0, None) => Ok(Insn { imm: constant, ..plain }),
                _ => Err("a wide load of an address that no relocation gives".to_owned()),
            }
        }
        class::LDX => match code >> 5 {
            3 => Ok(plain),
            4 if code != 0x99 => Ok(plain), // sign-extending
            _ => unknown(),
        },
        class::ST if code >> 5 == 3 => Ok(plain),
        class::STX if code >> 5 == 3 => Ok(plain),
        // BPF_LOAD_ACQ and BPF_STORE_REL come in all four sizes
        class::STX if code >> 5 == 6 && imm == 0x100 => {
            Ok(Insn { op: op::LOAD_ACQUIRE, imm: access_bytes(code), ..plain })
        }
        class::STX if code >> 5 == 6 && imm == 0x110 => {
            Ok(Insn { op: op::STORE_RELEASE, imm: access_bytes(code), ..plain })
        }
        class::STX if code == op::ATOMIC32 || code == op::ATOMIC64 => match imm {
            0x00 | 0x40 | 0x50 | 0xa0 | 0x01 | 0x41 | 0x51 | 0xa1 | 0xe1 | 0xf1 => Ok(plain),
            _ => unknown(),
        },
        class::ALU32 | class::ALU64 => arithmetic(plain),
        class::JMP | class::JMP32 => {
            let wide = code & 7 == class::JMP;
            match code >> 4 {
                0 if code & 8 == 0 => {
                    let distance = if wide { i64::from(offset) } else { i64::from(imm) };
                    Ok(Insn { op: op::JUMP, off: target(distance)?, ..plain })
                }
                8 if wide && code & 8 == 0 => match (src, patch) {
                    (_, Some(Patch::Local(callee))) => {
                        let off =
                            i32::try_from(callee).map_err(|_| "a call beyond the program".to_owned())?;
                        Ok(Insn { op: op::CALL_LOCAL, off, ..plain })
                    }
                    (_, Some(Patch::Kfunc(number))) => {
                        Ok(Insn { op: op::CALL_KFUNC, imm: i64::from(number), ..plain })
                    }
                    (0, None) => Ok(plain),
                    (1, None) => Ok(Insn { op: op::CALL_LOCAL, off: target(i64::from(imm))?, ..plain }),
                    _ => Err("a call of a function that no relocation gives".to_owned()),
                },
                9 if wide && code & 8 == 0 => Ok(plain),
                14 if code == op::MAY_GOTO && src == 0 => {
                    Ok(Insn { off: target(i64::from(offset))?, ..plain })
                }
                1..=7 | 10..=13 => Ok(Insn { off: target(i64::from(offset))?, ..plain }),
                _ => unknown(),
            }
        }
        _ => unknown(),
    }
}

fn arithmetic(plain: Insn) -> Result<Insn, String> {
    let Insn { op: code, off, imm, .. } = plain;
    let unknown = || Err(format!("unknown instruction, code {code:#04x}, offset {off}, constant {imm:#x}"));
    let (wide, by_register) = (code & 7 == class::ALU64, code & 8 != 0);
    let other = |op: u8| Ok(Insn { op, ..plain });
    match (code >> 4, off) {
        (8, 0) if by_register => unknown(),
        (0..=12, 0) => other(code),
        // signed division and remainder follow each other by 8: constant, register; 64 bits, then 32
        (3, 1) => other(op::SDIV64_K + 16 * u8::from(!wide) + 8 * u8::from(by_register)),
        (9, 1) => other(op::SMOD64_K + 16 * u8::from(!wide) + 8 * u8::from(by_register)),
        (11, 8) if by_register => other(if wide { op::MOVSX64_8 } else { op::MOVSX32_8 }),
        (11, 16) if by_register => other(if wide { op::MOVSX64_16 } else { op::MOVSX32_16 }),
        (11, 32) if by_register && wide => other(op::MOVSX64_32),
        (13, 0) if matches!(imm, 16 | 32 | 64) && !(wide && by_register) => Ok(plain),
        _ => unknown(),
    }
}

/// How many bytes a load or store moves.
pub(crate) const fn access_bytes(code: u8) -> i64 {
    match code & 0x18 {
        0x00 => 4,
        0x08 => 2,
        0x10 => 1,
        _ => 8,
    }
}

/// The operation and registers, the offset, and the constant.
fn read(raw: &[u8], at: usize) -> Option<(&[u8; 2], i16, i32)> {
    let at = 8 * at;
    let head = raw.get(at..at + 2)?.try_into().ok()?;
    Some((head, u16_at(raw, at + 2)? as i16, u32_at(raw, at + 4)? as i32))
}
