"""Findings: explanations why our runs differ from a paper. They are in `findings.md`, beside its experiments.

Each section of that file is a finding, which can hold numbers from results. `{cbr | FABA | buffer=780 | 100}` stands
for the measure `cbr` of FABA in the case with a buffer of 780, times 100. Case and factor are optional.
"""

import re
from collections.abc import Mapping
from importlib import resources

from headgate import style
from headgate.experiment.results import ExperimentResults


def read(package: str) -> Mapping[str, str]:
    """The findings of a paper, by heading."""
    text = resources.files(package).joinpath("findings.md").read_text("utf-8")
    _, *sections = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return {name: " ".join(body.split()) for name, body in zip(sections[::2], sections[1::2], strict=True)}


def filled(finding: str, results: ExperimentResults) -> str:
    """The finding with its numbers, or with the reason in brackets why there is none."""
    return re.sub(r"\{(.+?)\}", lambda place: _number(place[1], results), finding)


def _number(written: str, results: ExperimentResults) -> str:
    measure, label, *more = (part.strip() for part in written.split("|"))
    words = dict(word.split("=") for word in " ".join(more).split() if "=" in word)
    factor = next((float(word) for word in " ".join(more).split() if "=" not in word), 1.0)
    cases = [case for case in results.cases if all(str(case[name]) == value for name, value in words.items())]
    if not cases:
        return "(case left out of the shortened run)"
    quantity = results(measure, label, **cases[0]) * factor
    return style.number(quantity.mean) if quantity.measured else "(no run has a value)"
