"""Gateways that run as commands on the machine in the middle of a `GatewayNetwork`."""

import json
import os
import signal
import subprocess
import sys
import time
from threading import Timer
from types import TracebackType
from typing import Self

from tests.live.roads import GatewayNetwork

GATEWAY = (sys.executable, "-m", "headgate", "gateway")


class Gateway:
    """A gateway on the machine in the middle, between `in` and `out` unless its `arguments` name the interfaces."""

    def __init__(self, roads: GatewayNetwork, *arguments: object, named: bool = True) -> None:
        interfaces = ("--in", "in", "--out", "out") if named else ()
        words = (*GATEWAY, *interfaces, *arguments)
        self.process = roads.start(roads.middle, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines: list[str] = []
        self.wait_for("forwarding between ")

    def wait_for(self, what: str) -> str:
        """Reads its standard error up to a line that contains `what`. Kills it if none comes within 20 s."""
        assert self.process.stderr is not None
        deadline = Timer(20, self.process.kill)
        deadline.start()
        try:
            for line in self.process.stderr:
                self.lines.append(line)
                if what in line:
                    return line
        finally:
            deadline.cancel()
        raise AssertionError(f"it ended without {what!r}: {self.lines}")

    def send_signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> str:
        """Sends a signal, and returns what the gateway printed until it ended."""
        self.send_signal(number)
        _, summary = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, summary
        return summary


class Gateways:
    """Starts gateways, and kills at its end those that still run."""

    def __init__(self) -> None:
        self._started: list[Gateway] = []

    def start(
        self, roads: GatewayNetwork, *arguments: object, where: GatewayNetwork | None = None, named: bool = True
    ) -> Gateway:
        """Starts a gateway of `roads`, or of the network `where`, and waits until it forwards."""
        self._started.append(Gateway(where or roads, *arguments, named=named))
        return self._started[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._started:
            each.process.kill()
            each.process.communicate()


def two_processors() -> str:
    """The first and the last processor that this process may use, which may be the same, for `--cpus`."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return f"{usable[0]},{usable[-1]}"


def bridge_of(roads: GatewayNetwork, interface: str) -> str | None:
    """The bridge to which an interface in the middle belongs."""
    (found,) = json.loads(roads.ip(roads.middle, "-j", "link", "show", interface))
    bridge: str | None = found.get("master")
    return bridge


def wait_for_bridge(roads: GatewayNetwork, *interfaces: str) -> None:
    """Waits until a bridge joins `interfaces`, which are `in` and `out` unless they are given."""
    end = time.monotonic() + 20
    while not all(bridge_of(roads, interface) for interface in interfaces or ("in", "out")):
        assert time.monotonic() < end
        time.sleep(0.02)


def exchanged(roads: GatewayNetwork) -> bool:
    """Whether datagrams cross both ways."""
    echo = roads.serve("echo")
    try:
        roads.host(roads.near, "ping", 3)
    except subprocess.CalledProcessError:
        return False
    finally:
        echo.kill()
        echo.communicate()
    return True
