//! The records of a pcap file (draft-ietf-opsawg-pcap), with times in us or ns, in both orders of bytes, and
//! of the form of A. Kuznetzov's libpcap, whose records have longer headers.

use super::reason::Reason;
use super::record::{Contents, Damage, MOST_BYTES, Order, Record, Source};

const NO_CAPTURE: &str = "it is neither pcapng nor pcap, or damaged";
/// The first four bytes: the parts of a second, and the bytes of a record's header.
const MAGICS: [(u32, Form); 3] = [
    (0xa1b2_c3d4, Form { parts: 1_000_000, extra: 0 }),
    (0xa1b2_3c4d, Form { parts: 1_000_000_000, extra: 0 }),
    // index of the interface, protocol, type of the packet, and padding
    (0xa1b2_cd34, Form { parts: 1_000_000, extra: 8 }),
];
/// The parts of the link type's word: the type, a flag that the FCS's length is there, and that length in
/// units of 2 bytes.
const LINK: u32 = 0x03ff_ffff;
const HAS_FCS: u32 = 0x0400_0000;
const FCS_SHIFT: u32 = 28;
const NS_PER_S: u64 = 1_000_000_000;

#[derive(Clone, Copy)]
struct Form {
    /// The fractions of a second that its times count.
    parts: u32,
    /// Bytes of a record's header beyond the usual 16.
    extra: usize,
}

/// Hands the records to `take`.
pub fn read(
    source: &mut Source<'_>,
    contents: &mut Contents,
    take: &mut dyn FnMut(&mut Contents, &Record<'_>),
) -> Result<(), Damage> {
    let magic = source.array::<4>()?;
    let orders = [Order::Little, Order::Big];
    let known = orders.into_iter().find_map(|order| {
        let value = order.u32(magic);
        MAGICS.iter().find(|(known, _)| *known == value).map(|(_, form)| (order, *form))
    });
    let Some((order, form)) = known else { return Err(Damage(NO_CAPTURE.to_owned())) };
    let header = source.array::<20>()?;
    let (major, minor) = (order.u16_at(&header, 0).unwrap_or(0), order.u16_at(&header, 2).unwrap_or(0));
    let word = order.u32_at(&header, 16).unwrap_or(0);
    let fcs = if word & HAS_FCS == 0 { 0 } else { 2 * (word >> FCS_SHIFT) };
    while !source.is_over()? {
        let head = source.array::<16>()?;
        let [seconds, parts, first, second] =
            core::array::from_fn(|i| order.u32_at(&head, 4 * i).unwrap_or(0));
        // files of versions before 2.3 have the two lengths the other way round, and some of 2.3 (as libpcap
        // reads them)
        let swapped = minor < 3 || major == 543 || minor == 3 && first > second;
        let (length, original) = if swapped { (second, first) } else { (first, second) };
        let mut interface = 0;
        if form.extra > 0 {
            let more = source.array::<8>()?;
            interface = order.u32_at(&more, 0).unwrap_or(0);
        }
        if length > MOST_BYTES {
            return Err(source.damage(&format!("a packet of {length} bytes")));
        }
        let bytes = source.piece(length)?;
        contents.packets += 1;
        if parts >= form.parts {
            contents.leave_out(Reason::BadTime);
            continue;
        }
        let at_ns = u64::from(seconds) * NS_PER_S + u64::from(parts) * (NS_PER_S / u64::from(form.parts));
        // without the FCS, as far as that was captured; a file may say that less was there than it holds
        let original = original.max(length).saturating_sub(fcs);
        let bytes = &bytes[..bytes.len().min(original as usize)];
        let several = form.extra > 0;
        let at_ns = Some(at_ns);
        take(
            contents,
            &Record { at_ns, interface, several, link: Some(word & LINK), bytes, original, dropped: false },
        );
    }
    Ok(())
}
