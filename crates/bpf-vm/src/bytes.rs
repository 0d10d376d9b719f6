//! Little-endian numbers, and texts, at places that may not exist.

/// The longest text of a file with the zero after it: the kernel's limit for names (KSYM_NAME_LEN of Linux
/// 6.1 and later, include/linux/kallsyms.h). Many types may share one name, so without a limit a file's names
/// could take memory with the square of its size.
pub(crate) const LONGEST_TEXT: usize = 512;

/// The bytes from `at` on, `count` of them.
pub(crate) fn slice(data: &[u8], at: usize, count: usize) -> Option<&[u8]> {
    data.get(at..at.checked_add(count)?)
}

fn array<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    slice(data, at, N)?.try_into().ok()
}

pub(crate) fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    array(data, at).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    array(data, at).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    array(data, at).map(u64::from_le_bytes)
}

/// The text from `at` to the next zero, if it has no control characters: errors print it in one line. None
/// also for a text that is longer than names can be.
pub(crate) fn text_at(data: &[u8], at: usize) -> Option<&str> {
    let rest = data.get(at..)?;
    let rest = rest.get(..LONGEST_TEXT).unwrap_or(rest);
    let end = rest.iter().position(|&byte| byte == 0)?;
    std::str::from_utf8(&rest[..end]).ok().filter(|text| !text.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_at_a_zero_and_holds_no_line_break() {
        assert_eq!(text_at(b"a name\0more", 2), Some("name"));
        assert_eq!(text_at(b"no end", 0), None);
        assert_eq!(text_at(b"two\nlines\0", 0), None);
    }

    #[test]
    fn a_text_is_at_most_as_long_as_a_name_of_the_kernel() {
        let texts = [&[b'a'; LONGEST_TEXT][..], b"\0"].concat();
        assert_eq!(text_at(&texts, 0), None);
        assert_eq!(text_at(&texts, 1).map(str::len), Some(LONGEST_TEXT - 1));
    }
}
