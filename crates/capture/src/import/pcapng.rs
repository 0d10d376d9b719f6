//! The packets of a pcapng file (draft-ietf-opsawg-pcapng): of all sections and interfaces.

use super::reason::Reason;
use super::record::{Contents, Damage, MOST_BYTES, Order, Record, Source};
use crate::recorder::{DROPPED, LOST};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
/// The number after the length of a section's block, in the section's own order of bytes.
const ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Bytes of a block beside its body: type, and length before and after.
const FRAME: u32 = 12;
const NS_PER_S: u128 = 1_000_000_000;
/// if_tsresol if an interface does not say: 10^-6 s.
const USUAL_RESOLUTION: u8 = 6;
/// if_tsresol: 10^-9 s.
const NANOSECONDS: u8 = 9;

/// What an interface's block says.
#[derive(Clone, Copy)]
struct Interface {
    /// `None` if the file has packets of an interface without describing it.
    link: Option<u32>,
    /// The most bytes of a packet; 0 for all.
    snap: u32,
    resolution: u8,
    /// Added to all times, s.
    offset_s: i64,
    /// Bytes of the frame check sequence at the end of each packet.
    fcs: u32,
}

/// An interface that is not described: the usual link, and times in us, unless they would be beyond the year
/// 2262.
const UNDESCRIBED: Interface =
    Interface { link: None, snap: 0, resolution: USUAL_RESOLUTION, offset_s: 0, fcs: 0 };

/// Hands the packets to `take`.
pub fn read(
    source: &mut Source<'_>,
    contents: &mut Contents,
    take: &mut dyn FnMut(&mut Contents, &Record<'_>),
) -> Result<(), Damage> {
    let mut order = Order::Little;
    // those of earlier sections stay, so that the numbers stay apart
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut first = 0;
    while !source.is_over()? {
        let head = source.array::<8>()?;
        let kind = order.u32_at(&head, 0).unwrap_or(0);
        let mut before = 0;
        if kind == SECTION {
            let magic = source.array::<4>()?;
            order = match (Order::Little.u32(magic), Order::Big.u32(magic)) {
                (ORDER_MAGIC, _) => Order::Little,
                (_, ORDER_MAGIC) => Order::Big,
                _ => return Err(source.damage("a section without its magic number")),
            };
            first = interfaces.len();
            before = 4;
        }
        let length = order.u32_at(&head, 4).unwrap_or(0);
        let Some(body) = length.checked_sub(FRAME + before).filter(|_| length.is_multiple_of(4)) else {
            return Err(source.damage(&format!("a block of {length} bytes")));
        };
        if matches!(kind, SECTION | INTERFACE | OBSOLETE_PACKET | SIMPLE_PACKET | STATISTICS | PACKET) {
            if body > MOST_BYTES {
                return Err(source.damage(&format!("a block of {length} bytes")));
            }
            let body = source.piece(body)?;
            let block = Block { order, body, interfaces: &interfaces, first };
            match kind {
                SECTION => add_comments(contents, block.options(12)),
                INTERFACE => {
                    let interface = block.interface();
                    interfaces.push(interface);
                }
                STATISTICS => contents.missed += block.missed(),
                _ => {
                    contents.packets += 1;
                    match block.packet(kind, contents) {
                        Ok(record) => take(contents, &record),
                        Err(reason) => contents.leave_out(reason),
                    }
                }
            }
        } else {
            source.skip(u64::from(body))?;
        }
        if order.u32(source.array()?) != length {
            return Err(source.damage("the two lengths of a block differ"));
        }
    }
    Ok(())
}

fn add_comments<'a>(contents: &mut Contents, options: impl Iterator<Item = (u16, &'a [u8])>) {
    for (_, text) in options.filter(|(code, _)| *code == 1) {
        if !contents.comment.is_empty() {
            contents.comment.push('\n');
        }
        contents.comment.push_str(&String::from_utf8_lossy(text));
    }
}

/// The body of a block, in its section.
struct Block<'a> {
    order: Order,
    body: &'a [u8],
    interfaces: &'a [Interface],
    /// The first interface of the section.
    first: usize,
}

impl<'a> Block<'a> {
    fn u32(&self, at: usize) -> Result<u32, Reason> {
        self.order.u32_at(self.body, at).ok_or(Reason::BadLength)
    }

    /// The options that begin there: code and value. Many programs leave out the last one, which only ends
    /// them.
    fn options(&self, at: usize) -> impl Iterator<Item = (u16, &'a [u8])> + use<'a> {
        let order = self.order;
        let mut rest = self.body.get(at..).unwrap_or_default();
        core::iter::from_fn(move || {
            let (code, length) = (order.u16_at(rest, 0)?, usize::from(order.u16_at(rest, 2)?));
            let value = rest.get(4..4 + length)?;
            rest = rest.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
            (code != 0).then_some((code, value))
        })
    }

    fn interface(&self) -> Interface {
        let link = self.order.u16_at(self.body, 0).map(u32::from);
        let snap = self.order.u32_at(self.body, 4).unwrap_or(0);
        let mut interface = Interface { link, snap, ..UNDESCRIBED };
        for (code, value) in self.options(8) {
            match (code, value) {
                (9, &[resolution, ..]) => interface.resolution = resolution,
                (13, &[fcs, ..]) => interface.fcs = u32::from(fcs),
                (14, value) if value.len() == 8 => {
                    let halves = [0, 4].map(|at| self.order.u32_at(value, at).unwrap_or(0));
                    let [high, low] = if self.order == Order::Big { halves } else { [halves[1], halves[0]] };
                    interface.offset_s = (u64::from(high) << 32 | u64::from(low)).cast_signed();
                }
                _ => {}
            }
        }
        interface
    }

    /// Packets that an interface's statistics report as missed: isb_ifdrop and isb_osdrop.
    fn missed(&self) -> u64 {
        let counts = self.options(12).filter(|(code, value)| matches!(code, 5 | 7) && value.len() == 8);
        counts
            .map(|(_, value)| {
                let [a, b] = [0, 4].map(|at| u64::from(self.order.u32_at(value, at).unwrap_or(0)));
                if self.order == Order::Big { a << 32 | b } else { b << 32 | a }
            })
            .fold(0, u64::saturating_add)
    }

    fn packet(&self, kind: u32, contents: &mut Contents) -> Result<Record<'a>, Reason> {
        let (interface, data) = match kind {
            PACKET => (self.u32(0)?, 20),
            OBSOLETE_PACKET => (u32::from(self.order.u16_at(self.body, 0).ok_or(Reason::BadLength)?), 20),
            _ => (0, 4),
        };
        let index = self.first + interface as usize;
        let described = self.interfaces.get(index).copied();
        contents.undescribed += u64::from(described.is_none());
        let Interface { link, snap, resolution, offset_s, fcs } = described.unwrap_or(UNDESCRIBED);
        let (units, length, original) = if kind == SIMPLE_PACKET {
            let original = self.u32(0)?;
            let most = (self.body.len() - data) as u32;
            (None, original.min(most).min(if snap == 0 { u32::MAX } else { snap }), original)
        } else {
            let units = u64::from(self.u32(4)?) << 32 | u64::from(self.u32(8)?);
            (Some(units), self.u32(12)?, self.u32(16)?)
        };
        contents.untimed += u64::from(units.is_none());
        let bytes = self.body.get(data..).and_then(|rest| rest.get(..length as usize));
        let bytes = bytes.ok_or(Reason::BadLength)?;
        let at_ns = match units {
            Some(units) => Some(nanoseconds(units, resolution, offset_s, link.is_none())?),
            None => None,
        };
        let (mut dropped, mut tail) = (false, fcs);
        for (code, value) in self.options(data + (length as usize).next_multiple_of(4)) {
            match code {
                1 => dropped |= value.starts_with(DROPPED.as_bytes()) || value.starts_with(LOST.as_bytes()),
                2 if kind == PACKET => {
                    let flags = self.order.u32_at(value, 0).unwrap_or(0);
                    tail = tail.max(flags >> 5 & 0xf);
                }
                _ => {}
            }
        }
        let original = original.max(length).saturating_sub(tail);
        let bytes = &bytes[..bytes.len().min(original as usize)];
        let several = self.interfaces.len() > 1;
        Ok(Record { at_ns, interface: index as u32, several, link, bytes, original, dropped })
    }
}

/// A timestamp in ns since 1970: its unit is a power of ten, or of two if the highest bit of `resolution` is
/// set.
fn nanoseconds(units: u64, resolution: u8, offset_s: i64, guess: bool) -> Result<u64, Reason> {
    let power = u32::from(resolution & 0x7f);
    let parts = if resolution & 0x80 == 0 { 10u128.checked_pow(power) } else { 1u128.checked_shl(power) };
    // from the second power of two or ten on that does not fit, all times are 0
    let since = parts.map_or(0, |parts| u128::from(units) * NS_PER_S / parts);
    let offset = i128::from(offset_s) * NS_PER_S.cast_signed();
    let shifted = i128::try_from(since).ok().and_then(|since| since.checked_add(offset));
    match shifted.map(i64::try_from) {
        Some(Ok(at_ns)) if at_ns >= 0 => Ok(at_ns.cast_unsigned()),
        _ if guess => nanoseconds(units, NANOSECONDS, 0, false),
        _ => Err(Reason::BadTime),
    }
}
