"""Runs the cases, two processes at a time, and keeps each result in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import headgate
from headgate import _core
from peers import here, ns2, ns3
from peers.declare import Case

#: Counts and rates of one run, as every simulator prints them; `cpu_s` is processor time.
Measured = dict[str, Any]
FIELDS = ("goodput_bps", "arrived", "dropped", "marked", "queue_packets", "utilization", "packets")


class RunError(Exception):
    """A simulator failed, or printed something else than a result."""


@dataclass(frozen=True)
class Task:
    """One run: a case, a simulator and a seed."""

    case: Case
    side: str
    seed: int
    command: tuple[str, ...]
    given: str = ""

    def file(self, out: Path) -> Path:
        """Where its result is kept: the name has a hash of everything that decides the result."""
        version = headgate.__version__ if self.side == "here" else ""
        decides = json.dumps([self.command[1:], self.given, version, _source(self.side)])
        return out / f"{self.case.name}-{self.side}-{self.seed}-{sha256(decides.encode()).hexdigest()[:10]}.json"

    def result(self, status: int, printed: str, errors: str) -> Measured:
        """The result that the process printed. Raises `RunError` if it failed or printed something else."""
        where = f"{self.case.name}, {self.side}, seed {self.seed}"
        if status:
            last = " / ".join(errors.strip().splitlines()[-3:])
            raise RunError(f"{where}: exit status {status}: {last}")
        try:
            return parse(printed)
        except RunError as error:
            raise RunError(f"{where}: {error}") from None


def _source(side: str) -> str:
    """The text of the program that runs a peer; here, the hash of the extension."""
    if side == "here":
        return extension()
    return {"ns2": ns2.SCRIPT, "ns3": ns3.SOURCE}[side].read_text()


@cache
def extension() -> str:
    """A hash of Headgate's compiled half: another build may give other results."""
    return sha256(Path(_core.__file__).read_bytes()).hexdigest()


def tasks(cases: Iterable[Case], seeds: Sequence[int], program: Path) -> list[Task]:
    """The runs of all cases with all seeds, on both sides."""
    found = []
    for case in cases:
        text = here.scenario(case)
        for seed in seeds:
            if case.peer == "ns2":
                theirs = tuple(ns2.command(case, seed))
            else:
                theirs = (str(program), *ns3.arguments(case, seed))
            found.append(Task(case, case.peer, seed, theirs))
            found.append(Task(case, "here", seed, (sys.executable, "-m", "peers.here", str(seed)), text))
    return found


def parse(text: str) -> Measured:
    """The result in what a simulator printed: its last line.

    Raises `RunError` if that is no result.
    """
    lines = text.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        found = None
    if not isinstance(found, dict) or not set(FIELDS) <= set(found):
        last = lines[-1][:200] if lines else "nothing"
        raise RunError(f"expected a line of JSON with {', '.join(FIELDS)}, found: {last}")
    return found


class Pool:
    """Runs tasks in processes of their own. Leaving it ends those that still run."""

    def __init__(self, out: Path, processes: int) -> None:
        self._out = out
        self._threads = ThreadPoolExecutor(processes)
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(self, wanted: Sequence[Task], progress: Callable[[int, int], None]) -> None:
        """Runs the tasks without a kept result. Raises `RunError` if one fails, after those that run have ended."""
        self._out.mkdir(parents=True, exist_ok=True)
        waiting = [task for task in wanted if not task.file(self._out).is_file()]
        finished = len(wanted) - len(waiting)
        futures: set[Future[None]] = set()
        try:
            futures = {self._threads.submit(self._one, task) for task in waiting}
            while futures:
                progress(finished, len(wanted))
                done, futures = wait(futures, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                finished += len(done)
            progress(finished, len(wanted))
        finally:
            self._stop(futures)

    def _stop(self, futures: Iterable[Future[None]]) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.terminate()
        for future in futures:
            future.cancel()
        self._threads.shutdown()

    def _one(self, task: Task) -> None:
        with TemporaryFile("w+") as given, TemporaryFile("w+") as printed, TemporaryFile("w+") as errors:
            given.write(task.given)
            given.seek(0)
            with self._lock:
                if self._stopped:
                    return
                process = subprocess.Popen(task.command, stdin=given, stdout=printed, stderr=errors)  # noqa: S603
                self._running.add(process)
            _, status, used = os.wait4(process.pid, 0)
            with self._lock:
                self._running.discard(process)
                process.returncode = os.waitstatus_to_exitcode(status)
                if self._stopped:
                    return
            printed.seek(0)
            errors.seek(0)
            found = task.result(process.returncode, printed.read(), errors.read())
            found.setdefault("cpu_s", used.ru_utime + used.ru_stime)
            keep(task.file(self._out), found)


def keep(file: Path, found: Measured) -> None:
    """Writes a result; a file that exists is complete."""
    unfinished = file.with_suffix(".part")
    unfinished.write_text(json.dumps(found) + "\n")
    unfinished.rename(file)


def kept(wanted: Iterable[Task], out: Path) -> dict[tuple[str, str], list[Measured]]:
    """The kept results by case and side, in the order of seeds. Cases that are not complete are left out."""
    found: dict[tuple[str, str], list[Measured]] = {}
    incomplete = set()
    for task in wanted:
        file = task.file(out)
        if file.is_file():
            found.setdefault((task.case.name, task.side), []).append(json.loads(file.read_text()))
        else:
            incomplete.add(task.case.name)
    return {key: runs for key, runs in found.items() if key[0] not in incomplete}
