"""The findings as JUnit XML, which CI systems show: a test case for each line and discipline."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from headgate.budget.kept import WORDS, Finding


def junit(findings: Sequence[Finding], name: str) -> bytes:
    """One suite, called after the scenario. What noise hides is a failure too: nobody has shown that it is kept."""
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
