//! Loads an object with libbpf and explains its failures.

use crate::error::Error;
use crate::kernel::LONGEST_NAME;
use crate::log;
use crate::messages::with_messages;
use crate::source::Source;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapType, Object, ObjectBuilder, OpenObject, OpenProgramMut, ProgramType,
};
use std::ffi::OsStr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;

/// TCP_CA_NAME_MAX of the kernel, including the zero at its end.
const NAME_BYTES: usize = LONGEST_NAME + 1;
/// The flag of a struct_ops map whose registration is a link (BPF_F_LINK, include/uapi/linux/bpf.h). Without
/// it the kernel keeps the algorithm when the process has ended.
const REGISTERED_BY_LINK: u32 = 1 << 13;
const LOG_BEGINS: &str = "-- BEGIN PROG LOAD LOG --";
const LOG_ENDS: &str = "-- END PROG LOAD LOG --";

/// How lines begin that follow the verifier's reason: its statistics, and the states that it compared for a
/// loop.
const AFTERWARDS: [&str; 4] = ["processed ", "libbpf:", "cur state:", "old state:"];

/// Which programs of an object are loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Programs {
    /// Those of the algorithm.
    Own,
    /// All: the others work with the algorithm.
    All,
}

/// Registers an algorithm under this name. Returns the link that keeps it registered.
pub fn register(source: &Source, name: &str, log_folder: &Path) -> Result<Link, Error> {
    speaking(name, log_folder, || registered(source, name, Programs::Own).map(|(_, link)| link))
}

/// Registers the algorithm likewise. Returns the object too, whose other programs are loaded.
pub fn register_with_programs(
    source: &Source,
    name: &str,
    log_folder: &Path,
) -> Result<(Object, Link), Error> {
    speaking(name, log_folder, || registered(source, name, Programs::All))
}

/// Attaches the sock_ops program of an object to a cgroup. Returns the link that keeps it attached.
pub fn attach(object: &Object, name: &str, cgroup: BorrowedFd<'_>, log_folder: &Path) -> Result<Link, Error> {
    speaking(name, log_folder, || {
        let program = object.progs_mut().find(|program| program.prog_type() == ProgramType::SockOps);
        let program = program.ok_or_else(|| refused("the object holds no sock_ops program"))?;
        program.attach_cgroup(cgroup.as_raw_fd())
    })
}

/// Lets the kernel's verifier see an algorithm's programs without registering it. Nothing stays.
pub fn try_load(source: &Source, log_folder: &Path) -> Result<(), Error> {
    speaking(&source.name, log_folder, || load(source, &source.name, Programs::Own).map(drop))
}

/// Does something while libbpf's messages are kept, and explains its failure with them.
fn speaking<T>(
    name: &str,
    log_folder: &Path,
    act: impl FnOnce() -> Result<T, libbpf_rs::Error>,
) -> Result<T, Error> {
    let (result, messages) = with_messages(act);
    result.map_err(|error| explain(name.to_owned(), &error, &messages, log_folder))
}

fn registered(source: &Source, name: &str, programs: Programs) -> Result<(Object, Link), libbpf_rs::Error> {
    let mut loaded = load(source, name, programs)?;
    let map = loaded.maps_mut().find(|map| is_wanted(map.map_type(), map.name(), source));
    let link = map.ok_or_else(|| refused(NO_ALGORITHM)).and_then(|mut map| map.attach_struct_ops())?;
    Ok((loaded, link))
}

/// Loads one algorithm of an object.
fn load(source: &Source, name: &str, programs: Programs) -> Result<Object, libbpf_rs::Error> {
    let mut opened = ObjectBuilder::default().open_file(&source.object)?;
    for mut map in opened.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        if is_wanted(MapType::StructOps, map.name(), source) {
            map.set_map_flags(REGISTERED_BY_LINK)?;
        } else {
            map.set_autocreate(false)?;
        }
    }
    if programs == Programs::Own {
        let others = |program: &OpenProgramMut<'_>| program.prog_type() != ProgramType::StructOps;
        for mut program in opened.progs_mut().filter(others) {
            program.set_autoload(false);
        }
    }
    if name != source.name {
        rename(&mut opened, source, name)?;
    }
    opened.load()
}

/// Whether a map is the structure of the wanted algorithm.
fn is_wanted(is: MapType, called: &OsStr, source: &Source) -> bool {
    is == MapType::StructOps && source.variable.as_ref().is_none_or(|variable| called == variable.as_str())
}

const NO_ALGORITHM: &str = "the object holds no algorithm";

fn refused(why: &'static str) -> libbpf_rs::Error {
    std::io::Error::other(why).into()
}

/// Writes another name into the kernel's structure of the algorithm, at whose end the name is. Those are its
/// only bytes that loading does not fill in.
fn rename(opened: &mut OpenObject, source: &Source, name: &str) -> Result<(), libbpf_rs::Error> {
    let mut map = opened
        .maps_mut()
        .find(|map| is_wanted(map.map_type(), map.name(), source))
        .ok_or_else(|| refused(NO_ALGORITHM))?;
    let own = source.name.as_str();
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
/// statistics and the states of a loop.
fn rejection(messages: &str) -> Option<(String, String)> {
    let (head, rest) = messages.split_once(LOG_BEGINS)?;
    let log = rest.split_once(LOG_ENDS).map_or(rest, |(log, _)| log);
    let says_nothing = |line: &str| line.is_empty() || AFTERWARDS.iter().any(|begin| line.starts_with(begin));
    let reason = log.lines().map(str::trim).rfind(|line| !says_nothing(line))?;
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
    fn the_reason_of_an_endless_loop_is_before_the_states_that_the_verifier_compared() {
        let messages = "libbpf: prog 'hang': -- BEGIN PROG LOAD LOG --\n\
                        infinite loop detected at insn 2\n\
                        cur state: R1=ptr_tcp_sock() R10=fp0\n\
                        old state: R1=ptr_tcp_sock() R10=fp0\n\
                        processed 9 insns (limit 1000000)\n\
                        -- END PROG LOAD LOG --\n";
        let expected = ("hang".to_owned(), "infinite loop detected at insn 2".to_owned());
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
