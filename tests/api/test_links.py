"""Results with several compared links name each link."""

import re
from pathlib import Path

import pytest

import headgate
from headgate import plot
from headgate.analysis import links
from headgate.analysis.verdict import verdict
from headgate.report import page
from tests.conftest import SMALL, Command

#: The small scenario's flows over two links. The second has half the rate, so most drops are there.
CHAIN = SMALL.replace(
    SMALL[SMALL.index("[link]") : SMALL.index("[[tcp]]")],
    """
[[link]]
from = "A"
to = "B"
rate = "4Mbit/s"
delay = "2ms"
limit = "50p"

[[link]]
name = "last"
from = "B"
to = "C"
rate = "2Mbit/s"
delay = "2ms"
limit = "50p"

""",
).replace("\npacket", '\nfrom = "A"\nto = "C"\npacket')


@pytest.fixture(scope="module")
def chain() -> headgate.Result:
    return headgate.run(headgate.Scenario.parse(CHAIN, seeds=1))


def test_links_come_in_the_scenarios_order_the_first_is_the_bottleneck(chain: headgate.Result):
    assert links.compared(chain) == [("A-B", "forward"), ("last", "forward")]
    assert links.compared(chain)[0] == chain.scenario.bottleneck
    assert links.LinkDirection("A-B", "reverse").label == "A-B reverse"


def test_a_dumbbell_has_one_link_and_does_not_name_it(in_memory: headgate.Result):
    assert links.compared(in_memory) == [("bottleneck", "forward")]
    assert (links.first(in_memory), links.note(in_memory)) == ("", "")
    assert "bottleneck" not in verdict(in_memory)


def test_the_document_has_the_figures_of_each_link(chain: headgate.Result):
    table = chain.links.to_pandas()
    for entry in chain.summary():
        assert [link["link"] for link in entry["links"]] == ["A-B", "last"]
        assert entry["links"][0]["figures"] == entry["bottleneck"]
        for link in entry["links"]:
            wanted = (table["qdisc"] == entry["qdisc"]) & (table["link"] == link["link"])
            (row,) = table[wanted & (table["direction"] == link["direction"])].to_dict("records")
            assert link["figures"]["dropped"]["per_seed"] == [row["dropped"]]
            assert link["figures"]["queue_delay_ms"]["p95"]["per_seed"] == [row["queue_delay_ms_p95"]]
        # UDP offers 2 Mbit/s and TCP more. The first link is twice as fast, so it drops less.
        first, last = (link["figures"]["dropped"]["mean"] for link in entry["links"])
        assert first < last


def test_the_verdict_names_the_link_that_its_rate_is_of(chain: headgate.Result):
    assert verdict(chain).startswith("On link A-B, ")


def test_the_terminal_has_a_row_for_each_discipline_at_each_link(command: Command, tmp_path: Path):
    (tmp_path / "chain.toml").write_text(CHAIN)
    lines = command("run", "chain.toml", "--seeds", 1, "--no-report").stdout.splitlines()
    assert lines[0].endswith("on 4 Mbit/s (A-B); 4 s, the first 1 s excluded")
    first = [line.split()[0] for line in lines if line.split()]
    assert first[first.index("A-B") :][:6] == ["A-B", "droptail", "faba", "last", "droptail", "faba"]
    (head,) = (line for line in lines if "discipline" in line and "Mbit/s" in line)
    assert "p95" not in head, "the table of all flows has no figures of one link"


def test_the_page_has_a_table_for_each_link(chain: headgate.Result):
    text = re.sub("<[^>]*>", " ", re.sub(r'<a class="term"[^>]*>|</a>', "", page(chain)))
    for link in ("A-B", "last"):
        assert f"Link {link}. One seed. p50, p95, p99: queueing delay." in text
        assert f"{link}, FABA" in text


def test_a_figure_of_one_link_names_it(chain: headgate.Result):
    note = "Link A-B, the first of 2 that are compared."
    for draw in (plot.delay_cdf, plot.tradeoff):
        assert " ".join(draw(chain).get_figure().get_supxlabel().split()).endswith(note)
    assert " ".join(plot.queue(chain)[0].get_figure().get_supxlabel().split()).endswith(note)
