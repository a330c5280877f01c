"""`headgate evaluate` from the command to the page."""

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest

from headgate.evaluate import catalogue, record, words
from headgate.evaluate.candidates import candidates
from headgate.experiment import running
from tests.conftest import Command

SHORT = ("evaluate", "faba", "fq", "--quick", "--seeds", "2", "--section", "4", "--section", "10")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("evaluated")


def test_two_sections_run_and_a_second_evaluation_reuses_them(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(running, "POOL", 8)  # so that the 20 folders are three pools
    done = command(*SHORT, "--out", folder)
    assert done.returncode == 0, done.stderr
    assert "4 Packet sizes" in done.stdout
    # FABA marks, FQ and the baseline do not: 5 cases of 2 seeds, four times.
    again = command(*SHORT, "--out", folder, "--json")
    assert again.returncode == 0
    document = json.loads(again.stdout)
    schema = json.loads(resources.files("headgate").joinpath("schema/evaluate-2.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    kept = folder / "faba-fq-quick-seeds2-section-4-10"
    assert json.loads((kept / record.DOCUMENT).read_text())["sections"] == document["sections"]
    assert len(list((folder / "runs").iterdir())) == 5 * 4
    assert [each["ecn"] for each in document["disciplines"]] == [False, True, False]


def test_the_page_has_its_parts_and_the_table_every_number(folder: Path):
    kept = folder / "faba-fq-quick-seeds2-section-4-10"
    page, document = (kept / record.PAGE).read_text(), json.loads((kept / record.DOCUMENT).read_text())
    for part in ("Strengths", "Failures", "How it is judged", "Measures", "Could be run", "FQ, no ECN"):
        assert part in page
    assert 'id="section-4"' in page
    assert 'id="section-10"' in page
    assert page.count('<svg role="img"') == 2
    assert "http://" not in page
    rows = pq.read_table(kept / record.TABLE).to_pylist()
    values = [row for section in document["sections"] for test in section["tests"] for row in test["values"]]
    assert len(rows) == 2 * len(values)
    assert {row["qdisc"] for row in rows} == {"droptail", "faba", "fq"}
    whole = sum(len(test["grades"]) for section in document["sections"] for test in section["tests"])
    assert sum(words.total(document, each["spec"]).whole for each in document["disciplines"]) == whole


@pytest.mark.parametrize(
    ("specs", "quick", "seeds", "sections", "name"),
    [
        (["sfb", "faba"], False, None, [], "sfb-faba"),
        (["droptail"], True, None, [], "droptail-quick"),
        (["faba", "faba"], False, 4, [10, 9], "faba-seeds4-section-9-10"),
    ],
)
def test_an_evaluation_has_a_folder_of_its_own(
    specs: list[str], quick: bool, seeds: int | None, sections: list[int], name: str
):
    path = record.folder(Path("out"), catalogue.chosen(sections), candidates(specs), running.RunOptions(quick, seeds))
    assert path == Path("out", name)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "error: name the disciplines to evaluate, such as: headgate evaluate sfb faba codel\n"),
        (("sbf",), "error: no discipline is called `sbf`; did you mean `sfb`?\n"),
        (("sfb:bns=2",), "error: sfb: unknown parameter `bns`; did you mean `bins`?\n"),
        (
            ("sfb", "--section", "11"),
            "error: there is no test in section 11 of RFC 7928; the sections with tests are 4 to 10\n",
        ),
    ],
)
def test_bad_input_is_refused_before_any_run(command: Command, arguments: tuple[str, ...], expected: str):
    done = command("evaluate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(expected)
    assert not list(Path().iterdir())


def test_the_tests_are_listed(command: Command):
    done = command("evaluate", "--list", "--section", "6")
    assert done.returncode == 0
    assert "6.2" in done.stdout
    assert "8.2.5" not in done.stdout
