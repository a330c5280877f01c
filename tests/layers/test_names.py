"""A type name is used once in the whole tree. Names that are defined twice are listed here with a reason."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]

TYPE = re.compile(r"^(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|union|type) ([A-Z]\w*)", re.MULTILINE)

#: One type in Rust, in the Python module that wraps it, or in the Python API.
MIRRORS = """
Backlog Controller Discipline Gateway GatewaySettings Group Link LinkInfo LinkLog Outcome Packet Parameter Port Scenario
"""

#: Names that are used twice, with the reason.
ALLOWED: dict[str, str] = dict.fromkeys(MIRRORS.split(), "one type in Rust and in Python")


def names() -> dict[str, list[str]]:
    """The files in which each type name is defined. Types of tests, inside `mod tests`, do not count."""
    files_by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        for name in TYPE.findall(path.read_text()):
            files_by_name[name].append(str(path.relative_to(ROOT)))
    for path in sorted((ROOT / "python/headgate").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                files_by_name[node.name].append(str(path.relative_to(ROOT)))
    return dict(files_by_name)


def test_a_type_name_is_used_once() -> None:
    twice = {name: files for name, files in names().items() if len(files) > 1 and name not in ALLOWED}
    assert not twice, "\n".join(f"{name}: {', '.join(files)}" for name, files in sorted(twice.items()))


def test_every_exception_is_needed() -> None:
    files_by_name = names()
    assert not [name for name in ALLOWED if len(files_by_name.get(name, [])) < 2]
