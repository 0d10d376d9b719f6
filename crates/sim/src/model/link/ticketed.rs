//! A queue that holds tickets, for the fast driver. The packets keep their places on the way to the link until it is known
//! what becomes of them. So they need not move into the queue and out again, and each flow takes its own together. The
//! packets of a flow have to leave in the order in which they came, but any of them may be dropped.

use super::counters::{Crossed, LinkCounters};
use super::line::Line;
use super::ticket::{End, Ticket};
use longfat_net::queue::Boxed;
use longfat_net::{Address, DropReason, Element, Pipe, Sink, Visitor, visit};
use longfat_units::cache::prefetch;
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, Kind, Packet, SimPacket};

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fate(u64);

impl Fate {
    /// It waits.
    pub const WAITS: Fate = Fate(u64::MAX);
    /// It was dropped.
    pub const DROPPED: Fate = Fate(u64::MAX - 1);
    const MARKED: u64 = 1 << 63;

    /// The time of its last bit, and whether it is marked.
    #[inline(always)]
    const fn departs(at: Time, is_marked: bool) -> Self {
        debug_assert!(at.as_ns() < Self::MARKED, "in 292 years");
        Fate(at.as_ns() | if is_marked { Self::MARKED } else { 0 })
    }

    /// When it departs, if it does.
    #[inline(always)]
    pub const fn departs_at(self) -> Option<Time> {
        if self.0 >= Self::DROPPED.0 { None } else { Some(Time::from_ns(self.0 & !Self::MARKED)) }
    }

    /// Whether it is marked, if it departs.
    #[inline(always)]
    pub const fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }
}

/// The packets of one end that have come to the link and are still in their places.
#[derive(Clone, Default)]
struct Row {
    /// What becomes of them.
    fates: Vec<Fate>,
    /// How many of them have left their places.
    left: usize,
    /// The number of the packet with the first fate.
    base: u32,
    /// Whether it is in [`Rows::noted`].
    noted: bool,
    /// How many of the others were dropped.
    gaps: usize,
    /// Where the numbers of packets that have fates are not all in a row: each number less `base`.
    numbers: Vec<u32>,
}

impl Row {
    /// Where the fate of a packet stands.
    #[inline(always)]
    fn place(&self, ticket: Ticket) -> usize {
        let after_base = ticket.number().wrapping_sub(self.base);
        if self.numbers.is_empty() { after_base as usize } else { self.search(after_base) }
    }

    #[cold]
    #[inline(never)]
    fn search(&self, after_base: u32) -> usize {
        let found = self.numbers.binary_search(&after_base);
        debug_assert!(found.is_ok(), "a packet without a place");
        found.unwrap_or_else(|place| place)
    }

    /// The number of the packet that comes next, less `base`.
    #[inline(always)]
    fn next(&self) -> u32 {
        self.numbers.last().map_or(self.fates.len() as u32, |last| last.wrapping_add(1))
    }

    /// So many packets come.
    fn enter(&mut self, packets: usize) {
        if !self.numbers.is_empty() {
            let next = self.next();
            self.numbers.extend((0..packets as u32).map(|n| next.wrapping_add(n)));
        }
        self.fates.resize(self.fates.len() + packets, Fate::WAITS);
    }

    /// Forgets the fates of those that have left.
    fn forget(&mut self) {
        let next = self.next();
        self.fates.drain(..self.left);
        let left = if self.numbers.is_empty() {
            self.left as u32
        } else {
            self.numbers.drain(..self.left);
            self.numbers.first().copied().unwrap_or(next)
        };
        self.numbers.iter_mut().for_each(|number| *number = number.wrapping_sub(left));
        if self.numbers.last().is_some_and(|&last| last as usize + 1 == self.numbers.len()) {
            self.numbers.clear();
        }
        self.base = self.base.wrapping_add(left);
        self.left = 0;
    }

    /// Forgets those that were dropped.
    fn close_gaps(&mut self) {
        self.forget();
        let fates = &self.fates;
        if self.numbers.is_empty() {
            self.numbers = (0..fates.len() as u32).collect();
        }
        let mut places = fates.iter();
        self.numbers.retain(|_| places.next() != Some(&Fate::DROPPED));
        self.fates.retain(|&fate| fate != Fate::DROPPED);
        self.gaps = 0;
    }
}

/// The packets of all ends, numbered as they come.
pub struct Rows {
    rows: Vec<Row>,
    /// The ends whose packets came, or met their fates, in this batch.
    noted: Vec<End>,
    /// The ends and kinds of packets that were dropped.
    dropped: Vec<(End, Kind)>,
    /// Fates that are noted later, if the rows are so many that each has to be asked for before.
    later: Option<Vec<(Ticket, Fate)>>,
}

/// How many fates ahead the memory is asked for that they are noted in (chosen here): first the row, then its fates.
const ROW_AHEAD: usize = 16;
const FATES_AHEAD: usize = 8;
/// With more gaps than this, and than packets, an end's row is closed up. Tests and fuzzers do so often.
const FEW_GAPS: usize = if cfg!(any(fuzzing, debug_assertions)) { 3 } else { 256 };

impl Rows {
    fn new(flows: usize) -> Self {
        Rows { rows: vec![Row::default(); 2 * flows], noted: Vec::new(), dropped: Vec::new(), later: None }
    }

    /// Asks the processor for the row of this end.
    #[inline(always)]
    pub fn prefetch_row(&self, end: End) {
        prefetch(&self.rows[end.index()]);
    }

    /// The same for where its fates end and begin, once the row has come.
    #[inline(always)]
    pub fn prefetch_fates(&self, end: End) {
        let row = &self.rows[end.index()];
        row.fates.last().into_iter().chain(row.fates.get(row.left)).for_each(prefetch);
    }

    /// How many packets of this end are in their places.
    #[inline(always)]
    pub fn len(&self, end: End) -> usize {
        let row = &self.rows[end.index()];
        row.fates.len() - row.left
    }

    /// The number of the packet of this end that comes next.
    #[inline(always)]
    pub fn next_number(&self, end: End) -> u32 {
        let row = &self.rows[end.index()];
        row.base.wrapping_add(row.next())
    }

    /// So many packets of this end come.
    pub fn enter(&mut self, end: End, packets: usize) {
        let row = &mut self.rows[end.index()];
        row.enter(packets);
        if !row.noted {
            row.noted = true;
            self.noted.push(end);
        }
    }

    /// Begins a batch. With `many`, so many flows have packets in it that their rows are not in the cache.
    pub fn begin(&mut self, many: bool) {
        self.later = many.then(|| self.later.take().unwrap_or_default());
    }

    /// Notes what becomes of a packet that waits, or keeps it to be noted at the [end](Rows::end) of the batch.
    #[inline(always)]
    fn decide(&mut self, ticket: Ticket, fate: Fate) {
        match &mut self.later {
            Some(later) => later.push((ticket, fate)),
            None => self.note(ticket, fate),
        }
    }

    /// Ends a batch.
    pub fn end(&mut self) {
        let Some(mut later) = self.later.take() else { return };
        for (place, &(ticket, fate)) in later.iter().enumerate() {
            if let Some((ticket, _)) = later.get(place + ROW_AHEAD) {
                prefetch(&self.rows[ticket.end().index()]);
            }
            if let Some((ticket, _)) = later.get(place + FATES_AHEAD) {
                let row = &self.rows[ticket.end().index()];
                row.fates.get(row.place(*ticket)).into_iter().for_each(prefetch);
            }
            self.note(ticket, fate);
        }
        later.clear();
        self.later = Some(later);
    }

    #[inline(always)]
    fn note(&mut self, ticket: Ticket, fate: Fate) {
        let row = &mut self.rows[ticket.end().index()];
        let place = row.place(ticket);
        debug_assert!(row.fates[place] == Fate::WAITS, "a packet that has left");
        debug_assert!(
            fate == Fate::DROPPED
                || !row.fates[row.left..place].iter().rev().take(99).any(|&f| f == Fate::WAITS),
            "a flow out of order"
        );
        row.fates[place] = fate;
        if !row.noted {
            row.noted = true;
            self.noted.push(ticket.end());
        }
    }

    /// Puts into `ends` those whose packets came, or met their fates, since the last call.
    pub fn take_noted(&mut self, ends: &mut Vec<End>) {
        ends.clear();
        core::mem::swap(&mut self.noted, ends);
    }

    /// The ends and kinds of the packets that were dropped since the last call.
    pub fn dropped(&mut self) -> impl Iterator<Item = (End, Kind)> + '_ {
        let Rows { rows, dropped, .. } = self;
        dropped.drain(..).inspect(|(end, _)| rows[end.index()].gaps += 1)
    }

    /// The packets of this end before the first that waits leave their places. Returns their fates, and how many stay.
    #[inline(always)]
    pub fn leave(&mut self, end: End) -> (&[Fate], usize) {
        let row = &mut self.rows[end.index()];
        row.noted = false;
        if 2 * row.left >= row.fates.len() {
            row.forget();
        }
        let fates = &row.fates[row.left..];
        let leave = fates.iter().position(|&fate| fate == Fate::WAITS).unwrap_or(fates.len());
        row.left += leave;
        if row.gaps > 0 {
            row.gaps -= fates[..leave].iter().filter(|&&fate| fate == Fate::DROPPED).count();
        }
        (&fates[..leave], fates.len() - leave)
    }

    /// Forgets the packets of this end that were dropped, if they are many: otherwise a flow that sends far more than its
    /// share would keep all that is dropped while one packet waits. Takes them out of their places, too.
    #[inline(always)]
    pub fn close_gaps(&mut self, end: End, pipe: &mut Pipe<SimPacket>) {
        let row = &mut self.rows[end.index()];
        if row.gaps > FEW_GAPS && 2 * row.gaps > row.fates.len() - row.left {
            let fates = &row.fates[row.left..];
            pipe.retain_first(fates.len(), |place| fates[place] != Fate::DROPPED);
            row.close_gaps();
        }
    }
}

/// A queue of tickets, the wire behind it, and the packets.
pub struct Ticketed {
    pub(super) queue: Boxed<Ticket>,
    pub(super) line: Line,
    timer_at: Time,
    /// The queue holds tickets but gave none when asked: it is not asked again before an arrival or its timer.
    withheld: bool,
    /// The packets for which there are tickets.
    pub rows: Rows,
}

impl Ticketed {
    /// The queue is empty; there are so many flows.
    pub(super) fn new(queue: Boxed<Ticket>, line: Line, flows: usize) -> Self {
        Ticketed { queue, line, timer_at: Time::NEVER, withheld: false, rows: Rows::new(flows) }
    }

    /// When something happens by itself.
    pub(super) fn wake(&self) -> Time {
        let asks = self.queue.packets() > 0 && !self.withheld;
        self.timer_at.min(if asks { self.line.busy_until } else { Time::NEVER })
    }

    /// Takes all arrivals of a batch, in order, each with its time, and lets go what leaves before `until`. Returns the
    /// number of events.
    pub fn run(
        &mut self,
        arrivals: impl Iterator<Item = (Time, Ticket)>,
        until: Time,
        counters: &mut LinkCounters,
    ) -> u64 {
        let Ticketed { queue, line, timer_at, withheld, rows } = self;
        let out = Out { rows, counters, timer_at: *timer_at, waited: None, waited_low: None };
        let batch = Batch { arrivals, until, line, withheld: *withheld, out };
        let events;
        (events, *timer_at, *withheld) = visit(&mut **queue, batch);
        events
    }
}

/// A batch of arrivals on their way through a queue.
struct Batch<'a, A> {
    arrivals: A,
    until: Time,
    line: &'a mut Line,
    withheld: bool,
    out: Out<'a>,
}

impl<A: Iterator<Item = (Time, Ticket)>> Visitor<Ticket> for Batch<'_, A> {
    /// The number of events, and the new values of [`Ticketed`]'s fields.
    type Output = (u64, Time, bool);

    fn visit<E: Element<Ticket> + ?Sized>(self, queue: &mut E) -> Self::Output {
        let Batch { arrivals, until, line, withheld, out } = self;
        let mut lane = TicketLane { queue, line, withheld, out };
        let mut events = lane.take_all(arrivals);
        while lane.wake() < until {
            lane.act(lane.wake());
            events += 1;
        }
        (events, lane.out.timer_at, lane.withheld)
    }
}

/// A queue of tickets of a known discipline.
struct TicketLane<'a, E: ?Sized> {
    queue: &'a mut E,
    line: &'a mut Line,
    withheld: bool,
    out: Out<'a>,
}

impl<E: Element<Ticket> + ?Sized> TicketLane<'_, E> {
    /// As [`Ticketed::wake`].
    #[inline(always)]
    fn wake(&self) -> Time {
        let asks = self.queue.packets() > 0 && !self.withheld;
        self.out.timer_at.min(if asks { self.line.busy_until } else { Time::NEVER })
    }

    /// Takes all arrivals, and handles what happens by itself before each. Returns the number of events.
    #[inline(never)] // a loop that needs the registers
    fn take_all(&mut self, arrivals: impl Iterator<Item = (Time, Ticket)>) -> u64 {
        let (mut arrived, mut events) = (0, 0);
        for (now, ticket) in arrivals {
            arrived += 1;
            loop {
                let at = self.wake();
                if at > now {
                    break;
                }
                if self.out.timer_at <= at {
                    self.act(at); // which would serve as well, but out of line
                } else {
                    self.serve(at);
                }
                events += 1;
            }
            self.withheld = false;
            self.queue.arrive(now, ticket, &mut self.out);
            if self.line.busy_until <= now {
                self.serve_apart(now);
            } else {
                self.line.occupancy.set(now, self.queue.packets(), self.queue.bytes());
            }
        }
        self.out.counters.packets_in += arrived;
        arrived + events
    }

    /// The same as [`TicketLane::serve`] out of line, where the link was idle or a timer fires: that keeps the loop short.
    #[inline(never)]
    fn serve_apart(&mut self, now: Time) {
        self.serve(now);
    }

    /// What is due by itself.
    #[inline(never)]
    fn act(&mut self, now: Time) {
        if self.out.timer_at <= now {
            self.withheld = false;
            self.out.timer_at = Time::NEVER;
            self.queue.timer(now, &mut self.out);
        }
        if self.line.busy_until <= now {
            self.serve_apart(now);
        } else {
            self.line.occupancy.set(now, self.queue.packets(), self.queue.bytes());
        }
    }

    /// The wire is free: takes the next ticket from the queue.
    #[inline(always)]
    fn serve(&mut self, now: Time) {
        (self.out.waited, self.out.waited_low) = (None, None);
        let next = self.queue.next(now, &mut self.out);
        self.withheld = next.is_none();
        let Out { rows, counters, waited, waited_low, .. } = &mut self.out;
        if let Some(ticket) = next {
            self.line.transmit(now, ticket.bytes(), (*waited, *waited_low), counters);
            rows.decide(ticket, Fate::departs(self.line.busy_until, ticket.ecn() == Ecn::Marked));
        }
        self.line.occupancy.set(now, self.queue.packets(), self.queue.bytes());
    }
}

/// Where the queue puts its actions.
struct Out<'a> {
    rows: &'a mut Rows,
    counters: &'a mut LinkCounters,
    timer_at: Time,
    waited: Option<Interval>,
    waited_low: Option<Interval>,
}

impl Sink<Ticket> for Out<'_> {
    fn forward(&mut self, _: Ticket) {} // there is no element behind the queue
    fn drop(&mut self, ticket: Ticket, reason: DropReason) {
        self.counters.count(Crossed::Dropped(reason));
        self.rows.decide(ticket, Fate::DROPPED);
        self.rows.dropped.push((ticket.end(), ticket.kind()));
    }
    fn marked(&mut self, reason: DropReason) {
        self.counters.marks[reason as usize] += 1;
    }
    #[inline(always)]
    fn waited(&mut self, span: Interval) {
        self.waited = Some(span);
    }
    #[inline(always)]
    fn waited_low(&mut self, span: Interval) {
        self.waited_low = Some(span);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer_at = at;
    }
    fn originate(&mut self, _: Ticket, _: Address) {} // no queue sends any
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_wire::FlowId;
    use proptest::prelude::*;

    /// What is known of the packets that are in their places: number, and fate.
    type Model = Vec<(u32, Fate)>;

    fn packet(seq: u32) -> SimPacket {
        SimPacket::new(Kind::Data, FlowId(1), u64::from(seq), 1500, Time::ZERO)
    }

    proptest! {
        #[test]
        fn packets_meet_their_fates_in_order_whatever_was_dropped_between_them(
            batches in prop::collection::vec(
                (0usize..12, prop::collection::vec((any::<prop::sample::Index>(), 0u8..4), 0..12), any::<bool>()),
                1..60,
            ),
        ) {
            let (mut rows, mut pipe, end) = (Rows::new(2), Pipe::default(), End::of(1, true));
            rows.rows[end.index()].base = u32::MAX - 20; // numbers start again at 0
            let mut model = Model::new();
            for (at, (entering, fates, many)) in (0..).zip(batches) {
                for n in 0..entering as u32 {
                    let number = rows.next_number(end).wrapping_add(n);
                    pipe.push(Time::from_ns(at), packet(number));
                    model.push((number, Fate::WAITS));
                }
                rows.enter(end, entering);
                rows.begin(many);
                for (which, departs) in fates {
                    let waiting: Vec<usize> = (0..model.len()).filter(|&i| model[i].1 == Fate::WAITS).collect();
                    let Some(&first) = waiting.first() else { break };
                    let (place, fate) = if departs > 0 {
                        (first, Fate::departs(Time::from_ns(at), departs > 2))
                    } else {
                        (waiting[which.index(waiting.len())], Fate::DROPPED)
                    };
                    model[place].1 = fate;
                    rows.decide(Ticket::of(&packet(0), end, model[place].0), fate);
                    if fate == Fate::DROPPED {
                        rows.dropped.push((end, Kind::Data));
                    }
                }
                rows.end();
                rows.dropped().for_each(drop);
                let mut ends = Vec::new();
                rows.take_noted(&mut ends);
                prop_assert!(ends.iter().all(|&noted| noted == end) && ends.len() <= 1);
                let leave = model.iter().position(|&(_, fate)| fate == Fate::WAITS).unwrap_or(model.len());
                let expected: Vec<Fate> = model.drain(..leave).map(|(_, fate)| fate).collect();
                let (fates, stay) = rows.leave(end);
                prop_assert_eq!((fates, stay), (&*expected, model.len()));
                pipe.discard_before(leave, stay);
                rows.close_gaps(end, &mut pipe);
                let waiting = model.iter().filter(|(_, fate)| *fate == Fate::WAITS).count();
                let gaps = model.len() - waiting;
                if gaps > FEW_GAPS && 2 * gaps > model.len() {
                    model.retain(|&(_, fate)| fate == Fate::WAITS);
                }
                prop_assert_eq!((rows.len(end), pipe.len()), (model.len(), model.len()));
                let numbers = model.iter().map(|&(number, _)| u64::from(number));
                prop_assert!(pipe.iter().map(|(_, packet)| packet.seq).eq(numbers));
            }
        }
    }
}
