//! Loads an object with libbpf and explains its failures.

use crate::error::Error;
use crate::kernel::LONGEST_NAME;
use crate::log;
use crate::names::own_name;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapType, Object, ObjectBuilder, OpenObject, PrintLevel, ProgramType, set_print,
};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// libbpf passes its messages to one function per process, so one object is loaded at a time; its messages
/// are kept here.
static MESSAGES: Mutex<String> = Mutex::new(String::new());
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// TCP_CA_NAME_MAX of the kernel, including the zero at its end.
const NAME_BYTES: usize = LONGEST_NAME + 1;
const LOG_BEGINS: &str = "-- BEGIN PROG LOAD LOG --";
const LOG_ENDS: &str = "-- END PROG LOAD LOG --";

fn keep(_: PrintLevel, message: String) {
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner).push_str(&message);
}

/// Registers the one struct_ops map of this object under this name. Returns the link that keeps it
/// registered.
pub fn register(object: &Path, name: &str, log_folder: &Path) -> Result<Link, Error> {
    speaking(name, log_folder, || load(object, name).map(|(_, link)| link))
}

/// Registers the algorithm likewise. Returns the object too, whose other programs are loaded.
pub fn register_with_programs(object: &Path, name: &str, log_folder: &Path) -> Result<(Object, Link), Error> {
    speaking(name, log_folder, || load(object, name))
}

/// Attaches the sock_ops program of an object to a cgroup. Returns the link that keeps it attached.
pub fn attach(object: &Object, name: &str, cgroup: BorrowedFd<'_>, log_folder: &Path) -> Result<Link, Error> {
    speaking(name, log_folder, || {
        let program = object.progs_mut().find(|program| program.prog_type() == ProgramType::SockOps);
        let program = program.ok_or_else(|| refused("the object holds no sock_ops program"))?;
        program.attach_cgroup(cgroup.as_raw_fd())
    })
}

/// Does something while libbpf's messages are kept, and explains its failure with them.
fn speaking<T>(
    name: &str,
    log_folder: &Path,
    act: impl FnOnce() -> Result<T, libbpf_rs::Error>,
) -> Result<T, Error> {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let before = set_print(Some((PrintLevel::Warn, keep)));
    let result = act();
    set_print(before);
    let messages = std::mem::take(&mut *MESSAGES.lock().unwrap_or_else(PoisonError::into_inner));
    result.map_err(|error| explain(name.to_owned(), &error, &messages, log_folder))
}

fn load(object: &Path, name: &str) -> Result<(Object, Link), libbpf_rs::Error> {
    let mut opened = ObjectBuilder::default().open_file(object)?;
    let own = own_name(object);
    if name != own {
        rename(&mut opened, &own, name)?;
    }
    let mut loaded = opened.load()?;
    let map = loaded.maps_mut().find(|map| map.map_type() == MapType::StructOps);
    let link = map
        .ok_or_else(|| refused("the object holds no algorithm"))
        .and_then(|mut map| map.attach_struct_ops())?;
    Ok((loaded, link))
}

fn refused(why: &'static str) -> libbpf_rs::Error {
    std::io::Error::other(why).into()
}

/// Writes another name into the kernel's structure of the algorithm, at whose end the name is. Those are its
/// only bytes that loading does not fill in.
fn rename(opened: &mut OpenObject, own: &str, name: &str) -> Result<(), libbpf_rs::Error> {
    let mut map = opened
        .maps_mut()
        .find(|map| map.map_type() == MapType::StructOps)
        .ok_or_else(|| refused("the object holds no algorithm"))?;
    let value = map.initial_value_mut().unwrap_or_default();
    let at = value.windows(own.len() + 1).position(|bytes| bytes.split_last() == Some((&0, own.as_bytes())));
    let field = at.and_then(|at| value.get_mut(at..at + NAME_BYTES));
    let field = field.ok_or_else(|| refused("the algorithm in the object has another name than the file"))?;
    field.fill(0);
    for (slot, byte) in field.iter_mut().zip(name.bytes().take(LONGEST_NAME)) {
        *slot = byte;
    }
    Ok(())
}

fn explain(name: String, error: &libbpf_rs::Error, messages: &str, log_folder: &Path) -> Error {
    match (rejection(messages), error.kind()) {
        (Some((program, reason)), _) => match log::write_new(log_folder, &name, messages) {
            Ok(log) => Error::Rejected { name, program, reason, log },
            Err(e) => Error::io(log_folder, &e),
        },
        (None, ErrorKind::PermissionDenied) => Error::NoRights { name },
        (None, ErrorKind::AlreadyExists) => Error::Taken { name },
        _ => {
            let said = messages.lines().next_back().unwrap_or_default().trim();
            let reason = if said.is_empty() { error.to_string() } else { format!("{error}: {said}") };
            Error::Refused { name, reason: reason.replace('\n', " ") }
        }
    }
}

/// Returns the program that the verifier rejected, and the line that says why: the last one before the
/// statistics.
fn rejection(messages: &str) -> Option<(String, String)> {
    let (head, rest) = messages.split_once(LOG_BEGINS)?;
    let log = rest.split_once(LOG_ENDS).map_or(rest, |(log, _)| log);
    let is_statistics = |line: &str| line.starts_with("processed ") || line.starts_with("libbpf:");
    let reason = log.lines().map(str::trim).rfind(|line| !line.is_empty() && !is_statistics(line))?;
    let program = head.rsplit("prog '").next()?.split('\'').next()?;
    Some((program.to_owned(), reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_rejection_is_the_verifiers_last_line_before_its_statistics() {
        let messages = "libbpf: prog 'init': BPF program load failed: Permission denied\n\
                        libbpf: prog 'init': -- BEGIN PROG LOAD LOG --\n\
                        0: R1=ctx() R10=fp0\n\
                        no write support to tcp_sock at off 1668\n\
                        processed 4 insns (limit 1000000) max_states_per_insn 0\n\
                        -- END PROG LOAD LOG --\n\
                        libbpf: prog 'init': failed to load: -EACCES\n";
        let expected = ("init".to_owned(), "no write support to tcp_sock at off 1668".to_owned());
        assert_eq!(rejection(messages), Some(expected));
    }

    #[test]
    fn a_refusal_without_the_verifiers_words_is_no_rejection() {
        assert_eq!(
            rejection("libbpf: Error in bpf_object__probe_loading(): Operation not permitted\n"),
            None
        );
        let silent = "libbpf: prog 'init': -- BEGIN PROG LOAD LOG --\n\
                      processed 0 insns (limit 1000000)\n-- END PROG LOAD LOG --\n";
        assert_eq!(rejection(silent), None);
    }
}
