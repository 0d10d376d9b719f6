//! Priority of the calling thread over others.

use rustix::thread::set_current_timer_slack;
use std::num::NonZeroU64;

/// How much of a processor a router's thread may use, ns, in each period, ns. The rest keeps the machine
/// responsive, in pauses too short to notice (chosen here; SCHED_FIFO would pause for 50 ms of each second at
/// once).
const SHARE_NS: (u64, u64) = (900_000, 1_000_000);
/// The kernel rounds a thread's wake-ups by at most this much, ns: the least that it accepts.
const SLACK_NS: NonZeroU64 = NonZeroU64::MIN;

/// Makes the waits of the calling thread, a router's, as exact as the kernel can, and lets it run before
/// other threads where the process has the right to. Returns whether it runs before others.
pub fn prioritize_router() -> bool {
    let (runtime, period) = SHARE_NS;
    // a slack that cannot be set only makes wake-ups later, which the run measures
    let _ = set_current_timer_slack(Some(SLACK_NS));
    schedule(&libc::sched_attr {
        sched_policy: libc::SCHED_DEADLINE as u32,
        // it may also use what other such threads leave over
        sched_flags: libc::SCHED_FLAG_RECLAIM as u64,
        sched_runtime: runtime,
        sched_deadline: period,
        sched_period: period,
        ..DEFAULT
    }) || schedule(&fifo(1))
}

/// Lets the calling thread, the hosts', run before all threads but those of SCHED_DEADLINE where the process
/// has the right to. That is for a thread with little to do.
pub fn prioritize_hosts() {
    let _ = set_current_timer_slack(Some(SLACK_NS));
    schedule(&fifo(2));
}

const DEFAULT: libc::sched_attr = libc::sched_attr {
    size: size_of::<libc::sched_attr>() as u32,
    sched_policy: libc::SCHED_OTHER as u32,
    sched_flags: 0,
    sched_nice: 0,
    sched_priority: 0,
    sched_runtime: 0,
    sched_deadline: 0,
    sched_period: 0,
};

const fn fifo(priority: u32) -> libc::sched_attr {
    libc::sched_attr { sched_policy: libc::SCHED_FIFO as u32, sched_priority: priority, ..DEFAULT }
}

/// Sets the scheduling of the calling thread (sched_setattr(2)). Returns whether the kernel accepted it.
#[expect(
    unsafe_code,
    reason = "only thread-priority has sched_setattr, and 3.1 passes it a pthread_t for a thread id"
)]
fn schedule(attributes: &libc::sched_attr) -> bool {
    const THIS_THREAD: libc::pid_t = 0;
    const NO_FLAGS: libc::c_uint = 0;
    // SAFETY: the kernel reads as many bytes of the attributes as their own `size` says, and they outlive the
    // call.
    unsafe {
        libc::syscall(libc::SYS_sched_setattr, THIS_THREAD, std::ptr::from_ref(attributes), NO_FLAGS) == 0
    }
}
