"""Sentences of pages, doc comments and docstrings are short (docs/sentences.py counts them)."""

import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs/sentences.py"))
UNITS = dict(SCRIPT["table"]())


@pytest.mark.parametrize("unit", UNITS)
def test_sentences_are_short(unit: str) -> None:
    lengths = UNITS[unit]
    assert lengths.median <= SCRIPT["MEDIAN"]
    assert lengths.p95 <= SCRIPT["LONG"]


def test_a_sentence_of_thirty_words_is_counted_as_long(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    long = "A" + " word" * 29
    page.write_text(
        f"# A title does not count\n\nShort one. {long}. Once `code of three` counts.\n\n```\nno prose\n```\n"
    )
    assert [SCRIPT["words"](sentence) for sentence in SCRIPT["sentences"](page)] == [2, 30, 3]
