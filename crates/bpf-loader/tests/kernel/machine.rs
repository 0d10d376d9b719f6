//! What tests need of the machine: a kernel that takes programs, the objects, and an owner for them.

use crate::skip::skipped;
use longfat_bpf_loader::available;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub const LOADER: &str = env!("CARGO_BIN_EXE_longfat-bpf-loader");
/// All processes share the kernel's names, so one test runs at a time.
static KERNEL: Mutex<()> = Mutex::new(());

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Returns the lock on the kernel and the folder of the objects; or `None`, after saying why.
pub fn kernel() -> Option<(MutexGuard<'static, ()>, PathBuf)> {
    let turn = KERNEL.lock().unwrap_or_else(PoisonError::into_inner);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|l| l.starts_with("Uid:\t0\t"));
    let missing = [
        (!is_root, "not root"),
        (!Path::new(longfat_bpf_loader::KERNEL_TYPES).exists(), "a kernel without BTF"),
        (!runs("clang") || !runs("make"), "no clang or no make (Debian: apt install clang make)"),
        (
            !Path::new("/usr/include/bpf/bpf_helpers.h").exists(),
            "no libbpf-dev (Debian: apt install libbpf-dev)",
        ),
    ];
    if let Some((_, reason)) = missing.iter().find(|(is_missing, _)| *is_missing) {
        skipped(reason);
        return None;
    }
    let built =
        Command::new("make").arg("--silent").arg("bpf").current_dir(root()).output().expect("it starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some((turn, root().join("bpf/out")))
}

/// Returns the program that makes the path for flows in these tests.
pub fn path_script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/path.py")
}

/// Returns why there can be no such path here, if so.
pub fn no_path() -> Option<&'static str> {
    let is_there = Path::new("/dev/net/tun").exists() && runs("python3") && runs("ip");
    (!is_there).then_some("no /dev/net/tun, python3 or ip (Debian: apt install python3 iproute2)")
}

/// Whether sockets may select the algorithm now.
pub fn is_available(name: &str) -> bool {
    available().expect("the kernel lists them").iter().any(|n| n == name)
}

/// Whether the algorithm disappears soon: a registration ends when the kernel has cleaned up after its owner.
pub fn vanishes(name: &str) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        !is_available(name)
    })
}

/// A process that has registered these objects; it ends with the test, whatever the result.
pub struct Owner(Child);

impl Owner {
    pub fn of(objects: &[PathBuf]) -> Owner {
        let mut child = Command::new(LOADER)
            .args(objects)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it was built with this test");
        let mut names = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut names).expect("a line");
        if names.is_empty() {
            let output = child.wait_with_output().expect("it ended");
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_eq!(names.split_whitespace().count(), objects.len(), "{names}");
        Owner(child)
    }

    pub fn kill(&mut self) {
        self.0.kill().expect("it runs"); // SIGKILL
        self.0.wait().expect("it was killed");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
