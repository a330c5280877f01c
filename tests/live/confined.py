"""Tries what a confined process may not do: `python confined.py ROLE FOLDER`, ROLE being free, gateway or keeper.

Prints a JSON object: for each attempt the symbol of the system's answer, `done` if the attempt succeeded. As `free` it
only checks the attempts: no right is given up.
"""

import ctypes
import errno
import json
import mmap
import os
import platform
import resource
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from headgate import _core

LIBC = ctypes.CDLL(None, use_errno=True)

#: Numbers of system calls without a function in Python: x86-64, and the table that newer architectures share.
CALLS = {
    "x86_64": {
        "add_key": 248, "bpf": 321, "capset": 126, "chroot": 161, "clone3": 435, "execveat": 322, "init_module": 175,
        "io_uring_setup": 425, "kexec_load": 246, "keyctl": 250, "landlock_create_ruleset": 444, "mount": 165,
        "move_pages": 279, "open_by_handle_at": 304, "perf_event_open": 298, "pidfd_open": 434, "pivot_root": 155,
        "prctl": 157, "process_vm_readv": 310, "reboot": 169,
        "setns": 308, "settimeofday": 164, "swapon": 167, "umount2": 166, "unshare": 272, "userfaultfd": 323,
    },
    "aarch64": {
        "add_key": 217, "bpf": 280, "capset": 91, "chroot": 51, "clone3": 435, "execveat": 281, "init_module": 105,
        "io_uring_setup": 425, "kexec_load": 104, "keyctl": 219, "landlock_create_ruleset": 444, "mount": 40,
        "move_pages": 239, "open_by_handle_at": 265, "perf_event_open": 241, "pidfd_open": 434, "pivot_root": 41,
        "prctl": 167, "process_vm_readv": 270, "reboot": 142,
        "setns": 268, "settimeofday": 170, "swapon": 224, "umount2": 39, "unshare": 97, "userfaultfd": 282,
    },
}[platform.machine()]  # fmt: skip

AF_XDP, PTRACE_ATTACH, SECCOMP_SET_MODE_FILTER = 44, 16, 1
#: seccomp(2), whose operation 0 takes effect.
SECCOMP = {"x86_64": 317, "aarch64": 277}[platform.machine()]


def checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "system call")


def call(name: str) -> None:
    """Makes a system call with arguments of zero, which change nothing."""
    checked(LIBC.syscall(CALLS[name], *[ctypes.c_long(0)] * 6))


def child() -> None:
    """Starts a process."""
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def connect() -> None:
    """Connects to a port that nobody serves."""
    with socket.socket() as sock:
        sock.connect(("127.0.0.1", 9))


def listen() -> None:
    """Listens on a port."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()


def open_socket(family: int) -> None:
    """Opens a socket that sees packets or states of the machine."""
    socket.socket(family, socket.SOCK_RAW).close()


def code() -> None:
    """Asks for memory that can be written and executed."""
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()


def attempts(folder: Path) -> dict[str, Callable[[], object]]:
    """Every attempt, by its name. `folder` is the one that a gateway may read."""
    families = {"packet": socket.AF_PACKET, "netlink": socket.AF_NETLINK, "xdp": AF_XDP, "vsock": socket.AF_VSOCK}
    sockets = {f"socket {name}": partial(open_socket, family) for name, family in families.items()}
    return {
        **{name: partial(call, name) for name in CALLS},
        **sockets,
        "socket raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close(),
        "socket tcp": lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM).close(),
        "bind": listen,
        "connect": connect,
        "fork": child,
        "execve": lambda: os.execv("/no-such-program", ["no-such-program"]),
        "kill the parent": lambda: os.kill(os.getppid(), 0),
        "kill all": lambda: os.kill(-1, 0),
        # No process has the number 0.
        "ptrace": lambda: checked(LIBC.ptrace(PTRACE_ATTACH, 0, None, None)),
        "another filter": lambda: checked(LIBC.syscall(SECCOMP, SECCOMP_SET_MODE_FILTER, 0, None)),
        "become a user": lambda: os.setresuid(0, 0, 0),
        "raise a limit": lambda: resource.prlimit(0, resource.RLIMIT_CORE, (0, 0)),
        "executable memory": code,
        "read a secret": lambda: Path("/etc/shadow").read_bytes(),
        "list the processes": lambda: list(Path("/proc").iterdir()),
        "list the root": lambda: list(Path("/").iterdir()),
        "write": lambda: (folder / "settings").write_text("other"),
        "append": lambda: (folder / "settings").open("a").close(),
        "make a file": lambda: (folder / "new").write_text("new"),
        "make a temporary file": lambda: os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR)),
        "make a folder": lambda: (folder / "folder").mkdir(),
        "make a link": lambda: (folder / "link").symlink_to("/etc"),
        "change the mode": lambda: (folder / "settings").chmod(0o777),
        "remove a file elsewhere": lambda: (folder.parent / "elsewhere").unlink(),
        "be a real-time process": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2)),
    }


def answer(attempt: Callable[[], object]) -> str:
    """The symbol of the system's answer to an attempt."""
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "done"


def main() -> None:
    role, folder = sys.argv[1], Path(sys.argv[2])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    notes: list[str] = []
    every = attempts(folder)
    if role == "gateway":
        notes = _core.confine(([str(folder)], [str(folder)]))
    elif role == "keeper":
        notes = _core.confine()
    answers = {name: answer(attempt) for name, attempt in every.items()}
    read = answer(lambda: (folder / "settings").read_text())
    os.write(1, json.dumps({"notes": notes, "answers": answers, "read": read}).encode())


if __name__ == "__main__":
    main()
