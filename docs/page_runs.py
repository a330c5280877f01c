"""The short runs of pages that show commands: a page's scenarios with the disciplines and settings of its commands.

Each scenario is run as the page runs it, but with its first seed only.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).parents[1]))

import short_runs

import headgate
from headgate.analysis.runs import Run
from headgate.scenario import Scenario
from peers import here
from peers.cases import CASES

ROOT = Path(__file__).parents[1]
#: Commands that run a scenario.
COMMAND = re.compile(r"headgate (?:(?P<demo>demo)\b|(?:run|check|compare|sensitivity|sweep|tune) (?P<words>[^`]+))")
CODE = re.compile(r"^```\w*(?: title=\"[^\"]+\")?\n(?P<block>.*?)^```$|`(?P<span>[^`]+)`", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r'^```toml title="(?P<file>[^"]+)"\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)


class Command(NamedTuple):
    """A command of a page that runs a scenario: the scenario's name, disciplines (none: its own), and changed keys."""

    scenario: str
    qdiscs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


def commands(text: str) -> list[Command]:
    """The commands of a page that run a scenario, each once."""
    return list(dict.fromkeys(command for line in lines(text) if (command := command_of(line)) is not None))


def lines(text: str) -> Iterator[str]:
    """The lines of code blocks and the code between backquotes. A command that is broken across lines is one line."""
    for code in CODE.finditer(text):
        if code["span"] is not None:
            yield " ".join(code["span"].split())
        else:
            yield from code["block"].replace("\\\n", " ").splitlines()


def command_of(line: str) -> Command | None:
    """The command that begins in a line; None if there is none, or if it has no scenario."""
    found = COMMAND.search(line)
    if found is None:
        return None
    if found["demo"]:
        return Command("protect")
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--qdisc", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    options, others = parser.parse_known_args(shlex.split(found["words"], comments=True))
    name = next((Path(word).stem for word in others if word.endswith(".toml") or word in shipped()), None)
    qdiscs = tuple(spec for spec in options.qdisc if spec.strip(".…"))
    settings = tuple(each for each in options.set if not each.startswith("seeds="))
    return Command(name, qdiscs, settings) if name is not None else None


def shipped() -> set[str]:
    """The names of the scenarios in the folder `scenarios`."""
    return {file.stem for file in (ROOT / "scenarios").glob("*.toml")}


def scenarios(text: str, name: str) -> list[Scenario]:
    """The scenario `name` as each command of a page runs it, one for each discipline, with the first seed."""
    saved = {Path(found["file"]).stem: found["text"] for found in SAVED.finditer(text)}
    single: list[Scenario] = []
    for command in commands(text):
        if command.scenario == name:
            whole = _scenario(command, saved.get(name))
            seed = [whole.runs[0].seed]
            single += (whole.changed(qdiscs=[qdisc], seeds=seed) for qdisc in whole.qdiscs)
    return list(dict.fromkeys(single))


def _scenario(command: Command, saved: str | None) -> Scenario:
    if saved is not None:
        return Scenario.parse(saved, qdiscs=command.qdiscs, set=command.settings)
    return Scenario.load(ROOT / "scenarios" / f"{command.scenario}.toml", qdiscs=command.qdiscs, set=command.settings)


def single(name: str, qdisc: str) -> Scenario:
    """The scenario `name` with one discipline and its first seed."""
    return Scenario.load(ROOT / "scenarios" / f"{name}.toml", qdiscs=[qdisc], seeds=[1])


class Runs:
    """Finished short runs. Runs that several pages have in common are made once."""

    def __init__(self) -> None:
        self._counts: dict[Scenario, list[str]] = {}

    def digest(self, wanted: Sequence[Scenario]) -> str:
        """The digest of these scenarios, each of one run."""
        self.make(wanted)
        return short_runs.digest(line for each in wanted for line in self._counts[each])

    def make(self, wanted: Iterable[Scenario]) -> None:
        """Makes the runs that are missing, on all processors."""
        missing = [each for each in dict.fromkeys(wanted) if each not in self._counts]
        for scenario, result in zip(missing, headgate.run(missing), strict=True):
            (key,) = scenario.runs
            self._counts[scenario] = [key.qdisc, *short_runs.counts(Run(result, key, key.qdisc, {}))]


def of_peers() -> list[Scenario]:
    """The scenario of every case beside ns-2 and ns-3, with its first seed."""
    return [Scenario.parse(here.scenario(case), seeds=[1]) for case in CASES]
