"""Changes one place of the code at a time, and counts how many of these mutants the tests notice (cargo-mutants).

    python docs/mutants.py tcp --shards 25   # every 25th mutant; without --shards all of them, which takes days
    python docs/mutants.py --table           # write the table of CONTRIBUTING.md from what was found

Unit tests run on all mutants. Slower tests run on the mutants that the tests before them missed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parent))

from pages import filled, table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
RESULTS = ROOT / "results" / "mutants"
#: All tests compile into one folder.
TARGET = ROOT / "target" / "mutants"
MUTANTS = shutil.which("cargo-mutants")


class Part(NamedTuple):
    """Code that is changed: its package, the files, and its tests from quick to slow, the unit tests first."""

    title: str
    package: str
    files: str
    tests: tuple[tuple[str, ...], ...]


PARTS = {
    "core": Part(
        "`crates/core`",
        "aqm",
        "crates/core/src/**",
        (
            ("--lib",),
            ("--test=all", "maintain::", "pages::"),
            ("--test=all", "verify::"),
            ("--test=all", "conform::"),
            ("--test=memory",),
            ("--test=all", "oracle::"),
        ),
    ),
    "link": Part("`crates/link`", "headgate-link", "crates/link/src/**", (("--lib",), ("--test=laws",))),
    "tcp": Part(
        "`crates/sim/src/tcp`",
        "headgate-sim",
        "crates/sim/src/tcp/**",
        (
            ("--lib",),
            ("--test=all", "tcp_script::", "tfrc::", "ns2::", "network::"),
            ("--test=all", "tcp_closed_forms::"),
        ),
    ),
}

#: Optimization of the code, and seconds after which a mutant hangs. Unit tests wait for the compiler, others for code.
UNITS, OTHERS = (0, 120), (1, 900)


def main() -> None:
    """Tests the mutants of one part or of all, and writes the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("part", nargs="?", choices=["all", *PARTS], default="all", help="the code that is changed")
    arguments.add_argument("--shards", type=int, default=1, metavar="N", help="test every N-th mutant")
    arguments.add_argument("--table", action="store_true", help="only write the table")
    options = arguments.parse_args()
    if not options.table:
        if not MUTANTS:
            sys.exit("cargo-mutants is missing: cargo install --locked cargo-mutants")
        for name in PARTS if options.part == "all" else [options.part]:
            search(name, options.shards)
    rows = [row(name) for name in PARTS if (RESULTS / name).exists()]
    head = ("code", "mutants", "tested", "noticed by unit tests", "by other tests", "not noticed", "score")
    PAGE.write_text(filled(PAGE.read_text(), "mutants", table(head, rows)))


def search(name: str, shards: int) -> None:
    """Runs quick tests on every `shards`-th mutant of a part, and slower tests on the mutants that these missed."""
    part = PARTS[name]
    shutil.rmtree(RESULTS / name, ignore_errors=True)
    chosen = ["--file", part.files, "--shard", f"0/{shards}", "--sharding", "round-robin"]
    run(name, 0, chosen)
    missed = found(name, 0, "MissedMutant")
    for number in range(1, len(part.tests)):
        if not missed:
            break
        # cargo-mutants applies no regular expression to mutants that delete a field. Files leave out most of these.
        files = sorted({mutant.partition(":")[0] for mutant in missed})
        chosen = [word for file in files for word in ("--file", file)]
        chosen += [word for mutant in sorted(missed) for word in ("--re", f"^{re.escape(mutant)}$")]
        run(name, number, chosen)
        missed &= found(name, number, "MissedMutant")
    everything = mutants(["--list", "--package", part.package, "--file", part.files], stdout=subprocess.PIPE)
    (RESULTS / name / "all.txt").write_text(everything.stdout)


def run(name: str, number: int, chosen: Iterable[str]) -> None:
    """Tests the `chosen` mutants with tests of a part. The code without a change is not tested: `make test` does."""
    part, (opt_level, timeout_s) = PARTS[name], OTHERS if number else UNITS
    folder = RESULTS / name / str(number)
    folder.mkdir(parents=True)
    words = ["--package", part.package, "--profile", "quick", "--baseline", "skip", "--cap-lints", "true"]
    words += ["--timeout", str(timeout_s), "--output", str(folder)]
    # As arguments of every call of cargo: otherwise all tests of the package would be compiled.
    program, *names = part.tests[number]
    words += [f"--cargo-arg={program}", *(f"--cargo-test-arg={word}" for word in ("--", *names))]
    levels = {"CARGO_PROFILE_QUICK_OPT_LEVEL": str(opt_level), "CARGO_TARGET_DIR": str(TARGET)}
    mutants([*words, *chosen], env=os.environ | levels)


def mutants(words: Iterable[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs cargo-mutants; ends the program if that fails."""
    done: subprocess.CompletedProcess[str] = subprocess.run(  # noqa: S603 - words of this file
        [str(MUTANTS), "mutants", *words], cwd=ROOT, text=True, check=False, **options
    )
    # 2: a mutant was not noticed. 3: one hangs.
    if done.returncode not in (0, 2, 3):
        sys.exit(done.returncode)
    return done


def found(name: str, number: int, *summaries: str) -> set[str]:
    """Names of the mutants with these outcomes."""
    path = RESULTS / name / str(number) / "mutants.out" / "outcomes.json"
    outcomes = json.loads(path.read_text())["outcomes"] if path.exists() else []
    return {outcome["scenario"]["Mutant"]["name"] for outcome in outcomes if outcome["summary"] in summaries}


def row(name: str) -> list[str]:
    """A part's row of the table. A mutant that hangs is noticed, one that does not compile is no mutant."""
    noticed = ("CaughtMutant", "Timeout")
    units, missed = len(found(name, 0, *noticed)), found(name, 0, "MissedMutant")
    tested = units + len(missed)
    for number in range(1, len(PARTS[name].tests)):
        missed -= found(name, number, *noticed)
    others = tested - units - len(missed)
    mutants = len((RESULTS / name / "all.txt").read_text().splitlines())
    low, high = interval(units + others, tested)
    score = f"{100 * (units + others) / tested:.0f} % ({100 * low:.0f} to {100 * high:.0f} %)"
    return [PARTS[name].title, *map(str, (mutants, tested, units, others, len(missed))), score]


def interval(noticed: int, tested: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, "Probable inference", 1927): a sample says no more of all mutants."""
    z = 1.96
    share, spread = noticed / tested, z * z / tested
    middle = share + spread / 2
    around = math.sqrt(spread * (share * (1 - share) + spread / 4))
    return (middle - around) / (1 + spread), (middle + around) / (1 + spread)


if __name__ == "__main__":
    main()
