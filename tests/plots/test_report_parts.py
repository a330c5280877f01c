"""The parts of the report: drawing, certainty, terms, numbers of charts, colors, the bundled library, and its size."""

import hashlib
import json
import re
from importlib import resources

import pytest
from tests.conftest import SMALL

import headgate
from headgate import _core, report
from headgate.analysis import data, findings
from headgate.plot import Picture
from headgate.report import charts, colors
from headgate.report.certainty import certainty
from headgate.report.drawing import drawing
from headgate.report.glossary import Explainer, terms
from headgate.scenario import Group
from headgate.scenario.shortest import shortest

#: SHA-256 of the files of uPlot 1.6.32, as the npm package `uplot` has them.
UPLOT = {
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}


def test_the_bundled_library_is_the_released_one():
    folder = resources.files("headgate.report").joinpath("uplot")
    assert {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()} == UPLOT
    assert "(v1.6.32)" in folder.joinpath("uPlot.iife.min.js").read_text()[:80]
    assert folder.joinpath("LICENSE").read_text().startswith("The MIT License")


def test_a_page_of_31_disciplines_and_3000_flows_has_at_most_8_mb(make):
    # The tables of this many runs would take minutes to make up: one seed has all flows and all disciplines.
    qdiscs = [each.name for each in _core.disciplines()][:31]
    groups = [Group("tcp", "tcp", 2900, None), Group("cbr", "udp", 100, 5e6, responsive=False)]
    huge = make(qdiscs=qdiscs, groups=groups, seeds=[1, 2], duration_s=20.0, warmup_s=5.0)
    shown = charts.charts(huge)
    numbers = charts.as_json(huge, shown)
    assert len(numbers) < 1_000_000
    flows = json.loads(numbers)["charts"]["flows"]
    assert len(flows["x"]) <= charts.MOST_FLOWS
    assert flows["flows"][-1] == 2999
    assert flows["flows"] == sorted(set(flows["flows"]))
    assert sum(flow >= 2900 for flow in flows["flows"]) == 100, "a small group is complete"
    large = Picture("Large", b"<svg>" + b" " * 3_000_000 + b"</svg>", None, 0.0)
    page = report.page(huge, {"gauges": large, "pair": large, "queue": large._replace(svg=b"<svg></svg>")})
    assert len(page.encode()) < 8_000_000
    assert "figures/pair.svg</code> is too large" in page


def test_the_numbers_of_charts_are_those_of_the_result(ordinary):
    read = json.loads(charts.as_json(ordinary, charts.charts(ordinary)))
    entries = ordinary.summary()
    for mine, entry in zip(read["charts"]["goodput"]["y"], entries, strict=True):
        assert mine == pytest.approx([group["goodput_bps"]["mean"] / 1e6 for group in entry["groups"]], rel=1e-3)
    curve = data.delay(ordinary, "red")
    delay = read["charts"]["delay"]
    assert delay["ys"][0][1][delay["x"].index(95)] == pytest.approx(curve.quantile(0.95), rel=1e-3)
    assert read["charts"]["fairness"]["names"] == ["0.1 s", "1 s", "10 s", "whole run"]


def test_transfers_that_have_not_finished_are_the_longest(make):
    (chart,) = (each for each in charts.charts(make(transferring=True)) if each.name == "completion")
    # Of the 200 transfers of a seed, one begins in the warm-up and ten have not finished.
    row = dict(zip(chart.numbers["x"], chart.numbers["y"][0], strict=True))
    assert row[94] is not None
    assert row[96] is None


def test_the_drawing_names_senders_queue_link_and_disciplines(make):
    groups = [
        Group("tcp", "tcp", 9, None),
        Group("flood", "udp", 1, 5e6, responsive=False),
        Group("calls", "udp", 20, 64e3, responsive=False, greedy=False),
    ]
    drawn = drawing(make(groups=groups))
    lines = [line.text for group in drawn.groups for line in group.lines]
    assert "9 TCP flows" in lines
    assert "1 UDP flow of 5 Mbit/s “flood”" in lines
    assert "20 UDP flows of 64 kbit/s “calls”" in lines
    assert [len(group.dots) for group in drawn.groups] == [9, 1, 12]
    words = " ".join(line.text for line in drawn.links[0].lines).replace("\N{NO-BREAK SPACE}", " ")
    assert "Queue: at most 780 packets" in words
    assert "DropTail, RED, SFB and FABA" in words
    assert "Link: 10 Mbit/s, 14 ms to the other end" in words
    parts = [*(group.lines for group in drawn.groups), *(link.lines for link in drawn.links)]
    places = [line.y for lines in parts for line in lines]
    assert places == sorted(places)
    assert max(places) < drawn.receivers[-1] < drawn.height


def test_many_groups_and_disciplines_are_counted(make):
    groups = [Group(f"group {number}", "tcp", 1, None) for number in range(12)]
    drawn = drawing(make(groups=groups, qdiscs=[each.name for each in _core.disciplines()]))
    assert drawn.groups[-1].lines[-1].text == "and 4 more groups of flows"
    assert f"and {len(_core.disciplines()) - 8} more" in drawn.alternative


def test_the_certainty_has_the_largest_sure_difference_and_its_p(make):
    sentence = certainty(findings.of(make(seeds=list(range(1, 13)))))
    assert sentence.startswith("Each discipline ran 12 times, each time with another seed. With DropTail, ")
    assert re.search(r"is [\d.]+ ± [\d.]+ Mbit/s above that with FABA \(p [<=] 0\.\d+\)\.", sentence)
    assert re.search(r"\d of 6 pairs of disciplines are shown to differ", sentence)


def test_one_seed_is_not_sure(make):
    assert certainty(findings.of(make(seeds=[1]))).startswith("Each discipline ran once.")
    few = certainty(findings.of(make(seeds=[1, 2])))
    assert few.endswith("with another seed. At least 5 are needed to show a difference: --seeds 10.")
    assert "margin of error" in certainty(findings.of(make(qdiscs=["red"])))


def test_a_term_is_marked_once_per_section_in_any_form():
    explain = Explainer()
    text = str(explain("Flows & flows: each FLOW has its fair share, p = 0.1 <b>, P, flowing"))
    assert text == (
        '<a class="term" href="#term-flow">Flows</a> &amp; flows: each FLOW has its <a class="term" '
        'href="#term-fair-share">fair share</a>, <a class="term" href="#term-p">p</a> = 0.1 &lt;b&gt;, P, flowing'
    )
    assert "term" not in explain("flow")
    explain.section()
    assert "term" in explain("flow")
    assert [term.names[0] for term in explain.used()] == ["fair share", "flow", "p"]


def test_terms_have_places_of_their_own():
    anchors = [term.anchor for term in terms()]
    assert len(set(anchors)) == len(anchors)
    assert all(re.fullmatch(r"term-[\w-]+", anchor) for anchor in anchors)


def test_the_shortest_text_gives_the_same_scenario_without_defaults():
    scenario = headgate.Scenario.parse(SMALL)
    short = shortest(scenario)
    assert headgate.Scenario.parse(short) == scenario
    written = [line.partition(" = ")[0] for line in SMALL.splitlines() if " = " in line]
    assert len(short.splitlines()) <= len(SMALL.splitlines()) + 1
    assert {line.partition(" = ")[0] for line in short.splitlines() if " = " in line} <= {*written, "profile"}


def test_links_of_a_network_keep_their_keys():
    text = SMALL.replace("[link]", '[[link]]\nname = "one"\nfrom = "A"\nto = "B"').replace(
        "[[tcp]]", '[[link]]\nfrom = "B"\nto = "C"\nrate = "1Mbit/s"\ndelay = "3ms"\nlimit = "9p"\n\n[[tcp]]', 1
    )
    text = re.sub(r"(\[\[(tcp|udp)\]\]\n)", r'\1route = ["A", "B", "C"]\n', text)
    scenario = headgate.Scenario.parse(text)
    assert headgate.Scenario.parse(shortest(scenario)) == scenario
    assert len(shortest(scenario)) < len(scenario.to_toml()) / 2


@pytest.mark.parametrize("color", ["#3A3A3A", "#332288", "#FFFFFF", "#E69F00"])
def test_a_color_is_legible_on_a_dark_page_unless_it_is_the_page(color):
    if color == "#FFFFFF":
        assert colors.dark(color) == colors.PAPER
    else:
        assert colors.contrast(colors.dark(color), colors.PAPER) >= 3
