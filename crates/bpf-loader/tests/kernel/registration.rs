//! Algorithms are registered while their owner lives, and refused in one line.

use crate::machine::{LOADER, Owner, is_available, kernel, no_path, path_script, root, vanishes};
use crate::skip::skipped;
use libbpf_rs::MapType;
use libbpf_rs::query::{MapInfo, MapInfoIter};
use longfat_bpf_loader::{Error, KERNEL_FORMS, Registration, Source};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn every_algorithm_is_registered_while_its_owner_lives_and_gone_after_kill_9() {
    let Some((_turn, folder)) = kernel() else { return };
    let objects: Vec<PathBuf> = KERNEL_FORMS.iter().map(|form| form.object(&folder)).collect();
    let mut owner = Owner::of(&objects);
    for form in &KERNEL_FORMS {
        assert!(is_available(form.name), "{} is not there", form.name);
    }
    owner.kill();
    for form in &KERNEL_FORMS {
        assert!(vanishes(form.name), "{} is still there", form.name);
    }
}

/// Returns the ids of the algorithms that the kernel holds in memory, registered or only used by a socket.
fn held_in_memory() -> Vec<u32> {
    let is_algorithm = |map: &MapInfo| map.ty == MapType::StructOps && map.name.as_c_str() == c"algorithm";
    MapInfoIter::default().filter(is_algorithm).map(|map| map.id).collect()
}

#[test]
fn flows_that_end_with_kill_9_leave_no_algorithm_in_the_kernels_memory() {
    let Some((_turn, folder)) = kernel() else { return };
    if let Some(reason) = no_path() {
        return skipped(reason);
    }
    let before = held_in_memory();
    let form = &KERNEL_FORMS[1];
    let mut owner = Owner::of(&[form.object(&folder)]);
    let mut path = Command::new("python3")
        .arg(path_script())
        .args(["0.02", "400", "60", "600", "60", form.name])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    // a flow under way, with segments in flight
    let mut lines = BufReader::new(path.stdout.take().expect("piped")).lines();
    assert!(lines.nth(30).is_some(), "no flow");
    let is_new = || held_in_memory().iter().any(|id| !before.contains(id));
    assert!(is_new());
    owner.kill();
    assert!(vanishes(form.name));
    assert!(is_new(), "the flow goes on with it");
    path.kill().expect("it runs");
    path.wait().expect("it was killed");
    let is_gone = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        !is_new()
    });
    assert!(is_gone, "a socket still holds it");
}

#[test]
fn a_registration_ends_with_its_object_and_a_second_one_of_a_name_is_refused() {
    let Some((_turn, folder)) = kernel() else { return };
    let object = KERNEL_FORMS[0].object(&folder);
    let logs = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let first = Registration::new(&Source::only(&object), logs).expect("nobody has it");
    assert!(is_available(first.name()));
    let second = Registration::new(&Source::only(&object), logs);
    assert!(matches!(second, Err(Error::Taken { ref name }) if name == first.name()), "{second:?}");
    drop(first);
    assert!(vanishes(KERNEL_FORMS[0].name));
}

#[test]
fn a_second_process_with_the_same_algorithm_has_it_under_another_name() {
    let Some((_turn, folder)) = kernel() else { return };
    let logs = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // fifteen characters, as many as the kernel accepts
    let form = KERNEL_FORMS.iter().find(|form| form.name.len() == longfat_bpf_loader::LONGEST_NAME);
    let object = form.expect("westwood+").object(&folder);
    let held: Vec<Registration> = (0..3)
        .map(|_| Registration::beside_others(&Source::only(&object), logs).expect("a name is free"))
        .collect();
    let names: BTreeSet<&str> = held.iter().map(Registration::name).collect();
    assert_eq!(names.len(), 3);
    for name in &names {
        assert!(name.starts_with("lf_westwood") && is_available(name), "{names:?}");
    }
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    drop(held);
    for name in &names {
        assert!(vanishes(name), "{name} is still there");
    }
}

#[test]
fn a_program_that_the_verifier_rejects_is_reported_in_one_line_and_leaves_only_its_log() {
    let Some((_turn, _)) = kernel() else { return };
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let object = tmp.join("lf_rejected.o");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rejected.c");
    let include = root().join("bpf");
    let built = Command::new("clang")
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wno-unused-function", "-c", "-I"])
        .args([&include, &source, Path::new("-o"), &object])
        .status()
        .expect("clang runs");
    assert!(built.success());
    let output = Command::new(LOADER).arg(&object).env("TMPDIR", tmp).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.contains("lf_rejected") && said.contains("cong_avoid") && said.contains("write"), "{said}");
    let (_, named) = said.split_once("(log: ").expect("the line names the log");
    let log = std::fs::read_to_string(named.trim_end().trim_end_matches(')')).expect("it was written");
    assert!(log.lines().count() > 3, "{log}");
    assert!(!is_available("lf_rejected"));
}

#[test]
fn without_rights_the_line_says_what_is_needed() {
    let Some((_turn, folder)) = kernel() else { return };
    // where every user may read
    let shared = std::env::temp_dir().join(format!("longfat-bpf-loader-{}", std::process::id()));
    std::fs::create_dir_all(&shared).expect("a temporary folder");
    let (program, object) = (shared.join("loader"), shared.join("lf_stcp.o"));
    std::fs::copy(LOADER, &program).expect("copied");
    std::fs::copy(folder.join("lf_stcp.o"), &object).expect("copied");
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"])
        .args([&program, &object])
        .output();
    std::fs::remove_dir_all(&shared).expect("removed");
    let Ok(output) = output else { return skipped("no setpriv (Debian: util-linux)") };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("needs root") && said.trim_end().lines().count() == 1, "{said}");
}
