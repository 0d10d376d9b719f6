//! The kernel's own functions that a program calls by name: the parts of Reno (net/ipv4/tcp_cong.c), CUBIC as
//! a whole (net/ipv4/tcp_cubic.c, its kfunc set), and numeric iterators (kernel/bpf/bpf_iter.c). CUBIC is the
//! simulator's `cubic` with `variant = "linux"`, which follows the same source.
//!
//! The kernel also offers the callbacks of bbr and dctcp (`kfunc_names`). They keep their state in the
//! connection's private memory, in a layout that a program may read; they are refused by name.

use crate::address::{address, region};
use crate::bytes::u32_at;
use crate::helpers::connection;
use crate::host::{Host, TICK_NS, UPTIME_NS};
use crate::kernel_model::{ACK_SAMPLE_BYTES, CWND_LIMITED_BIT};
use crate::memory::Memory;
use crate::native::Native;
use longfat_transport::cc::cubic::Cubic;
use longfat_transport::cc::{Ack, Cause, Congestion, CongestionControl, Value, Window, cubic};
use longfat_units::{Interval, Time};

/// Reno halves its window, and keeps two segments.
const LEAST_SSTHRESH: u32 = 2;
/// TCP_CA_Loss, with which CUBIC forgets everything (bictcp_reset).
const CA_LOSS: u64 = 4;

/// CA_EVENT_TX_START: something is sent, and nothing was in flight.
const TX_START: u64 = 0;

/// What a kfunc does.
type Body = fn(&mut Memory, &mut Host, [u64; 5]) -> Result<u64, String>;

/// The kfuncs that there are.
const KFUNCS: &[(&str, Body)] = &[
    ("tcp_reno_ssthresh", |m, _, _| Ok(u64::from((cwnd(m) >> 1).max(LEAST_SSTHRESH)))),
    ("tcp_reno_cong_avoid", |m, _, a| reno_cong_avoid(m, a[2] as u32)),
    ("tcp_reno_undo_cwnd", |m, _, _| Ok(u64::from(cwnd(m).max(get(m, m.model.fields.prior_cwnd))))),
    ("tcp_slow_start", |m, _, a| Ok(u64::from(slow_start(m, a[1] as u32)))),
    ("tcp_cong_avoid_ai", |m, _, a| cong_avoid_ai(m, a[1] as u32, a[2] as u32)),
    ("cubictcp_init", |m, host, _| cubic_init(m, host)),
    ("cubictcp_recalc_ssthresh", |m, host, _| cubic_ssthresh(m, host)),
    ("cubictcp_cong_avoid", |m, host, a| cubic_cong_avoid(m, host, a[2] as u32)),
    ("cubictcp_state", |m, host, a| if a[1] == CA_LOSS { cubic_reset(m, host) } else { Ok(0) }),
    ("cubictcp_cwnd_event", |m, host, a| if a[1] == TX_START { cubic_restart(m, host) } else { Ok(0) }),
    ("cubictcp_cwnd_event_tx_start", |m, host, _| cubic_restart(m, host)),
    ("cubictcp_acked", |m, host, a| cubic_acked(m, host, a[1])),
    ("bpf_iter_num_new", |m, _, a| iterate(m, a)),
    ("bpf_iter_num_next", |m, _, a| next(m, a[0])),
    ("bpf_iter_num_destroy", |_, _, _| Ok(0)),
    ("bpf_rcu_read_lock", |_, _, _| Ok(0)),
    ("bpf_rcu_read_unlock", |_, _, _| Ok(0)),
];

/// The number of a kfunc; `None` if it is not had.
pub(crate) fn number(name: &str) -> Option<u32> {
    KFUNCS.iter().position(|(known, _)| *known == name).map(|at| at as u32)
}

/// The names of the kfuncs that there are.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    KFUNCS.iter().map(|(name, _)| *name)
}

/// Calls the kfunc with this number.
pub(crate) fn call(number: usize, a: [u64; 5], memory: &mut Memory, host: &mut Host) -> Result<u64, String> {
    let Some((name, body)) = KFUNCS.get(number) else { return Err("calls an unknown kfunc".to_owned()) };
    if !name.starts_with("bpf_") {
        connection(a[0]).map_err(|reason| format!("{name}: {reason}"))?;
    }
    body(memory, host, a).map_err(|reason| format!("{name}: {reason}"))
}

fn get(memory: &Memory, field: usize) -> u32 {
    u32_at(memory.sock, field).unwrap_or(0)
}

fn set(memory: &mut Memory, field: usize, value: u32) {
    memory.sock[field..field + 4].copy_from_slice(&value.to_le_bytes());
}

fn cwnd(memory: &Memory) -> u32 {
    get(memory, memory.model.fields.snd_cwnd)
}

fn ssthresh(memory: &Memory) -> u32 {
    get(memory, memory.model.fields.snd_ssthresh)
}

fn clamp(memory: &Memory) -> u32 {
    get(memory, memory.model.fields.snd_cwnd_clamp)
}

/// Whether the window limits the sender; in slow-start, half a window in flight is enough.
fn is_limited(memory: &Memory) -> bool {
    let f = &memory.model.fields;
    let in_slow_start = cwnd(memory) < ssthresh(memory);
    memory.sock[f.is_cwnd_limited] & CWND_LIMITED_BIT != 0
        || (in_slow_start && cwnd(memory) < get(memory, f.max_packets_out).wrapping_mul(2))
}

/// Grows by what was acknowledged, up to ssthresh. Returns what is left of it.
fn slow_start(memory: &mut Memory, acked: u32) -> u32 {
    let before = cwnd(memory);
    let grown = before.saturating_add(acked).min(ssthresh(memory));
    set(memory, memory.model.fields.snd_cwnd, grown.min(clamp(memory)));
    acked.wrapping_sub(grown.wrapping_sub(before))
}

/// Grows by one segment for each `per` acknowledged.
fn cong_avoid_ai(memory: &mut Memory, per: u32, acked: u32) -> Result<u64, String> {
    if per == 0 {
        return Err("a growth of one segment for each 0 acknowledged".to_owned());
    }
    let field = memory.model.fields.snd_cwnd_cnt;
    let (mut count, mut window) = (get(memory, field), cwnd(memory));
    if count >= per {
        count = 0;
        window = window.wrapping_add(1);
    }
    count = count.wrapping_add(acked);
    window = window.wrapping_add(count / per);
    set(memory, field, count % per);
    set(memory, memory.model.fields.snd_cwnd, window.min(clamp(memory)));
    Ok(0)
}

fn reno_cong_avoid(memory: &mut Memory, acked: u32) -> Result<u64, String> {
    if !is_limited(memory) {
        return Ok(0);
    }
    let left = if cwnd(memory) < ssthresh(memory) { slow_start(memory, acked) } else { acked };
    if left == 0 { Ok(0) } else { cong_avoid_ai(memory, cwnd(memory), left) }
}

fn now(host: &Host) -> Time {
    Time::from_ns(host.now_ns - UPTIME_NS)
}

fn cubic_init(memory: &Memory, host: &mut Host) -> Result<u64, String> {
    let linux = [("variant".to_owned(), Value::Word("linux".to_owned()))];
    let mut cubic = cubic::ROW.instance(&linux).map_err(|error| error.to_string())?;
    cubic.on_start(get(memory, memory.model.fields.mss_cache), 0);
    cubic.reset(now(host));
    host.native.cubic = Some(Box::new(cubic));
    Ok(0)
}

fn cubic_reset(memory: &mut Memory, host: &mut Host) -> Result<u64, String> {
    let now = now(host);
    with_cubic(memory, host, |cubic, _, _| cubic.reset(now)).map(|()| 0)
}

/// Moves the curve by the ticks since lsndtime, as cubictcp_cwnd_event does; there is none before
/// cubictcp_init.
fn cubic_restart(memory: &mut Memory, host: &mut Host) -> Result<u64, String> {
    let idle_ticks = (host.jiffies() as u32).wrapping_sub(get(memory, memory.model.fields.lsndtime)) as i32;
    let idle = Interval::from_ns(u64::from(idle_ticks.max(0).unsigned_abs()) * TICK_NS);
    let now = now(host);
    if let Some(cubic) = &mut host.native.cubic {
        cubic.restart(now, idle);
    }
    Ok(0)
}

/// The window of the connection, with the fraction that CUBIC had left.
fn window(memory: &Memory, native: &Native) -> Window {
    let whole = f64::from(cwnd(memory));
    let kept = native.window.map(|w| w.cwnd).filter(|kept| kept.floor() == whole);
    let infinite = ssthresh(memory) >= crate::sock::INFINITE_SSTHRESH;
    let ssthresh = if infinite { f64::INFINITY } else { f64::from(ssthresh(memory)) };
    Window { cwnd: kept.unwrap_or(whole), ssthresh, max_ssthresh: f64::INFINITY }
}

fn with_cubic<T>(
    memory: &mut Memory,
    host: &mut Host,
    act: impl FnOnce(&mut Cubic, &mut Window, &mut Native) -> T,
) -> Result<T, String> {
    let native = &mut host.native;
    let mut w = window(memory, native);
    let mut cubic = native.cubic.take().ok_or("cubictcp_init was not called")?;
    let result = act(&mut cubic, &mut w, native);
    native.cubic = Some(cubic);
    native.window = Some(w);
    Ok(result)
}

fn cubic_cong_avoid(memory: &mut Memory, host: &mut Host, acked: u32) -> Result<u64, String> {
    if !is_limited(memory) {
        return Ok(0);
    }
    let grown = with_cubic(memory, host, |cubic, w, native| {
        if let Some(ack) = &native.ack {
            cubic.grow(&Ack { acked: f64::from(acked), ..*ack }, w);
        }
        *w
    })?;
    set(memory, memory.model.fields.snd_cwnd, (grown.cwnd as u32).min(clamp(memory)));
    Ok(0)
}

fn cubic_ssthresh(memory: &mut Memory, host: &mut Host) -> Result<u64, String> {
    let now = now(host);
    let reduced = with_cubic(memory, host, |cubic, w, native| {
        let zero = longfat_units::Interval::ZERO;
        let (in_flight, cause) = (w.cwnd, Cause::Loss);
        // whatever it was: what a timeout means to CUBIC, cubictcp_state says
        let event =
            native.event.map_or(Congestion { cause, now, in_flight, srtt: zero, base_rtt: None }, |event| {
                Congestion { cause, ..event }
            });
        let before = w.cwnd;
        cubic.on_congestion(&event, w);
        let reduced = w.ssthresh;
        w.cwnd = before;
        reduced
    })?;
    Ok(u64::from((reduced as u32).max(LEAST_SSTHRESH)))
}

fn cubic_acked(memory: &mut Memory, host: &mut Host, sample: u64) -> Result<u64, String> {
    if sample != address(region::SAMPLE, 0) || memory.sample.len() != ACK_SAMPLE_BYTES {
        return Err(format!("passes {sample:#x} where the sample of an acknowledgement is expected"));
    }
    let Some(ack) = host.native.ack.filter(|_| host.native.is_used()) else { return Ok(0) };
    let ssthresh = with_cubic(memory, host, |cubic, w, _| {
        cubic.acked(&ack, w);
        w.ssthresh
    })?;
    if ssthresh.is_finite() {
        set(memory, memory.model.fields.snd_ssthresh, ssthresh as u32);
    }
    Ok(0)
}

/// `bpf_iter_num_new(iterator, start, end)`: the iterator holds the number before the next one, and the end.
fn iterate(memory: &mut Memory, a: [u64; 5]) -> Result<u64, String> {
    let (start, end) = (a[1] as i32, a[2] as i32);
    let is_empty = start >= end;
    let (current, end) = if is_empty { (0, 0) } else { (start.wrapping_sub(1), end) };
    let bytes = u64::from(current as u32) | u64::from(end as u32) << 32;
    memory.store(a[0], bytes.to_le_bytes()).ok_or_else(|| memory.denial(a[0], 8, true))?;
    Ok(0)
}

/// `bpf_iter_num_next(iterator)`: the address of the number, or null at the end.
fn next(memory: &mut Memory, at: u64) -> Result<u64, String> {
    let both = memory.load::<8>(at).map(u64::from_le_bytes).ok_or_else(|| memory.denial(at, 8, false))?;
    let (next, end) = ((both as u32 as i32).wrapping_add(1), (both >> 32) as i32);
    let (new, answer) = if next >= end { (0, 0) } else { (both >> 32 << 32 | u64::from(next as u32), at) };
    memory.store(at, new.to_le_bytes()).ok_or_else(|| memory.denial(at, 8, true))?;
    Ok(answer)
}
