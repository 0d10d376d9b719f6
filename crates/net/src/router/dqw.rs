//! ns-2's way to let XCP and other traffic share a link, an alternative to XCP-TCP friendliness: a queue for
//! each, served in turn with fixed weights (The ns Manual, section 21.2.2, XCP router, which announces
//! "dynamic queue weights", as its code does; they were never implemented).
//!
//! ```text
//! explicit packets wait in a drop-tail queue, all others in the link's own
//! next  :  the queue whose virtual time is behind; it moves by bytes / weight of the packet
//!          a queue that was empty begins at the time of the last one served (start-time fair queueing)
//! law   :  sees the explicit packets and their queue alone; controls `weight` of the capacity, or all of it,
//!          whether others want the rest or not
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `weight` | 0.5 | of the capacity | The ns Manual, 21.2.2; ns-2.35 `XCPWrapQ::setVirtualQueues` | none |
//! | `turn` | bytes | | chosen here | ns-2.35 `XCPWrapQ::queueToDeque` takes turns in packets |
//! | `controls` | weight | | ns-2.35 `Queue/XCP` with `tcp_xcp_on_` 1 | its default, 0, is `link` |

use super::behind::Behind;
use super::law::{DynLaw, Law, Stretch};
use super::protocols::{PROTOCOLS, laws};
use super::row::{Router, Setup};
use crate::queue::DropTail;
use crate::{Capacity, Element, Sink};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Time};
use longfat_wire::{FlowId, Packet};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "dqw",
        title: "Two queues, fixed weights",
        aliases: &[],
        citation: "The ns Manual, section 21.2.2: XCP router, 2011",
        page: "dqw",
        parameters: &[
            Parameter::choice("protocol", PROTOCOLS, "explicit protocol of the first queue"),
            Parameter::number("weight", 0.5, (0.01, 0.99), "of the capacity", "what explicit flows share"),
            Parameter::choice("turn", &["bytes", "packets"], "what the two queues' turns count"),
            Parameter::choice(
                "controls",
                &["weight", "link"],
                "the capacity that the law distributes: its weight, or all",
            ),
        ],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: true,
};

/// One of the two queues.
struct Turn<P> {
    queue: Behind<P>,
    weight: f64,
    /// Bytes or packets served, over the weight.
    served: f64,
}

impl<P: Packet> Turn<P> {
    fn waits(&self) -> bool {
        self.queue.packets() > 0
    }
}

/// Two queues before one link, one of them with a law around it.
pub struct Dqw<P> {
    capacity: Capacity,
    law: DynLaw<P>,
    /// The law's part of the capacity.
    share: f64,
    by_packets: bool,
    explicit: Turn<P>,
    others: Turn<P>,
    /// Virtual time: that of the queue served last, before the service.
    clock: f64,
}

impl<P: Packet + Send + 'static> Dqw<P> {
    /// From checked parameters. Each queue has the limit of the link's queue.
    pub fn build(setup: Setup<P>, p: &Parameters) -> Self {
        let weight = p.number("weight");
        let turn = |queue, weight| Turn { queue: Behind::new(queue), weight, served: 0.0 };
        let explicit = turn(Box::new(DropTail::new(setup.limit)), weight);
        let share = if p.word("controls") == "link" { 1.0 } else { weight };
        let mut law = laws(p.word("protocol"))();
        law.begin(Time::ZERO, &part(&setup.capacity, share, &explicit));
        Dqw {
            capacity: setup.capacity,
            law,
            share,
            by_packets: p.word("turn") == "packets",
            explicit,
            others: turn(setup.queue, 1.0 - weight),
            clock: 0.0,
        }
    }
}

impl<P: Packet> Dqw<P> {
    fn plan(&self, out: &mut dyn Sink<P>) {
        out.set_timer(self.law.wake().min(self.explicit.queue.wake()).min(self.others.queue.wake()));
    }

    /// The next packet of one of the queues.
    fn serve(&mut self, explicit: bool, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let turn = if explicit { &mut self.explicit } else { &mut self.others };
        let mut packet = turn.queue.next(now, out)?;
        self.clock = turn.served;
        turn.served += if self.by_packets { 1.0 } else { f64::from(packet.bytes()) } / turn.weight;
        if explicit {
            self.law.leave(now, &mut packet, &part(&self.capacity, self.share, &self.explicit));
        }
        Some(packet)
    }
}

/// What the law believes to be its link.
fn part<'a, P: Packet>(capacity: &'a Capacity, share: f64, turn: &Turn<P>) -> Stretch<'a> {
    Stretch { capacity, share, queue_bytes: turn.queue.bytes() }
}

impl<P: Packet> Element<P> for Dqw<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.law.begins(flow, identity);
        self.explicit.queue.begins(flow, identity);
        self.others.queue.begins(flow, identity);
    }

    fn arrive(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        let explicit = self.law.guides(&packet);
        let turn = if explicit { &mut self.explicit } else { &mut self.others };
        if !turn.waits() {
            // unused turns are lost
            turn.served = turn.served.max(self.clock);
        }
        if explicit {
            self.law.arrive(now, &mut packet, &part(&self.capacity, self.share, &self.explicit));
            self.explicit.queue.arrive(now, packet, out);
        } else {
            self.others.queue.arrive(now, packet, out);
        }
        self.plan(out);
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        self.explicit.queue.timer(now, out);
        self.others.queue.timer(now, out);
        if now >= self.law.wake() {
            self.law.timer(now, &part(&self.capacity, self.share, &self.explicit));
        }
        self.plan(out);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let explicit =
            self.explicit.waits() && (!self.others.waits() || self.explicit.served <= self.others.served);
        // a queue may drop all its packets on the way to the next one
        let packet = self.serve(explicit, now, out).or_else(|| self.serve(!explicit, now, out));
        self.plan(out);
        packet
    }

    fn packets(&self) -> u64 {
        self.explicit.queue.packets() + self.others.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.explicit.queue.bytes() + self.others.queue.bytes()
    }
}
