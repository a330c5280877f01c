"""Tests that read Python sources do so in one way."""

import gc
from pathlib import Path

from tests.sources import parsed

TESTS = Path(__file__).parents[1]


def deep(calls: int) -> None:
    """Parses a text, `calls` calls deeper than here."""
    parsed("f(a + b)") if calls == 0 else deep(calls - 1)


class Parsing:
    """Garbage whose finalizer parses, as a traceback that is printed there does."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        deep(5)


def test_a_finalizer_that_parses_does_not_disturb_a_reader():
    text, threshold = (TESTS / "conftest.py").read_text(), gc.get_threshold()
    gc.set_threshold(50)
    try:
        for _ in range(100):
            Parsing()
            assert parsed(text).body
    finally:
        gc.set_threshold(*threshold)


def test_no_other_test_parses_python():
    words = ("ast.parse(", "ast.literal_eval(")
    found = {path for path in TESTS.rglob("*.py") if any(word in path.read_text("utf-8") for word in words)}
    assert found == {TESTS / "sources.py", Path(__file__)}
