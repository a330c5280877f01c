"""The command that draws the figures of the disciplines' pages runs, and has nothing to change in a caption."""

import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_a_caption_is_what_the_command_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = tmp_path / "docs" / "disciplines" / "red.md"
    for folder in (page.parent, tmp_path / "docs" / "figures"):
        folder.mkdir(parents=True)
    page.write_text((DOCS / "disciplines" / "red.md").read_text())
    (tmp_path / "scenarios").symlink_to(DOCS.parent / "scenarios")
    monkeypatch.setattr(sys, "argv", ["figures.py", "red"])
    drawn = runpy.run_path(str(DOCS / "figures.py"))
    drawn["main"].__globals__["ROOT"] = tmp_path / "docs"
    drawn["main"]()
    assert page.read_text() == (DOCS / "disciplines" / "red.md").read_text(), "run `make figures`"
    assert (tmp_path / "docs" / "figures" / "red.svg").stat().st_size > 1000
