//! How explicit congestion headers travel between real hosts: in a TCP option for experiments (kind 254,
//! RFC 6994), because no such header has a number of its own in TCP or IP. `bpf/option.h` is the hosts' side.
//!
//! ```text
//! byte   0     1        2, 3         4 .. 11
//!        254   12       0x4c46       a word, big-endian
//!
//! word   63-61      60     59      58-56   55-40          39-24                  23-0
//!        protocol   echo   reset   turn    cwnd (F16)     rtt (F16, us)          feedback (F24)      XCP, data
//!                                          cwnd (F16)     feedback or window (signed, 40 bits)       XCP, echo
//!
//! word   63-61      60     59      58-56   55-2           1, 0
//!        protocol   echo   0       turn    0              load                                      VCP
//!
//! word   63-61      60     59      58-56   55-52  51-48  47-44  43-32             31-16               15-0
//!        protocol   echo   0       turn    R_T    R_C    R_S    p, in 1/4096      g (F16, kbit/s)     delta (F16, 10 ns)
//! ```
//!
//! The last line is JetMax's; a g of ones says that no router has set it. VCP's two bits are those of the IP
//! header, which senders and receivers in a kernel cannot use.
//!
//! Windows are in bytes, feedback and an echoed window in 1/256 byte. The greatest value of feedback says
//! that no router has changed it. An F16 is m 2^e, with e in its upper 5 bits and m in the 11 below: at most
//! 0.05 % from the number that it stands for. An F24 has a sign, 5 bits of e and 18 of m. `turn` differs
//! between neighbouring packets: a kernel that joins packets before it reads their options would lose the
//! feedback of one of two that have the same.
//!
//! | constant | value | source |
//! |---|---|---|
//! | kind | 254 | RFC 4727 |
//! | identifier | 0x4c46, "LF" | chosen here; not registered with IANA |
//! | length | 12 | chosen here: beside timestamps, one SACK block has room too, and no second one |

use crate::explicit::{Explicit, JetMax, Load, Xcp};

/// The kind of TCP options for experiments.
const KIND: u8 = 254;
/// RFC 6994's identifier of this experiment.
const IDENTIFIER: u16 = 0x4c46;
/// Length of the option, bytes.
pub const OPTION_BYTES: usize = 12;
/// Bytes before the word.
const BEFORE_WORD: usize = 4;

const XCP: u64 = 1;
const VCP: u64 = 2;
const JETMAX: u64 = 3;

const PROTOCOL: u32 = 61;
const ECHO: u64 = 1 << 60;
const RESET: u64 = 1 << 59;
/// What an explicit header does not say, and routers leave alone.
const KEPT: u64 = 0b111 << 56 | ECHO;

/// Parts of a byte in which feedback is written.
const PARTS: f64 = 256.0;
/// Feedback that no router has changed: on data, and echoed.
const UNTOUCHED: u64 = (1 << 23) - 1;
const UNTOUCHED_ECHO: i64 = (1 << 39) - 1;
const MICRO: f64 = 1e6;
/// JetMax: parts of an overload, bit/s in a unit of rate, units of a gap in a second, and no rate.
const LOSS_PARTS: f64 = 4096.0;
const RATE_UNIT: f64 = 1e3;
const GAP_UNITS: f64 = 1e8;
const NO_RATE: u64 = (1 << 16) - 1;

/// Returns where the option's word is among TCP's options, if the option is there.
pub fn find(options: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = options.get(at..)?;
        match *rest {
            [1, ..] => at += 1,
            [kind, length, ..] if kind != 0 => {
                let length = usize::from(length);
                let option = rest.get(..length).filter(|_| length >= 2)?;
                if let [KIND, _, high, low, word @ ..] = option
                    && u16::from_be_bytes([*high, *low]) == IDENTIFIER
                    && word.len() == OPTION_BYTES - BEFORE_WORD
                {
                    return Some(at + BEFORE_WORD);
                }
                at += length;
            }
            _ => return None,
        }
    }
}

/// Returns the header that a word says; `None` if the protocol is unknown.
pub fn decode(word: u64) -> Option<Explicit> {
    let field = |lowest: u32, bits: u32| (word >> lowest) & ((1 << bits) - 1);
    match word >> PROTOCOL {
        XCP => {
            let cwnd_bytes = expand::<11>(field(40, 16)) as f64;
            let reset = word & RESET != 0;
            let (rtt_s, feedback_bytes) = if word & ECHO == 0 {
                (expand::<11>(field(24, 16)) as f64 / MICRO, feedback(field(0, 24)))
            } else {
                let parts = ((word << 24) as i64) >> 24;
                // what nobody writes is the least that can be written
                let read = parts.max(1 - UNTOUCHED_ECHO) as f64 / PARTS;
                (0.0, if parts == UNTOUCHED_ECHO { f64::INFINITY } else { read })
            };
            Some(Explicit::Xcp(Xcp { cwnd_bytes, rtt_s, feedback_bytes, reset }))
        }
        VCP => Some(Explicit::Vcp(match word & 0b11 {
            0 => Load::Low,
            1 => Load::High,
            _ => Load::Over,
        })),
        JETMAX => {
            let rate = field(16, 16);
            Some(Explicit::JetMax(JetMax {
                bottleneck: field(52, 4) as u8,
                hops: field(48, 4) as u8,
                suggested: field(44, 4) as u8,
                loss: field(32, 12) as f64 / LOSS_PARTS,
                fair_bps: if rate == NO_RATE { f64::INFINITY } else { expand::<11>(rate) as f64 * RATE_UNIT },
                gap_s: expand::<11>(field(0, 16)) as f64 / GAP_UNITS,
                next_gap_s: 0.0,
            }))
        }
        _ => None,
    }
}

/// Returns the word with this header in it; a header of another protocol leaves it as it is. What is too
/// large becomes the largest that can be written.
pub fn encode(header: &Explicit, word: u64) -> u64 {
    match (header, word >> PROTOCOL) {
        (Explicit::Xcp(xcp), XCP) => {
            let reset = if xcp.reset { RESET } else { 0 };
            let common =
                (word & KEPT) | XCP << PROTOCOL | reset | compress::<11>(xcp.cwnd_bytes as u64) << 40;
            if word & ECHO == 0 {
                let rtt = compress::<11>((xcp.rtt_s * MICRO + 0.5) as u64);
                common | rtt << 24 | written(xcp.feedback_bytes)
            } else {
                let most = (UNTOUCHED_ECHO - 1) as f64;
                let parts = match xcp.feedback_bytes {
                    f64::INFINITY => UNTOUCHED_ECHO,
                    // the least is out of reach, so that a sum can be turned round
                    bytes => rounded((PARTS * bytes).clamp(-most, most)),
                };
                common | (parts as u64 & ((1 << 40) - 1))
            }
        }
        (Explicit::Vcp(load), VCP) => (word & KEPT) | VCP << PROTOCOL | *load as u64,
        (Explicit::JetMax(jetmax), JETMAX) => {
            let router = |number: u8, lowest: u32| u64::from(number.min(15)) << lowest;
            // what is not 0 stays so
            let loss = (jetmax.loss * LOSS_PARTS).ceil().clamp(0.0, LOSS_PARTS - 1.0) as u64;
            let rate = match jetmax.fair_bps {
                f64::INFINITY => NO_RATE,
                bps => compress::<11>((bps / RATE_UNIT + 0.5) as u64).min(NO_RATE - 1),
            };
            let gap = compress::<11>((jetmax.gap_s * GAP_UNITS + 0.5) as u64);
            let routers =
                router(jetmax.bottleneck, 52) | router(jetmax.hops, 48) | router(jetmax.suggested, 44);
            (word & KEPT) | JETMAX << PROTOCOL | routers | loss << 32 | rate << 16 | gap
        }
        _ => word,
    }
}

/// Returns the whole option with this header, of data or echoed by a receiver; `None` if it has no form as an
/// option.
pub fn option(header: &Explicit, echoed: bool) -> Option<[u8; OPTION_BYTES]> {
    let protocol = match header {
        Explicit::Xcp(_) => XCP,
        Explicit::Vcp(_) => VCP,
        Explicit::JetMax(_) => JETMAX,
        _ => return None,
    };
    let word = encode(header, protocol << PROTOCOL | if echoed { ECHO } else { 0 });
    let mut option = [0; OPTION_BYTES];
    let identifier = IDENTIFIER.to_be_bytes();
    option[..BEFORE_WORD].copy_from_slice(&[KIND, OPTION_BYTES as u8, identifier[0], identifier[1]]);
    option[BEFORE_WORD..].copy_from_slice(&word.to_be_bytes());
    Some(option)
}

/// The nearest whole number.
fn rounded(x: f64) -> i64 {
    (x + if x < 0.0 { -0.5 } else { 0.5 }) as i64
}

/// The number that m 2^e stands for, with `M` bits of m below those of e.
const fn expand<const M: u32>(code: u64) -> u64 {
    (code & ((1 << M) - 1)) << (code >> M)
}

/// The code of the nearest number that has one, with 5 bits of e.
const fn compress<const M: u32>(value: u64) -> u64 {
    let mut e = (u64::BITS - value.leading_zeros()).saturating_sub(M);
    let half = if e > 0 { 1 << (e - 1) } else { 0 };
    let mut m = value.saturating_add(half) >> e;
    if m >> M > 0 {
        // it was rounded up to the next power of two
        (m, e) = (m >> 1, e + 1);
    }
    if e > 31 { (32 << M) - 1 } else { (e as u64) << M | m }
}

fn feedback(code: u64) -> f64 {
    if code == UNTOUCHED {
        return f64::INFINITY;
    }
    // what nobody writes is the least that can be written
    let bytes = expand::<18>((code & UNTOUCHED).min(UNTOUCHED - 1)) as f64 / PARTS;
    if code >> 23 == 1 { -bytes } else { bytes }
}

fn written(bytes: f64) -> u64 {
    if bytes == f64::INFINITY {
        return UNTOUCHED;
    }
    let parts = rounded(PARTS * bytes);
    // the last code is taken
    let size = compress::<18>(parts.unsigned_abs()).min(UNTOUCHED - 1);
    if parts < 0 { 1 << 23 | size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn xcp(cwnd_bytes: f64, rtt_s: f64, feedback_bytes: f64, reset: bool) -> Explicit {
        Explicit::Xcp(Xcp { cwnd_bytes, rtt_s, feedback_bytes, reset })
    }

    const DATA: u64 = XCP << PROTOCOL;

    #[test]
    fn a_word_worked_out_by_hand_says_what_it_says() {
        // cwnd 15 000 = 1875 x 2^3: 3 << 11 | 1875 = 0x1f53; rtt 80 ms = 1250 x 2^6 us: 6 << 11 | 1250 =
        // 0x34e2; feedback -2.5 bytes = -640 parts: sign, e = 0, m = 640 = 0x280
        let word = 0x2a1f_5334_e280_0280;
        assert_eq!(decode(word), Some(xcp(15_000.0, 0.08, -2.5, true)));
        assert_eq!(encode(&xcp(15_000.0, 0.08, -2.5, true), DATA | 2 << 56), word);
        // the same window echoed with a sum of 1000 bytes = 256 000 parts = 0x3e800, and of -1000 bytes
        assert_eq!(decode(0x301f_5300_0003_e800), Some(xcp(15_000.0, 0.0, 1000.0, false)));
        assert_eq!(decode(0x301f_53ff_fffc_1800), Some(xcp(15_000.0, 0.0, -1000.0, false)));
    }

    #[test]
    fn a_wish_that_no_router_has_met_stays_infinite_and_the_greatest_feedback_is_less() {
        for empty in [DATA, DATA | ECHO] {
            let told = |bytes| match decode(encode(&xcp(1500.0, 0.1, bytes, false), empty)) {
                Some(Explicit::Xcp(header)) => header.feedback_bytes,
                other => panic!("{other:?}"),
            };
            assert_eq!(told(f64::INFINITY), f64::INFINITY);
            assert!(told(1e300).is_finite() && told(1e300) > 1e9);
            assert!(told(-1e300).is_finite() && told(-1e300) < -1e9);
        }
    }

    #[test]
    fn a_header_of_another_protocol_changes_nothing_and_an_unknown_protocol_is_none() {
        let other = Explicit::Rcp(crate::Rcp { rate_bps: 1e6, rtt_s: 0.1 });
        assert_eq!(encode(&other, DATA | 7), DATA | 7);
        assert_eq!(encode(&xcp(1e4, 0.1, 1.0, false), 7 << PROTOCOL | 5), 7 << PROTOCOL | 5);
        assert_eq!(decode(7 << PROTOCOL), None);
        assert_eq!(decode(0), None);
    }

    #[test]
    fn the_option_is_found_among_others_and_only_with_its_identifier_and_length() {
        let own = [254, 12, 0x4c, 0x46, 1, 2, 3, 4, 5, 6, 7, 8];
        let stamp = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let fast_open = [254, 6, 0xf9, 0x89, 1, 2];
        assert_eq!(find(&own), Some(4));
        assert_eq!(find(&[&stamp[..], &own[..]].concat()), Some(16));
        assert_eq!(find(&[&fast_open[..], &own[..], &stamp[..]].concat()), Some(10));
        assert_eq!(find(&[&[0][..], &own[..]].concat()), None, "behind the end of the list");
        assert_eq!(find(&own[..11]), None);
        for (at, byte) in [(0, 253), (1, 11), (1, 13), (1, 1), (1, 0), (2, 0x4d), (3, 0)] {
            let mut wrong = own;
            wrong[at] = byte;
            assert_eq!(find(&wrong), None, "{wrong:?}");
        }
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[254]), None);
    }

    #[test]
    fn a_word_of_jetmax_worked_out_by_hand_says_what_it_says() {
        // the second of three routers; p = 1/16 = 256 parts; g = 20 Mbit/s = 1250 x 2^4 kbit/s: 4 << 11 |
        // 1250 = 0x24e2; delta = 60 us = 1500 x 2^2 units: 2 << 11 | 1500 = 0x15dc
        let header = JetMax {
            bottleneck: 1,
            hops: 3,
            suggested: 2,
            loss: 0.0625,
            fair_bps: 20e6,
            gap_s: 60e-6,
            next_gap_s: 0.0,
        };
        let word = 0x6013_2100_24e2_15dc;
        assert_eq!(decode(word), Some(Explicit::JetMax(header)));
        assert_eq!(encode(&Explicit::JetMax(header), JETMAX << PROTOCOL), word);
        let unset = JetMax { loss: 1e-9, fair_bps: f64::INFINITY, ..header };
        let Some(Explicit::JetMax(read)) = decode(encode(&Explicit::JetMax(unset), word)) else {
            panic!("no header")
        };
        assert!(read.fair_bps.is_infinite() && read.loss > 0.0, "an overload is one, however small");
        let fast = JetMax { fair_bps: 1e300, ..header };
        assert!(matches!(decode(encode(&Explicit::JetMax(fast), word)),
            Some(Explicit::JetMax(JetMax { fair_bps, .. })) if fair_bps.is_finite() && fair_bps > 1e14));
    }

    #[test]
    fn a_whole_option_is_found_and_says_what_was_written() {
        for (header, echoed) in
            [(xcp(15_000.0, 0.08, -2.5, true), false), (xcp(15_000.0, 0.0, 64.0, false), true)]
        {
            let bytes = option(&header, echoed).expect("an option");
            let at = find(&bytes).expect("found");
            let word = u64::from_be_bytes(bytes[at..].try_into().expect("8 bytes"));
            assert_eq!((decode(word), word & ECHO != 0), (Some(header), echoed));
        }
        assert_eq!(option(&Explicit::Rcp(crate::Rcp { rate_bps: 1e6, rtt_s: 0.1 }), false), None);
    }

    #[test]
    fn vcp_s_loads_keep_their_numbers() {
        for (bits, load) in [(0, Load::Low), (1, Load::High), (2, Load::Over)] {
            assert_eq!(decode(VCP << PROTOCOL | ECHO | bits), Some(Explicit::Vcp(load)));
            assert_eq!(encode(&Explicit::Vcp(load), VCP << PROTOCOL | ECHO), VCP << PROTOCOL | ECHO | bits);
        }
    }

    #[test]
    fn every_code_of_a_window_an_rtt_a_rate_or_a_gap_says_the_same_when_it_is_read_and_written_again() {
        for code in 0u64..1 << 16 {
            for word in [DATA | code << 40 | code << 24, JETMAX << PROTOCOL | code << 16 | code] {
                let header = decode(word).expect("a protocol that is known");
                assert_eq!(decode(encode(&header, word)), Some(header), "{word:x}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_within_the_precision_of_the_fields(
            cwnd in 0u64..1 << 40, rtt_us in 0u64..60_000_000, parts in -(1i64 << 38)..1 << 38,
            reset in any::<bool>(), turn in 0u64..8, echo in any::<bool>(),
        ) {
            let bytes = parts as f64 / PARTS;
            let empty = DATA | turn << 56 | if echo { ECHO } else { 0 };
            let word = encode(&xcp(cwnd as f64, rtt_us as f64 / MICRO, bytes, reset), empty);
            prop_assert_eq!((word & KEPT, word >> PROTOCOL), (empty & KEPT, XCP));
            let Some(Explicit::Xcp(read)) = decode(word) else { panic!("no header") };
            prop_assert_eq!(read.reset, reset);
            // half of the last place: of 11 bits, and of 18
            prop_assert!((read.cwnd_bytes - cwnd as f64).abs() <= cwnd as f64 / 2048.0);
            if echo {
                prop_assert_eq!(read.feedback_bytes, bytes);
            } else {
                prop_assert!((read.rtt_s * MICRO - rtt_us as f64).abs() <= rtt_us as f64 / 2048.0);
                prop_assert!((read.feedback_bytes - bytes).abs() <= bytes.abs() / 262_144.0);
            }
        }

        #[test]
        fn a_word_that_is_read_and_written_again_says_the_same(word in any::<u64>()) {
            if let Some(header) = decode(word) {
                prop_assert_eq!(decode(encode(&header, word)), Some(header));
            }
        }

        /// Each field at its ends or anywhere, of data and echoed.
        #[test]
        fn a_word_with_extreme_fields_that_is_read_and_written_again_says_the_same(
            fields in proptest::collection::vec((0u8..4, any::<u64>()), 7), protocol in 1u64..4,
        ) {
            let widths = [(0, 16), (16, 8), (24, 16), (40, 4), (44, 12), (56, 3), (59, 2)];
            let parts = fields.iter().zip(widths).map(|(&(kind, any), (lowest, bits))| {
                let most = (1u64 << bits) - 1;
                [0, most, most - 1, any & most][usize::from(kind)] << lowest
            });
            let word = parts.fold(protocol << PROTOCOL, |word, part| word | part);
            let header = decode(word);
            let written = header.map(|header| encode(&header, word));
            prop_assert_eq!(written.and_then(decode), header, "{:x}", word);
        }

        #[test]
        fn any_bytes_are_searched(options in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Some(at) = find(&options) {
                prop_assert_eq!(&options[at - 4..at], &[254, 12, 0x4c, 0x46][..]);
                prop_assert!(at + 8 <= options.len());
            }
        }
    }
}
