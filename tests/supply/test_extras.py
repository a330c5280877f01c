"""Each extra alone: functions that need another one name it. The table of these functions is complete."""

import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate.cli import Headgate
from headgate.extras import EXTRAS
from tests.supply.extras import ROWS
from tests.supply.reach import Package

ROOT = Path(__file__).parents[2]
EVERY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
USERS = sorted(set(EVERY) - {"all", "dev", "docs"})
#: Commands that open datasets too, but only by a path. Datasets at a URL need `cluster`.
FOLDERS_ONLY = {("headgate export", "cluster"), ("headgate verify", "cluster")}


@pytest.fixture(scope="module")
def package() -> Package:
    return Package(ROOT / "python/headgate", EXTRAS)


@pytest.mark.parametrize("extra", ["none", *USERS])
def test_with_one_extra_functions_work_or_name_the_extra_that_they_need(extra: str, tmp_path: Path):
    command = [sys.executable, str(ROOT / "tests/supply/extras.py"), extra, "--hide"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_table_has_exactly_the_public_functions_that_reach_an_optional_library(package: Package):
    reached = {(name, extra) for name, place in public(package) for extra in package.libraries(place)}
    assert reached - FOLDERS_ONLY == {(row.function, extra) for row in ROWS for extra in row.extras}
    assert reached > FOLDERS_ONLY


def public(package: Package) -> Iterator[tuple[str, str]]:
    """Each public function, method and command, with the dotted name at which it is defined."""
    for name in headgate.__all__:
        yield from callables(name, getattr(headgate, name))
    for module in (headgate.plot, headgate.prototype, headgate.why):
        own = [
            name for name in vars(module) if getattr(vars(module)[name], "__module__", "").startswith(module.__name__)
        ]
        for name in own:
            yield from callables(f"{module.__name__.removeprefix('headgate.')}.{name}", vars(module)[name])
    for command, entry in Headgate.entries.items():
        place, _, function = entry.function.partition(":")
        functions = package.functions(place) if function == "app" else [f"{place}.{function}"]
        yield from ((f"headgate {command}", each) for each in functions)


def callables(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """A function, or the methods and properties of a class, if Headgate defines it and in Python."""
    value = getattr(value, "fget", None) or getattr(value, "func", None) or value
    if not getattr(value, "__module__", "").startswith("headgate."):
        return
    if inspect.isclass(value):
        for method in dir(value):
            if not method.startswith("_"):
                yield from callables(f"{name}.{method}", getattr(value, method))
        yield name, f"{value.__module__}.{value.__qualname__}"
    elif inspect.isfunction(value) or inspect.ismethod(value):
        yield name, f"{value.__module__}.{value.__qualname__}"


def test_the_guide_has_every_row_of_the_table():
    guide = (ROOT / "docs/guide/python.md").read_text()
    section = guide.partition("## Extras\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    listed = {(name, extra) for extra, cell in lines for name in re.findall("`(.*?)`", cell)}
    assert listed == {(row.function, extra) for row in ROWS for extra in row.extras}


def test_no_module_imports_an_optional_library_when_it_is_imported(package: Package):
    assert package.eager == set()


def test_the_message_of_each_library_names_an_extra_that_installs_it():
    for module, extra in EXTRAS.items():
        assert module in {re.split(r"[<>=\[]", requirement)[0] for requirement in EVERY[extra]}
    assert {*EXTRAS.values()} == {*USERS}
    assert {extra for row in ROWS for extra in row.extras} == {*USERS}


def test_a_wheel_is_tried_with_every_extra():
    [listed] = re.findall(r"set -- none (.*)", (ROOT / ".ci/try-extras").read_text())
    assert listed.split() == USERS


SOURCES = {
    "__init__.py": "",
    "loud.py": "try:\n    import pandas\nexcept ImportError:\n    pandas = None\n",
    "typed.py": "if TYPE_CHECKING:\n    import pandas\n",
    "plain.py": "def nothing():\n    import json\n",
    "direct.py": "def frame():\n    import pandas as pd\n",
    "asked.py": "from small.extras import require\ndef frame():\n    require('pandas', 'a frame')\n",
    "through.py": "from small import direct as other\ndef frame():\n    return [other.frame for _ in ()]\n",
    "held.py": """
from small.through import frame as start
class Base:
    def __init__(self):
        start()
    def load(self):
        return self.read()
    def read(self):
        from small import held
        return held.Base
""",
}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("plain.nothing", set()),
        ("direct.frame", {"pandas"}),
        ("asked.frame", {"pandas"}),
        ("through.frame", {"pandas"}),
        ("held.Base", {"pandas"}),
        ("held.Base.load", {"pandas"}),
    ],
)
def test_an_import_is_found_through_functions_methods_and_classes(tmp_path: Path, function: str, expected: set[str]):
    for name, text in SOURCES.items():
        (tmp_path / "small").mkdir(exist_ok=True)
        (tmp_path / "small" / name).write_text(text)
    small = Package(tmp_path / "small", {"pandas": "pandas"})
    assert small.libraries(f"small.{function}") == expected
    assert small.eager == {"small.loud"}
