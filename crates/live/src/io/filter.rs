//! Installs a filter of system calls (seccomp(2)).
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::io;

/// Lets the kernel run a program at every system call of the calling thread, and of the threads and processes that it
/// starts. Calls that it refuses are logged by the kernel's audit. Needs `NoNewPrivs`.
pub(crate) fn install(mut instructions: Vec<libc::sock_filter>) -> io::Result<()> {
    let length = u16::try_from(instructions.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let program = libc::sock_fprog { len: length, filter: instructions.as_mut_ptr() };
    // Until Linux 5.16 a filter slows the processor down, against code that reads memory by speculation. A gateway
    // executes no code of others.
    let preferred = libc::SECCOMP_FILTER_FLAG_LOG | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // An older kernel knows none of the flags.
    for flags in [preferred, 0] {
        // SAFETY: the kernel copies `len` instructions from `filter`, which is the vector above and lives during the
        // call. It changes no memory of this process.
        let set = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
        if set == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if flags == 0 || error.raw_os_error() != Some(libc::EINVAL) {
            return Err(error);
        }
    }
    Ok(())
}
