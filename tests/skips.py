"""Which tests did not run. `python -m tests.skips LOG` prints the line that ends `make test`.

With `CI` set, a skipped test fails the run unless `tests/allowed_skips.toml` gives the reason.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.needs import NEEDS, ROOT

#: Environment variable: the file to which test programs append a line of JSON for each skipped test.
LOG = "HEADGATE_SKIPPED"
#: Environment variable: the name of this run's circumstance (`.ci/circumstance`), if it has one.
CIRCUMSTANCE = "HEADGATE_CIRCUMSTANCE"
ALLOWED = ROOT / "tests/allowed_skips.toml"


class Skip(NamedTuple):
    """A test that did not run."""

    test: str
    needs: tuple[str, ...]


def record(skips: Iterable[Skip]) -> None:
    """Appends skipped tests to the log, if this run has one."""
    if log := os.environ.get(LOG):
        with Path(log).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"test": skip.test, "needs": skip.needs}) + "\n" for skip in skips)


def recorded(log: Path) -> Iterator[Skip]:
    """The skipped tests of a log."""
    if log.exists():
        for line in log.read_text("utf-8").splitlines():
            entry = json.loads(line)
            yield Skip(entry["test"], tuple(entry["needs"]))


def allowed(circumstance: str) -> dict[str, str]:
    """The needs whose tests may be skipped in CI, with the reasons: those of every run and of the circumstance."""
    tables: dict[str, dict[str, str]] = tomllib.loads(ALLOWED.read_text("utf-8"))
    unknown = {need for table in tables.values() for need in table} - NEEDS.keys()
    if unknown:
        sys.exit(f"{ALLOWED}: no test has the need {sorted(unknown)}")
    return tables["always"] | tables.get(circumstance, {})


def summary(skips: list[Skip]) -> str:
    """One line: how many tests did not run, for want of what, and the command that installs it."""
    if not skips:
        return "Every test ran."
    counts = Counter(need for skip in skips for need in skip.needs).most_common()
    wanted = ", ".join(f"{NEEDS[need].words if need in NEEDS else need} ({count})" for need, count in counts)
    known = [NEEDS[need] for need, _ in counts if need in NEEDS]
    commands = ["make needs"] if any(need.packages for need in known) else []
    commands += dict.fromkeys(need.command for need in known if need.command)
    remedy = f" To run them: {'; '.join(commands)}." if commands else ""
    tests = "1 test" if len(skips) == 1 else f"{len(skips)} tests"
    return f"{tests} did not run, for want of: {wanted}.{remedy}"


def check(skips: list[Skip]) -> list[str]:
    """The skipped tests that CI does not allow, a line each."""
    permitted = allowed(os.environ.get(CIRCUMSTANCE, ""))
    refused = [(skip.test, [need for need in skip.needs if need not in permitted]) for skip in skips]
    return [f"{test}: needs {', '.join(names)}" for test, names in refused if names]


def main(log: Path) -> None:
    """Prints the summary of a log. Exits with 1 if CI does not allow one of the skips."""
    skips = list(recorded(log))
    print(summary(skips))
    if os.environ.get("CI") and (refused := check(skips)):
        listed = "\n  ".join(refused)
        sys.exit(f"With CI set, these tests must run, or {ALLOWED.relative_to(ROOT)} must give the reason:\n  {listed}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
