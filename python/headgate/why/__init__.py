"""What happened to one flow, and why: the numbers of a result's tables, in sentences and a picture."""

from dataclasses import asdict
from typing import Any, NamedTuple

from headgate.errors import UsageError
from headgate.results import Result
from headgate.scenario import RunKey
from headgate.why.facts import FlowFacts, facts
from headgate.why.story import StorySection, answer, story

__all__ = ["Explanation", "Facts", "Section", "explain"]


class Explanation(NamedTuple):
    """One flow at one point: the numbers, and what they say."""

    point: RunKey
    facts: FlowFacts
    sections: list[StorySection]

    @property
    def answer(self) -> str:
        """The whole in one sentence."""
        return answer(self.facts)

    @property
    def text(self) -> str:
        """All sections as lines of text."""
        paragraphs = ["\n".join(filter(None, [title, *sentences])) for title, sentences in self.sections]
        return "\n\n".join(paragraphs)

    def document(self) -> dict[str, Any]:
        """Numbers and sentences as JSON has them."""
        sections = [{"title": title, "sentences": sentences} for title, sentences in self.sections]
        return {"schema": 2, **asdict(self.facts), "sections": sections}


def explain(result: Result, flow: int, *, qdisc: str | None = None, seed: int | None = None) -> Explanation:
    """Why flow number `flow` got what it got: under the first discipline and seed, or those asked for.

    `qdisc` is a discipline as the result has it (`red:maxp=0.1`), or its name where that is enough. Raises `UsageError`
    if the result has no such flow, discipline or seed.
    """
    point = choose(result, qdisc, seed)
    found = facts(result, point, flow)
    return Explanation(point, found, story(result, point, found))


def choose(result: Result, qdisc: str | None, seed: int | None) -> RunKey:
    """The point of a result that is asked for, the first if nothing is said."""
    points = result.scenario.points
    if qdisc is not None:
        exact = [point for point in points if point.qdisc == qdisc]
        points = exact or [point for point in points if point.qdisc.partition(":")[0] == qdisc]
        names = {point.qdisc for point in points}
        if len(names) != 1:
            known = ", ".join(sorted(names) or result.scenario.qdiscs)
            raise UsageError(
                f"{'more than one' if names else 'no'} discipline of this result is {qdisc}: it has {known}"
            )
    if seed is not None:
        points = [point for point in points if point.seed == seed]
        if not points:
            seeds = ", ".join(map(str, result.scenario.seeds))
            raise UsageError(f"this result has no seed {seed}, but {seeds}")
    return points[0]
