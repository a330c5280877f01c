"""The pictures and figures of the disciplines' pages are the output of their commands."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import headgate

DOCS = Path(__file__).parents[2] / "docs"


def test_a_caption_is_the_output_of_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = tmp_path / "docs" / "disciplines" / "red.md"
    for folder in (page.parent, tmp_path / "docs" / "figures"):
        folder.mkdir(parents=True)
    page.write_text((DOCS / "disciplines" / "red.md").read_text())
    (tmp_path / "scenarios").symlink_to(DOCS.parent / "scenarios")
    monkeypatch.syspath_prepend(DOCS)
    monkeypatch.setattr(sys, "argv", ["figures.py", "red"])
    drawn = runpy.run_path(str(DOCS / "figures.py"))
    stored: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(drawn["stale"], "store", lambda page, parts: stored.append((page, parts)))
    drawn["main"].__globals__["ROOT"] = tmp_path / "docs"
    drawn["main"]()
    assert stored == [("docs/disciplines/red.md", ["portrait"])]
    assert page.read_text() == (DOCS / "disciplines" / "red.md").read_text(), "run `make figures`"
    assert (tmp_path / "docs" / "figures" / "red.svg").stat().st_size > 1000


@pytest.fixture
def sketches(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that docs/sketches.py defines."""
    monkeypatch.syspath_prepend(DOCS)
    return runpy.run_path(str(DOCS / "sketches.py"))


def test_every_discipline_has_the_picture_that_its_page_declares(sketches: dict[str, Any]):
    drawn = dict(sketches["pictures"]())
    names = {path.name for path in drawn}
    assert names == {f"sketch-{discipline.name}.svg" for discipline in headgate.disciplines()}
    assert names == {path.name for path in (DOCS / "figures").glob("sketch-*.svg")}
    for path, picture in drawn.items():
        assert path.read_text() == picture, f"{path.name}: run `make figures`"


def test_a_picture_is_readable_on_any_background(sketches: dict[str, Any]):
    for path, picture in sketches["pictures"]():
        root = ElementTree.fromstring(picture)
        shapes = [each.tag.rpartition("}")[2] for each in root]
        assert shapes[:3] == ["title", "style", "rect"], f"{path.name}: the card is drawn first"
        assert "text" in shapes, f"{path.name}: words are text"
        assert "prefers-color-scheme: dark" in root[1].text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("queu 1 2 aab", "sfb.md:3: no element 'queu'; did you mean 'queue'?"),
        ("queue 1 two aab", "sfb.md:3: queue 1 two aab: could not convert string to float: 'two'"),
        ("queue 1", "sfb.md:3: queue 1: missing a required argument: 'y'"),
        ("path 1,2 3,4", "sfb.md:3: path 1,2 3,4: a path needs two points or more, in quotes, and has '1,2'"),
    ],
)
def test_a_wrong_element_is_named_with_its_line(line: str, expected: str, sketches: dict[str, Any]):
    element: Callable[[str, str], str] = sketches["element"]
    with pytest.raises(SystemExit) as caught:
        element(line, "sfb.md:3")
    assert str(caught.value) == expected
