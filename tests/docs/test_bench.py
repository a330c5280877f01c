"""docs/bench.py: the output of the benchmarks becomes tables of ratios."""

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"

OUTPUT = """\
Ten honest flows ask for half of 100 Mbit/s, an attacker sends ten times the link; limit 200.
honest: of what they ask, what is sent; taken: the attacker's part of what is sent; KB: the most held.

             | one flow                    | invented
             |  ns/pkt    KB honest  taken |  ns/pkt    KB honest  taken
afd          |    20.0    30  98.3%  51.0% |    30.0   109   0.2%  99.8%
droptail     |    10.0    12   0.4%  99.0% |    10.0    12   0.0% 100.0%
Gnuplot not found

One offered packet: enqueue, and dequeue while the queue is longer than wanted; limit 1000 packets

empty queue 10 flows
                     ns   ratio   waiting  refused       bytes
ring buffer         2.0     1.0       0.0     0.0%       24000

half queue 10 flows
                     ns   ratio   waiting  refused       bytes
ring buffer         3.0     1.0     500.0     0.0%       24000
afd                12.0     4.0     500.0     0.1%       43000

half queue 100000 flows
                     ns   ratio   waiting  refused       bytes
ring buffer         3.0     1.0     500.0     0.0%       24000
afd                18.0     6.0     500.0     0.1%     7400000

Instructions a packet, queue half full of 1000; ratio: to the ring buffer; growth: 100 000 flows over 100
               100 flows 1000 flows   ratio 100 000 flows  growth
ring buffer           55         55     1.0            55    1.00
afd                  136        149     2.7           173    1.27
sred                 224        224     4.1           224    1.00
step                  82        165     3.0           165    2.01
tbf                  283        983     17.9           983    3.47
(a) demo: ten flows and a hog
                                          ns/packet   median    packets/s     events  ns/event
droptail                                      100.0    110.0     10000000       2.53      40.0
red:minth=20,maxth=80                         125.0    130.0      8000000       2.56      48.8
all disciplines                               112.5               8888889
all disciplines, ACKs counted too              80.0              12500000

(b) long-lived NewReno flows on 1 Mbit/s each
flows                                     ns/packet   median    packets/s     events  ns/event   ratio
10                                            100.0    100.0     10000000       3.07      32.6    1.00
10000                                         180.0    190.0      5555556       3.34      53.9    1.80

(c) ten flows of each congestion controller on 100 Mbit/s
cc                                        ns/packet   median    packets/s     events  ns/event  to cubic
reno                                          133.0    135.0      7518797       3.00      44.3      0.69
"""

TABLES = {
    "bench attacks": [
        "| `afd` | 2.0 | 30 | 98 % | 3.0 | 109 | 0 % |",
        "| `droptail` | 1.0 | 12 | 0 % | 1.0 | 12 | 0 % |",
    ],
    "bench disciplines": [
        "| ring buffer | 1.0 | 24 KB | 1.0 | 24 KB |",
        "| `afd` | 4.0 | 43 KB | 6.0 | 7.4 MB |",
    ],
    "bench counted": [
        "| ring buffer | 55 | 55 | 55 | 1.0 |  |",
        "| `afd` | 136 | 149 | 173 | 2.7 | 6 |",
        "| `sred` | 224 | 224 | 224 | 4.1 | 3 |",
        "| `step` | 82 | 165 | 165 | 3.0 | 3 |",
        "| `tbf` | 283 | 983 | 983 | 17.9 |  |",
        "",
        "2 disciplines meet their goals. The others do not: `sred`.",
    ],
    "bench demo": ["| `droptail` | 1.00 | 2.53 |", "| `red` | 1.25 | 2.56 |"],
    "bench flows": ["| 10 | 1.00 | 3.07 |", "| 10 000 | 1.80 | 3.34 |"],
    "bench controllers": ["| `reno` | 0.69 | 3.00 |"],
}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(DOCS))
    script = runpy.run_path(str(DOCS / "bench.py"))
    script["main"].__globals__["GUIDE"] = tmp_path
    return script


def rows(page: Path, marker: str) -> list[str]:
    """Rows of a table, without its head."""
    content = page.read_text().partition(f"<!-- {marker} -->\n")[2].partition(f"<!-- /{marker} -->")[0]
    return content.splitlines()[2:]


@pytest.mark.parametrize("part", ["all", "some", "none"])
def test_tables_have_the_ratios_of_the_benchmarks_that_ran(script: dict[str, Any], tmp_path: Path, part: str):
    for page in ("performance.md", "attacks.md"):
        markers = [each.marker for each in script["TABLES"] if each.page == page]
        text = "".join(
            f"<!-- {marker} -->\nhead\n---\nold\n<!-- /{marker} -->\n" for marker in (*markers, "bench instructions")
        )
        (tmp_path / page).write_text(text)
    output = tmp_path / "bench.txt"
    output.write_text(OUTPUT if part == "all" else OUTPUT.partition("(a) ")[0])
    script["main"](*([] if part == "none" else [output]))
    some = ("bench attacks", "bench disciplines", "bench counted")
    ran = {"all": tuple(TABLES), "some": some, "none": ()}[part]
    for each in script["TABLES"]:
        assert rows(tmp_path / each.page, each.marker) == (TABLES[each.marker] if each.marker in ran else ["old"])


def test_the_page_has_the_golden_instructions(script: dict[str, Any]):
    golden = "# about\nrun          instructions D1 misses LL misses events bytes/flow\n"
    golden += (
        "10000 flows          2298     26.23      5.60   3.44       1151\ndroptail   1205  1.25  0.05  2.53  35075\n"
    )
    assert script["instructions"](golden).splitlines()[2:] == [
        "| 10 000 flows | 2298 | 3.44 | 5.60 | 1151 |",
        "| droptail | 1205 | 2.53 | 0.05 |  |",
    ]
    page = (DOCS / "guide" / "performance.md").read_text()
    assert script["instructions"](script["GOLDEN"].read_text()) in page, "python docs/bench.py writes it"


def test_the_pages_have_a_place_for_every_table(script: dict[str, Any]):
    for each in script["TABLES"]:
        assert f"<!-- {each.marker} -->" in (DOCS / "guide" / each.page).read_text()
