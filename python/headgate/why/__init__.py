"""Explains one flow: numbers of a result's tables, in sentences and a figure."""

import warnings
from dataclasses import asdict
from typing import Any, NamedTuple

from headgate.errors import UsageError
from headgate.results import Result
from headgate.scenario import RunKey
from headgate.why.facts import FlowFacts, facts
from headgate.why.story import StorySection, answer, story

__all__ = ["Explanation", "FlowFacts", "StorySection", "explain"]


class Explanation(NamedTuple):
    """One flow in one run: the numbers, and sentences about them."""

    run: RunKey
    facts: FlowFacts
    sections: list[StorySection]

    @property
    def point(self) -> RunKey:
        """The old name of `run`, with a warning, for one more release."""
        warnings.warn("Explanation.point is called Explanation.run now", FutureWarning, stacklevel=2)
        return self.run

    @property
    def answer(self) -> str:
        """The summary in one sentence."""
        return answer(self.facts)

    @property
    def text(self) -> str:
        """All sections as lines of text."""
        paragraphs = ["\n".join(filter(None, [title, *sentences])) for title, sentences in self.sections]
        return "\n\n".join(paragraphs)

    def document(self) -> dict[str, Any]:
        """The JSON document: numbers and sentences."""
        sections = [{"title": title, "sentences": sentences} for title, sentences in self.sections]
        return {"schema": 2, **asdict(self.facts), "sections": sections}


def explain(result: Result, flow: int, *, qdisc: str | None = None, seed: int | None = None) -> Explanation:
    """Explains the goodput of flow number `flow`, by default under the first discipline and seed.

    `qdisc` is a discipline of the result (`red:maxp=0.1`), or its name if that is unique. Raises `UsageError`
    if the result has no such flow, discipline or seed.
    """
    run = choose(result, qdisc, seed)
    numbers = facts(result, run, flow)
    return Explanation(run, numbers, story(result, run, numbers))


def choose(result: Result, qdisc: str | None, seed: int | None) -> RunKey:
    """The run of this discipline and seed; by default the first."""
    runs = result.scenario.runs
    if qdisc is not None:
        exact = [run for run in runs if run.qdisc == qdisc]
        runs = exact or [run for run in runs if run.qdisc.partition(":")[0] == qdisc]
        names = {run.qdisc for run in runs}
        if len(names) != 1:
            known = ", ".join(sorted(names) or result.scenario.qdiscs)
            given = (
                f"{qdisc} matches several disciplines of this result: choose one of"
                if names
                else f"this result has no discipline {qdisc}; it has"
            )
            raise UsageError(f"{given} {known}")
    if seed is not None:
        runs = [run for run in runs if run.seed == seed]
        if not runs:
            seeds = ", ".join(map(str, result.scenario.seeds))
            raise UsageError(f"this result has no seed {seed}; it has {seeds}")
    return runs[0]
