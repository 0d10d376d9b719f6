//! Compiles in the commit that the core is built from, which `longfat` reports where there is no git to ask.
//!
//! The commit comes from the environment variable `LONGFAT_COMMIT`, else from git, else from the file
//! `COMMIT` of a source distribution. A build without any of them has no commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=LONGFAT_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let Some(root) = root() else { return };
    let commit = std::env::var("LONGFAT_COMMIT").ok().or_else(|| from_git(&root)).or_else(|| shipped(&root));
    if let Some(commit) = commit.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        println!("cargo::rustc-env=LONGFAT_BUILT_FROM={commit}");
    }
}

/// The workspace's folder.
fn root() -> Option<PathBuf> {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    Some(here.parent()?.parent()?.to_owned())
}

/// What `make wheel` wrote into a source distribution.
fn shipped(root: &Path) -> Option<String> {
    let file = root.join("COMMIT");
    let text = fs::read_to_string(&file).ok()?;
    println!("cargo::rerun-if-changed={}", file.display());
    Some(text)
}

/// The checkout's commit, with "-dirty" after it if tracked files differ from it.
fn from_git(root: &Path) -> Option<String> {
    // an unpacked source distribution may lie in somebody else's repository
    if !root.join(".git").exists() {
        return None;
    }
    // written at every commit and checkout; this crate alone is built again then
    watch(&root.join(git(root, &["rev-parse", "--git-path", "logs/HEAD"])?));
    for krate in fs::read_dir(root.join("crates")).ok()?.flatten() {
        watch(&krate.path().join("src"));
    }
    git(root, &["--no-optional-locks", "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"])
}

/// Runs this script again when a file changes; cargo would run it every time for one that is missing.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
