"""The code that recomputes shares nothing with the product."""

import ast
import sys
from pathlib import Path

from tests.sources import parsed

HERE = Path(__file__).parent
#: They run the product and read its tables.
COMPARE = {"conftest", "tables", "test_tables", "test_senders", "test_independence"}
#: A reader of captures from their specification alone, in `tests`.
READER = "tests.evidence.pcapng"


def imports(file: Path) -> set[str]:
    """Modules that a file imports."""
    found = set()
    for node in ast.walk(parsed(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            package = node.module or ""
            here = {f"{package}.{alias.name}" for alias in node.names} if package == "tests.recompute" else {package}
            found |= here
    return found


def test_recomputation_imports_only_itself_and_the_standard_library():
    modules = {file.stem: file for file in HERE.glob("*.py") if file.stem not in COMPARE}
    own = {f"tests.recompute.{name}" for name in modules} | {READER}
    reader = HERE.parents[1].joinpath(*READER.split(".")).with_suffix(".py")
    for file in [*modules.values(), reader]:
        foreign = {name for name in imports(file) - own if name.split(".")[0] not in sys.stdlib_module_names}
        assert foreign == set(), f"{file.name} imports {foreign}"


def test_recomputation_loads_no_module_by_name():
    for file in HERE.glob("*.py"):
        if file.stem not in COMPARE:
            names = {node.id for node in ast.walk(parsed(file.read_text())) if isinstance(node, ast.Name)}
            assert names.isdisjoint({"importlib", "__import__", "exec", "eval"}), file.name
