//! The kernel's types, as far as congestion control needs them: one compact connection with offsets of its
//! own, onto which objects are relocated. The tables are in `kernel_types`.

use crate::btf::{Btf, Member, Type, TypeId};
use crate::kernel_types::Of::{
    self, Bits, Bool, Bytes, I32, I64, Inline, Pointer, Struct, Structs, U8, U16, U32, U64, Words,
};
use crate::kernel_types::{ENUMS, STRUCTS, WRITABLE};
use std::sync::OnceLock;

/// The kernel's types, and where the adapter finds the fields that it sets and reads.
pub(crate) struct Model {
    pub btf: Btf,
    pub fields: Fields,
    /// The bytes of a `tcp_sock`.
    pub sock_bytes: usize,
    /// For each byte of a `tcp_sock`: where a write that begins there has to end, 0 where none may begin.
    pub write_ends: Vec<u16>,
}

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident: $root:literal $(. $step:ident)+;)*) => {
        /// The offsets of fields, bytes from the beginning of their structures.
        pub(crate) struct Fields {
            $($(#[$doc])* pub $name: usize,)*
        }

        impl Fields {
            fn new(btf: &Btf) -> Option<Self> {
                Some(Fields { $($name: offset(btf, $root, &[$(stringify!($step)),+])?.0,)* })
            }
        }
    };
}

fields! {
    sk_pacing_rate: "sock".sk_pacing_rate;
    sk_pacing_status: "sock".sk_pacing_status;
    sk_max_pacing_rate: "sock".sk_max_pacing_rate;
    sk_pacing_shift: "sock".sk_pacing_shift;
    sk_gso_max_segs: "sock".sk_gso_max_segs;
    sk_gso_max_size: "sock".sk_gso_max_size;
    sk_sndbuf: "sock".sk_sndbuf;
    sk_state: "sock".__sk_common.skc_state;
    sk_family: "sock".__sk_common.skc_family;
    /// The byte of the bitfield of five bits, which begins at its first bit.
    icsk_ca_state: "inet_connection_sock".icsk_ca_state;
    icsk_ca_priv: "inet_connection_sock".icsk_ca_priv;
    snd_nxt: "tcp_sock".snd_nxt;
    snd_una: "tcp_sock".snd_una;
    snd_wnd: "tcp_sock".snd_wnd;
    write_seq: "tcp_sock".write_seq;
    max_window: "tcp_sock".max_window;
    mss_cache: "tcp_sock".mss_cache;
    advmss: "tcp_sock".advmss;
    high_seq: "tcp_sock".high_seq;
    lsndtime: "tcp_sock".lsndtime;
    bytes_acked: "tcp_sock".bytes_acked;
    reordering: "tcp_sock".reordering;
    srtt_us: "tcp_sock".srtt_us;
    mdev_us: "tcp_sock".mdev_us;
    rtt_min: "tcp_sock".rtt_min;
    packets_out: "tcp_sock".packets_out;
    max_packets_out: "tcp_sock".max_packets_out;
    snd_ssthresh: "tcp_sock".snd_ssthresh;
    snd_cwnd: "tcp_sock".snd_cwnd;
    snd_cwnd_cnt: "tcp_sock".snd_cwnd_cnt;
    snd_cwnd_clamp: "tcp_sock".snd_cwnd_clamp;
    snd_cwnd_stamp: "tcp_sock".snd_cwnd_stamp;
    prior_cwnd: "tcp_sock".prior_cwnd;
    prior_ssthresh: "tcp_sock".prior_ssthresh;
    prr_out: "tcp_sock".prr_out;
    delivered: "tcp_sock".delivered;
    delivered_ce: "tcp_sock".delivered_ce;
    lost: "tcp_sock".lost;
    app_limited: "tcp_sock".app_limited;
    delivered_mstamp: "tcp_sock".delivered_mstamp;
    first_tx_mstamp: "tcp_sock".first_tx_mstamp;
    sacked_out: "tcp_sock".sacked_out;
    tcp_mstamp: "tcp_sock".tcp_mstamp;
    tcp_clock_cache: "tcp_sock".tcp_clock_cache;
    tcp_wstamp_ns: "tcp_sock".tcp_wstamp_ns;
    /// The byte of the bitfield.
    is_cwnd_limited: "tcp_sock".is_cwnd_limited;
    ecn_flags: "tcp_sock".ecn_flags;
    ack_pkts_acked: "ack_sample".pkts_acked;
    ack_rtt_us: "ack_sample".rtt_us;
    ack_in_flight: "ack_sample".in_flight;
    rs_prior_mstamp: "rate_sample".prior_mstamp;
    rs_prior_delivered: "rate_sample".prior_delivered;
    rs_delivered: "rate_sample".delivered;
    rs_delivered_ce: "rate_sample".delivered_ce;
    rs_interval_us: "rate_sample".interval_us;
    rs_snd_interval_us: "rate_sample".snd_interval_us;
    rs_rcv_interval_us: "rate_sample".rcv_interval_us;
    rs_rtt_us: "rate_sample".rtt_us;
    rs_losses: "rate_sample".losses;
    rs_acked_sacked: "rate_sample".acked_sacked;
    rs_prior_in_flight: "rate_sample".prior_in_flight;
    rs_last_end_seq: "rate_sample".last_end_seq;
    rs_is_app_limited: "rate_sample".is_app_limited;
}

/// The bit of `is_cwnd_limited` in its byte, as the table above places it after `repair`.
pub(crate) const CWND_LIMITED_BIT: u8 = 1 << 1;

/// The bytes of the samples that a program reads.
pub(crate) const ACK_SAMPLE_BYTES: usize = 12;
pub(crate) const RATE_SAMPLE_BYTES: usize = 72;

/// The model. It is made once; the table above is part of the program, so a mistake in it shows in every
/// test.
pub(crate) fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let btf = Builder::default().build();
        #[expect(clippy::expect_used, reason = "the tables are constants, and a test reads them")]
        let fields = Fields::new(&btf).expect("every field is in the table");
        let sock_bytes = size_of(&btf, "tcp_sock");
        let mut write_ends = vec![0; sock_bytes];
        for way in WRITABLE {
            let Some((at, bytes)) = offset(&btf, "tcp_sock", way) else { continue };
            // private memory may be written from any of its bytes on, other fields from their beginning
            let begins = if way.contains(&"icsk_ca_priv") { bytes } else { 1 };
            write_ends[at..at + begins].fill((at + bytes) as u16);
        }
        Model { btf, fields, sock_bytes, write_ends }
    })
}

fn find(btf: &Btf, name: &str) -> Option<TypeId> {
    btf.iter().find(|(_, t)| matches!(t, Type::Composite { .. }) && t.name() == name).map(|(id, _)| id)
}

fn size_of(btf: &Btf, name: &str) -> usize {
    find(btf, name).and_then(|id| btf.size(id)).unwrap_or(0) as usize
}

/// The offset and the bytes of a field.
fn offset(btf: &Btf, root: &str, way: &[&str]) -> Option<(usize, usize)> {
    let mut of = find(btf, root)?;
    let mut bit = 0;
    for step in way {
        let Type::Composite { members, .. } = btf.get(of) else { return None };
        let member = members.iter().find(|m| m.name == *step)?;
        bit += member.bit_offset;
        of = member.of;
    }
    Some((bit as usize / 8, btf.size(of)? as usize))
}

/// The name of what is at this byte of a `tcp_sock`, for messages.
pub(crate) fn field_at(byte: usize) -> String {
    let btf = &model().btf;
    let mut name = "tcp_sock".to_owned();
    let (mut of, mut byte) = (find(btf, "tcp_sock").unwrap_or(0), byte as u32);
    while let Type::Composite { members, .. } = btf.get(of) {
        let within = |m: &&Member| {
            let at = m.bit_offset / 8;
            at <= byte && byte < at + btf.size(m.of).unwrap_or(0)
        };
        let Some(member) = members.iter().find(within) else { break };
        byte -= member.bit_offset / 8;
        of = member.of;
        name = format!("{name}.{}", member.name);
    }
    name
}

/// Lays out the tables.
#[derive(Default)]
struct Builder {
    types: Vec<Type>,
}

impl Builder {
    fn build(mut self) -> Btf {
        for (name, values) in ENUMS {
            let values = values.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            self.add(Type::Enum { name: (*name).to_owned(), size: 4, signed: false, values });
        }
        for (name, members) in STRUCTS {
            self.composite(name, members);
        }
        Btf::of(self.types)
    }

    /// Adds a type, unless it is known. Returns its number.
    fn add(&mut self, new: Type) -> TypeId {
        let at = self.types.iter().position(|known| *known == new).unwrap_or_else(|| {
            self.types.push(new);
            self.types.len() - 1
        });
        at as TypeId + 1
    }

    fn int(&mut self, size: u32, signed: bool) -> TypeId {
        let name = format!("{}{}", if signed { 's' } else { 'u' }, 8 * size);
        self.add(Type::Int { name, size, signed })
    }

    fn named(&self, name: &str) -> TypeId {
        self.types.iter().position(|t| t.name() == name).map_or(0, |at| at as TypeId + 1)
    }

    /// The number, size and alignment of a member's type.
    fn member(&mut self, of: &Of) -> (TypeId, u32, u32) {
        let number = |id, size| (id, size, size);
        match of {
            U8 | Bits(_) => number(self.int(1, false), 1),
            Bool => number(self.add(Type::Int { name: "bool".to_owned(), size: 1, signed: false }), 1),
            U16 => number(self.int(2, false), 2),
            U32 => number(self.int(4, false), 4),
            I32 => number(self.int(4, true), 4),
            U64 => number(self.int(8, false), 8),
            I64 => number(self.int(8, true), 8),
            Pointer => number(self.add(Type::Pointer(0)), 8),
            Struct(name) => {
                let id = self.named(name);
                (id, self.size(id), 8)
            }
            Inline(members) => {
                let id = self.composite("", members);
                (id, self.size(id), 4)
            }
            Words(count) => {
                let of = self.int(8, false);
                (self.add(Type::Array { of, count: *count }), 8 * count, 8)
            }
            Bytes(count) => {
                let of = self.add(Type::Int { name: "char".to_owned(), size: 1, signed: false });
                (self.add(Type::Array { of, count: *count }), *count, 1)
            }
            Structs(name, count) => {
                let of = self.named(name);
                (self.add(Type::Array { of, count: *count }), count * self.size(of), 8)
            }
        }
    }

    fn size(&self, id: TypeId) -> u32 {
        match self.types.get(id as usize - 1) {
            Some(Type::Composite { size, .. }) => *size,
            _ => 0,
        }
    }

    fn composite(&mut self, name: &str, table: &[(&str, Of)]) -> TypeId {
        let mut members = Vec::new();
        let (mut bit, mut widest) = (0_u32, 1); // the first free one
        for (member, of) in table {
            let (id, size, align) = self.member(of);
            widest = widest.max(align);
            let bits = if let Bits(bits) = of { u32::from(*bits) } else { 0 };
            if bits == 0 {
                bit = bit.next_multiple_of(8 * align);
            } else if bit % 8 + bits > 8 {
                bit = bit.next_multiple_of(8);
            }
            members.push(Member { name: (*member).to_owned(), of: id, bit_offset: bit, bits });
            bit += if bits == 0 { 8 * size } else { bits };
        }
        let size = bit.div_ceil(8).next_multiple_of(widest);
        self.add(Type::Composite { name: name.to_owned(), is_union: false, size, members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_may_be_written_are_those_of_the_verifier_and_no_byte_more() {
        let model = model();
        let f = &model.fields;
        let cwnd = f.snd_cwnd;
        assert_eq!(usize::from(model.write_ends[cwnd]), cwnd + 4);
        assert_eq!(model.write_ends[cwnd + 1], 0, "not from its second byte on");
        assert_eq!(usize::from(model.write_ends[f.icsk_ca_priv + 96]), f.icsk_ca_priv + 104);
        assert_eq!(model.write_ends[f.srtt_us], 0);
        assert_eq!(model.write_ends.iter().filter(|&&end| end != 0).count(), 9 + 104);
        assert_eq!(field_at(f.srtt_us + 1), "tcp_sock.srtt_us");
        assert_eq!(field_at(f.sk_pacing_rate), "tcp_sock.inet_conn.icsk_inet.sk.sk_pacing_rate");
    }

    #[test]
    fn samples_and_bitfields_are_where_the_adapter_writes_them() {
        let model = model();
        assert_eq!(size_of(&model.btf, "ack_sample"), ACK_SAMPLE_BYTES);
        assert_eq!(size_of(&model.btf, "rate_sample"), RATE_SAMPLE_BYTES);
        let Some(sock) = find(&model.btf, "tcp_sock") else { panic!("no tcp_sock") };
        let Type::Composite { members, .. } = model.btf.get(sock) else { panic!("no structure") };
        let limited = members.iter().find(|m| m.name == "is_cwnd_limited").map(|m| m.bit_offset % 8);
        assert_eq!(limited.map(|bit| 1 << bit), Some(CWND_LIMITED_BIT));
    }

    /// Compares names, signs, sizes and bits of all members with those of the running kernel.
    #[test]
    fn every_member_is_one_of_the_running_kernel() {
        let Ok(data) = std::fs::read("/sys/kernel/btf/vmlinux") else {
            return eprintln!("skipped: no /sys/kernel/btf/vmlinux");
        };
        let kernel = Btf::new(&data).expect("the kernel's own");
        let model = &model().btf;
        let shape = |btf: &Btf, id: TypeId| match btf.stripped(id).1 {
            Type::Int { size, signed, .. } => format!("{size} {signed}"),
            Type::Pointer(_) => "pointer".to_owned(),
            Type::Array { count, .. } => format!("array of {count}"),
            Type::Composite { name, .. } => name.clone(),
            other => format!("{other:?}"),
        };
        for (id, of) in model.iter() {
            let Type::Composite { name, members, .. } = of else { continue };
            // newer kernels may lack a member; the oldest that the model serves is 6.12
            let Some(theirs) = find(&kernel, name).filter(|_| !name.is_empty()) else { continue };
            for member in members {
                let Type::Composite { members: known, .. } = kernel.get(theirs) else { continue };
                let Some(known) = known.iter().find(|m| m.name == member.name) else {
                    println!("type {id}: the running kernel's {name} has no {}", member.name);
                    continue;
                };
                assert_eq!(member.bits, known.bits, "{name}.{}", member.name);
                let (ours, theirs) = (shape(model, member.of), shape(&kernel, known.of));
                if member.bits == 0 && name != "sock_common" {
                    assert_eq!(ours, theirs, "{name}.{}", member.name);
                }
            }
        }
    }
}
