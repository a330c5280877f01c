"""`python -m peers`: runs the cases without a stored result, and prints the comparison."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from peers import ns2, ns3, show
from peers.cases import CASES
from peers.declare import Case
from peers.runs import Pool, RunError, kept, tasks

SEEDS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="peers", description="Runs the same scenarios in ns-2, ns-3 and Headgate.")
    parser.add_argument("case", nargs="*", help="names of cases, or their beginnings; by default all")
    parser.add_argument("--out", type=Path, default=Path("results/peers"), help="folder for results")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="number of seeds")
    parser.add_argument("--processes", type=int, default=2, help="processes at a time")
    options = parser.parse_args(arguments)
    cases = [case for case in CASES if not options.case or case.name.startswith(tuple(options.case))]
    if not cases:
        print(f"no case begins with {', '.join(options.case)}; cases: {', '.join(case.name for case in CASES)}")
        return 2
    return compare(available(cases), options)


def available(cases: Sequence[Case]) -> list[Case]:
    """The cases whose simulator is installed. Prints a line for each missing package."""
    reasons = {case.name: ns2.missing(case) if case.peer == "ns2" else ns3.missing() for case in cases}
    for reason in dict.fromkeys(reason for reason in reasons.values() if reason):
        skipped = [name for name in reasons if reasons[name] == reason]
        print(f"skipped {len(skipped)} cases: {reason}")
    return [case for case in cases if not reasons[case.name]]


def compare(cases: Sequence[Case], options: argparse.Namespace) -> int:
    """Runs the cases without a stored result, then prints the comparison of all."""
    if not cases:
        return 0
    if any(case.peer == "ns3" for case in cases):
        ns3.build(options.out)
    wanted = tasks(cases, range(1, options.seeds + 1), ns3.program(options.out))
    try:
        Pool(options.out, options.processes).run(wanted, _progress)
    except KeyboardInterrupt:
        print(f"\ninterrupted: finished runs are in {options.out}; the same command continues", file=sys.stderr)
        return 130
    except RunError as error:
        print(f"\nerror: {error}", file=sys.stderr)
        return 1
    print(show.terminal(show.compared(cases, kept(wanted, options.out))))
    return 0


def _progress(finished: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if finished == total else ""
        print(f"\r{finished} of {total} runs", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
