//! The system's answers: their symbols (errno(3)), and the causes that remedies are written for.

use std::io;

/// Declares the known answers: symbol and cause.
macro_rules! answers {
    ($($symbol:ident $cause:ident,)*) => {
        /// The symbol of error number `code`.
        fn symbol(code: i32) -> Option<&'static str> {
            match code {
                $(libc::$symbol => Some(stringify!($symbol)),)*
                _ => None,
            }
        }

        impl Cause {
            /// The cause that error number `code` stands for.
            fn of_code(code: i32) -> Cause {
                match code {
                    $(libc::$symbol => Cause::$cause,)*
                    _ => Cause::Unexpected,
                }
            }
        }
    };
}

answers! {
    EPERM Forbidden,
    EACCES Forbidden,
    EROFS ReadOnly,
    ENOENT Missing,
    ENODEV Missing,
    ENXIO Missing,
    ENOTDIR Missing,
    ESRCH Missing,
    ENOSYS Unsupported,
    EOPNOTSUPP Unsupported,
    EAFNOSUPPORT Unsupported,
    EPROTONOSUPPORT Unsupported,
    ESOCKTNOSUPPORT Unsupported,
    ENOPROTOOPT Unsupported,
    ENOPKG Unsupported,
    EINVAL Unsupported,
    EMFILE Files,
    ENFILE Files,
    ENOMEM Memory,
    ENOBUFS Memory,
    ENOSPC Limit,
    EDQUOT Limit,
    EUSERS Limit,
    EAGAIN Limit,
    EBUSY Taken,
    EEXIST Taken,
    EADDRINUSE Taken,
    EADDRNOTAVAIL Gone,
    ENETDOWN Gone,
    ENETUNREACH Gone,
    EHOSTUNREACH Gone,
    ETIMEDOUT Gone,
    ECONNREFUSED Gone,
    ECONNRESET Gone,
    EBADFD Gone,
    EIO Unexpected,
    EBADF Unexpected,
    EFAULT Unexpected,
    EINTR Unexpected,
    EPIPE Unexpected,
    ERANGE Unexpected,
    EBADMSG Unexpected,
}

/// Why the system refuses a request, as far as remedies differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A missing right, or a security profile.
    Forbidden,
    /// A file system that is mounted read-only, such as /proc/sys in a container.
    ReadOnly,
    /// No such file, device or module.
    Missing,
    /// The kernel lacks the function, or is too old.
    Unsupported,
    /// Too many open files.
    Files,
    /// Too little memory, or memory that may not be locked.
    Memory,
    /// A quota: of namespaces, threads, or space on a disk.
    Limit,
    /// Another program has it.
    Taken,
    /// The interface or its peer has disappeared.
    Gone,
    /// An answer that Headgate does not expect.
    Unexpected,
}

impl Cause {
    /// All causes.
    pub const ALL: [Cause; 10] = [
        Cause::Forbidden,
        Cause::ReadOnly,
        Cause::Missing,
        Cause::Unsupported,
        Cause::Files,
        Cause::Memory,
        Cause::Limit,
        Cause::Taken,
        Cause::Gone,
        Cause::Unexpected,
    ];

    /// Name of the cause.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Forbidden => "forbidden",
            Cause::ReadOnly => "read-only",
            Cause::Missing => "missing",
            Cause::Unsupported => "unsupported",
            Cause::Files => "files",
            Cause::Memory => "memory",
            Cause::Limit => "limit",
            Cause::Taken => "taken",
            Cause::Gone => "gone",
            Cause::Unexpected => "unexpected",
        }
    }

    /// The cause of `error`.
    pub fn of(error: &io::Error) -> Cause {
        error.raw_os_error().map_or(Cause::Unexpected, Cause::of_code)
    }

    /// The remedy that holds for any request without one of its own.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Cause::Forbidden => {
                "Run as root; in a container, also check that its security profile (seccomp, AppArmor) permits the call"
            }
            Cause::ReadOnly => "Mount the file system writable; a container needs --privileged for /proc/sys",
            Cause::Missing => "Check that /proc and /sys are mounted and that the interface still exists",
            Cause::Unsupported => {
                "Use a newer kernel, or one built with this function; a sandbox such as gVisor lacks it: run outside"
            }
            Cause::Files => {
                "Raise the limit of open files (ulimit -n; for the whole machine sysctl fs.file-max), or close programs"
            }
            Cause::Memory => "Free memory, or raise the memory limit of the container or service",
            Cause::Limit => {
                "Raise the limit: of processes (ulimit -u, pids.max of the container), of namespaces (sysctl user), or \
                 of space on the disk"
            }
            Cause::Taken => "End the other program that uses it, or choose another name",
            Cause::Gone => {
                "Check that no other program removes or switches off interfaces (ip monitor link), and repeat"
            }
            Cause::Unexpected => {
                "Headgate does not expect this answer: please report it, with the output of uname -a and \
                 strace -f of the command"
            }
        }
    }
}

/// The system's answer in words, with its symbol: `permission denied (EACCES)`.
pub(crate) fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    let Some(code) = error.raw_os_error() else { return text };
    let words = text.split(" (os error ").next().unwrap_or_default();
    // Lower case within the sentence, but not in names such as "RPC".
    let (first, rest) = words.split_at(words.chars().next().map_or(0, char::len_utf8));
    let capital_word = rest.starts_with(|letter: char| letter.is_lowercase());
    let words = if capital_word { first.to_lowercase() + rest } else { words.to_string() };
    symbol(code).map_or_else(|| format!("{words} (error {code})"), |symbol| format!("{words} ({symbol})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_words_and_a_symbol_and_no_number_of_rusts() {
        let words = |code| in_words(&io::Error::from_raw_os_error(code));
        assert_eq!(words(libc::EACCES), "permission denied (EACCES)");
        assert_eq!(words(libc::EIO), "input/output error (EIO)");
        assert_eq!(words(libc::EXFULL), "exchange full (error 54)");
        assert_eq!(in_words(&io::Error::other("a short answer")), "a short answer");
    }

    #[test]
    fn every_cause_has_a_remedy() {
        for cause in Cause::ALL {
            assert!(cause.remedy().len() > 20 && !cause.remedy().ends_with('.'), "{cause:?}");
        }
    }
}
