//! Quick-Start's option (RFC 4782): a sender asks for a rate on its connection request, routers lower it to
//! what they approve, and the receiver returns the result with its answer.

/// A rate in the option's form, four bits: 40 kbit/s times two to the power of the code; 0 stands for no rate
/// (RFC 4782, section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct RateCode(u8);

impl RateCode {
    /// No rate: a request that is not approved.
    pub const NONE: RateCode = RateCode(0);
    /// The least rate, 80 kbit/s.
    pub const LEAST: RateCode = RateCode(1);
    /// The greatest, 1.31072 Gbit/s.
    pub const GREATEST: RateCode = RateCode(15);
    const UNIT_BPS: f64 = 40_000.0;

    /// Returns the greatest code for at most this rate; none below 80 kbit/s.
    pub fn at_most(bps: f64) -> Self {
        let fits = |&code: &RateCode| code.bps() <= bps;
        (1..=Self::GREATEST.0).rev().map(RateCode).find(fits).unwrap_or(Self::NONE)
    }

    /// Returns the rate, bit/s.
    pub fn bps(self) -> f64 {
        if self == Self::NONE { 0.0 } else { Self::UNIT_BPS * f64::from(1_u32 << self.0) }
    }
}

/// The purpose of the option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Function {
    /// In the IP header of a connection request: asks for a rate.
    #[default]
    Request,
    /// In the TCP header of the answer: the outcome of the request.
    Response,
    /// In the IP header of the sender's first data: the rate that the sender takes as approved.
    Report,
}

/// The Quick-Start option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuickStart {
    /// Its purpose.
    pub function: Function,
    /// The rate asked for, approved so far, or reported.
    pub rate: RateCode,
    /// Request: QS TTL, which routers that take part decrease together with the IP header's. Response: by how
    /// much the IP header's TTL exceeded it, modulo 256. Report: not used.
    pub ttl: u8,
    /// QS nonce, 30 bits.
    pub nonce: u32,
}

impl QuickStart {
    /// Its length, as an IP option and as a TCP option (RFC 4782, sections 3.1 and 4.2).
    pub const OPTION_BYTES: u32 = 8;
    /// Bits of the nonce.
    pub const NONCE_BITS: u32 = 30;

    /// Lowers the rate at a router. For each step from the old code down to the new one, `random` replaces
    /// the two bits of the nonce that stand for it, so that nobody further along the path can know the old
    /// rate's nonce (RFC 4782, section 3.4).
    pub fn lower(&mut self, to: RateCode, random: u32) {
        let steps = nonce_below(self.rate) & !nonce_below(to);
        self.nonce = (self.nonce & !steps) | (random & steps);
        self.rate = to;
    }

    /// Whether the routers have approved the rate that this answer claims: the nonce's bits for the steps
    /// below that rate have to equal those that were sent.
    pub fn is_honest(&self, sent_nonce: u32) -> bool {
        (self.nonce ^ sent_nonce) & nonce_below(self.rate) == 0
    }
}

/// Returns the bits of the nonce for the steps from this code down to 0. The lowest two stand for the step
/// from 15 to 14.
const fn nonce_below(code: RateCode) -> u32 {
    let above = 2 * (RateCode::GREATEST.0 - code.0) as u32;
    ((1 << QuickStart::NONCE_BITS) - 1) & !((1 << above) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4782, table 1: codes and rates in kbit/s.
    const TABLE_KBPS: [f64; 16] = [
        0.0,
        80.0,
        160.0,
        320.0,
        640.0,
        1280.0,
        2560.0,
        5120.0,
        10_240.0,
        20_480.0,
        40_960.0,
        81_920.0,
        163_840.0,
        327_680.0,
        655_360.0,
        1_310_720.0,
    ];

    #[test]
    fn codes_stand_for_the_rates_of_rfc_4782() {
        for (code, kbps) in (0..).zip(TABLE_KBPS) {
            assert_eq!(RateCode(code).bps(), 1e3 * kbps, "{code}");
            assert_eq!(RateCode::at_most(1e3 * kbps), RateCode(code));
        }
    }

    #[test]
    fn a_rate_between_two_codes_gets_the_lower_one_and_a_rate_below_the_least_gets_none() {
        for (bps, code) in [(79_999.0, 0), (159_999.0, 1), (1e6, 4), (100e6, 11), (1e12, 15), (-5.0, 0)] {
            assert_eq!(RateCode::at_most(bps), RateCode(code), "{bps}");
        }
    }

    fn request(rate: u8, nonce: u32) -> QuickStart {
        QuickStart { rate: RateCode(rate), nonce, ..QuickStart::default() }
    }

    #[test]
    fn lowering_from_fifteen_to_thirteen_replaces_the_four_lowest_bits_only() {
        let mut option = request(15, 0);
        option.lower(RateCode(13), u32::MAX);
        assert_eq!((option.rate, option.nonce), (RateCode(13), 0b1111));
        option.lower(RateCode(0), u32::MAX);
        assert_eq!(option.nonce, (1 << 30) - 1, "30 bits and no more");
    }

    #[test]
    fn a_receiver_that_claims_the_rate_from_before_a_reduction_is_caught() {
        let sent = 0x2aaa_aaaa;
        let mut left = request(12, sent);
        left.lower(RateCode(9), !sent);
        assert!(left.is_honest(sent), "the lower rate's bits are untouched");
        let claimed = QuickStart { rate: RateCode(12), ..left };
        assert!(!claimed.is_honest(sent));
        assert!(!QuickStart { rate: RateCode(10), ..left }.is_honest(sent));
    }
}
