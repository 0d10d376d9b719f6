//! The kernel's helper functions, by their numbers (include/uapi/linux/bpf.h, `___BPF_FUNC_MAPPER`), as far
//! as a congestion control may call them (bpf_tcp_ca_get_func_proto and bpf_base_func_proto) and public
//! objects do.

use crate::address::{address, map_of, region, split, value_address};
use crate::helper_names;
use crate::host::Host;
use crate::kernel_model::Model;
use crate::maps::{Kind, Map, errno};
use crate::memory::Memory;

/// The numbers of the helpers that there are here.
const HELPERS: [i64; 28] = [
    1, 2, 3, 4, 5, 6, 7, 8, 49, 57, 107, 108, 113, 115, 116, 118, 125, 130, 131, 132, 133, 134, 137, 160,
    164, 177, 181, 208,
];

/// The name of a helper that there is here.
pub(crate) fn name(number: i64) -> Option<&'static str> {
    if HELPERS.contains(&number) { helper_names::name(number) } else { None }
}

/// Whether a program that calls it needs the object's maps.
pub(crate) const fn uses_maps(number: i64) -> bool {
    matches!(number, 1..=3 | 107 | 108 | 130..=134 | 164)
}

/// The longest format of a line that is printed.
const LONGEST_FORMAT: usize = 512;

/// A helper takes an instruction's worth of the budget for this many bytes that it copies (chosen here: at
/// least as fast as an instruction).
const BYTES_PER_INSTRUCTION: u64 = 64;

/// Why a program ends that has used up its budget.
pub(crate) const EXHAUSTED: &str = "it ran longer than its budget of instructions; does a loop not end?";

type Outcome = Result<u64, String>;

/// Takes from the budget what it costs to copy this many bytes.
pub(crate) fn pay(budget: &mut u64, bytes: u64) -> Result<(), String> {
    *budget = budget.checked_sub(bytes / BYTES_PER_INSTRUCTION).ok_or(EXHAUSTED)?;
    Ok(())
}

/// The helpers that call functions of the program; the interpreter has them.
pub(crate) mod calling {
    pub const FOR_EACH_MAP_ELEM: i64 = 164;
    pub const LOOP: i64 = 181;
}

/// Calls the helper with this number, unless it is one that calls.
#[cold]
#[inline(never)]
pub(crate) fn call(
    memory: &mut Memory,
    host: &mut Host,
    budget: &mut u64,
    number: i64,
    a: [u64; 5],
) -> Outcome {
    match number {
        1 => {
            let (map, key) = map_and_key(memory, budget, a[0], a[1])?;
            Ok(memory.maps.lookup(map, &key).unwrap_or(0))
        }
        2 => update(memory, budget, a),
        3 => {
            let (map, key) = map_and_key(memory, budget, a[0], a[1])?;
            Ok(memory.maps.get_mut(map).map_or(errno::INVALID, |m| m.delete(&key)) as u64)
        }
        4 | 113 => probe_read(memory, budget, a),
        5 | 125 | 160 | 208 => Ok(host.now_ns),
        6 => print(memory, host, budget, a[0], a[1], &a[2..]),
        7 => Ok(host.random.below(1 << 32)),
        8 => Ok(0),
        49 => set_option(memory, a),
        57 => Ok(errno::NO_OPTION as u64),
        107 => storage(memory, host, budget, a),
        108 => {
            let map = map_number(memory, a[0], Kind::Storage)?;
            connection(a[1])?;
            let key = host.connection.to_le_bytes();
            Ok(memory.maps.get_mut(map).map_or(errno::INVALID, |m| m.delete(&key)) as u64)
        }
        115 => probe_text(memory, budget, a),
        116 => {
            connection(a[0])?;
            Ok(0) // the receiver acknowledges by its own rules here
        }
        118 => Ok(host.jiffies()),
        130 => {
            let map = ring(memory, a[0])?;
            let bytes = readable(memory, a[1], a[2])?.len() as u32;
            pay(budget, u64::from(bytes))?;
            let Some(at) = memory.maps.get_mut(map).and_then(|m| m.reserve(bytes)) else {
                return Ok(errno::BUSY as u64);
            };
            memory.maps.get_mut(map).map(|m| m.release(at, true));
            Ok(0)
        }
        131 => {
            let map = ring(memory, a[0])?;
            let bytes = u32::try_from(a[1]).unwrap_or(u32::MAX);
            if memory.maps.get(map).is_some_and(|m| m.has_room(bytes)) {
                pay(budget, u64::from(bytes))?;
            }
            let place = memory.maps.get_mut(map).and_then(|m| m.reserve(bytes));
            Ok(place.map_or(0, |at| value_address(map, at)))
        }
        132 | 133 => release(memory, a[0], number == 132),
        134 => ring(memory, a[0]).map(|_| 0),
        137 => {
            connection(a[0])?;
            Ok(a[0])
        }
        177 => {
            let count = usize::try_from(a[3] / 8).unwrap_or(usize::MAX).min(12);
            let words: Option<Vec<u64>> = (0..count as u64)
                .map(|i| memory.load(a[2].wrapping_add(8 * i)).map(u64::from_le_bytes))
                .collect();
            let words = words.ok_or_else(|| memory.denial(a[2], 8 * count, false))?;
            print(memory, host, budget, a[0], a[1], &words)
        }
        _ => Err(format!("calls helper {number}, which is not available here")),
    }
}

/// Refuses what is no pointer to the connection.
pub(crate) fn connection(pointer: u64) -> Result<(), String> {
    if pointer == address(region::SOCK, 0) {
        return Ok(());
    }
    Err(format!("passes {pointer:#x} where the connection is expected"))
}

fn map_number(memory: &Memory, pointer: u64, kind: Kind) -> Result<usize, String> {
    let (found, number) = split(pointer);
    match memory.maps.get(number) {
        Some(map) if found == region::MAP && map.kind() == kind => Ok(number),
        Some(map) if found == region::MAP => {
            Err(format!("passes map {}, which is of another kind", map.name()))
        }
        _ => Err(format!("passes {pointer:#x} where a map is expected")),
    }
}

fn ring(memory: &Memory, pointer: u64) -> Result<usize, String> {
    map_number(memory, pointer, Kind::Ring)
}

fn readable<'m>(memory: &'m Memory, at: u64, bytes: u64) -> Result<&'m [u8], String> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    memory.slice(at, bytes).ok_or_else(|| memory.denial(at, bytes.min(1 << 30), false))
}

/// The number of a map with keys, and the key.
fn map_and_key(memory: &Memory, budget: &mut u64, map: u64, key: u64) -> Result<(usize, Vec<u8>), String> {
    let (found, number) = split(map);
    let known = memory.maps.get(number).filter(|_| found == region::MAP);
    let Some(known) = known.filter(|m| matches!(m.kind(), Kind::Array | Kind::Hash | Kind::LeastRecent))
    else {
        return Err(format!("passes {map:#x} where a map with keys is expected"));
    };
    let key = readable(memory, key, known.key_bytes() as u64)?;
    pay(budget, key.len() as u64)?;
    Ok((number, key.to_vec()))
}

fn update(memory: &mut Memory, budget: &mut u64, a: [u64; 5]) -> Outcome {
    let (map, key) = map_and_key(memory, budget, a[0], a[1])?;
    let bytes = memory.maps.get(map).map_or(0, Map::value_bytes);
    let value = readable(memory, a[2], bytes as u64)?;
    pay(budget, bytes as u64)?;
    let value = value.to_vec();
    Ok(memory.maps.get_mut(map).map_or(errno::INVALID, |m| m.update(&key, &value, a[3])) as u64)
}

fn storage(memory: &mut Memory, host: &Host, budget: &mut u64, a: [u64; 5]) -> Outcome {
    let map = map_number(memory, a[0], Kind::Storage)?;
    connection(a[1])?;
    let key = host.connection.to_le_bytes();
    if let Some(known) = memory.maps.lookup(map, &key) {
        return Ok(known);
    }
    if a[3] & 1 == 0 {
        return Ok(0); // BPF_SK_STORAGE_GET_F_CREATE is not set
    }
    let bytes = memory.maps.get(map).map_or(0, Map::value_bytes);
    pay(budget, bytes as u64)?;
    let initial = if a[2] == 0 { vec![0; bytes] } else { readable(memory, a[2], bytes as u64)?.to_vec() };
    let Some(of) = memory.maps.get_mut(map) else { return Ok(0) };
    of.update(&key, &initial, 0);
    Ok(memory.maps.lookup(map, &key).unwrap_or(0))
}

/// Reads what may not be there; that is no fault, but an error and zeros.
fn probe_read(memory: &mut Memory, budget: &mut u64, a: [u64; 5]) -> Outcome {
    let bytes = usize::try_from(a[1]).unwrap_or(usize::MAX);
    if memory.slice_mut(a[0], bytes).is_none() {
        return Err(memory.denial(a[0], bytes.min(1 << 30), true));
    }
    pay(budget, a[1])?;
    let found = memory.slice(a[2], bytes).map(<[u8]>::to_vec);
    let Some(to) = memory.slice_mut(a[0], bytes) else {
        return Err(memory.denial(a[0], bytes.min(1 << 30), true));
    };
    match found {
        Some(found) => {
            to.copy_from_slice(&found);
            Ok(0)
        }
        None => {
            to.fill(0);
            Ok(errno::BAD_ADDRESS as u64)
        }
    }
}

fn probe_text(memory: &mut Memory, budget: &mut u64, a: [u64; 5]) -> Outcome {
    let bytes = usize::try_from(a[1]).unwrap_or(usize::MAX).min(1 << 16);
    let found = memory.text(a[2], bytes.saturating_sub(1));
    // each byte of a text is looked at for its end
    let looked_at = found.as_ref().map_or(0, |text| text.len().min(bytes) as u64);
    pay(budget, bytes as u64 + BYTES_PER_INSTRUCTION * looked_at)?;
    let Some(to) = memory.slice_mut(a[0], bytes) else {
        return Err(memory.denial(a[0], bytes, true));
    };
    to.fill(0);
    let Some(found) = found else { return Ok(errno::BAD_ADDRESS as u64) };
    let text = &found.as_bytes()[..found.len().min(bytes.saturating_sub(1))];
    to[..text.len()].copy_from_slice(text);
    Ok(text.len() as u64 + 1)
}

fn release(memory: &mut Memory, pointer: u64, submits: bool) -> Outcome {
    let (found, at) = split(pointer);
    let map = map_of(found);
    let released =
        map.and_then(|map| memory.maps.get_mut(map)).is_some_and(|m| m.release(at as u32, submits));
    if released {
        return Ok(0);
    }
    Err(format!("gives back {pointer:#x}, which is no reserved record"))
}

/// Sets a limit of the pacing rate; other options are not had.
fn set_option(memory: &mut Memory, a: [u64; 5]) -> Outcome {
    const SOL_SOCKET: u64 = 1;
    const SO_MAX_PACING_RATE: u64 = 47;
    connection(a[0])?;
    let model: &Model = memory.model;
    if (a[1], a[2]) != (SOL_SOCKET, SO_MAX_PACING_RATE) || !matches!(a[4], 4 | 8) {
        return Ok(errno::NO_OPTION as u64);
    }
    let mut rate = [0; 8];
    rate[..a[4] as usize].copy_from_slice(readable(memory, a[3], a[4])?);
    if a[4] == 4 && rate[..4] == [255; 4] {
        rate = [255; 8];
    }
    for field in [model.fields.sk_max_pacing_rate, model.fields.sk_pacing_rate] {
        let known = crate::bytes::u64_at(memory.sock, field).unwrap_or(0);
        let least = u64::from_le_bytes(rate);
        let new = if field == model.fields.sk_pacing_rate { known.min(least) } else { least };
        memory.sock[field..field + 8].copy_from_slice(&new.to_le_bytes());
    }
    Ok(0)
}

/// Keeps a line; the conversions are those of integers and texts.
fn print(
    memory: &Memory,
    host: &mut Host,
    budget: &mut u64,
    format: u64,
    bytes: u64,
    words: &[u64],
) -> Outcome {
    let longest = usize::try_from(bytes).unwrap_or(LONGEST_FORMAT).min(LONGEST_FORMAT);
    let format = memory.text(format, longest).ok_or_else(|| memory.denial(format, longest, false))?;
    let mut words = words.iter().copied();
    let mut line = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            line.push(c);
            continue;
        }
        let mut long = 0;
        while let Some(&c) = rest.peek().filter(|c| c.is_ascii_digit() || "lhz-+# ".contains(**c)) {
            long += usize::from(c == 'l' || c == 'z');
            rest.next();
        }
        let conversion = rest.next().unwrap_or('%');
        if conversion == '%' {
            line.push('%');
            continue;
        }
        let word = words.next().unwrap_or(0);
        let short = long == 0;
        let text = match conversion {
            'd' | 'i' if short => (word as i32).to_string(),
            'd' | 'i' => (word as i64).to_string(),
            'u' if short => (word as u32).to_string(),
            'u' => word.to_string(),
            'x' if short => format!("{:x}", word as u32),
            'x' | 'p' => format!("{word:x}"),
            'c' => char::from(word as u8).to_string(),
            's' => memory.text(word, LONGEST_FORMAT).unwrap_or_default(),
            other => format!("%{other}"),
        };
        line.push_str(&text);
    }
    let length = line.len() as u64;
    pay(budget, BYTES_PER_INSTRUCTION * length)?; // each byte is looked at
    host.print(line);
    Ok(length)
}
