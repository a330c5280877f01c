"""Comparisons of two results: allowed differences, gaps between measures, and sentences about them."""

import copy
import json
import math
from importlib import resources
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest

import headgate
from headgate.analysis.division_sentences import LIMITED_TO
from headgate.analysis.judge import Quantity
from headgate.analysis.repeats import distinct
from headgate.analysis.significance import unpaired
from headgate.compare import page, terminal, words
from headgate.compare.figure import sides
from headgate.compare.gaps import DROPS, GOODPUT, LINK, UTILIZATION, compare, gap
from headgate.errors import UsageError
from headgate.plot.picture import picture
from tests.conftest import SMALL, Command


def ran(out: Path | None = None, **changes) -> headgate.Result:
    return headgate.run(headgate.Scenario.parse(SMALL, **changes), out=out, report=False)


@pytest.fixture(scope="module")
def slower() -> headgate.Result:
    return ran(set=["link.rate=1Mbit/s"])


def test_a_result_beside_itself_has_no_gap(in_memory):
    comparison = compare(in_memory, in_memory)
    assert comparison.qdiscs == ["droptail", "faba"]
    assert comparison.groups == ["tcp", "cbr"]
    assert comparison.names == ("A", "B")
    assert all(row.gap is None or row.gap.mean == 0 for row in comparison.rows)
    assert words.sentence(comparison) == "Goodput in B equals that in A for all groups and disciplines"


def test_values_are_those_of_the_results(in_memory):
    row = compare(in_memory, in_memory).row("faba", "tcp", GOODPUT)
    (group,) = [each for each in in_memory.summary()[1]["groups"] if each["name"] == "tcp"]
    assert row.values[0].per_seed == pytest.approx([whole / 3 for whole in group["goodput_bps"]["per_seed"]])


def test_of_several_links_each_has_its_rows_and_its_table():
    """The second of two links is slower and drops packets that the first let through."""
    text = """
        name = "two"
        duration = "3s"
        qdiscs = ["droptail"]
        udp = [{ from = "A", to = "C", rate = "3Mbit/s" }]
        link = [
            { from = "A", to = "B", rate = "4Mbit/s", delay = "5ms", limit = "40p" },
            { from = "B", to = "C", rate = "2Mbit/s", delay = "5ms", limit = "40p" },
        ]
    """
    result = headgate.run(headgate.Scenario.parse(text))
    comparison = compare(result, result)
    assert (comparison.groups, comparison.links) == (["udp"], [LINK, "link B-C"])
    losses = [comparison.row("droptail", of, DROPS).values[0].mean for of in comparison.links]
    # A third of the packets is dropped, less the 40 of 1125 that are queued at the end.
    assert losses == [0, pytest.approx(1 / 3, abs=0.04)]
    assert comparison.row("droptail", "link B-C", UTILIZATION).values[0].mean > 0.95
    assert [terminal.title(comparison, of) for of in comparison.links] == ["the link A-B, 4 Mbit/s", "the link B-C"]
    assert "the link B-C" in page.page(comparison, picture(sides(comparison)))


def test_a_scenario_that_differs_is_refused_with_the_key_and_both_values(in_memory, slower):
    with pytest.raises(UsageError, match=r"link\.rate: '2Mbit/s' in the first, '1Mbit/s' in the second"):
        compare(in_memory, slower)


def test_an_allowed_key_may_differ_and_is_noted(in_memory, slower):
    comparison = compare(in_memory, slower, ["link"])
    assert [each.key for each in comparison.differences] == ["link.rate", "link.reverse.rate"]
    assert any("link.rate" in note for note in words.notes(comparison))
    droptail = comparison.row("droptail", "cbr", GOODPUT).gap
    # The unresponsive flow has most of a full link.
    assert droptail is not None
    assert droptail.relative == pytest.approx(-0.5, abs=0.15)


@pytest.mark.parametrize("allowed", ["tcp", "tcp.cc"])
def test_an_allowed_key_allows_all_keys_below_it(in_memory, allowed: str):
    other = ran(set=["tcp.cc=cubic", "tcp.recovery=sack", "tcp.prr=false"])
    assert [each.key for each in compare(in_memory, other, [allowed]).differences] == ["tcp.cc"]


def test_an_allowed_key_that_does_not_differ_is_a_mistake(in_memory):
    with pytest.raises(UsageError, match=r"--allow link\.rate: the scenarios do not differ in this key"):
        compare(in_memory, in_memory, ["link.rate"])


def test_other_seeds_and_fewer_disciplines_may_be_compared(in_memory):
    other = ran(seeds=[7, 8, 9], qdiscs=["red", "faba"])
    comparison = compare(in_memory, other)
    assert comparison.qdiscs == ["faba"]
    assert "2 seeds in A, 3 seeds in B." in words.notes(comparison)
    assert any("Left out" in note and "droptail" in note and "red" in note for note in words.notes(comparison))


def test_no_common_discipline_is_an_error(in_memory):
    with pytest.raises(UsageError, match="no discipline in common: droptail, faba in the first, red in the second"):
        compare(in_memory, ran(qdiscs=["red"]))


@pytest.mark.parametrize(
    ("one", "other", "half", "verdict"),
    [
        # Equal variances of 2.5, five of each: 8 degrees of freedom, of which Student's t is 2.306.
        ((1.0, 2.0, 3.0, 4.0, 5.0), (5.0, 6.0, 7.0, 8.0, 9.0), 2.306004, "differs"),
        # Too few to show it.
        ((1.0, 2.0, 3.0), (5.0, 6.0, 7.0), 2.776445 * math.sqrt(1 / 3 + 1 / 3), "inconclusive"),
        # Counts rounded to whole numbers: variances of 1 / 12, again 8 degrees of freedom.
        ((2.0,) * 5, (2.0,) * 5, 2.306004 * math.sqrt(2 / 60), "inconclusive"),
    ],
)
def test_the_interval_of_a_gap_is_welchs(one: tuple[float, ...], other: tuple[float, ...], half: float, verdict: str):
    difference = gap(Quantity(one), Quantity(other))
    assert difference is not None
    assert difference.mean == pytest.approx(sum(other) / len(other) - sum(one) / len(one))
    assert difference.half == pytest.approx(half, rel=1e-6)
    assert difference.verdict == verdict


def test_a_gap_with_one_seed_is_inconclusive():
    difference = gap(Quantity((1.0,)), Quantity((9.0, 9.1)))
    assert difference is not None
    assert (difference.half, difference.verdict) == (None, "inconclusive")
    assert gap(Quantity((math.nan,)), Quantity((1.0,))) is None
    nothing = gap(Quantity((0.0,) * 5), Quantity((1.0,) * 5))
    assert nothing is not None
    assert (nothing.relative, nothing.verdict) == (None, "differs")


def test_seeds_that_gave_the_same_runs_count_once():
    first, second = (ran(seeds=5, qdiscs=["droptail"], set=[f"link.limit={limit}"]) for limit in ("50p", "20p"))
    assert distinct(first) == 1
    assert {row.gap.half for row in compare(first, second, ["link"]).rows if row.gap is not None} == {None}


def test_the_command_prints_tables_and_writes_a_page(command: Command, tmp_path: Path):
    folders = [ran(tmp_path, seeds=seeds).path for seeds in (1, 2)]
    done = command("compare", *folders)
    assert done.returncode == 0
    for text in (
        "tcp: 3 TCP flows",
        "cbr: 1 UDP flow",
        "the link, 2 Mbit/s",
        "With fewer than 5 seeds, no difference is shown",
    ):
        assert text in done.stdout
    written = Path(done.stdout.splitlines()[-1].removeprefix("page").strip())
    assert {file.name for file in written.parent.iterdir()} == {"report.html", "sides.svg", "sides.png"}
    whole = written.read_text()
    assert "<h1>The largest difference of goodput is" in whole
    assert "<script" not in whole


def test_the_command_refuses_two_scenarios(command: Command, tmp_path: Path):
    one, other = ran(tmp_path).path, ran(tmp_path, set=["warmup=2s"]).path
    done = command("compare", one, other, "--no-page")
    assert done.returncode == 2
    assert "warmup: '1s' in the first, '2s' in the second; use --allow warmup to compare them anyway" in done.stderr


def test_the_document_has_the_form_of_the_schema(command: Command, tmp_path: Path):
    folders = [ran(tmp_path, seeds=seeds).path for seeds in (1, 2)]
    done = command("compare", *folders, "--json", "--no-page")
    document = json.loads(done.stdout)
    schema = json.loads(resources.files("headgate").joinpath("schema/compare-2.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    assert [each["seeds"] for each in document["results"]] == [[1], [1, 2]]
    keys = {(row["qdisc"], row["of"], row["measure"]) for row in document["rows"]}
    assert {("faba", "tcp", GOODPUT.name), ("droptail", LINK, UTILIZATION.name), ("faba", "cbr", DROPS.name)} <= keys


def test_the_page_escapes_text_of_the_scenario():
    hostile = headgate.Scenario.parse(SMALL, set=['about="<script>alert(1)</script>"'], seeds=1, qdiscs=["droptail"])
    result = headgate.run(hostile)
    comparison = compare(result, result)
    whole = page.page(comparison, picture(sides(comparison)))
    assert "<script" not in whole
    assert "&lt;script&gt;" in whole


def test_a_file_is_run_in_both_worlds_and_keys_of_then_may_differ(command: Command, small: Path):
    arguments = ["compare", small, "--worlds", "sim,sim", "--set", "seeds=[1]", "--then", "link.limit=20p", "--no-page"]
    done = command(*arguments)
    assert done.returncode == 0
    assert "The scenarios differ in link.limit: '50p' in the first, '20p' in the second." in done.stdout
    kept = sorted(path.name for path in Path("results").iterdir())
    assert len(kept) == 2
    again = command(*arguments)
    assert again.stdout == done.stdout
    assert sorted(path.name for path in Path("results").iterdir()) == kept


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--worlds", "sim"], "expected two worlds, each sim, live or kernel"),
        (["--worlds", "sim,real"], "expected two worlds, each sim, live or kernel"),
        (["--then", "link.limt=20p", "--worlds", "sim,sim"], "did you mean `limit`"),
    ],
)
def test_invalid_worlds_of_a_file_are_refused(command: Command, small: Path, arguments: list[str], expected: str):
    done = command("compare", small, *arguments)
    assert done.returncode == 2
    assert expected in done.stderr
    assert not Path("results").exists()


def test_options_of_a_file_are_none_of_results(command: Command, tmp_path: Path):
    folder = ran(tmp_path, seeds=1).path
    assert "need a scenario file" in command("compare", folder, folder, "--set", "link.rate=1Mbit/s").stderr
    assert "is a folder" in command("compare", folder).stderr


def test_disciplines_that_promise_protection_are_judged_by_the_measured_share():
    five = ran(seeds=5, set=["tcp.send_jitter=1ms"])
    (text,) = words.unresponsive_shares(compare(five, five))
    droptail, faba = (
        next(group["share_of_fair"]["mean"] for group in entry["groups"] if group["name"] == "cbr")
        for entry in five.summary()
    )
    assert f"{faba:.1f} with FABA, {droptail:.1f} with DropTail" in text
    # DropTail does not claim to limit the flow. FABA does, and is judged by the bound.
    high = next(group for group in five.summary()[1]["groups"] if group["name"] == "cbr")["share_of_fair"]["high"]
    assert faba <= LIMITED_TO
    held = "hold it to 1.5 times its fair share" if high <= LIMITED_TO else "not shown to hold it"
    assert text.endswith(f"{held}: FABA.")
    one = ran(seeds=1)
    assert words.unresponsive_shares(compare(one, one))[0].endswith("not shown to hold it: FABA.")


def test_results_are_called_close_only_if_the_intervals_of_their_differences_are():
    random = ["tcp.send_jitter=1ms"]
    same = compare(ran(seeds=5, set=random), ran(seeds=[6, 7, 8, 9, 10], set=random))
    for row in (row for row in same.rows if row.measure == GOODPUT):
        gap_half = unpaired(row.values[1].per_seed, row.values[0].per_seed).half
        most = abs(row.values[1].mean - row.values[0].mean) + gap_half
        assert words.is_close(row) == (most <= 0.15 * row.values[0].mean)
    assert " is shown to be within 15 % of A " in words.sentence(same)
    assert words.sentence(compare(ran(seeds=1), ran(seeds=1, set=["link.limit=49p"]), ["link"])).endswith(
        ", which one seed does not show"
    )


def test_fewer_than_five_different_seeds_show_no_two_results_to_be_equal():
    random = ["tcp.send_jitter=1ms"]
    four = compare(ran(seeds=4, set=random), ran(seeds=[6, 7, 8, 9], set=random))
    assert not any(words.is_close(row) for row in four.rows)
    assert words.sentence(four).endswith(", which 4 seeds do not show")
    assert words.unresponsive_shares(four)[0].endswith("not shown to hold it: FABA.")


def test_live_results_of_versions_that_did_not_count_marks_are_compared_too(in_memory):
    live = copy.copy(in_memory)
    live.manifest = {**in_memory.manifest, "world": "live", "live": {"runs": [{"conserves": True}]}}
    text = "live was made by a version that did not count marks at receivers."
    assert text not in words.notes(compare(in_memory, live)), "nothing was marked"
    marks = pa.chunked_array([[1] * live.links.num_rows], pa.uint64())
    place = live.links.schema.get_field_index("marked")
    live.links = live.links.set_column(place, "marked", marks)
    assert text in words.notes(compare(in_memory, live))


def test_notes_on_a_live_result_count_marks_at_receivers(in_memory):
    live = copy.copy(in_memory)
    points = [{"marks": {"link": 30, "receivers": 28}}, {"marks": {"link": 4, "receivers": 4}}]
    live.manifest = {**in_memory.manifest, "world": "live", "live": {"runs": points}}
    comparison = compare(in_memory, live)
    assert comparison.names == ("sim", "live")
    assert "In live, 32 of the 34 packets marked by the link arrived at receivers with the mark." in words.notes(
        comparison
    )


def test_two_simulations_of_the_same_seeds_are_compared_seed_by_seed_and_corrected_for_their_number():
    """Seeds differ by 10, pairs by 1: Welch's test sees nothing, the paired one does."""
    one, other = Quantity((1.0, 11.0, 21.0, 31.0, 41.0)), Quantity((2.0, 12.1, 21.9, 32.0, 42.1))
    assert gap(one, other, pairs=True).verdict == "differs"
    assert gap(one, other).verdict == "inconclusive"
    random = ["tcp.send_jitter=1ms"]
    first, second = ran(seeds=5, set=random), ran(seeds=5, set=[*random, "link.limit=20p"])
    comparison = compare(first, second, ["link"])
    alone = [gap(*row.values, pairs=True) for row in comparison.rows]
    pairs = [(row.gap, each) for row, each in zip(comparison.rows, alone, strict=True) if each is not None]
    assert all(corrected.p >= each.p for corrected, each in pairs)
    least = min(pairs, key=lambda pair: pair[1].p)
    assert least[0].p == pytest.approx(min(1.0, len(pairs) * least[1].p))
    note = " ".join(words.notes(comparison))
    assert f"paired t tests by seed, Holm over {len(pairs)} differences (goodput" in note
    assert words.sentence(comparison).startswith("The largest difference of goodput is ")
