"""The result table at several widths."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

import headgate
from headgate.terminal import columns, table
from tests.conftest import SMALL, Command

QDISCS = ["droptail", "red:minth=25%,maxth=50%,maxp=0.02", "fq_codel"]


@pytest.fixture(scope="module")
def calls() -> headgate.Result:
    """Calls beside downloads and a flood, with three seeds."""
    text = SMALL.replace("[[udp]]\n", '[[udp]]\nname = "calls"\ntraffic = "voip"\npacket = "200B"\n\n[[udp]]\n')
    return headgate.run(headgate.Scenario.parse(text, qdiscs=QDISCS, seeds=3))


def printed(result: headgate.Result, width: int) -> list[str]:
    output = StringIO()
    Console(width=width, file=output, highlight=False).print(table.table(result, columns.rows(result), width))
    return output.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_names_are_whole_at_every_width_and_columns_that_are_left_out_are_named(calls: headgate.Result, width: int):
    lines = printed(calls, width)
    words = [line.split()[0] for line in lines if line.strip()]
    for part in ("droptail", "red", "minth=25%", "maxth=50%", "maxp=0.02", "fq_codel"):
        assert part in words
    listed = columns.columns(calls.scenario, columns.rows(calls))
    text = " ".join(" ".join(lines).split())
    heads = " ".join(
        lines[: next(number for number, line in enumerate(lines) if "\N{BOX DRAWINGS LIGHT HORIZONTAL}" in line)]
    )
    left = text.partition("left out of this width: ")[2]
    for column in listed:
        title = " ".join(column.title.split())
        assert (title in left) != all(word in heads for word in column.title.splitlines()), title
    assert ("left out" in text) == (width < 120)
    table_lines = lines[: next(number for number, line in enumerate(lines) if line.startswith("mean of"))]
    assert max(map(len, table_lines[1:])) <= width


def test_the_delay_of_calls_has_a_column_and_is_left_out_after_others(calls: headgate.Result):
    text = " ".join(" ".join(printed(calls, 60)).split())
    assert "calls" in text.partition("left out")[0]
    assert "UDP drop %" in text.partition("left out")[2]


def test_every_title_has_a_unit(calls: headgate.Result):
    rows = columns.rows(calls)
    for column in [*columns.columns(calls.scenario, rows), *columns.link_columns(rows)]:
        title = " ".join(column.title.split())
        assert any(unit in title for unit in ("Mbit/s", "kbit/s", "%", " ms", "fair", "index", "packets")), title
        assert title not in ("ms", "%")


def test_the_width_of_a_pipe_is_that_of_the_environment(command: Command, small: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "60")
    narrow = command("run", small, "--no-report").stdout.splitlines()
    monkeypatch.delenv("COLUMNS")
    wide = command("run", small, "--no-report").stdout.splitlines()
    assert any("left out of this width" in line for line in narrow)
    assert not any("left out of this width" in line for line in wide)
    assert max(len(line) for line in narrow if not line.startswith(("folder", "small:"))) <= 60
