//! Objects for tests, compiled with clang; where it is missing, a test is skipped with a note.

#![allow(dead_code, clippy::expect_used, reason = "each test file uses a part; a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf")
}

fn can_compile() -> bool {
    let has_clang =
        Command::new("clang").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let can = has_clang.is_ok() && Path::new("/usr/include/bpf/bpf_helpers.h").exists();
    if !can {
        eprintln!("skipped: no clang, or no bpf/bpf_helpers.h (Debian: apt install clang libbpf-dev)");
    }
    can
}

/// Compiles a source with these flags and more; returns `None` if there is no clang.
pub fn compiled(source: &Path, name: &str, flags: &[&str]) -> Option<Vec<u8>> {
    if !can_compile() {
        return None;
    }
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.o"));
    let mut command = Command::new("clang");
    command.args(["-O2", "-g", "-Wall", "-Wno-unused-function", "-c", "-o"]).arg(&object).arg(source);
    command.arg("-I").arg(sources()).args(flags);
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(std::fs::read(&object).expect("just written"))
}

/// The object of an algorithm of `bpf/`, built as `make bpf` builds it.
pub fn form(name: &str) -> Option<Vec<u8>> {
    compiled(&sources().join(name).with_extension("c"), name, &["-target", "bpf", "-mcpu=v3"])
}

/// The object of a source text.
pub fn of(text: &str, name: &str, flags: &[&str]) -> Option<Vec<u8>> {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&source, text).expect("a writable folder");
    let target = if flags.contains(&"-target") { &[][..] } else { &["-target", "bpf", "-mcpu=v3"] };
    compiled(&source, name, &[target, flags].concat())
}
