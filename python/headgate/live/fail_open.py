"""`gateway --fail open`: a bridge of the kernel joins the interfaces whenever the gateway does not forward.

The bridge is made when the gateway starts, without ports and switched off. A child process waits for the gateway's
end, however that comes, and then adds both interfaces to it, or neither. So a kernel without bridges, or a missing
right, is found at the start, and the end needs a few system calls. A gateway that starts takes its interfaces out of a
bridge from before. Interfaces that no gateway ever joined are left alone: they may be the wrong ones.

The child is a fork from before any thread. It reads a pipe whose other end only the gateway holds, and which the kernel
closes. It shares the gateway's claim on the interfaces, so no other gateway starts before it has joined them.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headgate import _core
from headgate.errors import HeadgateError
from headgate.execution import children


class FailOpenError(HeadgateError):
    """A bridge that cannot be made."""


@contextmanager
def prepared(
    mode: str, interfaces: _core.GatewayInterfaces, report: Callable[[str], object], *, confine: bool
) -> Iterator[Callable[[], None]]:
    """Parts `interfaces` for a gateway, and joins them at its end if `mode` is open. Enter it before threads start.

    With `confine` the child gives up all rights that joining does not need.

    Yields a function to call when the gateway forwards. If the interfaces were not joined before, they will not be
    joined without it. Raises `FailOpenError` if the bridge or the child cannot be made.
    """
    joined = interfaces.part()
    if joined:
        report("note: the bridge of an earlier gateway joined the interfaces; they are parted")
    if mode == "closed":
        yield lambda: None
        return
    try:
        bridge = interfaces.bridge()
    except (ValueError, _core.LiveError) as error:
        raise FailOpenError(f"--fail open: {error}") from None
    end_of_process, held = os.pipe()
    try:
        child = children.fork(
            lambda: _wait_and_join(end_of_process, bridge, confine=confine),
            (end_of_process, *bridge.descriptors),
            outlives=True,
        )
    except OSError as error:
        bridge.remove()
        refused = _core.refused("FailOpenProcess", error.errno or errno.EAGAIN, " and ".join(bridge.interfaces))
        raise FailOpenError(f"--fail open: {refused}") from None
    os.close(end_of_process)
    if joined:
        _allow(held)
    try:
        yield lambda: _allow(held)
    finally:
        os.close(held)
        _, status = os.waitpid(child, 0)
        if status == 0:
            names = " and ".join(bridge.interfaces)
            report(f"{names} are joined by the bridge {bridge.name}; to part them: ip link del {bridge.name}")


def _allow(held: int) -> None:
    os.write(held, b"1")


def _wait_and_join(end_of_process: int, bridge: _core.FailOpenBridge, *, confine: bool) -> int:
    """The child: waits until the process has ended and joins the interfaces if it may. Returns 0 if it did.

    Otherwise it removes the bridge. The gateway has no right to do so any more, or may have been killed.
    """
    allowed = False
    if confine:
        _core.confine()  # the gateway's notes tell what this machine lacks
    try:
        while os.read(end_of_process, 1):
            allowed = True
        if allowed:
            bridge.join()
            return 0
        bridge.remove()
    except (OSError, _core.LiveError) as error:
        names = " and ".join(bridge.interfaces)
        os.write(2, f"error: --fail open: {names} are not joined: {error}\n".encode())
    return 1
