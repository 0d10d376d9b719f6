//! libbpf's messages while one object is loaded.
//!
//! libbpf passes all messages of a process to one function. That of `libbpf_rs` ends the process at a message
//! that is not UTF-8: the verifier's log quotes lines of the source, which may have any bytes.

use libbpf_rs::libbpf_sys::{LIBBPF_WARN, libbpf_print_fn_t, libbpf_print_level, libbpf_set_print};
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

static MESSAGES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Does something while libbpf's warnings are kept. Returns its result and the warnings, with U+FFFD for what
/// is not UTF-8.
pub fn with_messages<T>(act: impl FnOnce() -> T) -> (T, String) {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let before = exchange(receiver());
    let result = act();
    exchange(before);
    let messages = std::mem::take(&mut *MESSAGES.lock().unwrap_or_else(PoisonError::into_inner));
    (result, String::from_utf8_lossy(&messages).into_owned())
}

#[expect(unsafe_code, reason = "libbpf is C; the function stays for as long as the process")]
fn exchange(function: libbpf_print_fn_t) -> libbpf_print_fn_t {
    // SAFETY: libbpf exchanges a pointer to a function, atomically.
    unsafe { libbpf_set_print(function) }
}

#[expect(unsafe_code, reason = "the type of a va_list differs between processors")]
fn receiver() -> libbpf_print_fn_t {
    type Function = unsafe extern "C" fn(libbpf_print_level, *const c_char, *mut c_void) -> c_int;
    // SAFETY: as an argument, a va_list is a pointer on every processor that libbpf_sys has.
    unsafe { std::mem::transmute::<Option<Function>, libbpf_print_fn_t>(Some(keep)) }
}

#[expect(unsafe_code, reason = "only C can format C's arguments")]
unsafe extern "C" fn keep(level: libbpf_print_level, format: *const c_char, arguments: *mut c_void) -> c_int {
    if level == LIBBPF_WARN {
        // SAFETY: libbpf calls this with a format and the arguments that belong to it.
        let message = unsafe { vsprintf::vsprintf_raw(format, arguments) };
        MESSAGES.lock().unwrap_or_else(PoisonError::into_inner).extend(message.unwrap_or_default());
    }
    0 // libbpf ignores it
}

#[cfg(test)]
mod tests {
    use super::*;
    use libbpf_rs::ObjectBuilder;

    #[test]
    fn warnings_are_kept_while_something_is_done_and_no_longer() {
        let open = || ObjectBuilder::default().open_memory(b"no object").is_ok();
        for _ in 0..2 {
            let (opened, messages) = with_messages(open);
            assert!(!opened);
            assert_eq!(messages.matches("is not a proper ELF object").count(), 1, "{messages}");
        }
        assert_eq!(with_messages(|| ()).1, "");
    }
}
