"""ns-3: the program `ns3.cc` with our queue disc for ns-3, and its arguments from a case."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from headgate import identity
from peers.build import extension
from peers.declare import Case, Flows, as_arguments

ROOT = Path(__file__).parents[1]
SOURCE = Path(__file__).with_name("ns3.cc")
#: The queue disc with which ns-3 runs Headgate's disciplines.
MODULE = ROOT / "contrib/ns3/headgate/model/headgate-queue-disc.cc"
QUEUE_DISC = "ns3::HeadgateQueueDisc"
#: A header of Debian's libns3-dev.
HEADER = Path("/usr/include/ns3/core-module.h")
LIBRARIES = ("applications", "internet", "point-to-point", "traffic-control", "network", "core")


def missing() -> str | None:
    """The package that is missing for ns-3, in a sentence; None if all are installed."""
    if not shutil.which("g++"):
        return "no C++ compiler: install Debian's package g++"
    if not HEADER.is_file():
        return "ns-3 is missing: install Debian's package libns3-dev"
    if not shutil.which("cargo"):
        return "Rust is missing: our queue disc for ns-3 needs it"
    return None


def source() -> str:
    """The text of the program."""
    return "".join(each.read_text() for each in (SOURCE, MODULE, MODULE.with_suffix(".h")))


def program(out: Path) -> Path:
    """The path of the compiled program; its name has the whole hash of the source, because the file has no other."""
    return out / f"ns3-{identity.of_text(source() + extension())}"


def build(out: Path) -> None:
    """Compiles the program, unless it exists."""
    target = program(out)
    if not target.is_file():
        out.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_suffix(".part")
        compile_program([SOURCE], unfinished)
        unfinished.rename(target)


def compile_program(sources: Sequence[Path], program: Path) -> None:
    """Compiles a program of ns-3 with our queue disc and its library."""
    with TemporaryDirectory() as folder:
        # A tree of ns-3 has the headers of all modules in one folder.
        headers = Path(folder, "ns3")
        headers.mkdir()
        header = MODULE.with_suffix(".h")
        (headers / header.name).symlink_to(header)
        command = ["g++", "-O2", "-std=c++17", f"-I{folder}", f"-I{ROOT / 'crates/capi/include'}"]
        command += map(str, [*sources, MODULE, "-o", program])
        command += [*(f"-lns3-{name}" for name in LIBRARIES), str(_library()), "-lpthread", "-ldl", "-lm"]
        subprocess.run(command, check=True)  # noqa: S603


def _library() -> Path:
    """Our disciplines as a static library, up to date."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "headgate-capi"]
    subprocess.run(command, check=True, cwd=ROOT)  # noqa: S603
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/libaqm_capi.a"


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
        "sack": str(any(flows.recovery == "sack" for flows in case.flows)).lower(),
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
