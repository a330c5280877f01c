//! System calls (seccomp(2)): a list of those that a role makes, with conditions on arguments.
//!
//! The kernel answers any other call with `EPERM` and writes a line to its audit log. It does not kill the process: a
//! call that this list forgot, of a newer C library perhaps, would stop a whole network, and without a word. `EPERM`
//! stops an attacker as well.
//!
//! The conditions leave no way to another program: no process can be started, no file be opened for writing, no memory
//! become executable after it was written, no socket be opened that sees packets of others.

use std::io;

use super::Role;

/// Restricts the calling thread to the system calls of `role`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
pub(super) fn restrict(role: Role) -> io::Result<()> {
    use seccompiler::SeccompAction::{Allow, Errno};
    let (eperm, enosys) = (Errno(libc::EPERM as u32), Errno(libc::ENOSYS as u32));
    // Of two filters the stricter answer counts. Behind the second one no other can be installed.
    let absent = table::ABSENT.into_iter().map(|call| (call, Vec::new())).collect();
    crate::io::filter::install(table::compile(absent, Allow, enosys)?)?;
    crate::io::filter::install(table::compile(table::rules(role)?, eperm, Allow)?)
}

/// No table lists the numbers of system calls of this machine.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
pub(super) fn restrict(_: Role) -> io::Result<()> {
    Err(io::Error::from_raw_os_error(libc::ENOSYS))
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod table {
    use std::collections::BTreeMap;
    use std::io;

    use libc::*;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };

    use super::Role;

    /// A condition: the argument's position, and the bits that must have the value.
    type Condition = (u8, u64, u64);
    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    /// All bits of an argument of the type `int`.
    const INT: u64 = u32::MAX as u64;

    /// Calls that are answered with `ENOSYS`, because libraries then use an older one. The flags of `clone3` are in
    /// memory, which a filter cannot read. From 463 on calls are newer than this table.
    pub(super) const ABSENT: [i64; 50] = {
        let mut calls = [SYS_clone3; 50];
        let mut n = 1;
        while n < calls.len() {
            calls[n] = 462 + n as i64;
            n += 1;
        }
        calls
    };

    /// Calls of the C library, of Rust's and of Python's, whatever the program does.
    #[rustfmt::skip]
    const RUNTIME: &[i64] = &[
        SYS_brk, SYS_clock_getres, SYS_clock_gettime, SYS_clock_nanosleep, SYS_close, SYS_exit, SYS_exit_group, SYS_fstat,
        SYS_futex, SYS_getegid, SYS_geteuid, SYS_getgid, SYS_getpid, SYS_getppid, SYS_getrandom, SYS_gettid,
        SYS_gettimeofday, SYS_getuid, SYS_lseek, SYS_madvise, SYS_mremap, SYS_munmap, SYS_nanosleep, SYS_read,
        SYS_restart_syscall, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sched_yield, SYS_sigaltstack,
        SYS_write,
    ];

    /// Calls of a gateway after its start.
    #[rustfmt::skip]
    const GATEWAY: &[i64] = &[
        // Frames, and the requests of clients.
        SYS_accept, SYS_accept4, SYS_getpeername, SYS_getsockname, SYS_getsockopt, SYS_listen, SYS_recvfrom, SYS_recvmsg,
        SYS_sendmmsg, SYS_sendmsg, SYS_sendto, SYS_shutdown,
        // Waiting for them.
        SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_eventfd2, SYS_ppoll, SYS_pselect6, SYS_rt_sigtimedwait,
        // Settings, and modules that Python loads when it needs them.
        SYS_faccessat, SYS_faccessat2, SYS_getcwd, SYS_getdents64, SYS_newfstatat, SYS_pread64, SYS_readlinkat, SYS_readv,
        SYS_statx, SYS_writev,
        // The guard's queries over its netlink socket, which is older than the filter: SYS_recvfrom, SYS_sendto above. Its
        // claims' sockets tell whether the interfaces still exist: SYS_getsockname above.
        // The end: the socket of `headgate top`, and the keeper.
        SYS_unlinkat, SYS_wait4,
        // Threads.
        SYS_getcpu, SYS_getrusage, SYS_membarrier, SYS_rseq, SYS_sched_getaffinity, SYS_set_robust_list, SYS_sysinfo,
        SYS_uname,
    ];

    /// Calls of the process that joins the interfaces by requests over the bridge's netlink socket, which is older than
    /// the filter. The claims' sockets tell whether the interfaces still exist.
    const KEEPER: &[i64] = &[SYS_getsockname, SYS_recvfrom, SYS_sendto];

    /// Older forms of the same calls, which only x86-64 has.
    #[cfg(target_arch = "x86_64")]
    #[rustfmt::skip]
    const OLD: &[i64] = &[
        SYS_access, SYS_epoll_wait, SYS_lstat, SYS_poll, SYS_readlink, SYS_select, SYS_stat, SYS_time, SYS_unlink,
    ];
    #[cfg(not(target_arch = "x86_64"))]
    const OLD: &[i64] = &[];

    /// Threads share the memory of the process, and are in its namespaces.
    const THREAD: u64 = (CLONE_VM | CLONE_THREAD) as u64;
    const NAMESPACES: u64 =
        (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
            as u64;
    /// Flags that open a file for more than reading. `O_TMPFILE` contains `O_DIRECTORY`, which is harmless alone.
    const WRITING: u64 = (O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & !O_DIRECTORY)) as u64;
    const EXECUTABLE: u64 = PROT_EXEC as u64;
    const WRITABLE: u64 = PROT_WRITE as u64;
    /// The kind of a socket without its flags.
    const KIND: u64 = 0xf;

    const fn is(argument: u8, value: i32) -> Condition {
        (argument, INT, value as u32 as u64)
    }

    #[allow(clippy::unnecessary_cast, reason = "the type of a code is not the same in every C library")]
    const fn ioctl(code: Ioctl) -> Condition {
        (1, INT, code as u64 & INT)
    }

    /// Calls with conditions, of both roles. All conditions of a line must hold, and one line of a call.
    const EACH: &[(i64, &[Condition])] = &[
        (SYS_fcntl, &[is(1, F_GETFD)]),
        (SYS_fcntl, &[is(1, F_SETFD)]),
        (SYS_fcntl, &[is(1, F_GETFL)]),
        (SYS_fcntl, &[is(1, F_SETFL)]),
        (SYS_mmap, &[(2, EXECUTABLE, 0)]),
        (SYS_mmap, &[(2, WRITABLE, 0)]),
        (SYS_mprotect, &[(2, EXECUTABLE, 0)]),
        // Without a new limit it reads one.
        (SYS_prlimit64, &[is(0, 0), (2, u64::MAX, 0)]),
    ];

    const OF_GATEWAY: &[(i64, &[Condition])] = &[
        (SYS_clone, &[(0, THREAD | NAMESPACES, THREAD)]),
        (SYS_ioctl, &[ioctl(FIONBIO as Ioctl)]),
        // A reload asks which interface a name belongs to now.
        (SYS_ioctl, &[ioctl(SIOCGIFINDEX as Ioctl)]),
        (SYS_ioctl, &[ioctl(TCGETS as Ioctl)]),
        // TCGETS2, which newer C libraries use. Its number contains the size of a structure.
        (SYS_ioctl, &[ioctl(0x802c_542a_u32 as Ioctl)]),
        (SYS_ioctl, &[ioctl(TIOCGWINSZ as Ioctl)]),
        (SYS_openat, &[(2, WRITING, 0)]),
        (SYS_prctl, &[is(0, PR_SET_NAME)]),
        (SYS_prctl, &[is(0, PR_SET_TIMERSLACK)]),
        (SYS_prctl, &[is(0, PR_SET_VMA)]),
        // A thread's own priority. Without a capability no thread gets more than it has.
        (SYS_sched_setscheduler, &[is(0, 0)]),
        (SYS_setpriority, &[is(0, PRIO_PROCESS as i32), is(1, 0)]),
        (SYS_setsockopt, &[is(1, IPPROTO_TCP)]),
        (SYS_setsockopt, &[is(1, SOL_SOCKET)]),
        // The C library asks about names over a socket of either family.
        (SYS_socket, &[is(0, AF_INET), (1, KIND, SOCK_DGRAM as u64)]),
        (SYS_socket, &[is(0, AF_UNIX)]),
        (SYS_socketpair, &[is(0, AF_UNIX)]),
        #[cfg(target_arch = "x86_64")]
        (SYS_open, &[(1, WRITING, 0)]),
    ];

    /// The allowed calls of `role`; a call without rules is allowed with any arguments.
    pub(super) fn rules(role: Role) -> io::Result<Rules> {
        let (calls, conditions): (&[&[i64]], &[_]) = match role {
            Role::Gateway => (&[RUNTIME, GATEWAY, OLD, &ABSENT], OF_GATEWAY),
            Role::Keeper => (&[RUNTIME, KEEPER, &ABSENT], &[]),
        };
        let mut rules: Rules = calls.iter().copied().flatten().map(|call| (*call, Vec::new())).collect();
        // A thread may send a signal to its own process: `abort` does.
        let own = [is(0, std::process::id() as i32)];
        let own: [(i64, &[Condition]); 1] = [(SYS_tgkill, &own)];
        for (call, conditions) in EACH.iter().chain(conditions).chain(&own) {
            rules.entry(*call).or_default().push(rule(conditions)?);
        }
        Ok(rules)
    }

    fn rule(conditions: &[Condition]) -> io::Result<SeccompRule> {
        let condition = |&(argument, mask, value): &Condition| {
            let length = if mask > INT { SeccompCmpArgLen::Qword } else { SeccompCmpArgLen::Dword };
            SeccompCondition::new(argument, length, SeccompCmpOp::MaskedEq(mask), value)
        };
        let conditions = conditions.iter().map(condition).collect::<Result<_, _>>().map_err(io::Error::other)?;
        SeccompRule::new(conditions).map_err(io::Error::other)
    }

    /// The filter's program: `matched` is the answer to calls that match one of `rules`.
    pub(super) fn compile(
        rules: Rules,
        other: SeccompAction,
        matched: SeccompAction,
    ) -> io::Result<Vec<libc::sock_filter>> {
        let target = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
        let filter = SeccompFilter::new(rules, other, matched, target).map_err(io::Error::other)?;
        let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
        let instruction =
            |line: seccompiler::sock_filter| libc::sock_filter { code: line.code, jt: line.jt, jf: line.jf, k: line.k };
        Ok(program.into_iter().map(instruction).collect())
    }
}
