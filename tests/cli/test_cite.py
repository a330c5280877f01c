"""`headgate cite` and CITATION.cff."""

import re
from pathlib import Path

import pytest

import headgate
from headgate.cite import bibtex, publications
from tests.conftest import Command

ROOT = Path(__file__).parents[2]
#: Disciplines whose registry entry names no year.
YEARLESS = ("cobalt", "prio", "tbf", "droptail")


def test_a_discipline_is_cited_with_its_paper_and_headgate(command: Command):
    done = command("cite", "sfb:bins=46")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^@(\w+)\{([^,]+),", done.stdout, re.MULTILINE) == [
        ("article", "feng2002blue"), ("misc", "headgate-sfb"), ("software", "headgate"),
    ]  # fmt: skip
    assert "bins=46" in done.stdout
    assert "\\cite{feng2002blue}" in done.stdout
    assert f"version = {{{headgate.__version__}}}" in done.stdout
    assert "defines" not in done.stdout
    assert command("cite").stdout.startswith("@software{headgate,")


def test_an_unknown_discipline_is_refused_with_the_nearest_name(command: Command):
    done = command("cite", "sfbb")
    assert (done.returncode, done.stdout) == (2, "")
    assert "sfb" in done.stderr


@pytest.mark.parametrize("name", [discipline.name for discipline in headgate.disciplines()])
def test_every_discipline_has_a_publication_that_its_registry_entry_names(name: str):
    mine = [each for each in publications() if name in each.defines]
    assert mine
    entries = " ".join(each.entry for each in mine)
    citation = headgate.discipline(name).citation
    years = re.findall(r"\b(?:19|20)\d\d\b", citation)
    assert years or name in YEARLESS
    # One of several publications can be a later edition.
    assert name in YEARLESS or years[0] in entries
    if name not in YEARLESS:
        surname = citation.partition(",")[0].removesuffix(" et al.").split()[-1]
        assert surname in entries, citation


def test_braces_and_keys_are_sound():
    keys = [each.key for each in publications()]
    assert len(set(keys)) == len(keys)
    for discipline in headgate.disciplines():
        text = bibtex(discipline.name)
        assert text.count("{") == text.count("}")
        assert re.search(r"(?<!\\)[%&#$]", text) is None
    known = {discipline.name for discipline in headgate.disciplines()}
    assert all(name in known for each in publications() for name in each.defines)


def test_the_citation_file_has_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {headgate.__version__}\n" in text
    assert "\ncff-version: 1.2.0\n" in f"\n{text}"
