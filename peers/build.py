"""The build of Headgate that the comparisons use."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from headgate import _core


@cache
def extension() -> str:
    """A hash of Headgate's compiled part: another build may give other results."""
    return sha256(Path(_core.__file__).read_bytes()).hexdigest()
