//! Routers that speak to each other, as XCP-i's do (Lopez Pacheco 2008, section 4.3): each router writes itself into
//! passing packets; one that sees by the two TTLs that routers of another kind lie in between asks the one before them
//! for the bandwidth there, waits for the answer, asks once more, and gives up until the next packet. Needs: messages
//! between elements, both ways, and timers that are set and cleared.

use crate::driver::World;
use longfat_net::queue::{DropTail, Limit};
use longfat_net::{Address, Element, Sink};
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, Explicit, FlowId, Kind, Packet};
use std::cell::RefCell;
use std::rc::Rc;

const TIMEOUT: Interval = Interval::from_millis(50);
const BANDWIDTH_BPS: f64 = 3e8;
const UPSTREAM: Address = Address(0);
const DOWNSTREAM: Address = Address(1);

/// What two routers say to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Message {
    Request { from: Address },
    Answer { bandwidth_bps: f64 },
}

/// What an element must be able to write into a packet for this, beyond what [`Packet`] offers.
trait Mail: Packet {
    fn mail(message: Message) -> Self;
    fn read(&self) -> Option<Message>;
    fn last_router(&self) -> Option<Address>;
    fn set_last_router(&mut self, router: Address);
    /// The TTL that only routers of this kind count down.
    fn own_ttl(&self) -> u8;
    fn set_own_ttl(&mut self, ttl: u8);
}

#[derive(Clone, Debug)]
struct Parcel {
    kind: Kind,
    ttl: u8,
    own_ttl: u8,
    last_router: Option<Address>,
    message: Option<Message>,
}

impl Parcel {
    fn data() -> Self {
        Parcel { kind: Kind::Data, ttl: 64, own_ttl: 64, last_router: None, message: None }
    }
}

impl Packet for Parcel {
    fn bytes(&self) -> u32 {
        1000
    }
    fn flow(&self) -> FlowId {
        FlowId(0)
    }
    fn kind(&self) -> Kind {
        self.kind
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }
    fn set_ecn(&mut self, _: Ecn) {}
    fn ttl(&self) -> u8 {
        self.ttl
    }
    fn set_ttl(&mut self, ttl: u8) {
        self.ttl = ttl;
    }
    fn explicit(&self) -> Option<&Explicit> {
        None
    }
    fn explicit_mut(&mut self) -> Option<&mut Explicit> {
        None
    }
    fn trail(&self) -> Option<&longfat_wire::Trail> {
        None
    }
    fn trail_mut(&mut self) -> Option<&mut longfat_wire::Trail> {
        None
    }
    fn control(_: longfat_wire::Message, _: u32) -> Self {
        Parcel { kind: Kind::Control, ..Parcel::data() }
    }
    fn message(&self) -> Option<&longfat_wire::Message> {
        None
    }
    fn message_mut(&mut self) -> Option<&mut longfat_wire::Message> {
        None
    }
}

impl Mail for Parcel {
    fn mail(message: Message) -> Self {
        Parcel { kind: Kind::Control, message: Some(message), ..Parcel::data() }
    }
    fn read(&self) -> Option<Message> {
        self.message
    }
    fn last_router(&self) -> Option<Address> {
        self.last_router
    }
    fn set_last_router(&mut self, router: Address) {
        self.last_router = Some(router);
    }
    fn own_ttl(&self) -> u8 {
        self.own_ttl
    }
    fn set_own_ttl(&mut self, ttl: u8) {
        self.own_ttl = ttl;
    }
}

/// What a router knows of the stretch before it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stretch {
    Unknown,
    Asked { tries: u32, whom: Address },
    Known { bandwidth_bps: f64 },
}

/// What a router has been through, for the tests to look at.
type Diary = Rc<RefCell<Vec<(Time, Stretch)>>>;

struct Router<Q> {
    address: Address,
    queue: Q,
    stretch: Stretch,
    diary: Diary,
}

impl<Q> Router<Q> {
    fn turn(&mut self, now: Time, stretch: Stretch) {
        self.stretch = stretch;
        self.diary.borrow_mut().push((now, stretch));
    }

    fn ask<P: Mail>(&mut self, now: Time, whom: Address, tries: u32, out: &mut dyn Sink<P>) {
        out.originate(P::mail(Message::Request { from: self.address }), whom);
        out.set_timer(now + TIMEOUT);
        self.turn(now, Stretch::Asked { tries, whom });
    }
}

impl<P: Mail, Q: Element<P>> Element<P> for Router<Q> {
    fn arrive(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        match packet.read() {
            Some(Message::Request { from }) => {
                return out.originate(P::mail(Message::Answer { bandwidth_bps: BANDWIDTH_BPS }), from);
            }
            Some(Message::Answer { bandwidth_bps }) => {
                out.set_timer(Time::NEVER);
                return self.turn(now, Stretch::Known { bandwidth_bps });
            }
            None => {}
        }
        if packet.ttl() != packet.own_ttl()
            && self.stretch == Stretch::Unknown
            && let Some(whom) = packet.last_router()
        {
            self.ask(now, whom, 1, out);
        }
        let ttl = packet.ttl().saturating_sub(1);
        packet.set_ttl(ttl);
        packet.set_own_ttl(ttl);
        packet.set_last_router(self.address);
        self.queue.arrive(now, packet, out);
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        match self.stretch {
            Stretch::Asked { tries: 1, whom } => self.ask(now, whom, 2, out),
            _ => self.turn(now, Stretch::Unknown),
        }
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        self.queue.next(now, out)
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

/// Data packets at 0 s and at 1 s through two routers, with `cloud` plain routers in between; these messages are
/// lost. The world afterwards, and the diary of the downstream router.
fn path(cloud: u8, lost_messages: &[usize]) -> (World<Parcel>, Vec<(f64, Stretch)>) {
    let (diary, other) = (Diary::default(), Diary::default());
    let mut world = World::new();
    world.lost_messages = lost_messages.to_vec();
    for (address, diary) in [(UPSTREAM, &other), (DOWNSTREAM, &diary)] {
        let queue = DropTail::new(Limit::Packets(100));
        let router = Router { address, queue, stretch: Stretch::Unknown, diary: diary.clone() };
        world.add_link(1e8, vec![Box::new(router)]);
    }
    world.send(Time::ZERO, 0, Parcel::data());
    world.send(Time::from_secs_f64(1.0), 0, Parcel::data());
    world.run(Time::from_secs_f64(10.0), &mut |at, link, mut packet, out| {
        if link == 0 {
            packet.ttl -= cloud;
            out.push((at, 1, packet));
        }
    });
    assert!(other.borrow().is_empty(), "the upstream router has nothing to ask");
    let diary = diary.borrow().iter().map(|&(at, stretch)| (at.as_secs_f64(), stretch)).collect();
    (world, diary)
}

/// When the first data packet reaches the downstream router: 8000 bits at 100 Mbit/s.
const FIRST_S: f64 = 80e-6;

fn asked(tries: u32) -> Stretch {
    Stretch::Asked { tries, whom: UPSTREAM }
}

#[test]
fn a_router_behind_a_cloud_asks_the_one_before_it_and_is_answered() {
    let (world, diary) = path(2, &[]);
    let known = Stretch::Known { bandwidth_bps: BANDWIDTH_BPS };
    // request and answer take 5 ms each; the timer is cleared, so nothing happens after that
    assert_eq!(diary, [(FIRST_S, asked(1)), (FIRST_S + 0.01, known)]);
    assert_eq!(world.messages.iter().map(|(_, to)| *to).collect::<Vec<_>>(), [UPSTREAM, DOWNSTREAM]);
    let through = world.sent().filter(|(_, p)| p.last_router == Some(DOWNSTREAM)).count();
    assert_eq!(through, 2, "both data packets pass, and no message goes over a link");
}

#[test]
fn where_every_router_is_of_its_kind_nobody_asks() {
    let (world, diary) = path(0, &[]);
    assert!(diary.is_empty() && world.messages.is_empty(), "{diary:?}");
}

#[test]
fn a_lost_request_or_answer_is_asked_for_once_more() {
    let known = Stretch::Known { bandwidth_bps: BANDWIDTH_BPS };
    let again_s = FIRST_S + 0.05;
    for (lost, messages) in [(0, 3), (1, 4)] {
        let (world, diary) = path(1, &[lost]);
        assert_eq!(diary, [(FIRST_S, asked(1)), (again_s, asked(2)), (again_s + 0.01, known)]);
        assert_eq!(world.messages.len(), messages, "message {lost} lost");
    }
}

#[test]
fn a_router_that_is_not_answered_gives_up_until_the_next_packet() {
    let (world, diary) = path(1, &[0, 1]);
    let known = Stretch::Known { bandwidth_bps: BANDWIDTH_BPS };
    let given_up = [(FIRST_S, asked(1)), (FIRST_S + 0.05, asked(2)), (FIRST_S + 0.1, Stretch::Unknown)];
    assert_eq!(diary[..3], given_up);
    assert_eq!(diary[3..], [(1.0 + FIRST_S, asked(1)), (1.0 + FIRST_S + 0.01, known)]);
    assert_eq!(world.messages.len(), 4);
}

#[test]
fn data_pass_while_no_message_ever_does() {
    let (world, diary) = path(1, &[0, 1, 2, 3]);
    let turns: Vec<_> = diary.iter().map(|d| d.1).collect();
    assert_eq!(turns, [asked(1), asked(2), Stretch::Unknown, asked(1), asked(2), Stretch::Unknown]);
    assert_eq!((world.messages.len(), world.sent().count()), (4, 4));
    world.assert_conserves();
}
