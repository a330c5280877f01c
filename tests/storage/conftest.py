"""The dataset of a sweep, which no test may change, and a folder in memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sweep.conftest import dataset as dataset


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder in memory if the machine has such a file system: thousands of faults and kills write many files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="headgate-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
