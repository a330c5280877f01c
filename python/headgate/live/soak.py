"""`headgate link --check --soak 10min`: whether a link under long load loses packets or leaks memory."""

from __future__ import annotations

import gc
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from headgate import guarded
from headgate.errors import UsageError
from headgate.live.check import CheckRow, Measurement, judged, measure

if TYPE_CHECKING:
    from rich.table import Table

#: Two loads, each for half of the time: the link's rate and the offered rate in Mbit/s. The second is unreachable.
LOADS = ((100, 150), (100_000, 20_000))

#: Seconds between measurements of memory; at least ten are made.
EVERY = 60.0

#: Allowed growth of memory in bytes since the first tenth: pages that the allocator keeps.
GROWTH = 1 << 20


def seconds(text: str) -> float:
    """The time of `--soak` in seconds. Raises `UsageError` if it is not a time, or less than a second."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(h|min|s)", text)
    if match is None:
        raise UsageError(f"--soak {text}: expected a time, such as 10min or 30s")
    lasting = float(match[1]) * {"h": 3600, "min": 60, "s": 1}[match[2]]
    if lasting < 1:
        raise UsageError(f"--soak {text}: expected at least 1s")
    return lasting


def run(lasting: float, report: Callable[[str], None]) -> tuple[Table, bool]:
    """Loads a link for `lasting` seconds and calls `report` with its memory. Returns the table and the verdict."""
    return judged("soak", _rows(lasting, report))


def _rows(lasting: float, report: Callable[[str], None]) -> Iterator[CheckRow]:
    for mbit, offered in LOADS:
        measurement, memory = _measured(mbit, offered, lasting / len(LOADS), report)
        yield from counts(mbit, measurement)
        yield growth(mbit, memory)


def counts(mbit: int, measurement: Measurement) -> Iterator[CheckRow]:
    """Whether the counts of kernel and link agree, from the sender's socket to the far interface."""
    lane = measurement["forward"]
    accounted = lane["sent"] + lane["dropped"] + lane["no_slot"] + sum(count for _, count in lane["discarded"])
    pairs = (
        (
            "sent by the socket, not by the interface",
            measurement["sent"],
            measurement["near_sent"] + measurement["near_dropped"],
        ),
        ("sent by the interface, not seen by the link", measurement["near_sent"], lane["offered"]),
        ("seen by the link, not accounted for", lane["offered"], accounted),
        ("sent by the link, not received", lane["delivered"], measurement["far_received"]),
    )
    for what, before, after in pairs:
        yield CheckRow(f"{_named(mbit)}: {what}", f"{before - after} of {before}", "0", before == after)


def growth(mbit: int, memory: list[int]) -> CheckRow:
    """Whether the process used no more memory at the end than at the beginning."""
    grown = memory[-1] - memory[0]
    measured = f"{grown / 1024:+.0f} KiB of {memory[0] / 1024:.0f} KiB"
    return CheckRow(f"{_named(mbit)}: memory growth", measured, f"{GROWTH // 1024} KiB", grown <= GROWTH)


def _named(mbit: int) -> str:
    return f"{mbit} Mbit/s" if mbit == LOADS[0][0] else "without limit"


def _measured(mbit: int, offered: int, lasting: float, report: Callable[[str], None]) -> tuple[Measurement, list[int]]:
    """The measurement, and the memory of the process from the first tenth on."""
    done: list[Measurement | BaseException] = []

    def work() -> None:
        try:
            done.append(measure(mbit, offered / mbit, lasting))
        except BaseException as error:  # noqa: BLE001, raised again in the waiting thread
            done.append(error)

    # A daemon thread: Ctrl-C ends the process at once, and the link with it.
    thread = threading.Thread(target=work, daemon=True)
    begin = time.monotonic()
    thread.start()
    memory = []
    while thread.is_alive():
        thread.join(min(EVERY, lasting / 10))
        if thread.is_alive():
            memory.append(resident())
            report(f"{_named(mbit)}, {time.monotonic() - begin:.0f} s: {memory[-1] / 1024:.0f} KiB")
    outcome = done[0]
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome, memory or [resident()]


def resident() -> int:
    """Resident memory of this process in bytes (proc_pid_statm(5))."""
    gc.collect()
    pages = guarded.of_kernel(Path("/proc/self/statm")).split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
