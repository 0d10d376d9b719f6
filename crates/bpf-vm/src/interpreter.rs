//! Runs instructions (RFC 9669, versions 1 to 4 of the instruction set). A local call is a call here too: a
//! function of the program has its own registers, of which r0 goes back to the caller.

use crate::address::{address, region, split, value_address};
use crate::error::Fault;
use crate::helpers::{self, EXHAUSTED};
use crate::host::Host;
use crate::kfuncs;
use crate::maps::{Kind, errno};
use crate::memory::{FRAME_BYTES, MOST_ARGUMENTS, MOST_FRAMES, Memory};
use crate::program::{Code, FRAME, Insn, op};

/// How often `bpf_loop` may call at most (BPF_MAX_LOOPS).
const MOST_LOOPS: u64 = 8 << 20;

/// Why a program cannot go on.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    pc: usize,
    reason: String,
}

/// The registers; there are 16 so that the four bits of an instruction always name one.
pub(crate) type Registers = [u64; 16];

/// A program that runs, with all that it can reach.
pub(crate) struct Machine<'a> {
    pub code: &'a Code,
    pub memory: Memory<'a>,
    pub host: &'a mut Host,
    /// How many instructions may still run. Helpers take from it too, for what they copy.
    pub budget: u64,
}

#[cold]
fn stopped(pc: usize, reason: impl Into<String>) -> Stop {
    Stop { pc, reason: reason.into() }
}

/// The budget ended `unpaid` instructions before this place, in the same stretch.
#[cold]
fn exhausted(code: &Code, mut pc: usize, unpaid: u64) -> Stop {
    for _ in 0..unpaid {
        pc -= 1;
        if code.insns.get(pc).is_some_and(|i| i.op == op::SECOND_HALF) {
            pc -= 1;
        }
    }
    stopped(pc, EXHAUSTED)
}

fn divided(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(0)
}

fn divided32(a: u32, b: u32) -> u32 {
    a.checked_div(b).unwrap_or(0)
}

fn remainder(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

fn remainder32(a: u32, b: u32) -> u32 {
    a.checked_rem(b).unwrap_or(a)
}

fn sdivided(a: u64, b: u64) -> u64 {
    if b == 0 { 0 } else { (a as i64).wrapping_div(b as i64) as u64 }
}

fn sdivided32(a: u32, b: u32) -> u32 {
    if b == 0 { 0 } else { (a as i32).wrapping_div(b as i32) as u32 }
}

fn sremainder(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 }
}

fn sremainder32(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 }
}

/// The low `bits` bits of a register in the byte order that the operation asks for.
fn in_order(value: u64, bits: i64, swaps: bool) -> u64 {
    match (bits, swaps) {
        (16, false) => u64::from(value as u16),
        (32, false) => u64::from(value as u32),
        (16, true) => u64::from((value as u16).swap_bytes()),
        (32, true) => u64::from((value as u32).swap_bytes()),
        (_, false) => value,
        (_, true) => value.swap_bytes(),
    }
}

impl Machine<'_> {
    /// Runs a function as a callback of the kernel, whose arguments are in memory. Returns r0.
    pub fn run(&mut self, function: usize) -> Result<u64, Fault> {
        let pc = self.code.functions[function].start;
        let mut r: Registers = [0; 16];
        r[1] = address(region::ARGUMENTS, 0);
        let result = self.enter(pc, &mut r, 0);
        result.map_err(|stop| {
            let (program, instruction) = self.code.place(stop.pc);
            Fault { program, instruction, reason: stop.reason }
        })
    }

    /// Runs a function of the program with these arguments in the frame with this number.
    pub fn call(&mut self, pc: usize, arguments: [u64; MOST_ARGUMENTS], frame: usize) -> Result<u64, Stop> {
        let mut r: Registers = [0; 16];
        r[1..6].copy_from_slice(&arguments);
        self.enter(pc, &mut r, frame)
    }

    /// Gives a function with these registers its frame, and runs it.
    fn enter(&mut self, pc: usize, r: &mut Registers, frame: usize) -> Result<u64, Stop> {
        let end = (frame + 1) * FRAME_BYTES;
        if frame >= MOST_FRAMES {
            return Err(stopped(pc, format!("calls more than {MOST_FRAMES} functions deep")));
        }
        let Some(stack) = self.memory.stack.get_mut(frame * FRAME_BYTES..end) else {
            return Err(stopped(pc, "calls deeper than its functions do"));
        };
        stack.fill(0);
        r[usize::from(FRAME)] = address(region::STACK, end as u32);
        self.execute(pc, r, frame)
    }

    fn execute(&mut self, start: usize, r: &mut Registers, frame: usize) -> Result<u64, Stop> {
        let code = self.code;
        let mut pc = start;
        // The budget pays for whole stretches of instructions, each where it ends: at a jump that is taken, a
        // call of a helper or a function, the exit. The instruction that exceeds it is named, but those after
        // it in the stretch have run by then; a fault in one of them is told instead.
        let mut left = self.budget;
        let mut from = pc;
        macro_rules! pay {
            () => {
                match left.checked_sub((pc - from) as u64) {
                    Some(rest) => left = rest,
                    None => return Err(exhausted(code, pc, (pc - from) as u64 - left)),
                }
            };
        }
        macro_rules! dst {
            ($i:ident) => {
                r[usize::from($i.dst & 15)]
            };
        }
        macro_rules! src {
            ($i:ident) => {
                r[usize::from($i.src & 15)]
            };
        }
        // 64 bits: with the constant, with a register
        macro_rules! wide {
            ($i:ident, imm, |$a:ident, $b:ident| $value:expr) => {{
                let ($a, $b) = (dst!($i), $i.imm as u64);
                dst!($i) = $value;
            }};
            ($i:ident, src, |$a:ident, $b:ident| $value:expr) => {{
                let ($a, $b) = (dst!($i), src!($i));
                dst!($i) = $value;
            }};
            ($i:ident, $from:ident, $apply:path) => {
                wide!($i, $from, |a, b| $apply(a, b))
            };
        }
        // 32 bits: the upper half becomes zero
        macro_rules! narrow {
            ($i:ident, imm, |$a:ident, $b:ident| $value:expr) => {{
                let ($a, $b) = (dst!($i) as u32, $i.imm as u32);
                dst!($i) = u64::from($value);
            }};
            ($i:ident, src, |$a:ident, $b:ident| $value:expr) => {{
                let ($a, $b) = (dst!($i) as u32, src!($i) as u32);
                dst!($i) = u64::from($value);
            }};
            ($i:ident, $from:ident, $apply:path) => {
                narrow!($i, $from, |a, b| $apply(a, b))
            };
        }
        macro_rules! jump {
            ($i:ident, $taken:expr) => {
                if $taken {
                    pay!();
                    pc = $i.off as usize;
                    from = pc;
                }
            };
        }
        macro_rules! load {
            ($i:ident, $bytes:literal, $read:expr) => {{
                let at = src!($i).wrapping_add($i.off as i64 as u64);
                match self.memory.load::<$bytes>(at).map($read) {
                    Some(value) => dst!($i) = value,
                    None => return Err(stopped(pc - 1, self.memory.denial(at, $bytes, false))),
                }
            }};
        }
        macro_rules! store {
            ($i:ident, $bytes:literal, $value:expr) => {{
                let at = dst!($i).wrapping_add($i.off as i64 as u64);
                if self.memory.store::<$bytes>(at, $value.to_le_bytes()).is_none() {
                    return Err(stopped(pc - 1, self.memory.denial(at, $bytes, true)));
                }
            }};
        }
        loop {
            let Some(i) = code.insns.get(pc) else { return Err(stopped(pc, "leaves the program")) };
            pc += 1;
            match i.op {
                0x07 => wide!(i, imm, |a, b| a.wrapping_add(b)),
                0x0f => wide!(i, src, |a, b| a.wrapping_add(b)),
                0x17 => wide!(i, imm, |a, b| a.wrapping_sub(b)),
                0x1f => wide!(i, src, |a, b| a.wrapping_sub(b)),
                0x27 => wide!(i, imm, |a, b| a.wrapping_mul(b)),
                0x2f => wide!(i, src, |a, b| a.wrapping_mul(b)),
                0x37 => wide!(i, imm, divided),
                0x3f => wide!(i, src, divided),
                0x47 => wide!(i, imm, |a, b| a | b),
                0x4f => wide!(i, src, |a, b| a | b),
                0x57 => wide!(i, imm, |a, b| a & b),
                0x5f => wide!(i, src, |a, b| a & b),
                0x67 => wide!(i, imm, |a, b| a << (b & 63)),
                0x6f => wide!(i, src, |a, b| a << (b & 63)),
                0x77 => wide!(i, imm, |a, b| a >> (b & 63)),
                0x7f => wide!(i, src, |a, b| a >> (b & 63)),
                0x87 => dst!(i) = dst!(i).wrapping_neg(),
                0x97 => wide!(i, imm, remainder),
                0x9f => wide!(i, src, remainder),
                0xa7 => wide!(i, imm, |a, b| a ^ b),
                0xaf => wide!(i, src, |a, b| a ^ b),
                0xb7 => dst!(i) = i.imm as u64,
                0xbf => dst!(i) = src!(i),
                0xc7 => wide!(i, imm, |a, b| ((a as i64) >> (b & 63)) as u64),
                0xcf => wide!(i, src, |a, b| ((a as i64) >> (b & 63)) as u64),

                0x04 => narrow!(i, imm, |a, b| a.wrapping_add(b)),
                0x0c => narrow!(i, src, |a, b| a.wrapping_add(b)),
                0x14 => narrow!(i, imm, |a, b| a.wrapping_sub(b)),
                0x1c => narrow!(i, src, |a, b| a.wrapping_sub(b)),
                0x24 => narrow!(i, imm, |a, b| a.wrapping_mul(b)),
                0x2c => narrow!(i, src, |a, b| a.wrapping_mul(b)),
                0x34 => narrow!(i, imm, divided32),
                0x3c => narrow!(i, src, divided32),
                0x44 => narrow!(i, imm, |a, b| a | b),
                0x4c => narrow!(i, src, |a, b| a | b),
                0x54 => narrow!(i, imm, |a, b| a & b),
                0x5c => narrow!(i, src, |a, b| a & b),
                0x64 => narrow!(i, imm, |a, b| a << (b & 31)),
                0x6c => narrow!(i, src, |a, b| a << (b & 31)),
                0x74 => narrow!(i, imm, |a, b| a >> (b & 31)),
                0x7c => narrow!(i, src, |a, b| a >> (b & 31)),
                0x84 => dst!(i) = u64::from((dst!(i) as u32).wrapping_neg()),
                0x94 => narrow!(i, imm, remainder32),
                0x9c => narrow!(i, src, remainder32),
                0xa4 => narrow!(i, imm, |a, b| a ^ b),
                0xac => narrow!(i, src, |a, b| a ^ b),
                0xb4 => dst!(i) = u64::from(i.imm as u32),
                0xbc => dst!(i) = u64::from(src!(i) as u32),
                0xc4 => narrow!(i, imm, |a, b| ((a as i32) >> (b & 31)) as u32),
                0xcc => narrow!(i, src, |a, b| ((a as i32) >> (b & 31)) as u32),

                0xd4 => dst!(i) = in_order(dst!(i), i.imm, false),
                0xdc | 0xd7 => dst!(i) = in_order(dst!(i), i.imm, true),
                op::SDIV64_K => wide!(i, imm, sdivided),
                op::SDIV64_X => wide!(i, src, sdivided),
                op::SDIV32_K => narrow!(i, imm, sdivided32),
                op::SDIV32_X => narrow!(i, src, sdivided32),
                op::SMOD64_K => wide!(i, imm, sremainder),
                op::SMOD64_X => wide!(i, src, sremainder),
                op::SMOD32_K => narrow!(i, imm, sremainder32),
                op::SMOD32_X => narrow!(i, src, sremainder32),
                op::MOVSX64_8 => dst!(i) = src!(i) as i8 as u64,
                op::MOVSX64_16 => dst!(i) = src!(i) as i16 as u64,
                op::MOVSX64_32 => dst!(i) = src!(i) as i32 as u64,
                op::MOVSX32_8 => dst!(i) = u64::from(src!(i) as i8 as u32),
                op::MOVSX32_16 => dst!(i) = u64::from(src!(i) as i16 as u32),

                op::LD_IMM64 => {
                    dst!(i) = i.imm as u64;
                    pc += 1;
                    from += 1; // its second half is no instruction
                }
                0x71 => load!(i, 1, |b| u64::from(u8::from_le_bytes(b))),
                0x69 => load!(i, 2, |b| u64::from(u16::from_le_bytes(b))),
                0x61 => load!(i, 4, |b| u64::from(u32::from_le_bytes(b))),
                0x79 => load!(i, 8, u64::from_le_bytes),
                0x91 => load!(i, 1, |b| i8::from_le_bytes(b) as u64),
                0x89 => load!(i, 2, |b| i16::from_le_bytes(b) as u64),
                0x81 => load!(i, 4, |b| i32::from_le_bytes(b) as u64),
                0x72 => store!(i, 1, (i.imm as u8)),
                0x6a => store!(i, 2, (i.imm as u16)),
                0x62 => store!(i, 4, (i.imm as u32)),
                0x7a => store!(i, 8, i.imm),
                0x73 => store!(i, 1, (src!(i) as u8)),
                0x6b => store!(i, 2, (src!(i) as u16)),
                0x63 => store!(i, 4, (src!(i) as u32)),
                0x7b => store!(i, 8, src!(i)),
                op::ATOMIC32 | op::ATOMIC64 | op::LOAD_ACQUIRE | op::STORE_RELEASE => {
                    self.atomic(pc - 1, i, r)?;
                }

                op::JUMP => jump!(i, true),
                op::MAY_GOTO => {} // it leaves loops that are too long; the budget ends those
                0x15 => jump!(i, dst!(i) == i.imm as u64),
                0x1d => jump!(i, dst!(i) == src!(i)),
                0x25 => jump!(i, dst!(i) > i.imm as u64),
                0x2d => jump!(i, dst!(i) > src!(i)),
                0x35 => jump!(i, dst!(i) >= i.imm as u64),
                0x3d => jump!(i, dst!(i) >= src!(i)),
                0x45 => jump!(i, dst!(i) & i.imm as u64 != 0),
                0x4d => jump!(i, dst!(i) & src!(i) != 0),
                0x55 => jump!(i, dst!(i) != i.imm as u64),
                0x5d => jump!(i, dst!(i) != src!(i)),
                0x65 => jump!(i, dst!(i) as i64 > i.imm),
                0x6d => jump!(i, dst!(i) as i64 > src!(i) as i64),
                0x75 => jump!(i, dst!(i) as i64 >= i.imm),
                0x7d => jump!(i, dst!(i) as i64 >= src!(i) as i64),
                0xa5 => jump!(i, dst!(i) < i.imm as u64),
                0xad => jump!(i, dst!(i) < src!(i)),
                0xb5 => jump!(i, dst!(i) <= i.imm as u64),
                0xbd => jump!(i, dst!(i) <= src!(i)),
                0xc5 => jump!(i, (dst!(i) as i64) < i.imm),
                0xcd => jump!(i, (dst!(i) as i64) < src!(i) as i64),
                0xd5 => jump!(i, dst!(i) as i64 <= i.imm),
                0xdd => jump!(i, dst!(i) as i64 <= src!(i) as i64),
                0x16 => jump!(i, dst!(i) as u32 == i.imm as u32),
                0x1e => jump!(i, dst!(i) as u32 == src!(i) as u32),
                0x26 => jump!(i, dst!(i) as u32 > i.imm as u32),
                0x2e => jump!(i, dst!(i) as u32 > src!(i) as u32),
                0x36 => jump!(i, dst!(i) as u32 >= i.imm as u32),
                0x3e => jump!(i, dst!(i) as u32 >= src!(i) as u32),
                0x46 => jump!(i, dst!(i) as u32 & i.imm as u32 != 0),
                0x4e => jump!(i, dst!(i) as u32 & src!(i) as u32 != 0),
                0x56 => jump!(i, dst!(i) as u32 != i.imm as u32),
                0x5e => jump!(i, dst!(i) as u32 != src!(i) as u32),
                0x66 => jump!(i, dst!(i) as i32 > i.imm as i32),
                0x6e => jump!(i, dst!(i) as i32 > src!(i) as i32),
                0x76 => jump!(i, dst!(i) as i32 >= i.imm as i32),
                0x7e => jump!(i, dst!(i) as i32 >= src!(i) as i32),
                0xa6 => jump!(i, (dst!(i) as u32) < i.imm as u32),
                0xae => jump!(i, (dst!(i) as u32) < src!(i) as u32),
                0xb6 => jump!(i, dst!(i) as u32 <= i.imm as u32),
                0xbe => jump!(i, dst!(i) as u32 <= src!(i) as u32),
                0xc6 => jump!(i, (dst!(i) as i32) < i.imm as i32),
                0xce => jump!(i, (dst!(i) as i32) < src!(i) as i32),
                0xd6 => jump!(i, dst!(i) as i32 <= i.imm as i32),
                0xde => jump!(i, dst!(i) as i32 <= src!(i) as i32),

                op::EXIT => {
                    pay!();
                    self.budget = left;
                    return Ok(r[0]);
                }
                op::CALL_LOCAL => {
                    pay!();
                    self.budget = left;
                    r[0] = self.call(i.off as usize, [r[1], r[2], r[3], r[4], r[5]], frame + 1)?;
                    (left, from) = (self.budget, pc);
                }
                op::CALL_HELPER => {
                    pay!();
                    self.budget = left;
                    let arguments = [r[1], r[2], r[3], r[4], r[5]];
                    r[0] = match i.imm {
                        helpers::calling::LOOP => self.repeat(pc - 1, arguments, frame)?,
                        helpers::calling::FOR_EACH_MAP_ELEM => self.for_each(pc - 1, arguments, frame)?,
                        number => {
                            helpers::call(&mut self.memory, self.host, &mut self.budget, number, arguments)
                                .map_err(|reason| stopped(pc - 1, reason))?
                        }
                    };
                    (left, from) = (self.budget, pc);
                }
                op::CALL_KFUNC => {
                    let arguments = [r[1], r[2], r[3], r[4], r[5]];
                    r[0] = kfuncs::call(i.imm as usize, arguments, &mut self.memory, self.host)
                        .map_err(|reason| stopped(pc - 1, reason))?;
                }
                op::MISSING => {
                    let what = code.missing.get(i.imm as usize).map_or("", String::as_str);
                    return Err(stopped(pc - 1, format!("needs {what}, which the model does not have")));
                }
                _ => return Err(stopped(pc - 1, "runs into the middle of an instruction")),
            }
        }
    }

    /// The program's function behind a pointer.
    fn function(&self, pc: usize, pointer: u64) -> Result<usize, Stop> {
        let (found, start) = split(pointer);
        if found == region::FUNCTION && self.code.functions.iter().any(|f| f.start == start) {
            return Ok(start);
        }
        Err(stopped(pc, format!("passes {pointer:#x} where a function is expected")))
    }

    /// `bpf_loop(count, function, context, flags)`.
    #[cold]
    fn repeat(&mut self, pc: usize, a: [u64; MOST_ARGUMENTS], frame: usize) -> Result<u64, Stop> {
        let function = self.function(pc, a[1])?;
        if a[3] != 0 {
            return Ok(errno::INVALID as u64);
        }
        let count = u64::from(a[0] as u32);
        if count > MOST_LOOPS {
            return Ok(errno::TOO_BIG as u64);
        }
        for i in 0..count {
            if self.call(function, [i, a[2], 0, 0, 0], frame + 1)? != 0 {
                return Ok(i + 1);
            }
        }
        Ok(count)
    }

    /// `bpf_for_each_map_elem(map, function, context, flags)`.
    #[cold]
    fn for_each(&mut self, pc: usize, a: [u64; MOST_ARGUMENTS], frame: usize) -> Result<u64, Stop> {
        let function = self.function(pc, a[1])?;
        let (found, map) = split(a[0]);
        let known = self.memory.maps.get(map).filter(|_| found == region::MAP);
        let Some(known) = known.filter(|m| matches!(m.kind(), Kind::Array | Kind::Hash | Kind::LeastRecent))
        else {
            return Err(stopped(pc, format!("passes {:#x} where a map with keys is expected", a[0])));
        };
        let key_bytes = known.key_bytes() as u64;
        let (mut count, mut last) = (0, None);
        // one after the other, as the function may end this, and may change the map
        while let Some((key, place)) = self.memory.maps.get(map).and_then(|m| m.entry_after(last.as_deref()))
        {
            helpers::pay(&mut self.budget, key_bytes).map_err(|reason| stopped(pc, reason))?;
            // the key lies at the end of the stack, where no frame is
            let end = self.memory.stack.len();
            let at = end.saturating_sub(key.len());
            self.memory.stack[at..].copy_from_slice(&key[key.len() - (end - at)..]);
            count += 1;
            let arguments = [a[0], address(region::STACK, at as u32), value_address(map, place), a[2], 0];
            if self.call(function, arguments, frame + 1)? != 0 {
                break;
            }
            last = Some(key);
        }
        Ok(count)
    }

    /// The operations of which nothing else sees a part; here nothing else runs.
    #[cold]
    #[inline(never)]
    fn atomic(&mut self, pc: usize, i: &Insn, r: &mut Registers) -> Result<(), Stop> {
        let (dst, src) = (usize::from(i.dst & 15), usize::from(i.src & 15));
        let distance = i.off as i64 as u64;
        if i.op == op::LOAD_ACQUIRE {
            let at = r[src].wrapping_add(distance);
            r[dst] = self.read(pc, at, i.imm as usize)?;
            return Ok(());
        }
        let at = r[dst].wrapping_add(distance);
        if i.op == op::STORE_RELEASE {
            return self.write(pc, at, i.imm as usize, r[src]);
        }
        let (bytes, mask) = if i.op == op::ATOMIC64 { (8, u64::MAX) } else { (4, u64::from(u32::MAX)) };
        let (old, operand) = (self.read(pc, at, bytes)?, r[src] & mask);
        let new = match i.imm & 0xf0 {
            0x00 => old.wrapping_add(operand),
            0x40 => old | operand,
            0x50 => old & operand,
            0xa0 => old ^ operand,
            0xe0 => operand,
            _ if r[0] & mask == old => operand, // compare and exchange
            _ => old,
        };
        self.write(pc, at, bytes, new)?;
        match i.imm {
            0xf1 => r[0] = old,
            imm if imm & 1 != 0 => r[src] = old,
            _ => {}
        }
        Ok(())
    }

    fn read(&self, pc: usize, at: u64, bytes: usize) -> Result<u64, Stop> {
        let m = &self.memory;
        let read = match bytes {
            1 => m.load::<1>(at).map(|b| u64::from(u8::from_le_bytes(b))),
            2 => m.load::<2>(at).map(|b| u64::from(u16::from_le_bytes(b))),
            4 => m.load::<4>(at).map(|b| u64::from(u32::from_le_bytes(b))),
            _ => m.load::<8>(at).map(u64::from_le_bytes),
        };
        read.ok_or_else(|| stopped(pc, m.denial(at, bytes, false)))
    }

    fn write(&mut self, pc: usize, at: u64, bytes: usize, value: u64) -> Result<(), Stop> {
        let m = &mut self.memory;
        let written = match bytes {
            1 => m.store(at, (value as u8).to_le_bytes()),
            2 => m.store(at, (value as u16).to_le_bytes()),
            4 => m.store(at, (value as u32).to_le_bytes()),
            _ => m.store(at, value.to_le_bytes()),
        };
        written.ok_or_else(|| stopped(pc, m.denial(at, bytes, true)))
    }
}
