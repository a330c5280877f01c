"""Runs cases in parallel processes, and stores each result in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import headgate
from headgate import identity
from peers import here, ns2, ns3
from peers.build import extension
from peers.declare import Case

#: Counts and rates of one run, as every simulator prints them; `cpu_s` is processor time.
Measured = dict[str, Any]
#: The key of a stored result with the identity of its run.
IDENTITY = "identity"
FIELDS = ("goodput_bps", "arrived", "dropped", "marked", "queue_packets", "utilization", "packets")


class RunError(Exception):
    """A simulator failed, or printed something other than a result."""


@dataclass(frozen=True)
class Task:
    """One run: a case, a simulator and a seed."""

    case: Case
    side: str
    seed: int
    command: tuple[str, ...]
    stdin: str = ""

    @cached_property
    def identity(self) -> str:
        """The identity of the run: of everything that affects its result."""
        version = headgate.__version__ if self.side == "here" else ""
        return identity.of_values([self.command[1:], self.stdin, version, _source(self.side)])

    def stored(self, out: Path) -> Measured | None:
        """Its stored result; None if there is none, or if the file is of another run with the same name."""
        file = self.file(out)
        result: Measured = json.loads(file.read_text()) if file.is_file() else {}
        return result if result.pop(IDENTITY, None) == self.identity else None

    def file(self, out: Path) -> Path:
        """The file of its result."""
        return out / f"{self.case.name}-{self.side}-{self.seed}-{identity.name_of(self.identity)}.json"

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
    """The text of the program that runs a peer; for Headgate, the hash of its extension."""
    if side == "here":
        return extension()
    return ns2.SCRIPT.read_text() if side == "ns2" else ns3.source() + extension()


def tasks(cases: Iterable[Case], seeds: Sequence[int], program: Path) -> list[Task]:
    """The runs of all cases with all seeds, on both sides."""
    runs = []
    for case in cases:
        text = here.scenario(case)
        for seed in seeds:
            if case.peer == "ns2":
                peer_command = tuple(ns2.command(case, seed))
            else:
                peer_command = (str(program), *ns3.arguments(case, seed))
            runs.append(Task(case, case.peer, seed, peer_command))
            runs.append(Task(case, "here", seed, (sys.executable, "-m", "peers.here", str(seed)), text))
    return runs


def parse(text: str) -> Measured:
    """The result: the last line that a simulator printed.

    Raises `RunError` if that line is no result.
    """
    lines = text.strip().splitlines()
    try:
        result = json.loads(lines[-1]) if lines else None
    except ValueError:
        result = None
    if not isinstance(result, dict) or not set(FIELDS) <= set(result):
        last = lines[-1][:200] if lines else "nothing"
        raise RunError(f"expected a line of JSON with {', '.join(FIELDS)}, found: {last}")
    return result


class Pool:
    """Runs tasks in separate processes. On an error, running tasks are ended."""

    def __init__(self, out: Path, processes: int) -> None:
        self._out = out
        self._threads = ThreadPoolExecutor(processes)
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(self, wanted: Sequence[Task], progress: Callable[[int, int], None]) -> None:
        """Runs the tasks without a stored result. If one fails, ends the others and raises `RunError`."""
        self._out.mkdir(parents=True, exist_ok=True)
        waiting = [task for task in wanted if task.stored(self._out) is None]
        finished = len(wanted) - len(waiting)
        futures: set[Future[None]] = set()
        try:
            futures = {self._threads.submit(self._run_task, task) for task in waiting}
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

    def _run_task(self, task: Task) -> None:
        with TemporaryFile("w+") as stdin, TemporaryFile("w+") as printed, TemporaryFile("w+") as errors:
            stdin.write(task.stdin)
            stdin.seek(0)
            with self._lock:
                if self._stopped:
                    return
                process = subprocess.Popen(task.command, stdin=stdin, stdout=printed, stderr=errors)  # noqa: S603
                self._running.add(process)
            _, status, used = os.wait4(process.pid, 0)
            with self._lock:
                self._running.discard(process)
                process.returncode = os.waitstatus_to_exitcode(status)
                if self._stopped:
                    return
            printed.seek(0)
            errors.seek(0)
            result = task.result(process.returncode, printed.read(), errors.read())
            result.setdefault("cpu_s", used.ru_utime + used.ru_stime)
            keep(task, self._out, result)


def keep(task: Task, out: Path, result: Measured) -> None:
    """Writes a result with the identity of its run. The rename ensures that a file is complete."""
    file = task.file(out)
    unfinished = file.with_suffix(".part")
    unfinished.write_text(json.dumps({**result, IDENTITY: task.identity}) + "\n")
    unfinished.rename(file)


def kept(wanted: Iterable[Task], out: Path) -> dict[tuple[str, str], list[Measured]]:
    """The stored results by case and side, in the order of seeds. Incomplete cases are left out."""
    results: dict[tuple[str, str], list[Measured]] = {}
    incomplete = set()
    for task in wanted:
        if (result := task.stored(out)) is not None:
            results.setdefault((task.case.name, task.side), []).append(result)
        else:
            incomplete.add(task.case.name)
    return {key: runs for key, runs in results.items() if key[0] not in incomplete}
