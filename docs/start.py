"""Measures the processor time that commands take to start, and prints the table of docs/guide/performance.md.

    python docs/start.py            # a small scenario, nine repeats
    python docs/start.py --repeats 3

Each command runs in a process of its own. The commands take turns, so a busy machine slows all of them alike. A command
costs the median of its repeats, in seconds of processor time (user and system), with its child processes. At the end it
tells what the last command takes at least: a run, matplotlib, and writing the figures, without making or placing them.
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
NEW = "`run --json`, new"
MATPLOTLIB = "matplotlib, only imported"
WRITTEN = "its figures, only written as SVG"

#: The measured commands, as words for the interpreter. A finished result is made first.
COMMANDS: dict[str, Sequence[str]] = {
    "a bare Python start": ["-c", "pass"],
    "`headgate --help`": ["-m", "headgate", "--help"],
    "`headgate list`": ["-m", "headgate", "list"],
    "`run --json`, finished": [*RUN, "--json", "--no-report"],
    NEW: [*RUN, "--json", "--no-report", "--force", "--out", "new"],
    "`run`, new, with figures and report": [*RUN, "--force", "--out", "drawn"],
}

#: What a figure cannot do without. Each program prints the seconds of processor time of its last part.
PARTS = {
    # Results need numpy too.
    MATPLOTLIB: """
import time, numpy
began = time.process_time()
import matplotlib.figure, matplotlib.backends.backend_svg
print(time.process_time() - began)
""",
    # The figures of the last run, made and laid out before.
    WRITTEN: """
import glob, io, time, headgate
from headgate.plot import figures, printing
from matplotlib.backends.backend_svg import FigureCanvasSVG
drawn = figures(headgate.load(glob.glob("drawn/*")[0])).values()
for figure in drawn:
    printing.lay_out(figure)
began = time.process_time()
for figure in drawn:
    FigureCanvasSVG(figure).print_svg(io.BytesIO())
print(time.process_time() - began)
""",
}


def cpu_s(words: Sequence[str], folder: str) -> float:
    """The processor time of a process in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=folder, check=True, capture_output=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def part_s(program: str, folder: str) -> float:
    """The processor time that a program tells, in seconds."""
    return float(subprocess.check_output([sys.executable, "-c", program], cwd=folder, text=True))  # noqa: S603


def measure(repeats: int) -> dict[str, float]:
    """The median of each command and part."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "start.toml").write_text(SCENARIO)
        for words in COMMANDS.values():  # once for the caches of bytecode and fonts
            cpu_s(words, folder)
        rounds = [
            {name: cpu_s(words, folder) for name, words in COMMANDS.items()}
            | {name: part_s(program, folder) for name, program in PARTS.items()}
            for _ in range(repeats)
        ]
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures the processor time that commands take to start.")
    parser.add_argument("--repeats", type=int, default=9, help="how often each command runs")
    seconds = measure(parser.parse_args().repeats)
    bare = seconds["a bare Python start"]
    print("| command | CPU seconds | bare starts |\n| --- | --- | --- |")
    for name, took in seconds.items():
        print(f"| {name} | {took:.3f} | {took / bare:.0f} |")
    least = sum(seconds[name] for name in (NEW, *PARTS))
    print(f"\nA run with figures takes at least {least / bare:.0f} bare starts: {NEW}, and the last two rows.")


if __name__ == "__main__":
    main()
