"""The evaluated disciplines, and DropTail as the baseline."""

from collections.abc import Sequence
from typing import NamedTuple

from headgate import _core, style
from headgate._core import ScenarioError
from headgate.errors import UsageError
from headgate.evaluate.network import dumbbell, tcp
from headgate.experiment.declare import ScenarioValues

BASELINE = "droptail"


class Candidate(NamedTuple):
    """One discipline: its canonical text, its name in print, and whether it marks."""

    spec: str
    label: str
    ecn: bool


def candidates(specs: Sequence[str]) -> tuple[Candidate, ...]:
    """The baseline and the requested disciplines, each once; `UsageError` for an unknown discipline."""
    if not specs:
        raise UsageError("name the disciplines to evaluate, such as: headgate evaluate sfb faba codel")
    return named([BASELINE, *specs])


def named(specs: Sequence[str]) -> tuple[Candidate, ...]:
    """These disciplines, each once; `UsageError` for an unknown discipline."""
    canonical = list(dict.fromkeys(_canonical(spec) for spec in specs))
    looks = style.looks(canonical)
    return tuple(Candidate(spec, looks[spec].label, _marks(spec)) for spec in canonical)


def _canonical(spec: str) -> str:
    try:
        probe = ScenarioValues({"name": "probe", "duration": "2s", "warmup": "1s", "ecn": False}, [spec])
        return dumbbell(probe, tcp(probe, "tcp")).qdiscs[0]
    except ScenarioError as error:
        more = f"\n{error.help}" if error.help else ""
        raise UsageError(f"{error.message}{more}") from None


def _marks(spec: str) -> bool:
    """Whether a discipline can mark, and its settings do not turn marking off."""
    name, _, settings = spec.partition(":")
    return _core.discipline(name).ecn and not {"ecn=off", "ecn=false"} & set(settings.split(","))
