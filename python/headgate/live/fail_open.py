"""`gateway --fail open`: a bridge of the kernel joins the interfaces whenever the gateway does not forward.

The bridge is made when the gateway starts, without ports and switched off. A child process waits for the gateway's
end, however that comes, and then adds both interfaces to it. So a kernel without bridges, or a missing right, is found
at the start, and the end needs a few system calls. A gateway that starts takes its interfaces out of a bridge from
before. Interfaces that no gateway ever joined are left alone: they may be the wrong ones.

The child is a fork from before any thread. It reads a pipe whose other end only the gateway holds, and which the kernel
closes.
"""

import errno
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path

from headgate import _core
from headgate.errors import HeadgateError
from headgate.execution import children

#: Requests of the kernel (linux/sockios.h).
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
SIOCBRADDBR, SIOCBRDELBR, SIOCBRADDIF, SIOCBRDELIF = 0x89A0, 0x89A1, 0x89A2, 0x89A3

IFF_UP = 1

#: The name of a bridge before the number of the gateway's first interface.
PREFIX = "hgopen"

#: Keeps the bridge without an address. A service may not be allowed to write it, and the bridge works without.
NO_ADDRESS = "/proc/sys/net/ipv6/conf/{}/disable_ipv6"


class FailOpenError(HeadgateError):
    """A bridge that cannot be made."""


def bridge_name(interface: str) -> str:
    """The name of the bridge of a gateway whose first interface is `interface`."""
    return f"{PREFIX}{socket.if_nametoindex(interface)}"


def released(interfaces: tuple[str, str]) -> bool:
    """Takes `interfaces` out of the bridge that joined them after an earlier gateway. Returns whether one did."""
    found = False
    with socket.socket() as sock:
        # The earlier gateway may have named them in the other order. An interface that does not exist is no port.
        for first, port in product(interfaces, interfaces):
            with suppress(OSError):
                _port(sock, SIOCBRDELIF, bridge_name(first), port)
                found = True
    return found


def prepare(interfaces: tuple[str, str]) -> tuple[str, bool]:
    """Makes the bridge of `interfaces`, without ports. Returns its name, and whether it was not there before."""
    made = False
    try:
        name = bridge_name(interfaces[0])
        with socket.socket() as sock, suppress(FileExistsError):
            fcntl.ioctl(sock, SIOCBRADDBR, name.encode() + b"\0")
            made = True
    except OSError as error:
        raise _refused("Bridge", error, interfaces) from None
    with suppress(OSError):
        Path(NO_ADDRESS.format(name)).write_text("1")
    return name, made


def remove(bridge: str) -> None:
    """Removes `bridge`, which is switched off, if it is there."""
    with suppress(OSError), socket.socket() as sock:
        fcntl.ioctl(sock, SIOCBRDELBR, bridge.encode() + b"\0")


def join(bridge: str, interfaces: tuple[str, str]) -> None:
    """Adds `interfaces` to `bridge` and switches it on."""
    with socket.socket() as sock:
        for interface in interfaces:
            _port(sock, SIOCBRADDIF, bridge, interface)
        request = struct.pack("16sh22x", bridge.encode(), 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(sock, SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sh22x", bridge.encode(), flags | IFF_UP))


@contextmanager
def prepared(
    mode: str, interfaces: tuple[str, str], report: Callable[[str], object], *, confine: bool
) -> Iterator[Callable[[], None]]:
    """Parts `interfaces` for a gateway, and joins them at its end if `mode` is open. Enter it before threads start.

    With `confine` the child gives up all rights that joining does not need.

    Yields a function to call when the gateway forwards. If the interfaces were not joined before, they will not be
    joined without it.
    """
    joined = released(interfaces)
    if joined:
        report("note: the bridge of an earlier gateway joined the interfaces; they are parted")
    if mode == "closed":
        yield lambda: None
        return
    bridge, made = prepare(interfaces)
    end_of_process, held = os.pipe()
    try:
        child = children.fork(
            lambda: _wait_and_join(end_of_process, bridge, interfaces, confine=confine),
            (end_of_process,),
            outlives=True,
        )
    except OSError as error:
        if made:
            remove(bridge)
        raise _refused("FailOpenProcess", error, interfaces) from None
    os.close(end_of_process)
    forwarded = joined

    def forwards() -> None:
        nonlocal forwarded
        forwarded = True
        _allow(held)

    if joined:
        forwards()
    try:
        yield forwards
    finally:
        os.close(held)
        _, status = os.waitpid(child, 0)
        if status == 0:
            report(f"{' and '.join(interfaces)} are joined by the bridge {bridge}; to part them: ip link del {bridge}")
        elif made and not forwarded:
            remove(bridge)


def _refused(request: str, error: OSError, interfaces: tuple[str, str]) -> FailOpenError:
    # A name without an interface gives an error without a number.
    number = error.errno or errno.ENODEV
    return FailOpenError(f"--fail open: {_core.refused(request, number, ' and '.join(interfaces))}")


def _allow(held: int) -> None:
    os.write(held, b"1")


def _wait_and_join(end_of_process: int, bridge: str, interfaces: tuple[str, str], *, confine: bool) -> int:
    """The child: waits until the process has ended and joins the interfaces if it may. Returns 0 if it did."""
    allowed = False
    if confine:
        _core.confine()  # the gateway's notes tell what this machine lacks
    try:
        while os.read(end_of_process, 1):
            allowed = True
        if allowed:
            join(bridge, interfaces)
            return 0
    except OSError as error:
        os.write(2, f"error: --fail open: cannot join {' and '.join(interfaces)}: {error.strerror}\n".encode())
    return 1


def _port(sock: socket.socket, request: int, bridge: str, interface: str) -> None:
    """Adds an interface to a bridge, or takes it out."""
    fcntl.ioctl(sock, request, struct.pack("16si20x", bridge.encode(), socket.if_nametoindex(interface)))
