"""Runs a gateway between two interfaces until a signal stops it. SIGHUP reloads its settings."""

import errno
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from headgate import _core
from headgate.errors import HeadgateError, UsageError
from headgate.live import notify
from headgate.live.confinement import KeptPaths
from headgate.live.gateway_settings import FIXED, GatewaySettings
from headgate.live.session import TICK
from headgate.terminal import stopping

STOPS = (signal.SIGINT, signal.SIGTERM)
RELOADS = signal.SIGHUP

#: Settings that the extension does not know, or gets in another form.
OURS = ("interfaces", "metrics", "fail", "no_sandbox", "traces")

#: Why a file that everybody may read was refused.
READS_NO_MORE = (
    "note: a running gateway reads only files in the folders of its settings and traces at the start: "
    "move the file there, or restart"
)

#: Gets views of a running gateway.
Watch = Callable[[dict[str, Any]], object]


class GatewayError(HeadgateError):
    """A gateway that cannot be opened, or that failed."""


class GatewayRun(NamedTuple):
    """A finished gateway: its duration in seconds, its last view, and the error if it failed."""

    seconds: float
    view: dict[str, Any]
    error: GatewayError | None


class BlockedSignals:
    """Blocks the signals that stop or reload, in this thread and its children; `next` collects them."""

    def __enter__(self) -> Self:
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, (*STOPS, RELOADS))
        return self

    def __exit__(self, *_: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def next(self, seconds: float) -> int | None:
        """The next signal; None if there is none within `seconds`."""
        info = signal.sigtimedwait((*STOPS, RELOADS), seconds)
        if info is None:
            return None
        if info.si_signo in STOPS:
            stopping.taken()
        return info.si_signo


def claim(settings: GatewaySettings) -> _core.GatewayInterfaces:
    """Claims the interfaces of a gateway, which no other gateway can then use.

    Raises `UsageError` for interfaces that do not exist, `GatewayError` if another gateway has one of them.
    """
    with _as_errors():
        return _core.GatewayInterfaces(*settings.interfaces)


def open_gateway(
    settings: GatewaySettings, interfaces: _core.GatewayInterfaces, kept: KeptPaths | None
) -> _core.Gateway:
    """Opens a gateway between claimed interfaces, which starts to forward.

    With `kept` this thread, the gateway's and those that start later have no other rights from then on. Raises
    `UsageError` for settings that cannot be used, `GatewayError` if it cannot be opened.
    """
    rest = {key: value for key, value in settings._asdict().items() if key not in OURS}
    with _as_errors():
        return _core.Gateway(interfaces, **rest, kept=kept)


@contextmanager
def _as_errors() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None
    except _core.LiveError as error:
        raise GatewayError(str(error)) from None


class InterfaceWatch:
    """Reports changes of a gateway's interfaces, such as an address that one of them got."""

    def __init__(self, changes: Callable[[], Sequence[str]], report: Callable[[str], object]) -> None:
        self._changes = changes
        self._report = report

    def __call__(self, _view: Mapping[str, Any]) -> None:
        """Reports the changes since the last call."""
        for line in self._changes():
            self._report(line)


def run(
    gateway: _core.Gateway,
    signals: BlockedSignals,
    reload: Callable[[], object],
    watches: Sequence[Watch] = (),
) -> GatewayRun:
    """Waits for the gateway's end. SIGINT and SIGTERM stop it, SIGHUP calls `reload`; `watches` get views of it."""
    begun = time.monotonic()
    failure: GatewayError | None = None
    try:
        while (signal_number := signals.next(TICK)) not in STOPS:
            if not gateway.is_running:
                break
            if signal_number == RELOADS:
                notify.reloading()
                reload()
                notify.notify(READY=1)
            view = gateway.view()
            for watch in watches:
                watch(view)
    finally:
        notify.notify(STOPPING=1)
        seconds = time.monotonic() - begun
        try:
            view = gateway.stop()
        except _core.LiveError as error:
            failure, view = GatewayError(f"the gateway failed: {error}"), gateway.view()
    return GatewayRun(seconds, view, failure)


def _same_interfaces(names: tuple[str, str], known: GatewaySettings, interfaces: _core.GatewayInterfaces) -> bool:
    """Whether `names` are those of the settings in use, or the present names of the same interfaces."""
    try:
        return names == known.interfaces or tuple(map(socket.if_nametoindex, names)) == interfaces.indexes
    except OSError:
        return False


def reloading(
    gateway: _core.Gateway,
    settings: GatewaySettings,
    interfaces: _core.GatewayInterfaces,
    load: Callable[[], GatewaySettings] | None,
    report: Callable[[str], object],
) -> Callable[[], None]:
    """A function that reads the settings again and applies them.

    It reports settings that cannot be used, and keeps the settings in use. An interface that was renamed may be called
    by either name.
    """
    fixed = settings.fixed

    def reload() -> None:
        if load is None:
            report("note: nothing to reload: the gateway was started without --config")
            return
        try:
            new = load()
            if new.fixed != fixed or not _same_interfaces(new.interfaces, settings, interfaces):
                raise UsageError(f"{', '.join(FIXED)} cannot change while the gateway runs: restart it")
            gateway.refit(new.forward, new.reverse)
        except (UsageError, ValueError, _core.LiveError) as error:
            if os.strerror(errno.EACCES) in str(error) and not settings.no_sandbox:
                report(READS_NO_MORE)
            report(f"error: {error}\nthe settings are unchanged")
        else:
            report("reloaded")

    return reload
