//! The laws of the disciplines that only decide at arrival.

use super::limit::Limit;
use super::red;
use super::row::{LawKind, Setup};
use crate::{Admission, Admitted};
use longfat_units::Time;
use longfat_units::parameters::Parameters;

/// The law of a discipline that only decides at arrival.
#[derive(Clone, Debug)]
pub enum Law {
    /// Drop-tail's.
    DropTail(Limit),
    /// RED's.
    Red(red::Law),
}

impl Law {
    /// The law of this kind, from checked parameters.
    pub fn build(kind: LawKind, setup: Setup, p: &Parameters) -> Self {
        match kind {
            LawKind::DropTail => Law::DropTail(setup.limit),
            LawKind::Red => Law::Red(red::Law::build(setup, p)),
        }
    }
}

impl Admission for Law {
    #[inline(always)]
    fn admit(&mut self, now: Time, waiting: (u64, u64), bytes: u32, markable: bool) -> Admitted {
        match self {
            Law::DropTail(limit) => limit.admit(now, waiting, bytes, markable),
            Law::Red(law) => law.admit(now, waiting, bytes, markable),
        }
    }

    #[inline(always)]
    fn starts(&mut self, now: Time, bytes: u32) {
        match self {
            Law::DropTail(limit) => limit.starts(now, bytes),
            Law::Red(law) => law.starts(now, bytes),
        }
    }
}
