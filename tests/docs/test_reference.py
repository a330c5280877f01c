"""docs/reference and the JSON Schema of a run match the catalogue of measures."""

import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_docs_reference_py_has_nothing_to_write(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    for path, text in runpy.run_path(str(DOCS / "reference.py"))["files"]():
        assert path.read_text() == text, f"{path.name}: run `make docs`"
