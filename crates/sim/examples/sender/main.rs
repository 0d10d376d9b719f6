//! A TCP sender that follows orders: what happens to it comes line by line, and each line is answered.
//!
//!     sender PLAN
//!
//! PLAN is a file with a run's plan in JSON; its first flow says what the sender is. Each line of the input
//! is one order in JSON, and each line of the output its answer. Times are in ns, and a later order has no
//! earlier one. Timers that expire before an order's time expire first.
//!
//! | order | what happens at `at` |
//! |---|---|
//! | `{"at", "open": true}` | it sends its connection request |
//! | `{"at", "answer": true}` | the answer to that arrives |
//! | `{"at", "write": n}` | the application writes n segments more |
//! | `{"at", "ack": {"seq", "sack", "stamp", "echo"}}` | an acknowledgement arrives |
//! | `{"at"}` | nothing; timers that expire by then, `at` included, do |
//!
//! In an acknowledgement, `seq` is the next segment expected, `sack` has blocks `[start, end)`, `stamp` is
//! when the segment that it echoes was sent, and `echo` is ECN-Echo. With `"window": n` the receiver
//! announces a window of n segments too.
//!
//! An answer has `sent`, the data segments that left since the answer before: `at`, `seq`, `again`, `probe`
//! (for a probe of the tail), `ect` and `reduced` (Congestion Window Reduced); `wake`, when its next timer
//! expires; and the sender's state.

use longfat_sim::{Plan, Streams, sender};
use longfat_transport::{Segments, Sender, Stage};
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, Extra, FlowId, Kind, SackBlocks, SimPacket};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::error::Error;
use std::io::{BufRead, Write};
use std::process::ExitCode;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    at: u64,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    answer: bool,
    write: Option<u64>,
    ack: Option<Ack>,
    window: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ack {
    seq: u64,
    sack: Vec<(u64, u64)>,
    stamp: Option<u64>,
    echo: bool,
}

struct Host {
    sender: Sender,
    opened: Time,
    sent: Vec<Value>,
    /// Segments sent again to probe the tail, while they are under way.
    probes: BTreeSet<u64>,
}

impl Host {
    fn data(&mut self, now: Time, packets: Vec<SimPacket>, next: u64, by_timer: bool) {
        let mut next = next;
        for packet in packets.iter().filter(|packet| packet.kind == Kind::Data) {
            let again = packet.seq < next;
            next = next.max(packet.seq + 1);
            // a timer that leaves no recovery behind has sent a probe
            let opens = !matches!(self.sender.view().stage, Stage::Recovery | Stage::Loss);
            let probe = by_timer && opens;
            if again && probe {
                self.probes.insert(packet.seq);
            }
            self.sent.push(json!({
                "at": now.as_ns(),
                "seq": packet.seq,
                "again": again,
                "probe": probe,
                "ect": match packet.ecn {
                    Ecn::NotCapable | Ecn::Marked => Value::Null,
                    Ecn::Capable => json!(0),
                    Ecn::Ect1 => json!(1),
                },
                "reduced": packet.ecn_flag,
            }));
        }
    }

    /// Hands something to the sender, and notes what it sends in response.
    fn with(&mut self, now: Time, by_timer: bool, what: impl FnOnce(&mut Sender, &mut Vec<SimPacket>)) {
        let (next, lost) = (self.sender.segments().next, self.sender.counters().timeouts);
        let mut out = Vec::new();
        what(&mut self.sender, &mut out);
        if self.sender.counters().timeouts > lost {
            self.probes.clear();
        }
        self.data(now, out, next, by_timer);
    }

    fn wait(&mut self, until: Time) {
        while self.sender.wake() <= until {
            let now = self.sender.wake();
            self.with(now, true, |sender, out| sender.on_timer(now, &mut |p| out.push(p)));
        }
    }

    fn follow(&mut self, order: Order) {
        let now = Time::from_ns(order.at);
        // packets precede timers of the same time: those of a kernel are late rather than early
        let idle = !order.open && !order.answer && order.write.is_none() && order.ack.is_none();
        self.wait(if idle { now } else { Time::from_ns(order.at.saturating_sub(1)) });
        if let Some(segments) = order.window {
            self.sender.set_receiver_window(segments);
        }
        if order.open {
            self.opened = now;
            self.with(now, false, |sender, out| sender.start(now, &mut |p| out.push(p)));
        }
        if order.answer {
            let answer = SimPacket::new(Kind::SynAck, FlowId(0), 0, 0, self.opened);
            self.with(now, false, |sender, out| sender.on_packet(now, &answer, &mut |p| out.push(p)));
        }
        if let Some(segments) = order.write {
            self.with(now, false, |sender, out| sender.write(now, segments, &mut |p| out.push(p)));
        }
        if let Some(ack) = order.ack {
            let packet = packet(now, &ack);
            self.with(now, false, |sender, out| sender.on_packet(now, &packet, &mut |p| out.push(p)));
            let base = self.sender.segments().base;
            self.probes.retain(|&seq| seq >= base && !ack.sack.iter().any(|&(a, b)| a <= seq && seq < b));
        }
    }

    fn answer(&mut self) -> Value {
        let (view, counters) = (self.sender.view(), *self.sender.counters());
        let Segments { base, next, sacked, lost, again, duplicates } = self.sender.segments();
        let wake = self.sender.wake();
        json!({
            "sent": core::mem::take(&mut self.sent),
            "wake": (wake != Time::NEVER).then(|| wake.as_ns()),
            "stage": format!("{:?}", view.stage),
            "cwnd": view.window.cwnd,
            "ssthresh": view.window.ssthresh.is_finite().then_some(view.window.ssthresh),
            "base": base,
            "next": next,
            "sacked": sacked + duplicates,
            "lost": lost + again,
            "again": again + self.probes.len() as u64,
            "srtt_ns": view.srtt.map(Interval::as_ns),
            "rtt_variation_ns": view.rtt_variation.as_ns(),
            "base_rtt_ns": view.base_rtt.map(Interval::as_ns),
            "backoffs": view.backoffs,
            "retransmits": counters.retransmits,
            "timeouts": counters.timeouts,
            "undone": counters.undone,
        })
    }
}

fn packet(now: Time, ack: &Ack) -> SimPacket {
    let mut sack = SackBlocks::default();
    ack.sack.iter().for_each(|&(start, end)| sack.push(start, end));
    let stamp = ack.stamp.map_or(now, Time::from_ns);
    let mut packet = SimPacket::new(Kind::Ack, FlowId(0), ack.seq, 0, stamp);
    packet.ecn_flag = ack.echo;
    if !sack.is_empty() {
        packet.extra = Some(Box::new(Extra { sack, ..Extra::default() }));
    }
    packet
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a file with a plan")?;
    let plan = Plan::from_json(&std::fs::read_to_string(path)?)?.check()?;
    let flow = plan.flows.first().ok_or("the plan has no flow")?;
    let mut sender = sender(&flow.connection, &Streams::of_flow(plan.seed, &flow.name))?;
    sender.wait_for_writes();
    let mut host = Host { sender, opened: Time::ZERO, sent: Vec::new(), probes: BTreeSet::new() };
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        host.follow(serde_json::from_str(&line?)?);
        writeln!(output, "{}", host.answer())?;
        output.flush()?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
