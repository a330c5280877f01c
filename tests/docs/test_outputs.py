"""Printed results and the overview figure in README.md and the tutorial are those of the commands beside them."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_pages_show_what_their_commands_print(monkeypatch: pytest.MonkeyPatch):
    """`make outputs` writes them."""
    monkeypatch.syspath_prepend(str(DOCS))
    for file, content in runpy.run_path(str(DOCS / "outputs.py"))["written"]().items():
        assert file.read_bytes() == content, f"{file.name} is stale: `make outputs` writes it again"
