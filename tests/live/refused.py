"""Runs a command in a machine that refuses it something: `python refused.py JSON`, with the fields of `Case`.

The command gets namespaces of its own for mounts and interfaces, a /dev/net as the case wants it, and a seccomp filter
(seccomp(2)) that answers chosen system calls with an error. Afterwards a JSON object on stdout has the command's exit
code, its output, and what it left behind.
"""

import ctypes
import errno
import importlib.util
import json
import os
import platform
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

#: Numbers of system calls: x86-64, and the table that newer architectures share.
CALLS = {
    "x86_64": {
        "capget": 125, "capset": 126, "clone": 56, "clone3": 435, "epoll_create1": 291, "ioctl": 16,
        "landlock_create_ruleset": 444, "pidfd_open": 434, "ppoll": 271,
        "prctl": 157, "seccomp": 317, "setsockopt": 54, "socket": 41, "unshare": 272,
    },
    "aarch64": {
        "capget": 90, "capset": 91, "clone": 220, "clone3": 435, "epoll_create1": 20, "ioctl": 29,
        "landlock_create_ruleset": 444, "pidfd_open": 434, "ppoll": 73,
        "prctl": 167, "seccomp": 277, "setsockopt": 208, "socket": 198, "unshare": 97,
    },
}  # fmt: skip

#: The architectures as audit knows them (linux/audit.h).
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 1 << 18
DEVICE = "mknod tun c 10 200; chmod 0666 tun"
USER = 65534
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
ALLOW, ERRNO, LOAD, EQUALS, HAS, RETURN = 0x7FFF0000, 0x50000, 0x20, 0x15, 0x45, 0x06

LIBC = ctypes.CDLL(None, use_errno=True)


class Refusal(NamedTuple):
    """A system call, the answer, and conditions on its arguments: number, `is` or `has` (a flag), value."""

    call: str
    answer: str
    conditions: tuple[tuple[int, str, int], ...] = ()


class Case(NamedTuple):
    """A command, and the machine that it meets.

    `device` is a shell script that runs in an empty /dev/net; without one, /dev/net is the machine's. `user` runs the
    command without rights. `set_up` is a script for the new network.
    """

    command: list[str]
    refusals: tuple[Refusal, ...] = ()
    device: str | None = None
    set_up: str = ""
    user: int | None = None
    environment: dict[str, str] | None = None


def possible() -> str | None:
    """Why cases cannot run on this machine; None if they can."""
    if platform.machine() not in CALLS:
        return f"the numbers of system calls of {platform.machine()} are not listed"
    done = subprocess.run(["unshare", "-mn", "true"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"it needs root for namespaces: {done.stderr.strip()}"


def needs_of_user() -> str | None:
    """Why `USER` cannot run the package in a user namespace; None if it can."""
    if (why := possible()) is not None:
        return why
    closed = "other users cannot read Python or the package, as after a checkout with umask 077"
    try:
        outcome = run(Case([sys.executable, "-c", "import headgate._core"], user=USER))
    except AssertionError:
        return closed
    if outcome["code"] != 0:
        return f"{closed}: {outcome['err']}"
    outcome = run(Case(["unshare", "-U", "true"], user=USER))
    return None if outcome["code"] == 0 else f"other users cannot make user namespaces: {outcome['err']}"


def run(case: Case) -> dict[str, Any]:
    """The outcome of `case`: `code`, `out`, `err`, and the lists `interfaces` and `processes` that were left behind."""
    words = [sys.executable, __file__, json.dumps(case._asdict())]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _filter(refusals: list[Refusal]) -> bytes:
    """The program that answers `refusals`, and allows all else. Arguments are compared by their lower halves."""
    machine = platform.machine()
    lines = [(LOAD, 0, 0, 4), (EQUALS, 1, 0, AUDIT[machine]), (RETURN, 0, 0, ALLOW)]
    for call, answer, conditions in refusals:
        tests: list[tuple[int, int, int, int]] = []
        for argument, how, value in conditions:
            tests += [(LOAD, 0, 0, 16 + 8 * argument), (EQUALS if how == "is" else HAS, 0, 0, value)]
        tests = [(LOAD, 0, 0, 0), (EQUALS, 0, 0, CALLS[machine][call]), *tests]
        # A test that fails jumps behind the answer.
        tests = [(code, 0, 0 if code == LOAD else len(tests) - place, k) for place, (code, _, _, k) in enumerate(tests)]
        lines += [*tests, (RETURN, 0, 0, ERRNO | getattr(errno, answer))]
    lines.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _refuse(refusals: list[Refusal], user: int | None) -> None:
    """Makes this process the `user`, and refuses the calls to it and its children."""
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    if not refusals:
        return
    code = _filter(refusals)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    _checked(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(program), 0, 0))


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = (None if text is None else text.encode() for text in (source, target, kind))
    _checked(LIBC.mount(*texts, flags, None if options is None else options.encode()))


def _open_to_others() -> None:
    """Gives other users the way to Python and the package: a tree of mounts covers closed folders such as /root."""
    package = importlib.util.find_spec("headgate")
    assert package is not None
    assert package.origin is not None
    needed = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parents[1]}
    needed.add(Path(package.origin).parents[1])
    covered: dict[Path, set[Path]] = {}
    for path in needed:
        closed = next((each for each in [*reversed(path.parents), path] if not each.stat().st_mode & 0o001), None)
        if closed is not None and closed != path:
            covered.setdefault(closed, set()).add(path)
    for closed, paths in covered.items():
        folders = {path: os.open(path, os.O_PATH) for path in paths}
        _mount("tmpfs", str(closed), "tmpfs", 0, "mode=0755")
        for path, folder in folders.items():
            path.mkdir(parents=True, exist_ok=True)
            _mount(f"/proc/self/fd/{folder}", str(path), None, MS_BIND | MS_REC)
            os.close(folder)


def _shell(script: str, folder: str = "/") -> None:
    done = subprocess.run(["sh", "-ec", script], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{script}: {done.stderr}")


def _session(leader: int) -> list[str]:
    """The processes of a session, by name."""
    names = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = stat.read_text().rpartition(") ")
        except OSError:
            continue
        if int(rest.split()[3]) == leader and rest.split()[0] != "Z":
            names.append(head)
    return names


def _main(case: Case) -> None:
    _checked(LIBC.unshare(CLONE_NEWNS | CLONE_NEWNET))
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    if case.user is not None:
        _open_to_others()
    if case.device is not None:
        _mount("tmpfs", "/dev/net", "tmpfs", 0, "mode=0755")
        _shell(case.device, "/dev/net")
    _shell(case.set_up)
    before = socket.if_nameindex()
    refusals = [Refusal(*refusal) for refusal in case.refusals]
    process = subprocess.Popen(
        case.command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **(case.environment or {})},
        preexec_fn=lambda: _refuse(refusals, case.user),
    )
    out, err = process.communicate()
    left = [name for _, name in socket.if_nameindex() if name not in {name for _, name in before}]
    outcome = {"code": process.returncode, "out": out, "err": err}
    print(json.dumps({**outcome, "interfaces": left, "processes": _session(process.pid)}))


if __name__ == "__main__":
    os.umask(0o022)  # folders made here are open to the user
    _main(Case(**json.loads(sys.argv[1])))
