//! Queues with any parameters, under any arrivals: nothing is lost without a drop, and nothing comes twice.

use crate::bytes::Bytes;
use longfat_net::queue::{Boxed, Limit, Setup, disciplines};
use longfat_net::{Address, DropReason, Sink};
use longfat_transport::cc::{Kind as ParameterKind, Value};
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::{Ecn, FlowId, Kind, Packet, SimPacket};

/// What the queue has done with packets.
#[derive(Default)]
struct Counts {
    dropped: u64,
    dropped_bytes: u64,
    marked: u64,
    waited: Option<Interval>,
    timer: Option<Time>,
}

impl Sink<SimPacket> for Counts {
    fn forward(&mut self, _packet: SimPacket) {
        panic!("a queue has nothing behind it");
    }
    fn drop(&mut self, packet: SimPacket, _reason: DropReason) {
        self.dropped += 1;
        self.dropped_bytes += u64::from(packet.bytes());
    }
    fn marked(&mut self, _reason: DropReason) {
        self.marked += 1;
    }
    fn waited(&mut self, span: Interval) {
        self.waited = Some(span);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn originate(&mut self, _packet: SimPacket, _to: Address) {
        panic!("a queue sends nothing of its own");
    }
}

/// Builds a queue from the first bytes, and lets packets arrive and leave as the others say.
pub fn check(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(mut queue) = built(&mut bytes) else { return };
    let mut counts = Counts::default();
    let (mut now, mut timer) = (Time::ZERO, Time::NEVER);
    let (mut arrived, mut left) = ([0u64; 2], [0u64; 2]);
    while !bytes.is_empty() {
        let what = bytes.number(1);
        let until = now + Interval::from_ns(bytes.number(2) << (what >> 3 & 0x1f).min(14));
        while timer <= until {
            now = now.max(timer);
            timer = Time::NEVER;
            queue.timer(now, &mut counts);
            timer = counts.timer.take().unwrap_or(timer);
            assert!(timer > now, "a timer that fires at once for ever");
        }
        now = until;
        if what & 0b11 == 0 {
            counts.waited = None;
            if let Some(packet) = queue.next(now, &mut counts) {
                left[0] += 1;
                left[1] += u64::from(packet.bytes());
                assert!(counts.waited.is_none_or(|span| span <= now.since(Time::ZERO)));
            }
        } else {
            let packet = packet(&mut bytes, what & 0b100 != 0);
            arrived[0] += 1;
            arrived[1] += u64::from(packet.bytes());
            queue.arrive(now, packet, &mut counts);
        }
        timer = counts.timer.take().unwrap_or(timer);
        assert_eq!(arrived[0], left[0] + counts.dropped + queue.packets(), "packets");
        assert_eq!(arrived[1], left[1] + counts.dropped_bytes + queue.bytes(), "bytes");
        assert!(counts.marked <= arrived[0]);
        assert_eq!(queue.packets() == 0, queue.bytes() == 0);
    }
}

fn built(bytes: &mut Bytes) -> Option<Boxed<SimPacket>> {
    let rows: Vec<_> = disciplines().collect();
    let row = rows[bytes.below(rows.len())];
    let mut given = Vec::new();
    for _ in 0..bytes.below(4) {
        if row.parameters.is_empty() {
            break;
        }
        let parameter = &row.parameters[bytes.below(row.parameters.len())];
        let value = match parameter.kind {
            ParameterKind::Number { least, greatest, .. } => Value::Number(bytes.within(least, greatest)),
            ParameterKind::Choice(words) => Value::Word(words[bytes.below(words.len())].to_owned()),
        };
        given.push((parameter.name.to_owned(), value));
    }
    let limit = match bytes.number(1) {
        even if even % 2 == 0 => Limit::Packets(1 + bytes.number(1)),
        _ => Limit::Bytes(1 + bytes.number(2)),
    };
    let rate = Rate::from_bps(bytes.within(1e3, 1e12))?;
    row.instance::<SimPacket>(Setup { limit, rate, stream: Stream::new(bytes.number(1), "fuzz") }, &given)
        .ok()
}

fn packet(bytes: &mut Bytes, capable: bool) -> SimPacket {
    let size = 40 + (bytes.number(1) as u32) * 36;
    let mut packet = SimPacket::new(Kind::Data, FlowId(bytes.number(1) as u32), 0, size, Time::ZERO);
    packet.set_ecn(if capable { Ecn::Capable } else { Ecn::NotCapable });
    packet
}
