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
from contextlib import contextmanager, suppress

from headgate import _core
from headgate.errors import HeadgateError
from headgate.execution import children


class FailOpenError(HeadgateError):
    """A bridge that cannot be made."""


class Keeper:
    """The child that joins the interfaces when the gateway has ended. As a watch it tells when the child is gone.

    Without a child (`--fail closed`) nothing is joined.
    """

    def __init__(self, report: Callable[[str], object], child: int | None = None, held: int | None = None) -> None:
        self._report = report
        self._child = child
        self._held = held
        self._status: int | None = None

    def allow(self) -> None:
        """Lets the child join the interfaces at the end: the gateway forwards, so they are the right ones."""
        if self._held is not None:
            with suppress(BrokenPipeError):  # the child was killed: the next look tells it
                os.write(self._held, b"1")

    def __call__(self, _view: object) -> None:
        """Reports once that the child has ended before the gateway."""
        if self._child is None or self._status is not None:
            return
        pid, status = os.waitpid(self._child, os.WNOHANG)
        if pid:
            self._status = status
            self._report(
                "warning: --fail open: the process that joins the interfaces at the end was killed, so they will not"
                " be joined: restart the gateway"
            )

    def end(self, bridge: _core.FailOpenBridge) -> None:
        """Ends the gateway for the child, waits for it, and reports what it did."""
        if self._child is None or self._held is None:
            return
        os.close(self._held)
        killed = self._status is not None
        if self._status is None:
            _, self._status = os.waitpid(self._child, 0)
        names = " and ".join(bridge.interfaces)
        if self._status == 0:
            self._report(f"{names} are joined by the bridge {bridge.name}; to part them: ip link del {bridge.name}")
        elif killed or os.WIFSIGNALED(self._status):
            self._report(
                f"error: --fail open: {names} are not joined: the process that joins them was killed. Its empty bridge"
                f" is left: ip link del {bridge.name}"
            )


@contextmanager
def prepared(
    mode: str, interfaces: _core.GatewayInterfaces, report: Callable[[str], object], *, confine: bool
) -> Iterator[Keeper]:
    """Parts `interfaces` for a gateway, and joins them at its end if `mode` is open. Enter it before threads start.

    With `confine` the child gives up all rights that joining does not need.

    Yields the keeper, to be told when the gateway forwards. If the interfaces were not joined before, they will not be
    joined without it. Raises `FailOpenError` if the bridge or the child cannot be made.
    """
    joined = interfaces.part()
    if joined:
        report("note: the bridge of an earlier gateway joined the interfaces; they are parted")
    if mode == "closed":
        yield Keeper(report)
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
    keeper = Keeper(report, child, held)
    if joined:
        keeper.allow()
    try:
        yield keeper
    finally:
        keeper.end(bridge)


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
