"""Measures the processor time that commands take to start, and prints the table of docs/guide/performance.md.

    python docs/start.py            # a small scenario, nine repeats
    python docs/start.py --repeats 3

Each command runs in a process of its own. The commands take turns, so a busy machine slows all of them alike. A command
costs the median of its repeats, in seconds of processor time (user and system), with its child processes.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

#: A dumbbell of four flows with two disciplines. Its runs take a few milliseconds.
SCENARIO = """\
name = "start"
duration = "4s"
warmup = "1s"
seeds = 1
qdiscs = ["droptail", "faba"]
link = { rate = "2Mbit/s", delay = "5ms", limit = "50p" }

[[tcp]]
flows = 3

[[udp]]
rate = "2Mbit/s"
"""

RUN = ["-m", "headgate", "run", "start.toml"]

#: The measured commands, as words for the interpreter. A finished result is made first.
COMMANDS: dict[str, Sequence[str]] = {
    "a bare Python start": ["-c", "pass"],
    "`headgate --help`": ["-m", "headgate", "--help"],
    "`headgate list`": ["-m", "headgate", "list"],
    "`run --json`, finished": [*RUN, "--json", "--no-report"],
    "`run --json`, new": [*RUN, "--json", "--no-report", "--force", "--out", "new"],
    "`run`, new, with figures and report": [*RUN, "--force", "--out", "drawn"],
}


def cpu_s(words: Sequence[str], folder: str) -> float:
    """The processor time of a process in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=folder, check=True, capture_output=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def measure(repeats: int) -> dict[str, float]:
    """The median of each command."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "start.toml").write_text(SCENARIO)
        for words in COMMANDS.values():  # once for the caches of bytecode and fonts
            cpu_s(words, folder)
        rounds = [{name: cpu_s(words, folder) for name, words in COMMANDS.items()} for _ in range(repeats)]
    return {name: statistics.median(each[name] for each in rounds) for name in COMMANDS}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures the processor time that commands take to start.")
    parser.add_argument("--repeats", type=int, default=9, help="how often each command runs")
    seconds = measure(parser.parse_args().repeats)
    bare = seconds["a bare Python start"]
    print("| command | CPU seconds | bare starts |\n| --- | --- | --- |")
    for name, took in seconds.items():
        print(f"| {name} | {took:.3f} | {took / bare:.0f} |")


if __name__ == "__main__":
    main()
