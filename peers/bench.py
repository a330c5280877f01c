"""`python -m peers.bench`: processor time of a packet in ns-2, in ns-3 and here, measured in one run.

Each simulator runs the demo (`scenarios/protect.toml`, DropTail) for a short and a long time with the same seed, one
run after the other. The difference of the two leaves out the start of the process, set-up and the slow starts.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Literal

from peers import disciplines, ns2, ns3
from peers.declare import Case, Flows
from peers.runs import Measured, Pool, RunError, Task, kept, tasks

REPEATS = 5
#: A round trip of 32 ms for all, as in the demo.
DEMO = (Flows("tcp", 9, (32.0,)), Flows("udp", 1, (32.0,), kind="udp", rate=5e6, jitter=0.1))
NS2 = Case("ns2", "ns2", disciplines.droptail(), DEMO, delay=14.0, limit=780, window=1000, packet=512, send_jitter=0.2)
#: As in the comparison of results: ns-3's headers, SACK, and no random delay.
SACK = (replace(DEMO[0], recovery="sack"), DEMO[1])
NS3 = replace(NS2, name="ns3", peer="ns3", discipline=disciplines.fifo(780), flows=SACK, header=42, send_jitter=0.0)

#: Simulated seconds of the short and the long run. ns-3 takes ten times as long as ns-2.
SECONDS = {"ns2": (20.0, 520.0), "ns3": (20.0, 120.0)}
NAMES = {"ns2": "ns-2", "ns3": "ns-3"}


@dataclass(frozen=True)
class Bench:
    """Headgate beside one peer, by repetition."""

    peer: str
    simulated_s: float
    #: Nanoseconds of processor time per packet that the bottleneck sent.
    here_ns: list[float]
    peer_ns: list[float]
    #: Mean goodput of the long runs by class of flows in bit/s: ours and the peer's.
    goodput_bps: dict[str, tuple[float, float]]

    @property
    def ratios(self) -> list[float]:
        """How many times as much processor time the peer took, by repetition."""
        return [theirs / ours for ours, theirs in zip(self.here_ns, self.peer_ns, strict=True)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="peers.bench", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("results/bench-peers"), help="folder for the result")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="repetitions, each with a seed of its own")
    options = parser.parse_args(arguments)
    found = []
    for case, missing in ((NS2, ns2.missing()), (NS3, ns3.missing())):
        if missing:
            print(f"not measured beside {NAMES[case.peer]}: {missing}")
            continue
        try:
            found.append(measure(case, options.repeats, options.out))
        except KeyboardInterrupt:
            print("\ninterrupted: times of one run belong together, so nothing of this peer is kept", file=sys.stderr)
            return 130
        except RunError as error:
            print(f"\nerror: {error}", file=sys.stderr)
            return 1
        print(text(found[-1]), flush=True)
    if found:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "bench.json").write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")
    return 0


def measure(case: Case, repeats: int, out: Path) -> Bench:
    """Runs a case on both sides, one run at a time. Earlier results are not used: their times are of another run."""
    short, long = both(case)
    if case.peer == "ns3":
        ns3.build(out)
    with tempfile.TemporaryDirectory() as folder:
        wanted = in_turn((short, long), repeats, ns3.program(out))
        Pool(Path(folder), 1).run(wanted, lambda finished, total: progress(case, finished, total))
        return of_runs(case.peer, kept(wanted, Path(folder)))


def in_turn(cases: Sequence[Case], repeats: int, program: Path) -> list[Task]:
    """The runs, repetition by repetition: a busy moment then slows both simulators."""
    return [task for seed in range(1, repeats + 1) for task in tasks(cases, [seed], program)]


def both(case: Case) -> tuple[Case, Case]:
    """The case with its short and its long duration."""
    short, long = SECONDS[case.peer]
    return replace(case, name="short", duration=short), replace(case, name="long", duration=long)


def of_runs(peer: Literal["ns2", "ns3"], runs: Mapping[tuple[str, str], Sequence[Measured]]) -> Bench:
    """The times of a packet, from the short and long runs of both sides."""
    short, long = SECONDS[peer]
    ours, theirs = runs["long", "here"], runs["long", peer]
    goodput = {name: (mean_goodput(ours, name), mean_goodput(theirs, name)) for name in ours[0]["goodput_bps"]}
    return Bench(peer, long - short, per_packet(runs, "here"), per_packet(runs, peer), goodput)


def per_packet(runs: Mapping[tuple[str, str], Sequence[Measured]], side: str) -> list[float]:
    """Nanoseconds of processor time for each further packet of the long run."""
    pairs = zip(runs["short", side], runs["long", side], strict=True)
    return [1e9 * (long["cpu_s"] - short["cpu_s"]) / (long["packets"] - short["packets"]) for short, long in pairs]


def mean_goodput(runs: Sequence[Measured], name: str) -> float:
    """The mean goodput of a class of flows in bit/s."""
    return float(sum(run["goodput_bps"][name] for run in runs) / len(runs))


def text(bench: Bench) -> str:
    """A sentence of the ratio, and one of the agreement."""
    ratios = bench.ratios
    agreement = ", ".join(
        f"{name} {ours / 1e6:.2f} and {theirs / 1e6:.2f} Mbit/s" for name, (ours, theirs) in bench.goodput_bps.items()
    )
    name = NAMES[bench.peer]
    return (
        f"{name} takes {median(ratios):.1f} times as much processor time per packet as Headgate "
        f"({min(ratios):.1f} to {max(ratios):.1f} in {len(ratios)} repetitions): {median(bench.peer_ns):.0f} and "
        f"{median(bench.here_ns):.0f} ns.\nGoodput, Headgate and {name}: {agreement}."
    )


def progress(case: Case, finished: int, total: int) -> None:
    """Shows on a terminal how many runs are finished."""
    if sys.stderr.isatty():
        end = "\n" if finished == total else ""
        print(f"\rbeside {NAMES[case.peer]}: {finished} of {total} runs", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
