"""A gateway between two interfaces: run until it is told to stop, its settings read anew when it is told to."""

import signal
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from headgate import _core
from headgate.errors import HeadgateError, UsageError
from headgate.live.gateway_settings import GatewaySettings
from headgate.live.session import TICK

STOPS = (signal.SIGINT, signal.SIGTERM)
RELOADS = signal.SIGHUP


class GatewayError(HeadgateError):
    """A gateway that cannot be opened, or that broke."""


class GatewayRun(NamedTuple):
    """What a gateway left: how long it ran in seconds, what it did, and what ended it, if it broke."""

    seconds: float
    view: dict[str, Any]
    broke: GatewayError | None


class HeldSignals:
    """From here on, signals that stop or reload wait to be asked for, in this thread and those it starts."""

    def __enter__(self) -> Self:
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, (*STOPS, RELOADS))
        return self

    def __exit__(self, *_: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def next(self, seconds: float) -> int | None:
        """The signal that came, or comes within `seconds`."""
        found = signal.sigtimedwait((*STOPS, RELOADS), seconds)
        return None if found is None else found.si_signo


def open_gateway(settings: GatewaySettings) -> _core.Gateway:
    """A gateway that forwards; raises `UsageError` if what was said will not do, `GatewayError` if it cannot be."""
    try:
        return _core.Gateway(**{key: value for key, value in settings._asdict().items() if key != "metrics"})
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise GatewayError(str(error)) from None


def run(
    gateway: _core.Gateway,
    signals: HeldSignals,
    reload: Callable[[], object],
    watch: Callable[[dict[str, Any]], object] | None = None,
) -> GatewayRun:
    """Waits for the gateway's end. SIGINT and SIGTERM stop it, SIGHUP calls `reload`; `watch` sees it now and then."""
    begun, broke = time.monotonic(), None
    try:
        while (signal_number := signals.next(TICK)) not in STOPS:
            if not gateway.runs:
                break
            if signal_number == RELOADS:
                reload()
            if watch is not None:
                watch(gateway.view())
    finally:
        seconds = time.monotonic() - begun
        try:
            view = gateway.stop()
        except OSError as error:
            broke, view = GatewayError(f"the gateway broke: {error}"), gateway.view()
    return GatewayRun(seconds, view, broke)


def reloading(
    gateway: _core.Gateway,
    settings: GatewaySettings,
    load: Callable[[], GatewaySettings] | None,
    tell: Callable[[str], object],
) -> Callable[[], None]:
    """What reads the settings anew and has the gateway follow.

    What cannot be used is told, and the settings before stay.
    """
    fixed = settings.fixed

    def reload() -> None:
        if load is None:
            tell("note: there is nothing to reload without --config")
            return
        try:
            found = load()
            if found.fixed != fixed:
                raise UsageError("in, out, metrics, offloads-off, send and seed hold until the gateway ends")
            gateway.refit(found.forward, found.reverse, overheads=found.overheads)
        except (UsageError, ValueError) as error:
            tell(f"error: {error}\nthe settings stay as they were")
        else:
            tell("reloaded")

    return reload
