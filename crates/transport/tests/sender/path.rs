//! A path without queues: a delay each way, scripted losses, and a record of the packets that the sender put
//! on it.

use longfat_transport::cc::LossDetection;
use longfat_transport::cc::{Ack, Congestion, CongestionControl, Controller, Properties, Window, find};
use longfat_transport::{
    Capable, Codepoints, Echoing, Feedback, FirstReduction, Happened, Receiver, ReceiverConfig, Recovery,
    RtoConfig, RttSamples, Sender, SenderConfig, SenderCounters, SlowStartExit, TimeoutReductions,
};
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, FlowId, Kind, SimPacket};
use std::collections::BTreeMap;

/// Round-trip time of the path.
pub const RTT_MS: u64 = 100;
pub const MSS: u32 = 1000;
pub const HEADER: u32 = 52;
pub const QUICK_ACKS: u32 = 16;

pub fn ms(x: u64) -> Interval {
    Interval::from_millis(x)
}

pub fn at_ms(x: u64) -> Time {
    Time::ZERO + ms(x)
}

/// A sender that starts with a window of ten segments and acknowledgements of every segment.
pub fn config() -> SenderConfig {
    SenderConfig {
        flow: FlowId(0),
        mss_bytes: MSS,
        header_bytes: HEADER,
        bytes: None,
        initial_window: 10.0,
        initial_ssthresh: f64::INFINITY,
        max_window: f64::INFINITY,
        max_burst: f64::INFINITY,
        max_ssthresh: f64::INFINITY,
        slow_start_exit: SlowStartExit::None,
        byte_counting: true,
        slow_start_limit: 2.0,
        loss_detection: LossDetection::Sack,
        recovery: Recovery::RateHalving,
        timeout_reductions: TimeoutReductions::Once,
        first_reduction: FirstReduction::Own,
        cwnd_moderation: false,
        host_tick: Interval::ZERO,
        tick_phase: Interval::ZERO,
        rto: RtoConfig::with_min(ms(200)),
        timestamps: true,
        ecn: false,
        codepoints: Codepoints { ect: Ecn::Capable, capable: Capable::NewData },
        feedback: Feedback::Classic,
        abe: false,
        rtt_samples: RttSamples::Echoed,
        quick_start: None,
        seed: 0,
    }
}

/// A receiver that acknowledges each segment.
pub const RECEIVER: ReceiverConfig = ReceiverConfig {
    flow: FlowId(0),
    delayed_ack: None,
    quick_acks: QUICK_ACKS,
    sack: true,
    sack_compression: Interval::ZERO,
    timestamps: true,
    uncounted_hops: 0,
};

/// One in congestion avoidance from its first segment on, with this window.
pub fn steady(window: f64) -> SenderConfig {
    SenderConfig { initial_window: window, initial_ssthresh: window, ..config() }
}

pub fn standard() -> Controller {
    find("reno").expect("registered").instance(&[]).expect("no parameters")
}

/// An algorithm that leaves the window alone and halves it on congestion; paced at a constant rate if asked.
pub struct Constant {
    pub pacing_rate_pps: Option<f64>,
}

impl CongestionControl for Constant {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        w.ssthresh = 0.5 * w.cwnd;
    }
    fn pacing_rate(&self, _: &Window, _: Interval) -> Option<f64> {
        self.pacing_rate_pps
    }
}

pub fn constant() -> Controller {
    Controller::custom(Properties::CUSTOM, Constant { pacing_rate_pps: None })
}

/// A packet the sender put on the path.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: Time,
    pub packet: SimPacket,
    /// How often this segment was sent before.
    pub earlier: usize,
}

type Script<T> = Box<dyn FnMut(&Sent) -> T>;
type AckScript = Box<dyn FnMut(Time, &SimPacket) -> bool>;

pub struct Path {
    pub sender: Sender,
    receiving: Echoing,
    pub sent: Vec<Sent>,
    pub acks: Vec<(Time, SimPacket)>,
    pub now: Time,
    loses: Script<bool>,
    marks: Script<bool>,
    delays: Script<Interval>,
    loses_ack: AckScript,
    under_way: BTreeMap<(Time, u64), SimPacket>,
    order: u64,
    /// When the last packet on its way to the receiver arrives: none overtakes another.
    last_arrival: Time,
    overtaking: bool,
    feedback: Feedback,
    codepoints: Codepoints,
}

impl Path {
    pub fn new(config: SenderConfig, controller: Controller) -> Self {
        let receiver = ReceiverConfig {
            flow: config.flow,
            sack: config.loss_detection.has_sack(),
            timestamps: config.timestamps,
            ..RECEIVER
        };
        let (feedback, codepoints) = (config.feedback, config.codepoints);
        let mut sender = Sender::new(config, controller);
        sender.keep_log();
        Path {
            sender,
            receiving: Echoing::new(Receiver::new(receiver), None)
                .telling(feedback, HEADER)
                .carrying(codepoints),
            sent: Vec::new(),
            acks: Vec::new(),
            now: Time::ZERO,
            loses: Box::new(|_| false),
            marks: Box::new(|_| false),
            delays: Box::new(|_| Interval::ZERO),
            loses_ack: Box::new(|_, _| false),
            under_way: BTreeMap::new(),
            order: 0,
            last_arrival: Time::ZERO,
            overtaking: false,
            feedback,
            codepoints,
        }
    }

    /// Acknowledgements of every second segment.
    pub fn delayed_acks(mut self, wait: Interval) -> Self {
        let receiver = Receiver::new(ReceiverConfig { delayed_ack: Some(wait), ..RECEIVER });
        self.receiving =
            Echoing::new(receiver, None).telling(self.feedback, HEADER).carrying(self.codepoints);
        self
    }

    /// Packets that the path loses.
    pub fn losing(mut self, loses: impl FnMut(&Sent) -> bool + 'static) -> Self {
        self.loses = Box::new(loses);
        self
    }

    /// The path loses these segments when they are sent for the first time.
    pub fn losing_once(self, segments: &'static [u64]) -> Self {
        self.losing(move |s| {
            s.packet.kind == Kind::Data && s.earlier == 0 && segments.contains(&s.packet.seq)
        })
    }

    /// Acknowledgements (and answers to connection requests) that the path loses.
    pub fn losing_acks(mut self, loses: impl FnMut(Time, &SimPacket) -> bool + 'static) -> Self {
        self.loses_ack = Box::new(loses);
        self
    }

    /// Packets that a router marks.
    pub fn marking(mut self, marks: impl FnMut(&Sent) -> bool + 'static) -> Self {
        self.marks = Box::new(marks);
        self
    }

    /// Packets that take longer than others.
    pub fn delaying(mut self, delays: impl FnMut(&Sent) -> Interval + 'static) -> Self {
        self.delays = Box::new(delays);
        self
    }

    /// Delayed packets are overtaken by those sent after them.
    pub fn reordering(mut self) -> Self {
        self.overtaking = true;
        self
    }

    pub fn start(mut self) -> Self {
        let mut out = Vec::new();
        self.sender.start(self.now, &mut |p| out.push(p));
        self.put_on_path(out);
        self
    }

    fn put_on_path(&mut self, packets: Vec<SimPacket>) {
        for packet in packets {
            let same = |s: &&Sent| s.packet.seq == packet.seq && s.packet.kind == packet.kind;
            let earlier = self.sent.iter().filter(same).count();
            let sent = Sent { at: self.now, packet, earlier };
            if !(self.loses)(&sent) {
                let mut packet = sent.packet.clone();
                if (self.marks)(&sent) && packet.ecn != Ecn::NotCapable {
                    packet.ecn = Ecn::Marked;
                }
                let arrival = self.now + ms(RTT_MS / 2) + (self.delays)(&sent);
                self.last_arrival = if self.overtaking { arrival } else { self.last_arrival.max(arrival) };
                self.enqueue(self.last_arrival, packet);
            }
            self.sent.push(sent);
        }
    }

    fn enqueue(&mut self, at: Time, packet: SimPacket) {
        self.order += 1;
        self.under_way.insert((at, self.order), packet);
    }

    fn answer(&mut self, ack: Option<SimPacket>) {
        let Some(ack) = ack else { return };
        self.acks.push((self.now, ack.clone()));
        if !(self.loses_ack)(self.now, &ack) {
            self.enqueue(self.now + ms(RTT_MS / 2), ack);
        }
    }

    /// Handles the next event, if it is due by `end`.
    fn step(&mut self, end: Time) -> bool {
        let arrival = self.under_way.keys().next().map_or(Time::NEVER, |&(at, _)| at);
        self.now = arrival.min(self.sender.wake()).min(self.receiving.wake()).max(self.now);
        if self.now > end || self.now == Time::NEVER {
            self.now = end;
            return false;
        }
        let mut out = Vec::new();
        if arrival <= self.now {
            let (_, packet) = self.under_way.pop_first().expect("it has a first arrival");
            if packet.kind.is_forward() {
                let ack = self.receiving.on_packet(self.now, &packet);
                self.answer(ack);
            } else {
                self.sender.on_packet(self.now, &packet, &mut |p| out.push(p));
            }
        } else if self.receiving.wake() <= self.now {
            let ack = self.receiving.on_timer(self.now);
            self.answer(ack);
        } else {
            self.sender.on_timer(self.now, &mut |p| out.push(p));
        }
        assert!(self.sender.wake() >= self.now, "it wants to wake in the past");
        self.put_on_path(out);
        true
    }

    /// Runs up to and including this time.
    pub fn run_to(&mut self, end: Time) -> &mut Self {
        while self.step(end) {}
        self
    }

    /// Handles the next event, whenever it is.
    pub fn run_one_event(&mut self) {
        assert!(self.step(at_ms(1_000_000)), "nothing happens any more");
    }

    /// Runs until the transfer is complete, a thousand seconds at most.
    pub fn run_to_end(&mut self) -> &mut Self {
        while !self.sender.is_done() {
            assert!(self.step(at_ms(1_000_000)), "the transfer stalled: {:?}", self.sender.counters());
        }
        self
    }

    /// Runs until the sender's log has this entry. Returns the time.
    pub fn run_until_counted(&mut self, counted: impl Fn(&SenderCounters) -> bool) -> Time {
        while !counted(self.sender.counters()) {
            assert!(self.step(at_ms(1_000_000)), "never came: {:?}", self.sender.counters());
        }
        self.now
    }

    pub fn receiver(&self) -> &Receiver {
        self.receiving.receiver()
    }

    pub fn counters(&self) -> SenderCounters {
        *self.sender.counters()
    }

    pub fn cwnd(&self) -> f64 {
        self.sender.window().cwnd
    }

    pub fn ssthresh(&self) -> f64 {
        self.sender.window().ssthresh
    }

    /// Data packets sent from `from` on and before `to`.
    pub fn data_between(&self, from: Time, to: Time) -> impl Iterator<Item = &Sent> {
        let data = |s: &&Sent| s.packet.kind == Kind::Data;
        self.sent.iter().filter(data).filter(move |s| from <= s.at && s.at < to)
    }

    /// How many data packets left in each of the first `rounds` round trips after the handshake.
    pub fn flights(&self, rounds: u64) -> Vec<usize> {
        let start = |i: u64| at_ms(RTT_MS * (i + 1));
        (0..rounds).map(|i| self.data_between(start(i), start(i + 1)).count()).collect()
    }

    /// Retransmissions: the time, and the segment.
    pub fn again(&self) -> Vec<(Time, u64)> {
        let again = |s: &&Sent| s.packet.kind == Kind::Data && s.earlier > 0;
        self.sent.iter().filter(again).map(|s| (s.at, s.packet.seq)).collect()
    }

    /// The events since the last call, with the window then.
    pub fn log(&mut self) -> Vec<(Time, Happened, f64)> {
        let log = self.sender.take_log();
        self.sender.keep_log();
        log
    }
}
