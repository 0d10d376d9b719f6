//! Maps, and global variables, which are arrays of one value. The flows of a run that use the same object
//! share them, as sockets of a kernel do.

use crate::address::value_address;
use crate::error::{LoadError, Loaded};
use std::collections::BTreeMap;
use std::ops::Bound;

/// The most bytes that the values of an object's maps may take (chosen here; the kernel charges them to the
/// user's memory).
pub(crate) const MOST_BYTES: u64 = 64 << 20;

/// What helpers answer for an error (include/uapi/asm-generic/errno-base.h).
pub(crate) mod errno {
    pub const NO_ENTRY: i64 = -2;
    pub const TOO_BIG: i64 = -7;
    pub const BAD_ADDRESS: i64 = -14;
    pub const BUSY: i64 = -16;
    pub const EXISTS: i64 = -17;
    pub const INVALID: i64 = -22;
    pub const NO_OPTION: i64 = -92;
}

/// The kinds of maps, with the numbers of `enum bpf_map_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Array,
    Hash,
    /// A hash that gives up its least recently used entry when it is full.
    LeastRecent,
    /// One value a connection.
    Storage,
    Ring,
}

impl Kind {
    /// The kind with this number; those per CPU have one CPU here.
    pub fn of(number: u32) -> Option<Self> {
        match number {
            1 | 5 => Some(Kind::Hash),
            2 | 6 => Some(Kind::Array),
            9 | 10 => Some(Kind::LeastRecent),
            24 => Some(Kind::Storage),
            27 => Some(Kind::Ring),
            _ => None,
        }
    }
}

/// What an object says of a map.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub name: String,
    pub kind: Kind,
    pub key_bytes: usize,
    pub value_bytes: usize,
    pub most_entries: u32,
    /// The values at the beginning; zeros if there are none.
    pub initial: Vec<u8>,
    /// Programs only read it.
    pub is_constant: bool,
}

impl Spec {
    /// The distance between values: they lie apart, so that one cannot be left for the next unnoticed.
    fn stride(&self) -> usize {
        self.value_bytes.saturating_add(15) & !7
    }

    /// Refuses what takes too much memory or has no size.
    pub fn check(&self) -> Loaded<()> {
        let refused = |reason: String| LoadError::Map { map: self.name.clone(), reason };
        let entries = u64::from(self.most_entries.max(1));
        let values =
            if self.kind == Kind::Ring { entries } else { entries.saturating_mul(self.value_bytes as u64) };
        let taken =
            if self.kind == Kind::Ring { entries } else { entries.saturating_mul(self.stride() as u64) };
        if taken > MOST_BYTES {
            let bytes = if values > MOST_BYTES { values } else { taken };
            return Err(refused(format!("{bytes} bytes; accepted: at most {MOST_BYTES}")));
        }
        let is_empty = match self.kind {
            Kind::Storage => self.value_bytes == 0,
            Kind::Ring => self.most_entries == 0,
            _ => self.value_bytes == 0 || self.key_bytes == 0 || self.most_entries == 0,
        };
        if is_empty {
            return Err(refused("it has no key, no value or no entries".to_owned()));
        }
        if self.kind == Kind::Array && self.key_bytes != 4 {
            return Err(refused(format!("a key of {} bytes; accepted for an array: 4", self.key_bytes)));
        }
        Ok(())
    }
}

/// A map with its values.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    spec: Spec,
    data: Vec<u8>,
    /// The slot of each key, and when it was last used.
    slots: BTreeMap<Vec<u8>, (u32, u64)>,
    /// The keys in the order in which they were last used, of a map that gives up the first of them.
    by_use: BTreeMap<u64, Vec<u8>>,
    free: Vec<u32>,
    uses: u64,
    /// The records of a ring that are reserved; and how many were submitted.
    reserved: BTreeMap<u32, u32>,
    submitted: u64,
}

impl Map {
    fn new(spec: &Spec) -> Self {
        let mut map = Map {
            spec: spec.clone(),
            data: Vec::new(),
            slots: BTreeMap::new(),
            by_use: BTreeMap::new(),
            free: Vec::new(),
            uses: 0,
            reserved: BTreeMap::new(),
            submitted: 0,
        };
        if spec.kind == Kind::Array {
            map.data = vec![0; spec.stride() * spec.most_entries as usize];
            let values = map.data.chunks_exact_mut(spec.stride());
            for (value, initial) in values.zip(spec.initial.chunks(spec.value_bytes.max(1))) {
                value[..initial.len()].copy_from_slice(initial);
            }
        }
        map
    }

    pub fn name(&self) -> &str {
        &self.spec.name
    }

    pub const fn kind(&self) -> Kind {
        self.spec.kind
    }

    pub const fn key_bytes(&self) -> usize {
        self.spec.key_bytes
    }

    pub const fn value_bytes(&self) -> usize {
        self.spec.value_bytes
    }

    /// Whether `count` bytes from `at` on lie within one value.
    fn is_within(&self, at: usize, count: usize) -> bool {
        match self.spec.kind {
            Kind::Ring => {
                let record = self.reserved.range(..=at as u32).next_back();
                record.is_some_and(|(&start, &len)| at.saturating_add(count) <= (start + len) as usize)
            }
            _ => (at % self.spec.stride()).saturating_add(count) <= self.spec.value_bytes,
        }
    }

    pub fn values(&self, at: usize, count: usize) -> Option<&[u8]> {
        self.is_within(at, count).then(|| self.data.get(at..at + count))?
    }

    pub fn values_mut(&mut self, at: usize, count: usize) -> Option<&mut [u8]> {
        (!self.spec.is_constant && self.is_within(at, count)).then(|| self.data.get_mut(at..at + count))?
    }

    fn place(&self, slot: u32) -> u32 {
        slot * self.spec.stride() as u32
    }

    /// Where the value of this key is.
    pub fn find(&mut self, key: &[u8]) -> Option<u32> {
        if self.spec.kind == Kind::Array {
            let index = u32::from_le_bytes(key.try_into().ok()?);
            return (index < self.spec.most_entries).then(|| self.place(index));
        }
        self.uses += 1;
        let (slot, used) = self.slots.get_mut(key)?;
        let (slot, before) = (*slot, std::mem::replace(used, self.uses));
        if let Some(key) = self.by_use.remove(&before) {
            self.by_use.insert(self.uses, key);
        }
        Some(self.place(slot))
    }

    /// Where the value of this key is, which is zero if it is new; an error of the kernel if there is no
    /// room.
    pub fn find_or_add(&mut self, key: &[u8]) -> Result<u32, i64> {
        if let Some(place) = self.find(key) {
            return Ok(place);
        }
        match self.spec.kind {
            Kind::Array => return Err(errno::TOO_BIG),
            Kind::Ring => return Err(errno::INVALID),
            Kind::Hash if self.slots.len() >= self.spec.most_entries as usize => return Err(errno::TOO_BIG),
            Kind::LeastRecent if self.slots.len() >= self.spec.most_entries as usize => {
                let oldest = self.by_use.pop_first();
                oldest.map(|(_, key)| self.delete(&key));
            }
            _ => {}
        }
        let stride = self.spec.stride();
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if (self.data.len() + stride) as u64 > 2 * MOST_BYTES => return Err(errno::TOO_BIG),
            None => {
                self.data.resize(self.data.len() + stride, 0);
                (self.data.len() / stride - 1) as u32
            }
        };
        let place = self.place(slot);
        self.data[place as usize..][..stride].fill(0);
        self.slots.insert(key.to_vec(), (slot, self.uses));
        if self.spec.kind == Kind::LeastRecent {
            self.by_use.insert(self.uses, key.to_vec());
        }
        Ok(place)
    }

    /// Sets the value of a key; `flags` as in the kernel: 1 only a new one, 2 only a known one.
    pub fn update(&mut self, key: &[u8], value: &[u8], flags: u64) -> i64 {
        let known = self.find(key).is_some();
        match (flags, known) {
            (0, _) | (1, false) | (2, true) => {}
            (1, true) => return errno::EXISTS,
            (2, false) => return errno::NO_ENTRY,
            _ => return errno::INVALID,
        }
        match self.find_or_add(key) {
            Ok(place) => {
                self.data[place as usize..][..value.len()].copy_from_slice(value);
                0
            }
            Err(error) => error,
        }
    }

    /// Removes a key.
    pub fn delete(&mut self, key: &[u8]) -> i64 {
        if matches!(self.spec.kind, Kind::Array | Kind::Ring) {
            return errno::INVALID;
        }
        match self.slots.remove(key) {
            Some((slot, used)) => {
                self.by_use.remove(&used);
                self.free.push(slot);
                0
            }
            None => errno::NO_ENTRY,
        }
    }

    /// The entry after that of a key, or the first one, in the order of the keys: its key, and the place of
    /// its value.
    pub fn entry_after(&self, key: Option<&[u8]>) -> Option<(Vec<u8>, u32)> {
        if self.spec.kind == Kind::Array {
            let last = key.map(|key| key.try_into().map_or(u32::MAX, u32::from_le_bytes));
            let index = last.map_or(0, |last| last.saturating_add(1));
            let is_there = index < self.spec.most_entries;
            return is_there.then(|| (index.to_le_bytes().to_vec(), self.place(index)));
        }
        let begin = key.map_or(Bound::Unbounded, Bound::Excluded);
        let (key, &(slot, _)) = self.slots.range::<[u8], _>((begin, Bound::Unbounded)).next()?;
        Some((key.clone(), self.place(slot)))
    }

    /// Whether a record of this size may be reserved in a ring.
    pub fn has_room(&self, bytes: u32) -> bool {
        let taken = if self.reserved.is_empty() { 0 } else { self.data.len() as u64 };
        self.spec.kind == Kind::Ring && taken + u64::from(bytes) <= u64::from(self.spec.most_entries)
    }

    /// Reserves a record of a ring. Nobody reads them here, so there is always room for one.
    pub fn reserve(&mut self, bytes: u32) -> Option<u32> {
        if !self.has_room(bytes) {
            return None;
        }
        if self.reserved.is_empty() {
            self.data.clear();
        }
        let start = self.data.len();
        self.data.resize((start + bytes as usize).next_multiple_of(8), 0);
        self.reserved.insert(start as u32, bytes);
        Some(start as u32)
    }

    /// Submits or discards a record of a ring; `false` if nothing is reserved there.
    pub fn release(&mut self, at: u32, submits: bool) -> bool {
        let released = self.reserved.remove(&at).is_some();
        self.submitted += u64::from(released && submits);
        released
    }
}

/// The maps of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maps {
    maps: Vec<Map>,
    /// The connections that there have been.
    connections: u64,
}

impl Maps {
    /// Those described, with their initial values.
    pub fn new(specs: &[Spec]) -> Self {
        Maps { maps: specs.iter().map(Map::new).collect(), connections: 0 }
    }

    pub fn get(&self, map: usize) -> Option<&Map> {
        self.maps.get(map)
    }

    pub fn get_mut(&mut self, map: usize) -> Option<&mut Map> {
        self.maps.get_mut(map)
    }

    /// Where the value of a key of this map is, as an address.
    pub fn lookup(&mut self, map: usize, key: &[u8]) -> Option<u64> {
        let place = self.maps.get_mut(map)?.find(key)?;
        Some(value_address(map, place))
    }

    /// The number of a new connection.
    pub fn connect(&mut self) -> u64 {
        self.connections += 1;
        self.connections
    }

    /// A connection has ended: what was stored for it goes.
    pub fn disconnect(&mut self, connection: u64) {
        for map in self.maps.iter_mut().filter(|map| map.kind() == Kind::Storage) {
            map.delete(&connection.to_le_bytes());
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn map(kind: Kind, most_entries: u32) -> Map {
        let name = "entries".to_owned();
        Map::new(&Spec {
            name,
            kind,
            key_bytes: 4,
            value_bytes: 8,
            most_entries,
            initial: Vec::new(),
            is_constant: false,
        })
    }

    fn set(map: &mut Map, keys: impl IntoIterator<Item = u32>) {
        for key in keys {
            assert_eq!(map.update(&key.to_le_bytes(), &[7; 8], 0), 0);
        }
    }

    fn keys(map: &Map) -> Vec<u32> {
        let next = |entry: &(Vec<u8>, u32)| map.entry_after(Some(&entry.0));
        let entries = std::iter::successors(map.entry_after(None), next);
        entries.map(|(key, _)| u32::from_le_bytes(key.try_into().expect("4 bytes"))).collect()
    }

    #[test]
    fn a_full_map_gives_up_the_key_that_was_last_used_longest_ago() {
        let mut map = map(Kind::LeastRecent, 3);
        set(&mut map, [1, 2, 3]);
        assert!(map.find(&1_u32.to_le_bytes()).is_some());
        set(&mut map, [4]);
        assert_eq!(keys(&map), [1, 3, 4], "2 was used before 3 and 1");
        assert_eq!(map.delete(&3_u32.to_le_bytes()), 0);
        set(&mut map, [5, 6]);
        assert_eq!(keys(&map), [4, 5, 6], "5 has taken the place of 3, and 6 that of 1");
    }

    #[test]
    fn entries_come_one_after_the_other_also_after_one_that_was_removed() {
        let mut hash = map(Kind::Hash, 5);
        set(&mut hash, [1, 2, 3]);
        assert_eq!(keys(&hash), [1, 2, 3]);
        hash.delete(&2_u32.to_le_bytes());
        let after = hash.entry_after(Some(&2_u32.to_le_bytes())).expect("3");
        assert_eq!(after.0, 3_u32.to_le_bytes());
        assert_eq!(hash.entry_after(Some(&3_u32.to_le_bytes())), None);
        assert_eq!(keys(&map(Kind::Array, 3)), [0, 1, 2]);
    }
}
