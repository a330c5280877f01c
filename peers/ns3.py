"""ns-3: the program `ns3.cc`, and its arguments from a case."""

from __future__ import annotations

import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

from peers.declare import Case, Flows, as_arguments

SOURCE = Path(__file__).with_name("ns3.cc")
#: A header of Debian's libns3-dev.
HEADER = Path("/usr/include/ns3/core-module.h")
LIBRARIES = ("applications", "internet", "point-to-point", "traffic-control", "network", "core")


def missing() -> str | None:
    """The package that is missing for ns-3, in a sentence; None if all are installed."""
    if not shutil.which("g++"):
        return "no C++ compiler: install Debian's package g++"
    if not HEADER.is_file():
        return "ns-3 is missing: install Debian's package libns3-dev"
    return None


def program(out: Path) -> Path:
    """The path of the compiled program; its name has the hash of the source."""
    return out / f"ns3-{sha256(SOURCE.read_bytes()).hexdigest()[:8]}"


def build(out: Path) -> None:
    """Compiles the program, unless it exists."""
    target = program(out)
    if not target.is_file():
        out.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_suffix(".part")
        command = ["g++", "-O2", "-std=c++17", str(SOURCE), "-o", str(unfinished)]
        subprocess.run([*command, *(f"-lns3-{name}" for name in LIBRARIES)], check=True)  # noqa: S603
        unfinished.rename(target)


def arguments(case: Case, seed: int) -> list[str]:
    """The program's arguments."""
    settings = ";".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in case.discipline.settings
    )
    options = {
        "rate": case.rate,
        "delay": case.delay / 1e3,
        "qdisc": case.discipline.peer,
        "settings": settings,
        # RFC 6675. TcpPrrRecovery is an older PRR (RFC 6937), and lets a mark halve the window over a round trip.
        "recovery": "ns3::TcpClassicRecovery",
        "ecn": "On" if case.ecn else "Off",
        "segment": case.packet - case.header,
        "window": case.window,
        "seed": seed,
        "duration": case.duration,
        "warmup": case.warmup,
    }
    groups = [group(case, flows, index) for flows in case.flows for index, _ in enumerate(flows.by_rtt())]
    return as_arguments(options, groups)


def group(case: Case, flows: Flows, index: int) -> str:
    """The flows of one round-trip time, as keys and values."""
    if flows.on_off or flows.hosts:
        raise ValueError(f"{case.name}: ns3.cc has no on/off sources and no shared hosts")
    rtt, count = flows.by_rtt()[index]
    side = (rtt / 2 - case.delay) / 2e3
    words: dict[str, object] = {
        "name": flows.name,
        "kind": flows.kind,
        "flows": count,
        "access": 100e6,
        "near": side,
        "far": side,
        "start": 0.0,
        "within": 1.0,
    }
    if flows.kind == "udp":
        words |= {"packet": case.packet, "rate": flows.rate, "jitter": flows.jitter}
    return " ".join(f"{key} {value}" for key, value in words.items())
