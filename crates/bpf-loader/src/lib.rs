//! Congestion control in eBPF, that of `bpf/` and of users' own objects, in the running Linux kernel.
//!
//! `make bpf` compiles each algorithm of `bpf/` to an object. [`Registration::new`] loads an object through
//! the kernel's verifier and registers its algorithm under its own name (`lf_hstcp`, ...), which sockets then
//! select by `TCP_CONGESTION`; [`try_load`] only asks the verifier; [`Registration::beside_others`] finds
//! another name if that one is taken. The registration is a struct_ops link that only this process holds: it
//! ends with the [`Registration`] or with the process, however the process ends. Sockets that use the
//! algorithm keep it until they close.
//!
//! The feature `loader` compiles the loader in. Without it, everything else here works, and registering fails
//! with an error that says what to do.

mod error;
mod forms;
#[cfg(unix)]
mod guided;
mod kernel;
#[cfg(feature = "loader")]
mod loader;
#[cfg(any(feature = "loader", test))]
mod log;
#[cfg(feature = "loader")]
mod messages;
mod names;
mod registration;
mod source;

pub use error::Error;
pub use forms::{GUIDED_FORMS, KERNEL_FORMS, KernelForm, ROUTERS, guided_form, kernel_form};
#[cfg(unix)]
pub use guided::Guided;
pub use kernel::{AVAILABLE, KERNEL_TYPES, LONGEST_NAME};
pub use names::available;
pub use registration::{HAS_LOADER, Registration, try_load};
pub use source::Source;
