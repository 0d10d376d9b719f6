//! `longfat-bpf-loader OBJECT...` registers kernel algorithms, prints their names, and holds them until
//! its standard input ends.

use longfat_bpf_loader::{Error, Registration, Source};
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let objects: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let log_folder = std::env::temp_dir();
    let registered: Result<Vec<Registration>, Error> =
        objects.iter().map(|object| Registration::new(&Source::only(object), &log_folder)).collect();
    match registered {
        Ok(held) if !held.is_empty() => {
            println!("{}", held.iter().map(Registration::name).collect::<Vec<_>>().join(" "));
            // hold them until the other side closes its end
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            ExitCode::SUCCESS
        }
        Ok(_) => {
            eprintln!("longfat-bpf-loader: no objects given; make bpf builds them");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("longfat-bpf-loader: {error}");
            ExitCode::from(2)
        }
    }
}
