"""The glossary names every old key that scenarios may still use."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_key_with_an_old_name_is_listed() -> None:
    schema = "".join(path.read_text() for path in (ROOT / "crates/scenario/src/schema").glob("*.rs"))
    old = re.findall(r'\balso "(\w+)"', schema)
    assert old
    glossary = (ROOT / "docs/reference/glossary.md").read_text()
    assert not [name for name in old if f"`{name}`" not in glossary]
