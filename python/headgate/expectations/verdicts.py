"""The verdict on each expectation and discipline, with the numbers behind it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

from headgate.analysis.judge import Quantity, Verdict
from headgate.counting import counted
from headgate.expectations.lines import Expectation
from headgate.results import Result

SCHEMA = 2

#: The verdicts on an expectation.
WORDS = {Verdict.HOLDS: "holds", Verdict.DIFFERS: "fails", Verdict.INCONCLUSIVE: "inconclusive"}


class CheckedExpectation(NamedTuple):
    """An expectation of one discipline: the measured value and the verdict."""

    expected: Expectation
    qdisc: str
    measured: Quantity
    verdict: Verdict

    @property
    def holds(self) -> bool:
        """Whether the interval over seeds lies wholly within the bound."""
        return self.verdict is Verdict.HOLDS

    def __str__(self) -> str:
        seeds = counted(len(self.measured.per_seed), "seed")
        bound = self.expected.bound
        sentence = f"{WORDS[self.verdict]}: {bound} under {self.qdisc}: {bound.metric.show(self.measured)} ({seeds})"
        if self.verdict is not Verdict.INCONCLUSIVE:
            return sentence
        why = "the interval contains the bound" if math.isfinite(self.measured.mean) else "nothing was measured"
        return f"{sentence}: {why}"

    def document(self) -> dict[str, Any]:
        """The same as JSON; numbers in the unit of the metric in the JSON document of a run."""
        bound = self.expected.bound
        return {
            "expect": self.expected.line,
            "metric": str(bound.metric),
            "sign": bound.sign,
            "bound": bound.value,
            "qdisc": self.qdisc,
            "verdict": WORDS[self.verdict],
            "text": str(self),
            **self.measured.document(),
        }


def judged(expected: Iterable[Expectation], result: Result) -> Iterator[CheckedExpectation]:
    """A result for each expectation and each discipline that it applies to."""
    for each in expected:
        for qdisc in each.qdiscs:
            measured = each.bound.metric.of(result, qdisc)
            yield CheckedExpectation(each, qdisc, measured, each.bound.judge(measured).verdict)


def document(results: Sequence[CheckedExpectation], result: Result) -> dict[str, Any]:
    """All results as one JSON document."""
    return {
        "schema": SCHEMA,
        "scenario": result.scenario.name,
        "config_hash": result.scenario.config_hash,
        "seeds": result.scenario.seeds,
        "holds": all(each.holds for each in results),
        "expectations": [each.document() for each in results],
    }


def sentence(results: Sequence[CheckedExpectation]) -> str:
    """How many expectations hold."""
    count, holding = len(results), sum(each.holds for each in results)
    return f"{holding} of {counted(count, 'expectation holds', 'expectations hold')}"


def junit_xml(results: Sequence[CheckedExpectation], name: str) -> bytes:
    """JUnit XML, which CI systems show: a suite called after the scenario, a test case for each line and discipline.

    An inconclusive expectation is a failure too: it was not shown to hold.
    """
    failures = sum(not each.holds for each in results)
    suite = Xml.Element("testsuite", name=name, tests=str(len(results)), failures=str(failures), errors="0")
    for each in results:
        case = Xml.SubElement(suite, "testcase", classname=f"{name}.{each.qdisc}", name=str(each.expected.bound))
        if not each.holds:
            failure = Xml.SubElement(case, "failure", type=WORDS[each.verdict], message=str(each))
            failure.text = f"expect {each.expected.line}\nper seed: {list(each.measured.per_seed)}"
    suites = Xml.Element("testsuites")
    suites.append(suite)
    Xml.indent(suites)
    whole: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return whole + b"\n"
