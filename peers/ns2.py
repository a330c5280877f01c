"""ns-2: arguments of `ns2.tcl` from a case."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from peers.declare import Case, Discipline, Flows, Settings, as_arguments

SCRIPT = Path(__file__).with_name("ns2.tcl")
#: Debian's ns2-examples has the RED-PD scripts of its authors here. The variable NS2_EXAMPLES names another folder.
EXAMPLES = Path("/usr/share/doc/ns2/examples")

#: Headgate has no handshake, so ns-2 uses none either.
_TCP: Settings = (("syn_", False), ("delay_growth_", False))


def missing(case: Case | None = None) -> str | None:
    """The package that is missing for ns-2 or for the case, in a sentence; None if all are installed."""
    if not shutil.which("ns"):
        return "ns-2 is missing: install Debian's package ns2"
    if case and case.discipline.engine and not (engine() / "monitoring.tcl").is_file():
        return f"RED-PD's scripts are missing in {engine()}: install Debian's package ns2-examples"
    return None


def engine() -> Path:
    """The folder of the authors' RED-PD scripts."""
    return Path(os.environ.get("NS2_EXAMPLES", EXAMPLES)) / "tcl" / "ex" / "red-pd"


def command(case: Case, seed: int) -> list[str]:
    """The command that runs a case."""
    return ["ns", str(SCRIPT), *arguments(case, seed)]


def arguments(case: Case, seed: int) -> list[str]:
    """The script's arguments."""
    discipline = case.discipline
    options = {
        "rate": case.rate,
        "delay": case.delay / 1e3,
        # ns-2's DropTail and REM hold one packet less than their limit.
        "limit": case.limit + (discipline.peer in ("DropTail", "REM")),
        "queue": discipline.peer,
        "settings": pairs(discipline.settings),
        **_engine(discipline),
        "hash": discipline.hashed[0] if discipline.hashed else "",
        "buckets": discipline.hashed[1] if discipline.hashed else 0,
        "seed": seed,
        "duration": case.duration,
        "warmup": case.warmup,
    }
    groups = [group(case, flows, index) for flows in case.flows for index, _ in enumerate(flows.by_rtt())]
    return as_arguments(options, groups)


def _engine(discipline: Discipline) -> dict[str, object]:
    if discipline.engine is None:
        return {"engine": "", "start": "", "target_rtt": ""}
    start, target_rtt = discipline.engine
    return {"engine": engine(), "start": start, "target_rtt": target_rtt}


def group(case: Case, flows: Flows, index: int) -> str:
    """The flows of one round-trip time, as a Tcl list of keys and values."""
    rtt, count = flows.by_rtt()[index]
    side = (rtt / 2 - case.delay) / 2e3
    useful = 1 - case.header / case.packet if flows.kind == "tcp" else 1.0
    common: Settings = (
        ("name", flows.name),
        ("kind", flows.kind),
        ("flows", count),
        ("hosts", flows.hosts or count),
        ("access", 100e6),
        ("near", side),
        ("far", side),
        ("start", 0.0),
        ("within", 1.0),
        ("useful", useful),
    )
    return pairs((*common, *(_tcp(case, flows) if flows.kind == "tcp" else ()), *_traffic(case, flows)))


def _tcp(case: Case, flows: Flows) -> Settings:
    agent, sink = {"newreno": ("Newreno", "TCPSink"), "sack": ("Sack1", "TCPSink/Sack1")}[flows.recovery]
    settings: Settings = (
        *_TCP,
        ("window_", case.window),
        ("packetSize_", case.packet - case.header),
        ("overhead_", case.send_jitter / 1e3),
        ("ecn_", int(case.ecn)),
    )
    return (("agent", agent), ("sink", sink), ("tcp", pairs(settings)), ("receiver", ""))


def _traffic(case: Case, flows: Flows) -> Settings:
    """The source. ns-2's sources write data, so their rate with TCP excludes headers."""
    data = case.packet - case.header if flows.kind == "tcp" else case.packet
    if flows.on_off is None:
        if flows.kind == "tcp":
            return (("traffic", "ftp"), ("source", ""))
        cbr: Settings = (("rate_", flows.rate or 0.0), ("packetSize_", data), ("random_", int(flows.jitter > 0)))
        return (("traffic", "CBR"), ("source", pairs(cbr)))
    periods = flows.on_off
    if periods.rate is None:
        times: Settings = (("on", periods.on), ("off", periods.off), ("shape", periods.shape))
        return (("traffic", "take"), ("source", ""), *times)
    pareto: Settings = (
        ("burst_time_", periods.on),
        ("idle_time_", periods.off),
        ("shape_", periods.shape),
        ("rate_", periods.rate * data / case.packet),
        ("packetSize_", data),
    )
    return (("traffic", "Pareto"), ("source", pairs(pareto)))


def pairs(settings: Settings) -> str:
    """A Tcl list of names and values."""

    def word(value: object) -> str:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return text if text and not any(c in text for c in " {}") else "{" + text + "}"

    return " ".join(f"{name} {word(value)}" for name, value in settings)
