//! What a receiver tells of marks beyond RFC 3168's echo, and what the sender makes of it.
//!
//! ```text
//! DCTCP   : ECE says whether the last data packet was marked. A change is acknowledged at once (RFC 8257, section 3.2).
//! accurate: ACE is the count of marked packets modulo 8; an option counts bytes (RFC 9768, section 3.2). The first mark
//!           after an unmarked packet is acknowledged at once, and so is every second mark.
//! ```
//!
//! | constant | value | source | deviation |
//! |---|---|---|---|
//! | counters at the beginning | 5 packets; 1, 1 and 0 bytes | RFC 9768, section 3.2.1 | none |
//! | marks per acknowledgement | 2 | RFC 9768, section 3.2.2.5.1, n with unacknowledged data | none |
//! | bits of a counter of bytes | 24 | RFC 9768, section 3.2.3 | none |
//! | the option | 2 bytes and 3 a field, padded to 4 | RFC 9768, section 3.2.3, figure 4 | without the fields that never changed |
//! | options of a TCP header | 40 bytes | RFC 9293, section 3.1 | the option is left out where SACK blocks leave no room |
//!
//! With DCTCP's echo, the acknowledgement of a change may cover an older packet of the other state (section
//! 3.2 permits two acknowledgements, as Linux sends them, or this one).

use longfat_wire::{AccurateEcn, Ecn, EcnBytes, Extra, SimPacket};

/// Which feedback about marks a sender needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Feedback {
    /// The echo of RFC 3168: whether anything was marked since the last reduction.
    #[default]
    Classic,
    /// The two states of a DCTCP receiver (RFC 8257).
    Dctcp,
    /// Counters (RFC 9768).
    Accurate,
}

const FIRST_CEP: u64 = 5;
const FIRST_BYTES: EcnBytes = EcnBytes { ect0: 1, ect1: 1, ce: 0 };
const MARKS_PER_ACK: u32 = 2;
const BYTES_MASK: u32 = (1 << 24) - 1;
const ACE: u64 = 8;
const OPTION_BYTES: u32 = 40;
const LEAST_HEADERS: u32 = 40;

/// The receiver's part: what it has seen, and whether that has to be told at once.
#[derive(Clone, Debug)]
pub(crate) enum Tally {
    /// Whether the last data packet was marked (DCTCP.CE).
    Dctcp(bool),
    /// Counters.
    Accurate(Counters),
}

/// The counters of RFC 9768 at the receiver.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    /// Marked packets (r.cep).
    cep: u64,
    bytes: EcnBytes,
    /// What the last acknowledgement told.
    told: EcnBytes,
    /// Whether the last packet was marked.
    after_mark: bool,
    /// Marks since the last acknowledgement.
    untold: u32,
}

impl Tally {
    /// For this feedback; `None` for the classic one, which needs none.
    pub fn new(feedback: Feedback) -> Option<Self> {
        match feedback {
            Feedback::Classic => None,
            Feedback::Dctcp => Some(Tally::Dctcp(false)),
            Feedback::Accurate => Some(Tally::Accurate(Counters {
                cep: FIRST_CEP,
                bytes: FIRST_BYTES,
                told: FIRST_BYTES,
                after_mark: false,
                untold: 0,
            })),
        }
    }

    /// A data packet arrived with `payload` bytes. Returns whether it has to be acknowledged at once.
    pub fn take(&mut self, ecn: Ecn, payload: u32) -> bool {
        let marked = ecn == Ecn::Marked;
        match self {
            Tally::Dctcp(ce) => core::mem::replace(ce, marked) != marked,
            Tally::Accurate(counters) => counters.take(ecn, payload, marked),
        }
    }

    /// Writes what is known into an acknowledgement that leaves now, which may need `room` for that.
    pub fn tell(&mut self, ack: &mut SimPacket, room: impl FnOnce() -> Box<Extra>) {
        match self {
            Tally::Dctcp(ce) => ack.ecn_flag = *ce,
            Tally::Accurate(counters) => counters.tell(ack, room),
        }
    }
}

impl Counters {
    fn take(&mut self, ecn: Ecn, payload: u32, marked: bool) -> bool {
        let counter = match ecn {
            Ecn::NotCapable => None,
            Ecn::Capable => Some(&mut self.bytes.ect0),
            Ecn::Ect1 => Some(&mut self.bytes.ect1),
            Ecn::Marked => Some(&mut self.bytes.ce),
        };
        if let Some(counter) = counter {
            *counter = (*counter + payload) & BYTES_MASK;
        }
        let first = marked && !self.after_mark;
        self.after_mark = marked;
        self.cep += u64::from(marked);
        self.untold += u32::from(marked);
        first || self.untold >= MARKS_PER_ACK
    }

    fn tell(&mut self, ack: &mut SimPacket, room: impl FnOnce() -> Box<Extra>) {
        ack.ecn_flag = false;
        self.untold = 0;
        let used = u32::from(ack.bytes).saturating_sub(LEAST_HEADERS);
        let length = self.option_length();
        let told = (self.bytes != self.told && used + length <= OPTION_BYTES).then_some(self.bytes);
        if told.is_some() {
            self.told = self.bytes;
            ack.bytes += length as u16;
        }
        ack.extra.get_or_insert_with(room).accurate_ecn =
            Some(AccurateEcn { ace: (self.cep % ACE) as u8, option: told });
    }

    /// One ECT counter, the one of marked bytes once there were some, and the other ECT counter if it is used
    /// too.
    fn option_length(&self) -> u32 {
        let both = self.bytes.ect0 != FIRST_BYTES.ect0 && self.bytes.ect1 != FIRST_BYTES.ect1;
        let fields = match (both, self.cep > FIRST_CEP) {
            (true, _) => 3,
            (false, true) => 2,
            (false, false) => 1,
        };
        (2 + 3 * fields as u32).next_multiple_of(4)
    }
}

/// The sender's part: how many marks each acknowledgement tells of.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    feedback: Feedback,
    /// Marked packets (s.cep).
    cep: u64,
    /// Marked packets and bytes (modulo 2^24, s.ceb) when the last option came.
    by_option: (u64, u32),
    /// Segments that the last acknowledgement was the first to report as marked.
    pub newly: u64,
    /// Whether the last acknowledgement told of a mark.
    pub congested: bool,
}

impl Marks {
    /// For this feedback; `None` for the classic one, which needs none.
    pub fn new(feedback: Feedback) -> Option<Self> {
        let by_option = (FIRST_CEP, FIRST_BYTES.ce);
        let kept = Marks { feedback, cep: FIRST_CEP, by_option, newly: 0, congested: false };
        (feedback != Feedback::Classic).then_some(kept)
    }

    /// An acknowledgement arrived that is the first to report `newly` segments of `mss_bytes`.
    pub fn hear(&mut self, ack: &SimPacket, newly: u64, mss_bytes: u32) {
        match (self.feedback, ack.extra.as_ref().and_then(|extra| extra.accurate_ecn)) {
            (Feedback::Accurate, Some(told)) => {
                self.newly = self.decode(told, newly, mss_bytes);
                self.congested = self.newly > 0;
            }
            (Feedback::Accurate, None) => (self.newly, self.congested) = (0, false),
            _ => {
                self.congested = ack.ecn_flag;
                self.newly = if ack.ecn_flag { newly } else { 0 };
            }
        }
    }

    /// How many packets were marked since the last acknowledgement. ACE leaves that open by a multiple of
    /// eight; the option's count of bytes settles it (section 3.2.3.2.5). Without the option it is as many as
    /// the acknowledged segments allow (section 3.2.2.5.2, the safest likely case).
    fn decode(&mut self, told: AccurateEcn, newly: u64, mss_bytes: u32) -> u64 {
        let least_since = |cep: u64| (u64::from(told.ace) + ACE - cep % ACE) % ACE;
        let before = self.cep;
        match told.option {
            Some(option) => {
                let (cep, ceb) = self.by_option;
                let bytes = option.ce.wrapping_sub(ceb) & BYTES_MASK;
                if bytes > BYTES_MASK / 2 {
                    return 0; // a later acknowledgement came before
                }
                let (least, packets) = (least_since(cep), u64::from(bytes.div_ceil(mss_bytes)));
                self.cep = cep + least + packets.saturating_sub(least).next_multiple_of(ACE);
                self.by_option = (self.cep, option.ce);
            }
            None if newly < ACE => self.cep += least_since(before),
            None => self.cep += newly - (newly - least_since(before)) % ACE,
        }
        self.cep.saturating_sub(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_units::Time;
    use longfat_wire::{FlowId, Kind, SackBlocks};

    const MSS: u32 = 1000;

    fn ack() -> SimPacket {
        SimPacket::new(Kind::Ack, FlowId(0), 1, 52, Time::ZERO)
    }

    fn told(tally: &mut Tally) -> SimPacket {
        let mut ack = ack();
        tally.tell(&mut ack, Box::default);
        ack
    }

    fn tally(feedback: Feedback) -> Tally {
        Tally::new(feedback).expect("more than the classic one")
    }

    fn marks(feedback: Feedback) -> Marks {
        Marks::new(feedback).expect("more than the classic one")
    }

    #[test]
    fn a_dctcp_receiver_acknowledges_each_change_at_once_and_echoes_the_state() {
        let mut t = tally(Feedback::Dctcp);
        let arrivals = [Ecn::Capable, Ecn::Marked, Ecn::Marked, Ecn::Capable, Ecn::Capable, Ecn::Marked];
        let found = arrivals.map(|ecn| (t.take(ecn, MSS), told(&mut t).ecn_flag));
        let (same, change) = (false, true);
        assert_eq!(
            found,
            [(same, false), (change, true), (same, true), (change, false), (same, false), (change, true)]
        );
    }

    #[test]
    fn an_accurate_receiver_acknowledges_the_first_mark_at_once_and_then_every_second() {
        let mut t = tally(Feedback::Accurate);
        assert!(!t.take(Ecn::Capable, MSS));
        assert!(t.take(Ecn::Marked, MSS), "the first after an unmarked packet");
        told(&mut t);
        assert!(!t.take(Ecn::Marked, MSS));
        assert!(t.take(Ecn::Marked, MSS), "two marks");
        told(&mut t);
        assert!(!t.take(Ecn::Capable, MSS), "the end of marking is not urgent");
        assert!(t.take(Ecn::Marked, MSS));
    }

    #[test]
    fn the_counters_begin_with_5_packets_and_1_1_and_0_bytes_and_wrap() {
        let mut t = tally(Feedback::Accurate);
        t.take(Ecn::Ect1, MSS);
        let first = told(&mut t).extra.and_then(|e| e.accurate_ecn).expect("feedback");
        assert_eq!(first, AccurateEcn { ace: 5, option: Some(EcnBytes { ect0: 1, ect1: 1001, ce: 0 }) });
        for _ in 0..3 {
            t.take(Ecn::Marked, 8 << 20);
        }
        let later = told(&mut t).extra.and_then(|e| e.accurate_ecn).expect("feedback");
        assert_eq!(later.ace, 0, "8 modulo 8");
        assert_eq!(later.option.map(|o| o.ce), Some(8 << 20), "2^24 bytes and half of that");
    }

    #[test]
    fn the_option_takes_8_bytes_for_one_or_two_fields_and_12_for_three_and_yields_to_sack_blocks() {
        let mut t = tally(Feedback::Accurate);
        let mut lengths = Vec::new();
        for ecn in [Ecn::Capable, Ecn::Marked, Ecn::Ect1, Ecn::NotCapable] {
            t.take(ecn, MSS);
            lengths.push(told(&mut t).bytes - 52);
        }
        assert_eq!(lengths, [8, 8, 12, 0], "no counter changes by what is not capable");
        for (blocks, fits) in [(1, true), (2, false), (3, false)] {
            let mut sack = SackBlocks::default();
            (0..blocks).for_each(|i| sack.push(10 * i, 10 * i + 1));
            let mut full = ack();
            full.bytes += sack.header_bytes() as u16;
            t.take(Ecn::Capable, MSS);
            t.tell(&mut full, Box::default);
            let feedback = full.extra.and_then(|e| e.accurate_ecn).expect("ACE is always there");
            assert_eq!(feedback.option.is_some(), fits, "{blocks} blocks");
        }
    }

    #[test]
    fn a_sender_counts_every_mark_also_those_of_lost_acknowledgements() {
        let (mut t, mut m) = (tally(Feedback::Accurate), marks(Feedback::Accurate));
        let mut heard = Vec::new();
        for (packets, lost) in
            [(1, false), (7, true), (30, true), (2, false), (8, false), (9, false), (0, false)]
        {
            for _ in 0..packets {
                t.take(Ecn::Marked, MSS);
            }
            t.take(Ecn::Capable, MSS);
            let ack = told(&mut t);
            if !lost {
                m.hear(&ack, packets + 1, MSS);
                heard.push((m.newly, m.congested));
            }
        }
        assert_eq!(heard, [(1, true), (39, true), (8, true), (9, true), (0, false)]);
    }

    #[test]
    fn without_the_option_the_safest_likely_count_is_taken() {
        let mut m = marks(Feedback::Accurate);
        let mut hear = |ace, newly| {
            let mut ack = ack();
            ack.extra.get_or_insert_default().accurate_ecn = Some(AccurateEcn { ace, option: None });
            m.hear(&ack, newly, MSS);
            m.newly
        };
        assert_eq!(hear(7, 7), 2, "5 to 7: fewer than eight segments cannot hide a cycle");
        assert_eq!(hear(0, 12), 9, "1, or 9 of 12");
        assert_eq!(hear(0, 7), 0);
        assert_eq!(hear(0, 16), 16, "0, 8 or 16 of 16");
    }

    #[test]
    fn with_dctcps_echo_all_that_a_flagged_acknowledgement_delivers_counts_as_marked() {
        let mut m = marks(Feedback::Dctcp);
        let flagged = SimPacket { ecn_flag: true, ..ack() };
        let heard = [(&flagged, 2), (&ack(), 2), (&flagged, 0)].map(|(ack, newly)| {
            m.hear(ack, newly, MSS);
            (m.newly, m.congested)
        });
        assert_eq!(heard, [(2, true), (0, false), (0, true)]);
    }

    #[test]
    fn an_acknowledgement_that_a_later_one_overtook_tells_nothing() {
        let (mut t, mut m) = (tally(Feedback::Accurate), marks(Feedback::Accurate));
        let mut next = || {
            t.take(Ecn::Marked, MSS);
            told(&mut t)
        };
        let (early, late) = (next(), next());
        m.hear(&late, 2, MSS);
        assert_eq!(m.newly, 2);
        m.hear(&early, 0, MSS);
        assert_eq!((m.newly, m.congested), (0, false));
    }
}
