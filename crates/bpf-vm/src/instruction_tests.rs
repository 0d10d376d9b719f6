//! The instruction set (RFC 9669), group by group, with values worked out by hand from the RFC's definitions;
//! and the ends of programs that go wrong.

use crate::address::{address, region, value_address};
use crate::host::Host;
use crate::interpreter::Machine;
use crate::kernel_model::model;
use crate::maps::{Kind, Maps, Spec};
use crate::memory::{FRAME_BYTES, Memory};
use crate::program::{Code, Function, Insn, Patch, decode, op};
use crate::verify;
use proptest::prelude::*;

type Raw = [u8; 8];

/// An instruction: code, destination, source, offset, constant.
fn i(code: u8, dst: u8, src: u8, off: i16, imm: i32) -> Raw {
    let [o0, o1] = off.to_le_bytes();
    let [i0, i1, i2, i3] = imm.to_le_bytes();
    [code, src << 4 | dst, o0, o1, i0, i1, i2, i3]
}

fn wide(dst: u8, value: u64) -> [Raw; 2] {
    [i(0x18, dst, 0, 0, value as i32), i(0, 0, 0, 0, (value >> 32) as i32)]
}

const EXIT: Raw = [0x95, 0, 0, 0, 0, 0, 0, 0];

/// Sets registers, one after the other, then runs `then` and exits.
fn program(registers: &[(u8, u64)], then: &[Raw]) -> Vec<Raw> {
    let mut all: Vec<Raw> = registers.iter().flat_map(|&(r, value)| wide(r, value)).collect();
    all.extend_from_slice(then);
    all.push(EXIT);
    all
}

/// The code of functions that begin at these instructions.
fn code(raw: &[Raw], starts: &[usize], patches: &[(usize, Patch)]) -> Result<Code, String> {
    let bytes: Vec<u8> = raw.concat();
    let mut code = Code::default();
    let ends = starts.iter().skip(1).copied().chain([raw.len()]);
    for (number, (&start, end)) in starts.iter().zip(ends).enumerate() {
        code.functions.push(Function { name: format!("f{number}"), start, end });
    }
    let mut second = false;
    for (at, first) in raw.iter().enumerate() {
        let patch = patches.iter().find(|(place, _)| *place == at).map(|(_, patch)| *patch);
        let insn = if second {
            Insn { op: op::SECOND_HALF, dst: 0, src: 0, off: 0, imm: 0 }
        } else {
            decode(&bytes, at, 0, patch)?
        };
        second = !second && first[0] == op::LD_IMM64;
        code.insns.push(insn);
    }
    Ok(code)
}

fn map(name: &str, kind: Kind, key_bytes: usize, value_bytes: usize, most_entries: u32) -> Spec {
    Spec {
        name: name.to_owned(),
        kind,
        key_bytes,
        value_bytes,
        most_entries,
        initial: Vec::new(),
        is_constant: false,
    }
}

/// Checks and runs a program. Returns r0, or why it was refused or ended.
fn run_code(code: &Code, budget: u64) -> Result<u64, String> {
    let found = verify::check(code, 0).map_err(|error| error.to_string())?;
    let mut stack = vec![0; (found.frames + 1) * FRAME_BYTES];
    let mut sock = vec![0; model().sock_bytes];
    let mut maps = Maps::new(&[map("few", Kind::Array, 4, 8, 2), map("some", Kind::Hash, 4, 8, 2)]);
    let memory = Memory {
        model: model(),
        arguments: [address(region::SOCK, 0), 7, 8, 0, 0],
        argument_count: 3,
        stack: &mut stack,
        sock: &mut sock,
        sample: &[],
        maps: &mut maps,
        constants: &[],
    };
    let mut host = Host::new(1);
    Machine { code, memory, host: &mut host, budget }.run(0).map_err(|fault| fault.to_string())
}

fn run(raw: &[Raw]) -> Result<u64, String> {
    run_code(&code(raw, &[0], &[])?, 10_000)
}

/// What r0 is after `then`, with r0 = a and r1 = b before.
fn after(a: u64, b: u64, then: &[Raw]) -> u64 {
    run(&program(&[(0, a), (1, b)], then)).expect("a correct program")
}

const MINUS: fn(i64) -> u64 = |v| v as u64;

#[test]
fn arithmetic_in_64_bits_wraps_and_takes_sign_extended_constants() {
    // (code with a register, a, b, a op b); the code with a constant is 8 less
    let table = [
        (0x0f, u64::MAX, 2, 1),
        (0x1f, 1, 3, MINUS(-2)),
        (0x2f, 1 << 63, 3, 1 << 63),
        (0x3f, MINUS(-8), 3, MINUS(-8) / 3),
        (0x4f, 0xf0, 0x0f, 0xff),
        (0x5f, 0xfc, 0x3f, 0x3c),
        (0x6f, 1, 40, 1 << 40),
        (0x7f, 1 << 63, 62, 2),
        (0x9f, MINUS(-1), 10, 5), // 18446744073709551615 mod 10
        (0xaf, 0xff, 0x0f, 0xf0),
        (0xbf, 1, 2, 2),
        (0xcf, MINUS(-16), 2, MINUS(-4)),
    ];
    for (code, a, b, result) in table {
        assert_eq!(after(a, b, &[i(code, 0, 1, 0, 0)]), result, "code {code:#x}");
        assert_eq!(after(a, 0, &[i(code - 8, 0, 0, 0, b as i32)]), result, "code {:#x}", code - 8);
    }
    assert_eq!(after(5, 0, &[i(0x07, 0, 0, 0, -6)]), u64::MAX, "r0 += -6");
    assert_eq!(after(5, 0, &[i(0xb7, 0, 0, 0, -1)]), u64::MAX, "r0 = -1");
    assert_eq!(after(5, 0, &[i(0x87, 0, 0, 0, 0)]), MINUS(-5), "r0 = -r0");
    assert_eq!(after(1, 65, &[i(0x6f, 0, 1, 0, 0)]), 2, "shifts count modulo 64");
}

#[test]
fn arithmetic_in_32_bits_leaves_the_upper_half_zero() {
    let high = 0xffff_ffff_0000_0000;
    let table = [
        (0x0c, high | 0xffff_ffff, 2, 1),
        (0x1c, high | 1, 3, 0xffff_fffe),
        (0x2c, high | 0x8000_0000, 3, 0x8000_0000),
        (0x3c, high | 9, 2, 4),
        (0x4c, high | 0xf0, 0x0f, 0xff),
        (0x5c, high | 0xfc, 0x3f, 0x3c),
        (0x6c, high | 1, 31, 0x8000_0000),
        (0x7c, high | 0x8000_0000, 30, 2),
        (0x9c, high | 9, 4, 1),
        (0xac, high | 0xff, 0x0f, 0xf0),
        (0xbc, high, 2, 2),
        (0xcc, high | 0xffff_fff0, 2, 0xffff_fffc),
    ];
    for (code, a, b, result) in table {
        assert_eq!(after(a, high | b, &[i(code, 0, 1, 0, 0)]), result, "code {code:#x}");
        assert_eq!(after(a, 0, &[i(code - 8, 0, 0, 0, b as i32)]), result, "code {:#x}", code - 8);
    }
    assert_eq!(after(high | 5, 0, &[i(0x84, 0, 0, 0, 0)]), 0xffff_fffb, "w0 = -w0");
    assert_eq!(after(0, 0, &[i(0xb4, 0, 0, 0, -1)]), 0xffff_ffff, "w0 = -1");
    assert_eq!(after(1, 33, &[i(0x6c, 0, 1, 0, 0)]), 2, "shifts count modulo 32");
}

#[test]
fn division_by_zero_gives_zero_and_the_remainder_of_it_the_dividend() {
    // RFC 9669, section 4.1; 32-bit remainders still lose the upper half
    assert_eq!(after(7, 0, &[i(0x3f, 0, 1, 0, 0)]), 0);
    assert_eq!(after(7, 0, &[i(0x3c, 0, 1, 0, 0)]), 0);
    assert_eq!(after(7, 0, &[i(0x9f, 0, 1, 0, 0)]), 7);
    assert_eq!(after(1 << 32 | 7, 0, &[i(0x9c, 0, 1, 0, 0)]), 7);
    assert_eq!(after(7, 0, &[i(0x3f, 0, 1, 1, 0)]), 0, "signed");
    assert_eq!(after(7, 0, &[i(0x9f, 0, 1, 1, 0)]), 7, "signed");
}

#[test]
fn signed_division_truncates_and_its_one_overflow_wraps() {
    // RFC 9669, section 4.1: -13 / 3 = -4, and the remainder is -1
    assert_eq!(after(MINUS(-13), 3, &[i(0x3f, 0, 1, 1, 0)]), MINUS(-4));
    assert_eq!(after(MINUS(-13), 3, &[i(0x9f, 0, 1, 1, 0)]), MINUS(-1));
    assert_eq!(after(MINUS(-13), 0, &[i(0x37, 0, 0, 1, 3)]), MINUS(-4));
    assert_eq!(after(MINUS(-13), 0, &[i(0x97, 0, 0, 1, -3)]), MINUS(-1));
    assert_eq!(after(MINUS(-13), 3, &[i(0x3c, 0, 1, 1, 0)]), 0xffff_fffc);
    assert_eq!(after(MINUS(-13), 3, &[i(0x9c, 0, 1, 1, 0)]), 0xffff_ffff);
    assert_eq!(after(MINUS(-13), 0, &[i(0x34, 0, 0, 1, 3)]), 0xffff_fffc);
    assert_eq!(after(MINUS(-13), 0, &[i(0x94, 0, 0, 1, 3)]), 0xffff_ffff);
    assert_eq!(after(1 << 63, MINUS(-1), &[i(0x3f, 0, 1, 1, 0)]), 1 << 63);
    assert_eq!(after(1 << 63, MINUS(-1), &[i(0x9f, 0, 1, 1, 0)]), 0);
    assert_eq!(after(1 << 31, MINUS(-1), &[i(0x3c, 0, 1, 1, 0)]), 1 << 31);
    assert_eq!(after(1 << 31, MINUS(-1), &[i(0x9c, 0, 1, 1, 0)]), 0);
}

#[test]
fn moves_extend_signs_and_swaps_reverse_bytes() {
    let b = 0x8182_8384_8586_8788;
    assert_eq!(after(0, b, &[i(0xbf, 0, 1, 8, 0)]), 0xffff_ffff_ffff_ff88);
    assert_eq!(after(0, b, &[i(0xbf, 0, 1, 16, 0)]), 0xffff_ffff_ffff_8788);
    assert_eq!(after(0, b, &[i(0xbf, 0, 1, 32, 0)]), 0xffff_ffff_8586_8788);
    assert_eq!(after(0, b, &[i(0xbc, 0, 1, 8, 0)]), 0xffff_ff88);
    assert_eq!(after(0, b, &[i(0xbc, 0, 1, 16, 0)]), 0xffff_8788);
    for (code, swaps) in [(0xd4, false), (0xdc, true), (0xd7, true)] {
        let results =
            if swaps { [0x8887, 0x8887_8685, 0x8887_8685_8483_8281] } else { [0x8788, 0x8586_8788, b] };
        for (bits, result) in [16, 32, 64].into_iter().zip(results) {
            assert_eq!(after(b, 0, &[i(code, 0, 0, 0, bits)]), result, "code {code:#x}, {bits} bits");
        }
    }
}

#[test]
fn stores_and_loads_keep_their_size_and_sign() {
    let b = 0x8182_8384_8586_8788;
    // (store, load, load with sign)
    let table = [
        (0x73, 0x71, 0x88, Some((0x91, 0xffff_ffff_ffff_ff88))),
        (0x6b, 0x69, 0x8788, Some((0x89, 0xffff_ffff_ffff_8788))),
        (0x63, 0x61, 0x8586_8788, Some((0x81, 0xffff_ffff_8586_8788))),
        (0x7b, 0x79, b, None),
    ];
    for (store, load, result, signed) in table {
        assert_eq!(after(0, b, &[i(store, 10, 1, -8, 0), i(load, 0, 10, -8, 0)]), result);
        if let Some((load, result)) = signed {
            assert_eq!(after(0, b, &[i(store, 10, 1, -8, 0), i(load, 0, 10, -8, 0)]), result);
        }
        // constants are stored cut off, or sign-extended
        let constant = [i(store - 1, 10, 0, -8, -2), i(load, 0, 10, -8, 0)];
        assert_eq!(after(0, 0, &constant), (u64::MAX - 1) & mask(load));
    }
    // the rest of the word stays
    let rest = [i(0x7b, 10, 1, -8, 0), i(0x72, 10, 0, -8, 0), i(0x79, 0, 10, -8, 0)];
    assert_eq!(after(0, b, &rest), b & !0xff);
}

fn mask(load: u8) -> u64 {
    match load {
        0x71 => 0xff,
        0x69 => 0xffff,
        0x61 => 0xffff_ffff,
        _ => u64::MAX,
    }
}

#[test]
fn jumps_compare_with_and_without_signs_in_both_widths() {
    // (code with a register, a, b, whether it is taken)
    let minus = MINUS(-1);
    let table = [
        (0x1d, 5, 5, true),
        (0x1d, 5, 1 << 32 | 5, false),
        (0x2d, minus, 1, true),
        (0x3d, 5, 5, true),
        (0x4d, 6, 2, true),
        (0x4d, 6, 1, false),
        (0x5d, 5, 4, true),
        (0x6d, minus, 1, false),
        (0x7d, 1, 1, true),
        (0xad, 1, minus, true),
        (0xbd, 1, 1, true),
        (0xcd, minus, 1, true),
        (0xdd, 1, minus, false),
        (0x1e, 5, 1 << 32 | 5, true),
        (0x2e, 1 << 32, 1, false),
        (0x3e, 1 << 32, 0, true),
        (0x4e, 1 << 32, 1 << 32, false),
        (0x5e, 1 << 32, 0, false),
        (0x6e, 0xffff_ffff, 1, false),
        (0x7e, 1, 0xffff_ffff, true),
        (0xae, 1 << 32, 1, true),
        (0xbe, 2, 1, false),
        (0xce, 0xffff_ffff, 1, true),
        (0xde, 1, 0xffff_ffff, false),
    ];
    for (code, a, b, taken) in table {
        let jumps = |code: u8, imm: i32| {
            let mut all = program(
                &[(2, a), (1, b)],
                &[i(0xb7, 0, 0, 0, 1), i(code, 2, 1, 1, imm), i(0xb7, 0, 0, 0, 0)],
            );
            if code & 8 == 0 {
                all[5] = i(code, 2, 0, 1, imm);
            }
            run(&all).expect("a correct program") == 1
        };
        assert_eq!(jumps(code, 0), taken, "code {code:#x}: {a:#x}, {b:#x}");
        if b == b as i32 as u64 || code & 7 == 6 {
            assert_eq!(jumps(code - 8, b as i32), taken, "code {:#x}: {a:#x}, {b:#x}", code - 8);
        }
    }
    // ja, and gotol, whose distance is the constant
    let over = |jump: Raw| program(&[(0, 1)], &[jump, i(0xb7, 0, 0, 0, 0)]);
    assert_eq!(run(&over(i(0x05, 0, 0, 1, 0))), Ok(1));
    assert_eq!(run(&over(i(0x06, 0, 0, 0, 1))), Ok(1));
}

#[test]
fn atomics_change_memory_and_return_the_old_value_if_asked() {
    let at = |code: u8, imm: i32, read: &[Raw]| {
        let mut then = vec![i(0x7a, 10, 0, -8, 12), i(code, 10, 1, -8, imm)];
        then.extend_from_slice(read);
        after(12, 10, &then)
    };
    let memory = [i(0x79, 0, 10, -8, 0)];
    let fetched = [i(0xbf, 0, 1, 0, 0)];
    for code in [0xdb, 0xc3] {
        for (imm, result) in [(0x00, 22), (0x40, 14), (0x50, 8), (0xa0, 6)] {
            assert_eq!(at(code, imm, &memory), result, "{code:#x} {imm:#x}");
            assert_eq!(at(code, imm, &fetched), 10, "{code:#x} {imm:#x} fetches nothing");
            assert_eq!(at(code, imm | 1, &memory), result, "{code:#x} {imm:#x} with fetch");
            assert_eq!(at(code, imm | 1, &fetched), 12, "{code:#x} {imm:#x} with fetch");
        }
        assert_eq!(at(code, 0xe1, &memory), 10, "exchange");
        assert_eq!(at(code, 0xe1, &fetched), 12, "exchange");
        // r0 is 12, as memory is: it is exchanged
        assert_eq!(at(code, 0xf1, &memory), 10, "compare and exchange");
        let differs = [i(0xb7, 0, 0, 0, 11), i(code, 10, 1, -8, 0xf1)];
        assert_eq!(
            after(0, 10, &[&[i(0x7a, 10, 0, -8, 12)], &differs[..]].concat()),
            12,
            "r0 is the old value"
        );
    }
    // 32 bits beside others
    let beside = [i(0x7b, 10, 1, -8, 0), i(0xc3, 10, 1, -8, 0), i(0x79, 0, 10, -8, 0)];
    assert_eq!(after(0, 0x1_8000_0000, &beside), 0x1_0000_0000);
    // store-release, load-acquire
    let ordered = [i(0xdb, 10, 1, -8, 0x110), i(0xdb, 0, 10, -8, 0x100)];
    assert_eq!(after(0, 77, &ordered), 77);
}

#[test]
fn a_local_call_has_its_own_registers_and_frame() {
    // f0: r6 = 1; *(fp-8) = 5; r1 = 20; r2 = fp - 8; call f1; r0 += r6
    // f1: *(fp-8) = 9; r0 = *r2; r0 += r1; r6 = 100
    let raw = [
        i(0xb7, 6, 0, 0, 1),
        i(0x7a, 10, 0, -8, 5),
        i(0xb7, 1, 0, 0, 20),
        i(0xbf, 2, 10, 0, 0),
        i(0x07, 2, 0, 0, -8),
        i(0x85, 0, 1, 0, 2),
        i(0x0f, 0, 6, 0, 0),
        EXIT,
        i(0x7a, 10, 0, -8, 9),
        i(0x79, 0, 2, 0, 0),
        i(0x0f, 0, 1, 0, 0),
        i(0xb7, 6, 0, 0, 100),
        EXIT,
    ];
    assert_eq!(run_code(&code(&raw, &[0, 8], &[]).expect("decodes"), 100), Ok(26));
}

#[test]
fn maps_are_found_updated_and_deleted() {
    // key 1 on the stack; update(map, &key, &value, 0); lookup; r0 = *r0
    let program = |number: u32, key: i32| {
        let raw = [
            i(0x62, 10, 0, -4, key),
            i(0x7a, 10, 0, -16, 55),
            i(0x18, 1, 1, 0, 0),
            i(0, 0, 0, 0, 0),
            i(0xbf, 2, 10, 0, 0),
            i(0x07, 2, 0, 0, -4),
            i(0xbf, 3, 10, 0, 0),
            i(0x07, 3, 0, 0, -16),
            i(0xb7, 4, 0, 0, 0),
            i(0x85, 0, 0, 0, 2),
            i(0x18, 1, 1, 0, 0),
            i(0, 0, 0, 0, 0),
            i(0xbf, 2, 10, 0, 0),
            i(0x07, 2, 0, 0, -4),
            i(0x85, 0, 0, 0, 1),
            i(0x79, 0, 0, 0, 0),
            EXIT,
        ];
        let map = Patch::Address(address(region::MAP, number));
        run_code(&code(&raw, &[0], &[(2, map), (10, map)]).expect("decodes"), 100)
    };
    assert_eq!(program(0, 1), Ok(55));
    assert_eq!(program(1, 77), Ok(55));
    let null = program(0, 2).expect_err("the array has two values");
    assert!(null.contains("f0, instruction 15: reads through a null pointer"), "{null}");
    let wrong = program(5, 0).expect_err("there are two maps");
    assert!(wrong.contains("where a map with keys is expected"), "{wrong}");
}

#[test]
fn what_goes_wrong_is_named_with_its_instruction() {
    let cases: [(&[Raw], &str); 17] = [
        (&[i(0x05, 0, 0, -1, 0)], "f0, instruction 0: never reaches an exit"),
        (&[i(0x05, 0, 0, 9, 0), EXIT], "f0, instruction 0: jumps to instruction 10, beyond the function"),
        (&[i(0xb7, 0, 0, 0, 0)], "f0, instruction 0: is the last of the function, but no exit or jump"),
        (&[i(0xbf, 0, 3, 0, 0), EXIT], "f0, instruction 0: reads r3, which nothing has set"),
        (&[i(0xb7, 10, 0, 0, 0), EXIT], "f0, instruction 0: sets r10, which is read-only"),
        (
            &[i(0x7a, 10, 0, 0, 1), EXIT],
            "accesses 8 bytes at offset 0 of the stack frame, which is 512 bytes",
        ),
        (&[i(0x7a, 10, 0, -520, 1), EXIT], "accesses 8 bytes at offset -520 of the stack frame"),
        (
            &[i(0x85, 0, 0, 0, 9999), EXIT],
            "f0, instruction 0: calls helper 9999, which is not available here",
        ),
        (&[i(0xff, 0, 0, 0, 0), EXIT], "unknown instruction, code 0xff"),
        (&[i(0xbf, 0, 12, 0, 0), EXIT], "register r12; there are r0 to r10"),
        (
            &[i(0x85, 0, 1, 0, -1), EXIT],
            "f0, instruction 0: calls more than 8 functions deep; does it call itself?",
        ),
        (&[i(0x18, 0, 0, 0, 0), EXIT], "a wide load without its second half"),
        (
            &[i(0x18, 0, 1, 0, 0), i(0, 0, 0, 0, 0), EXIT],
            "a wide load of an address that no relocation gives",
        ),
        (
            &[i(0xb7, 1, 0, 0, 64), i(0x61, 0, 1, 0, 0), EXIT],
            "instruction 1: reads through a null pointer (0x40)",
        ),
        (&[i(0x79, 0, 1, 24, 0), EXIT], "reads 8 bytes at offset 24 of its arguments, which has 24"),
        (&[i(0x7b, 1, 1, 0, 0), EXIT], "writes to its arguments, which is read-only"),
        (&[i(0xb7, 1, 0, 0, 5), i(0x07, 1, 0, 0, 1), i(0x05, 0, 0, -2, 0), EXIT], "never reaches an exit"),
    ];
    for (raw, reason) in cases {
        let ended = run(raw).expect_err(reason);
        assert!(ended.contains(reason), "{ended}, not: {reason}");
        assert_eq!(ended.lines().count(), 1);
    }
    let wild = wide(1, 0xdead_beef_dead);
    let ended = run(&[wild[0], wild[1], i(0x61, 0, 1, 0, 0), EXIT]).expect_err("a wild pointer");
    assert_eq!(ended, "f0, instruction 2: reads through 0xdeadbeefdead, which is no pointer");
}

/// Ends with a budget of `instructions`, and not with one less, where this instruction is named.
fn costs(code: &Code, instructions: u64, last: &str) {
    assert!(run_code(code, instructions).is_ok(), "{:?}", run_code(code, instructions));
    let ended = run_code(code, instructions - 1).expect_err("too little");
    assert_eq!(ended, format!("{last}: it ran longer than its budget of instructions; does a loop not end?"));
}

#[test]
fn a_program_costs_each_instruction_that_it_runs_once() {
    let of = |raw: &[Raw], functions: &[usize]| code(raw, functions, &[]).expect("decodes");
    // r0 = 0; do r0 += 1 while (r0 != 10): 1 + 2 * 10 + 1
    let looping = [i(0xb7, 0, 0, 0, 0), i(0x07, 0, 0, 0, 1), i(0x55, 0, 0, -2, 10), EXIT];
    costs(&of(&looping, &[0]), 22, "f0, instruction 3");
    // a wide load is one instruction, before the end of the budget and after it
    let (one, other) = (wide(1, 7), wide(2, 7));
    let wides = [one[0], one[1], i(0xb7, 0, 0, 0, 0), other[0], other[1], EXIT];
    costs(&of(&wides, &[0]), 4, "f0, instruction 5");
    let ended = run_code(&of(&wides, &[0]), 1).expect_err("too little");
    assert!(ended.starts_with("f0, instruction 2: "), "{ended}");
    let ended = run_code(&of(&wides, &[0]), 0).expect_err("too little");
    assert!(ended.starts_with("f0, instruction 0: "), "{ended}");
    // a function of the program: 2 there, and 2 here
    let called = [i(0x85, 0, 1, 0, 1), EXIT, i(0xb7, 0, 0, 0, 0), EXIT];
    costs(&of(&called, &[0, 2]), 4, "f0, instruction 1");
    // bpf_loop(3, function, 0, 0): 6 and 3 * 2
    let function = wide(2, address(region::FUNCTION, 8));
    let looped = [
        i(0xb7, 1, 0, 0, 3),
        function[0],
        function[1],
        i(0xb7, 3, 0, 0, 0),
        i(0xb7, 4, 0, 0, 0),
        i(0x85, 0, 0, 0, 181),
        i(0xb7, 0, 0, 0, 0),
        EXIT,
        i(0xb7, 0, 0, 0, 0),
        EXIT,
    ];
    costs(&of(&looped, &[0, 8]), 13, "f0, instruction 7");
}

#[test]
fn a_loop_that_does_not_end_is_named() {
    // r0 = 0; while (r0 != r1) r0 = 0: what r1 is, nobody knows before
    let raw = [i(0x79, 1, 1, 8, 0), i(0xb7, 0, 0, 0, 0), i(0x5d, 0, 1, -2, 0), EXIT];
    let ended = run_code(&code(&raw, &[0], &[]).expect("decodes"), 1000).expect_err("no end");
    assert_eq!(
        ended,
        "f0, instruction 2: it ran longer than its budget of instructions; does a loop not end?"
    );
}

#[test]
fn writes_to_the_connection_are_those_that_the_kernel_permits() {
    let write = |field: usize, code: u8| {
        run(&[i(0x79, 1, 1, 0, 0), i(0xb7, 0, 0, 0, 0), i(code, 1, 0, field as i16, 0), EXIT])
    };
    let f = &model().fields;
    assert_eq!(write(f.snd_cwnd, 0x63), Ok(0));
    assert_eq!(write(f.icsk_ca_priv + 96, 0x7b), Ok(0));
    let denied = |ended: Result<u64, String>| ended.expect_err("not permitted");
    let ended = denied(write(f.srtt_us, 0x63));
    assert!(
        ended.ends_with("writes 4 bytes to tcp_sock.srtt_us, which the kernel does not permit"),
        "{ended}"
    );
    let ended = denied(write(f.snd_ssthresh, 0x7b));
    assert!(ended.ends_with("writes 8 bytes to tcp_sock.snd_ssthresh, beyond its end"), "{ended}");
    let ended = denied(write(f.icsk_ca_priv + 97, 0x7b));
    assert!(ended.contains("icsk_ca_priv, beyond its end"), "{ended}");
    let ended = denied(write(f.snd_cwnd + 1, 0x73));
    assert!(ended.contains("snd_cwnd, which the kernel does not permit"), "{ended}");
    let ended = denied(write(model().sock_bytes, 0x73));
    assert!(ended.contains("of the connection, which has"), "{ended}");
}

#[test]
fn a_pointer_that_leaves_a_value_of_a_map_names_the_map() {
    let value = wide(1, value_address(0, 0));
    let read = |off: i16| run(&[value[0], value[1], i(0x79, 0, 1, off, 0), EXIT]);
    assert_eq!(read(0), Ok(0));
    for off in [1, 8, -8] {
        let ended = read(off).expect_err("beyond the value");
        assert!(ended.contains("of a value of map few, which has 8"), "{off}: {ended}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Programs of any instructions that there are, on any registers, are refused or end; none panics.
    #[test]
    fn any_program_is_refused_or_ends(
        insns in prop::collection::vec(
            (any::<u8>(), 0_u8..11, 0_u8..11, -12_i16..12, prop_oneof![any::<i32>(), -8..8_i32]), 1..40),
        is_near in any::<bool>(),
    ) {
        let mut raw: Vec<Raw> = insns.iter().map(|&(code, dst, src, off, imm)| i(code, dst, src, off, imm)).collect();
        if is_near {
            // registers are set, so that more of them run
            let set = (0..10).map(|r| i(0xb7, r, 0, 0, i32::from(r))).chain([i(0xbf, 1, 10, 0, 0)]);
            raw = set.chain(raw).collect();
        }
        raw.push(EXIT);
        if let Ok(code) = code(&raw, &[0], &[])
            && let Err(reason) = run_code(&code, 2000)
        {
            prop_assert_eq!(reason.lines().count(), 1);
        }
    }
}
