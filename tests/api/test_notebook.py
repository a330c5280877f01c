"""What a notebook shows of a result."""

import re
from xml.etree import ElementTree

import headgate
from headgate.analysis.verdict import verdict
from tests.conftest import SMALL


def test_a_notebook_shows_the_verdict_and_a_row_for_each_discipline(in_memory: headgate.Result):
    page = ElementTree.fromstring(f"<div>{in_memory._repr_html_()}</div>")
    assert "".join(page.find("p").itertext()) == f"{verdict(in_memory)}."
    rows = [[cell.text for cell in row] for row in page.iter("tr")]
    assert rows[0] == ["discipline", "tcp Mbit/s", "cbr Mbit/s", "tcp p95 ms", "cbr p95 ms"]
    assert [row[0] for row in rows[1:]] == ["DropTail", "FABA"]
    entry = in_memory.summary()[1]["groups"][0]["queue_delay_ms"]["p95"]
    shown = re.match(r"[\d.]+", rows[2][3])
    assert shown is not None
    assert abs(float(shown[0]) - entry["mean"]) < 1


def test_one_seed_has_no_margins():
    result = headgate.run(headgate.Scenario.parse(SMALL, seeds=1))
    assert "±" not in result._repr_html_()
    assert "one seed" in result._repr_html_()
