"""`headgate evaluate --l4s`: heat maps of a Prague flow beside a CUBIC flow."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import UsageError
from headgate.evaluate.candidates import named
from headgate.evaluate.coexistence import cli, grid, heatmap, page, record
from headgate.execution.runner import Watcher
from headgate.experiment.running import RunOptions
from headgate.files import forms
from tests.conftest import Command

CELLS = ("--rate", "40Mbit/s", "--rate", "10Mbit/s", "--rtt", "10ms", "--rtt", "20ms", "--quick")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("coexistence")


@pytest.fixture(scope="module")
def document(folder: Path) -> dict[str, Any]:
    given = grid.Grid((10e6, 40e6), (10.0, 20.0))
    made = record.carry_out(given, named(["codel", "fq_codel"]), folder, RunOptions(quick=True), Watcher())
    return dict(made.document)


def test_every_cell_has_its_numbers_in_the_form(document: dict[str, Any]):
    forms.check(document, record.FORM, "document")
    assert document["rates_bps"] == [10e6, 40e6]
    assert [each["spec"] for each in document["disciplines"]] == ["codel", "fq_codel"]
    assert len(document["cells"]) == 8
    for cell in document["cells"]:
        prague, cubic = (cell["values"][f"{flow}_mbps"]["mean"] for flow in ("prague", "cubic"))
        assert cell["ratio"] == pytest.approx(prague / cubic)
        assert 0.85 < (prague + cubic) / (cell["rate_bps"] / 1e6) < 1
        for flow in ("prague", "cubic"):
            mean, p99 = (cell["values"][f"{flow}_delay_ms_{part}"]["mean"] for part in ("mean", "p99"))
            assert 0 < mean < p99 < 250


def test_fair_queueing_gives_both_flows_the_same(document: dict[str, Any]):
    ratios = [cell["ratio"] for cell in document["cells"] if cell["qdisc"] == "fq_codel"]
    assert all(0.8 < ratio < 1.25 for ratio in ratios)


def test_the_page_has_a_figure_and_a_row_per_cell(command: Command, folder: Path, document: dict[str, Any]):
    # The rates in another order: the axes are sorted.
    again = command("evaluate", "--l4s", "codel", "fq_codel", *CELLS, "--out", folder)
    assert again.returncode == 0, again.stderr
    assert "40 Mbit/s" in again.stdout
    assert "without ECN" in again.stdout
    kept = folder / "l4s-codel-fq_codel-10M-40M-10ms-20ms-quick"
    text = (kept / record.PAGE).read_text()
    assert text.count('<svg role="img"') == 1
    assert text.count("Mbit/s, 10 ms</th>") == 4
    assert {"coexistence.json", "coexistence.svg", "coexistence.png"} <= {each.name for each in kept.iterdir()}
    assert json.loads((kept / record.DOCUMENT).read_text())["cells"] == document["cells"]
    assert command("verify", folder).returncode == 0


def test_a_folder_of_other_settings_is_refused(command: Command, tmp_path: Path):
    one = ("evaluate", "--l4s", "codel", "--quick", "--rate", "4Mbit/s", "--rtt", "10ms", "--out", tmp_path)
    assert command(*one).returncode == 0
    (kept,) = tmp_path.glob("l4s-*")
    kept.rename(kept.with_name(f"{kept.name.removesuffix('-quick')}-classic-ecn-quick"))
    done = command(*one, "--classic-ecn")
    assert done.returncode != 0
    assert "classic_ecn is False, not True" in done.stderr


def test_a_lone_prague_starves_cubic_in_codel_without_its_fall_back(command: Command, tmp_path: Path):
    """As published: 24:1 at 50 Mbit/s and 20 ms in a shared queue of FQ-CoDel (heistp/l4s-tests, scenario 6)."""
    cell = ("--rate", "50Mbit/s", "--rtt", "20ms", "--quick", "--classic-ecn", "--json", "--out", tmp_path)
    ratios = [
        json.loads(command("evaluate", "--l4s", "codel", *cell, *more).stdout)["cells"][0]["ratio"]
        for more in ((), ("--no-fallback",))
    ]
    assert ratios[1] > 8
    assert ratios[0] < 3


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (grid.Grid(), "l4s-codel"),
        (grid.Grid(rates_bps=(1.5e6,), rtts_ms=(10.0, 0.5)), "l4s-codel-1.5M-10ms-0.5ms"),
        (
            grid.Grid(buffer_bdp=2, classic_ecn=True, fallback=False, profile="linux"),
            "l4s-codel-2bdp-classic-ecn-no-fallback-linux",
        ),
    ],
)
def test_each_question_has_a_folder_of_its_own(given: grid.Grid, expected: str):
    assert record.folder(Path("out"), given, named(["codel"]), RunOptions()) == Path("out", expected)


def test_the_buffer_is_a_time_or_a_number_of_bandwidth_delay_products():
    assert grid.Grid().limit_packets(12e6, 5) == 250
    assert grid.Grid(buffer_bdp=2).limit_packets(100e6, 25) == 2 * math.ceil(100e6 * 0.025 / 12000)
    assert grid.Grid(buffer_bdp=0.01).limit_packets(1e6, 5) == 1


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        *((None, ">1000"), (1e4, ">1000"), (0.0, "<1/1000"), (1 / 16000, "<1/1000")),
        *(
            (1.0, "1"),
            (0.98, "1"),
            (1.04, "1"),
            (2.44, "2.4"),
            (0.25, "1/4"),
            (24.2, "24"),
            (1 / 30, "1/30"),
            (9.96, "10"),
        ),
    ],
)
def test_a_ratio_and_its_inverse_look_alike(ratio: float | None, expected: str):
    assert heatmap.shown(ratio) == expected


def test_the_answer_has_the_ends_of_each_discipline():
    cells = [{"qdisc": "a", "ratio": ratio} for ratio in (0.5, 3.0)] + [{"qdisc": "b", "ratio": None}]
    disciplines = [{"spec": "a", "label": "A"}, {"spec": "b", "label": "B"}]
    assert page.answer({"disciplines": disciplines, "cells": cells}) == "A 1/2 to 3; B >1000"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--l4s", "cdel"), "error: no discipline is called `cdel`; did you mean `codel`?\n"),
        (("--l4s", "--section", "4"), "error: --l4s has no sections: leave out --section and --list\n"),
        (("codel", "--rtt", "5ms"), "error: --rtt is an option of heat maps: add --l4s\n"),
        (("codel", "--no-fallback"), "error: --no-fallback is an option of heat maps: add --l4s\n"),
        (("codel", "--buffer", "0"), "error: --buffer is an option of heat maps: add --l4s\n"),
        (("--l4s", "--rate", "5"), "error: --rate: expected a rate with its unit"),
        (("--l4s", "--rtt", "0ms"), "error: --rtt 0ms: give a number above 0\n"),
        (("--l4s", "--buffer", "-1"), "error: --buffer -1: give a number of bandwidth-delay products above 0"),
        (("--l4s", "--buffer", "nan"), "error: --buffer nan: give a number of bandwidth-delay products above 0"),
        (("--l4s", "--profile", "linx"), "error: `flows[0].profile`: unknown profile `linx`; did you mean `linux`?"),
        (("--l4s", "--rate", "1e300Gbit/s", "codel"), "error: "),
        (("--l4s", "--rtt", "0.1ms", "codel"), "error: "),
    ],
)
def test_bad_input_is_refused_before_any_run(command: Command, arguments: tuple[str, ...], expected: str):
    done = command("evaluate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(expected)
    assert "Traceback" not in done.stderr
    assert not list(Path().iterdir())


def test_options_without_l4s_are_refused_by_their_own_names():
    nothing = cli.HeatMapOptions((), (), None, classic_ecn=False, no_fallback=False, profile=None)
    nothing.refuse_any()
    with pytest.raises(UsageError, match="--classic-ecn"):
        nothing._replace(classic_ecn=True).refuse_any()
