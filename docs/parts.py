"""The pages with numbers of simulations, and the short run of each of their parts.

The parts of a paper's page are its experiments. The parts of other pages are the scenarios of the commands that they
show. `OTHERS` has pages with commands or numbers that have no part, with the reason. The decisions are no pages of
this kind: they keep the numbers of their time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import page_runs
import short_runs

import headgate
from headgate.papers import catalogue

ROOT = Path(__file__).parents[1]
PAPERS = "docs/papers/"
TODAY = f"{PAPERS}today.md"
EVALUATE = re.compile(r"^headgate evaluate ((?:\w+ ?)+)$|`headgate evaluate ((?:\w+ ?)+)`", re.MULTILINE)

#: Pages with numbers of simulations, and their scenarios. A discipline's page also has its figure's.
SCENARIOS = {
    "README.md": ("protect",),
    "docs/disciplines/cake.md": ("access",),
    "docs/disciplines/red_pd.md": ("live",),
    "docs/disciplines/sfb.md": ("live",),
    "docs/guide/check.md": ("protect",),
    "docs/guide/datacentre.md": ("incast",),
    "docs/guide/live.md": ("chain", "linux", "live"),
    "docs/guide/transport.md": ("bbr", "call"),
    "docs/guide/tuning.md": ("penalty-box", "portrait", "protect"),
    "docs/tutorial/first-finding.md": ("camera", "home"),
}
#: The scenario of the figure on a discipline's page.
FIGURE = "portrait"
#: The page with the heat maps of `headgate evaluate --l4s`.
COEXISTENCE = "docs/guide/l4s.md"
#: Pages with numbers of `headgate evaluate`.
EVALUATED = ("docs/explanation/choosing.md", "docs/guide/evaluate.md")
PEERS = "docs/reference/peers.md"

_NO_NUMBERS = "it shows commands without their numbers"
_MACHINE = "its numbers are times, memory or packets of a machine, which no short run repeats"
#: Pages with commands or numbers that no short run checks, and why.
OTHERS = {
    "docs/explanation/why.md": _NO_NUMBERS,
    "docs/explanation/seeds.md": "`make error-rates` writes its tables, from a scenario of its own",
    "docs/explanation/window.md": "`make window-rates` writes its tables, from a scenario of its own",
    "docs/guide/attacks.md": _MACHINE,
    "docs/guide/c.md": _MACHINE,
    "docs/guide/explain.md": _NO_NUMBERS,
    "docs/guide/export.md": _NO_NUMBERS,
    "docs/guide/figures.md": _NO_NUMBERS,
    "docs/guide/gateway.md": _MACHINE,
    "docs/guide/lab.md": "a test of the lab measures its answers (lab/test/lessons.test.ts)",
    "docs/guide/ns3.md": "its numbers are of ns-3, which counts with our disciplines",
    "docs/guide/performance.md": _MACHINE,
    "docs/guide/sweeps.md": _MACHINE,
    "docs/reference/cli.md": _NO_NUMBERS,
    "docs/reference/json.md": _NO_NUMBERS,
    "docs/reference/packetdrill.md": "its outcomes are of Google's scripts: `make packetdrill` compares them",
}

#: The short run of each part of each page: a call makes it and returns its digest.
Parts = dict[str, dict[str, Callable[[], str]]]


def all_parts(home: Path) -> Parts:
    """The parts of all pages. Experiments store their short runs in `home`."""
    runs = page_runs.Runs()
    known = papers(home, runs)
    known |= {page: {name: partial(of_scenario, runs, page, name) for name in names} for page, names in pages().items()}
    known |= {page: {"evaluate": partial(of_evaluation, page, home)} for page in EVALUATED}
    known[COEXISTENCE] = {"cells": partial(short_runs.of_coexistence, home)}
    return known | {PEERS: {"cases": partial(of_peers, runs)}}


def papers(home: Path, runs: page_runs.Runs) -> Parts:
    """The experiments of each paper's page, and those of the page with today's disciplines."""
    known: Parts = {
        f"{PAPERS}{paper}.md": {
            name.partition("/")[2]: partial(short_runs.of_experiment, name, home) for name in catalogue.names(paper)
        }
        for paper in catalogue.PAPERS
    }
    return known | {TODAY: {name: partial(of_today, runs, name, home) for name in short_runs.compared()}}


def of_today(runs: page_runs.Runs, name: str, home: Path) -> str:
    """The digest of an experiment together with that of today's disciplines in the scenario of their figures."""
    figures = [page_runs.single(FIGURE, spec) for spec in catalogue.further("today")]
    return short_runs.digest([short_runs.of_experiment(name, home), runs.digest(figures)])


def pages() -> dict[str, tuple[str, ...]]:
    """The scenarios of each page that is not a paper's."""
    figures = {f"docs/disciplines/{each.name}.md": (FIGURE,) for each in headgate.disciplines()}
    return {page: (*figures.get(page, ()), *SCENARIOS.get(page, ())) for page in sorted({*figures, *SCENARIOS})}


def of_scenario(runs: page_runs.Runs, page: str, name: str) -> str:
    """The digest of one scenario as the commands of a page run it."""
    return runs.digest(page_runs.scenarios((ROOT / page).read_text(), name))


def of_evaluation(page: str, home: Path) -> str:
    """The digest of the evaluation that a page shows."""
    found = EVALUATE.search((ROOT / page).read_text())
    if found is None:
        raise SystemExit(f"{page} shows no command `headgate evaluate` with the disciplines of its tables")
    return short_runs.of_evaluation(tuple((found[1] or found[2]).split()), home)


def of_peers(runs: page_runs.Runs) -> str:
    """The digest of Headgate's side of the comparison with ns-2 and ns-3."""
    return runs.digest(page_runs.of_peers())
