"""What became of what was expected: a verdict for each line and discipline, with the numbers that it rests on."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

from headgate.analysis.judge import Quantity, Verdict
from headgate.budget.lines import Expectation
from headgate.results import Result

SCHEMA = 1

#: The verdicts in the words of a budget. Only what holds beyond noise is kept.
WORDS = {Verdict.HOLDS: "kept", Verdict.DIFFERS: "broken", Verdict.CANNOT_TELL: "cannot tell"}


class CheckedExpectation(NamedTuple):
    """An expectation of one discipline: what was measured, and whether it is kept."""

    expected: Expectation
    qdisc: str
    measured: Quantity
    verdict: Verdict

    @property
    def kept(self) -> bool:
        """Whether the interval over seeds lies wholly within the bound."""
        return self.verdict is Verdict.HOLDS

    def __str__(self) -> str:
        count = len(self.measured.per_seed)
        seeds = f"{count} seeds" if count > 1 else "1 seed"
        bound = self.expected.bound
        said = f"{WORDS[self.verdict]}: {bound} under {self.qdisc}: {bound.metric.show(self.measured)} ({seeds})"
        if self.verdict is not Verdict.CANNOT_TELL:
            return said
        why = "the interval holds the bound" if math.isfinite(self.measured.mean) else "nothing was measured"
        return f"{said}: {why}"

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
    """A finding for each line and each discipline that it holds for."""
    for each in expected:
        for qdisc in each.qdiscs:
            measured = each.bound.metric.of(result, qdisc)
            yield CheckedExpectation(each, qdisc, measured, each.bound.judge(measured).verdict)


def document(findings: Sequence[CheckedExpectation], result: Result) -> dict[str, Any]:
    """All findings as one JSON document."""
    return {
        "schema": SCHEMA,
        "scenario": result.scenario.name,
        "config_hash": result.scenario.config_hash,
        "seeds": result.scenario.seeds,
        "kept": all(finding.kept for finding in findings),
        "findings": [finding.document() for finding in findings],
    }


def sentence(findings: Sequence[CheckedExpectation]) -> str:
    """How many are kept."""
    count, kept = len(findings), sum(finding.kept for finding in findings)
    return f"{kept} of {count} {'expectation is' if count == 1 else 'expectations are'} kept"


def junit_xml(findings: Sequence[CheckedExpectation], name: str) -> bytes:
    """JUnit XML, which CI systems show: a suite called after the scenario, a test case for each line and discipline.

    What noise hides is a failure too: nobody has shown that it is kept.
    """
    failures = sum(not finding.kept for finding in findings)
    suite = Xml.Element("testsuite", name=name, tests=str(len(findings)), failures=str(failures), errors="0")
    for finding in findings:
        case = Xml.SubElement(suite, "testcase", classname=f"{name}.{finding.qdisc}", name=str(finding.expected.bound))
        if not finding.kept:
            failure = Xml.SubElement(case, "failure", type=WORDS[finding.verdict], message=str(finding))
            failure.text = f"expect {finding.expected.line}\nper seed: {list(finding.measured.per_seed)}"
    suites = Xml.Element("testsuites")
    suites.append(suite)
    Xml.indent(suites)
    whole: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return whole + b"\n"
