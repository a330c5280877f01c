"""Messages to a service manager: a datagram to the socket that NOTIFY_SOCKET names (sd_notify(3))."""

import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any


def notify(**states: object) -> None:
    """Sends assignments such as READY=1. Does nothing without a service manager."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    text = "\n".join(f"{name}={value}" for name, value in states.items())
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        # An abstract address begins with a zero byte, written as "@".
        sock.sendto(text.encode(), "\0" + address[1:] if address[0] == "@" else address)


def reloading() -> None:
    """Says that settings are being read again; `notify(READY=1)` must follow."""
    notify(RELOADING=1, MONOTONIC_USEC=time.monotonic_ns() // 1000)


class Heartbeat:
    """Tells the service manager's watchdog that the forwarding thread is alive: its views follow each other.

    A thread that hangs publishes no view. The manager then kills the process.
    """

    def __init__(self) -> None:
        self._published = -1.0

    def __call__(self, view: Mapping[str, Any]) -> None:
        """Sends WATCHDOG=1 if `view` is newer than the last one."""
        if view["at_s"] > self._published:
            self._published = view["at_s"]
            notify(WATCHDOG=1)
