//! What can be said of a program before it runs: each jump and call has a target, each helper exists, no
//! register is read that nothing has set, no frame is left by a fixed distance, and what the kernel's types
//! lack is not reached. Constants are followed, so that code behind a check that CO-RE has decided does not
//! count, as for the kernel.

use crate::address::{self, region};
use crate::error::Loaded;
use crate::memory::{FRAME_BYTES, MOST_FRAMES};
use crate::program::{Code, FRAME, Insn, access_bytes, class, op};
use crate::{helper_names, helpers};

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing has set it.
    Unset,
    Something,
    Constant(u64),
}

type State = [Known; 11];

/// What a check found out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// The deepest nest of calls, in frames.
    pub frames: usize,
    /// Whether helpers are called that need the object's maps, or their values are read.
    pub uses_maps: bool,
}

/// Checks a callback and all that it calls.
pub(crate) fn check(code: &Code, entry: usize) -> Loaded<Findings> {
    let mut checked = vec![None; code.functions.len()];
    let mut findings = Findings::default();
    findings.frames = function(code, entry, true, 1, &mut checked, &mut findings)?;
    Ok(findings)
}

/// Checks a function. Returns how many frames it takes, its own included.
fn function(
    code: &Code,
    index: usize,
    is_callback: bool,
    depth: usize,
    checked: &mut [Option<usize>],
    findings: &mut Findings,
) -> Loaded<usize> {
    let function = &code.functions[index];
    if depth > MOST_FRAMES {
        let reason = format!("calls more than {MOST_FRAMES} functions deep; does it call itself?");
        return Err(code.refused(function.start, reason));
    }
    if let Some(frames) = checked[index] {
        if depth + frames - 1 > MOST_FRAMES {
            let reason = format!("calls more than {MOST_FRAMES} functions deep");
            return Err(code.refused(function.start, reason));
        }
        return Ok(frames);
    }
    let calls = flow(code, index, is_callback, findings)?;
    let mut frames = 1;
    for callee in calls {
        let below = self::function(code, callee, false, depth + 1, checked, findings)?;
        frames = frames.max(1 + below);
    }
    checked[index] = Some(frames);
    Ok(frames)
}

/// Follows the control flow of one function. Returns the functions that it calls.
fn flow(code: &Code, index: usize, is_callback: bool, findings: &mut Findings) -> Loaded<Vec<usize>> {
    let function = &code.functions[index];
    let (start, end) = (function.start, function.end);
    let mut entry = [Known::Unset; 11];
    entry[1] = Known::Something;
    entry[usize::from(FRAME)] = Known::Something;
    if !is_callback {
        entry[2..6].fill(Known::Something);
    }
    let mut states: Vec<Option<State>> = vec![None; end - start];
    let mut calls = Vec::new();
    let mut exits = false;
    let mut work = vec![(start, entry)];
    while let Some((pc, state)) = work.pop() {
        if pc < start || pc >= end {
            return Err(code.refused(end - 1, "runs beyond the end of the function; no exit is there"));
        }
        let Some(state) = joined(&mut states[pc - start], state) else { continue };
        let insn = &code.insns[pc];
        let next = one(code, pc, insn, state, &mut calls, findings)?;
        exits |= insn.op == op::EXIT;
        for (target, state) in next.into_iter().flatten() {
            if target < start || target >= end {
                let reason = if target == pc + 1 {
                    "is the last of the function, but no exit or jump".to_owned()
                } else {
                    format!("jumps to instruction {}, beyond the function", target as i64 - start as i64)
                };
                return Err(code.refused(pc, reason));
            }
            work.push((target, state));
        }
    }
    if !exits {
        return Err(code.refused(start, "never reaches an exit"));
    }
    calls.sort_unstable();
    calls.dedup();
    Ok(calls)
}

/// Joins what is known with what was known before; `None` if that says nothing new.
fn joined(known: &mut Option<State>, new: State) -> Option<State> {
    let both = match *known {
        None => new,
        Some(old) => {
            let join = |(a, b): (Known, Known)| match (a, b) {
                (a, b) if a == b => a,
                (Known::Unset, _) | (_, Known::Unset) => Known::Unset,
                _ => Known::Something,
            };
            let mut both = old;
            for (slot, pair) in both.iter_mut().zip(old.into_iter().zip(new)) {
                *slot = join(pair);
            }
            both
        }
    };
    if *known == Some(both) {
        return None;
    }
    *known = Some(both);
    Some(both)
}

type Next = [Option<(usize, State)>; 2];

/// Checks one instruction. Returns where it goes.
fn one(
    code: &Code,
    pc: usize,
    insn: &Insn,
    mut state: State,
    calls: &mut Vec<usize>,
    findings: &mut Findings,
) -> Loaded<Next> {
    let refused = |reason: String| Err(code.refused(pc, reason));
    let (dst, src) = (usize::from(insn.dst), usize::from(insn.src));
    let (reads, sets) = operands(insn);
    for register in reads.into_iter().flatten() {
        if state[register] == Known::Unset {
            return refused(format!("reads r{register}, which nothing has set"));
        }
    }
    if sets && insn.dst == FRAME {
        return refused("sets r10, which is read-only".to_owned());
    }
    let falls = |state: State| Ok([Some((pc + 1, state)), None]);
    match insn.op {
        op::SECOND_HALF => refused("jumps into the middle of a wide instruction".to_owned()),
        op::MISSING => {
            let what = code.missing.get(insn.imm as usize).map_or("", String::as_str);
            refused(format!("needs {what}, which the model does not have"))
        }
        op::LD_IMM64 => {
            let (found, at) = address::split(insn.imm as u64);
            findings.uses_maps |= found == region::MAP || found >= region::VALUES;
            if found == region::FUNCTION {
                calls.extend(code.function_of(at)); // a helper will call it
            }
            state[dst] = Known::Constant(insn.imm as u64);
            Ok([Some((pc + 2, state)), None])
        }
        op::EXIT => Ok([None, None]),
        op::JUMP => Ok([Some((insn.off as usize, state)), None]),
        op::CALL_HELPER | op::CALL_KFUNC | op::CALL_LOCAL => {
            if insn.op == op::CALL_HELPER {
                if helpers::name(insn.imm).is_none() {
                    let name = helper_names::name(insn.imm)
                        .map_or_else(|| insn.imm.to_string(), |name| format!("bpf_{name}"));
                    return refused(format!("calls helper {name}, which is not available here"));
                }
                findings.uses_maps |= helpers::uses_maps(insn.imm);
            } else if insn.op == op::CALL_LOCAL {
                let callee = code.function_of(insn.off as usize);
                match callee.filter(|&f| code.functions[f].start == insn.off as usize) {
                    Some(callee) => calls.push(callee),
                    None => return refused("calls something that is no function".to_owned()),
                }
            }
            state[0] = Known::Something;
            state[1..6].fill(Known::Unset);
            falls(state)
        }
        jump if matches!(jump & 7, class::JMP | class::JMP32) => {
            let target = insn.off as usize;
            match decided(insn, &state) {
                Some(true) => Ok([Some((target, state)), None]),
                Some(false) => falls(state),
                None => Ok([Some((pc + 1, state)), Some((target, state))]),
            }
        }
        access if matches!(access & 7, class::LDX | class::ST | class::STX) => {
            let base = if access & 7 == class::LDX { src } else { dst };
            if base == usize::from(FRAME) {
                let (from, bytes) = (i64::from(insn.off), access_bytes(access));
                if from < -(FRAME_BYTES as i64) || from + bytes > 0 {
                    let frame = format!("the stack frame, which is {FRAME_BYTES} bytes");
                    return refused(format!("accesses {bytes} bytes at offset {from} of {frame}"));
                }
            }
            if access & 7 == class::LDX {
                state[dst] = Known::Something;
            } else if matches!(access, op::ATOMIC32 | op::ATOMIC64) {
                match insn.imm {
                    0xf1 => state[0] = Known::Something,
                    imm if imm & 1 != 0 => state[src] = Known::Something,
                    _ => {}
                }
            }
            falls(state)
        }
        op::LOAD_ACQUIRE => {
            state[dst] = Known::Something;
            falls(state)
        }
        op::STORE_RELEASE => falls(state),
        _ => {
            state[dst] = result(insn, &state);
            falls(state)
        }
    }
}

/// The registers that an instruction reads, and whether it sets `dst`.
fn operands(insn: &Insn) -> ([Option<usize>; 3], bool) {
    let (dst, src) = (Some(usize::from(insn.dst)), Some(usize::from(insn.src)));
    let by_register = insn.op & 8 != 0;
    match insn.op {
        op::SECOND_HALF | op::MISSING | op::JUMP | op::EXIT | op::MAY_GOTO => ([None; 3], false),
        op::CALL_HELPER | op::CALL_KFUNC | op::CALL_LOCAL => ([None; 3], false),
        op::LD_IMM64 => ([None; 3], true),
        op::ATOMIC32 | op::ATOMIC64 if insn.imm == 0xf1 => ([dst, src, Some(0)], false),
        op::STORE_RELEASE => ([dst, src, None], false),
        op::MOVSX64_8 | op::MOVSX64_16 | op::MOVSX64_32 | op::MOVSX32_8 | op::MOVSX32_16 => {
            ([src, None, None], true)
        }
        op::LOAD_ACQUIRE => ([src, None, None], true),
        op::SDIV64_K | op::SDIV32_K | op::SMOD64_K | op::SMOD32_K => ([dst, None, None], true),
        op::SDIV64_X | op::SDIV32_X | op::SMOD64_X | op::SMOD32_X => ([dst, src, None], true),
        0xb4 | 0xb7 => ([None; 3], true),
        0xbc | 0xbf => ([src, None, None], true),
        0xd4 | 0xdc | 0xd7 => ([dst, None, None], true),
        other => match other & 7 {
            class::LDX => ([src, None, None], true),
            class::ST => ([dst, None, None], false),
            class::STX => ([dst, src, None], false),
            class::JMP | class::JMP32 => ([dst, src.filter(|_| by_register), None], false),
            _ => ([dst, src.filter(|_| by_register), None], true),
        },
    }
}

/// The value that an operation leaves, as far as constants say.
fn result(insn: &Insn, state: &State) -> Known {
    let (dst, src) = (state[usize::from(insn.dst)], state[usize::from(insn.src)]);
    match insn.op {
        0xb7 => return Known::Constant(insn.imm as u64),
        0xb4 => return Known::Constant(u64::from(insn.imm as u32)),
        0xbf => return src,
        0xbc => {
            return if let Known::Constant(c) = src {
                Known::Constant(u64::from(c as u32))
            } else {
                Known::Something
            };
        }
        _ => {}
    }
    let Known::Constant(a) = dst else { return Known::Something };
    let b = insn.imm as u64;
    let value = match insn.op {
        0x07 => a.wrapping_add(b),
        0x47 => a | b,
        0x57 => a & b,
        0x67 => a << (b & 63),
        0x77 => a >> (b & 63),
        0xa7 => a ^ b,
        0x44 => u64::from(a as u32 | b as u32),
        0x54 => u64::from(a as u32 & b as u32),
        0xa4 => u64::from(a as u32 ^ b as u32),
        _ => return Known::Something,
    };
    Known::Constant(value)
}

/// Whether a jump that compares with a constant is taken, if that is certain.
fn decided(insn: &Insn, state: &State) -> Option<bool> {
    let Known::Constant(a) = state[usize::from(insn.dst)] else { return None };
    if insn.op & 8 != 0 || insn.op == op::MAY_GOTO {
        return None;
    }
    let b = insn.imm as u64;
    let (a, b) =
        if insn.op & 7 == class::JMP32 { (u64::from(a as u32), u64::from(b as u32)) } else { (a, b) };
    match insn.op >> 4 {
        1 => Some(a == b),
        2 => Some(a > b),
        3 => Some(a >= b),
        4 => Some(a & b != 0),
        5 => Some(a != b),
        10 => Some(a < b),
        11 => Some(a <= b),
        6 | 7 | 12 | 13 => {
            let signed = |v: u64| if insn.op & 7 == class::JMP32 { i64::from(v as i32) } else { v as i64 };
            let (a, b) = (signed(a), signed(b));
            Some(match insn.op >> 4 {
                6 => a > b,
                7 => a >= b,
                12 => a < b,
                _ => a <= b,
            })
        }
        _ => None,
    }
}
