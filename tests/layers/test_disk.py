"""Results reach the disk through one file, so that tests of faults meet every access."""

import ast
from collections.abc import Iterator
from pathlib import Path

import headgate
from tests.sources import parsed

ROOT = Path(headgate.__file__).parent

#: Packages and files that store results or read them.
STORES = ("files", "sweeps", "tuning", "experiment", "execution", "evaluate", "report", "plot", "export", "papers",
          "api.py", "results.py", "rerun.py", "verify.py")  # fmt: skip

#: Methods of `Path`, and functions of `os` and `shutil`, that reach the disk.
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "rmdir", "rename", "touch",
           "open", "symlink_to", "hardlink_to"}  # fmt: skip
FUNCTIONS = {"os": {"open", "replace", "rename", "remove", "unlink", "fsync", "mkdir", "makedirs", "rmdir"},
             "shutil": {"rmtree", "copy", "copyfile", "copytree", "move"}}  # fmt: skip

#: Other files than results: the lock of a folder, /dev/null, sockets, files that users give, and data of the package.
OTHERS = {
    ("files/disk.py", "Disk"),
    ("files/folder_lock.py", ""),
    ("files/forms.py", "schema"),
    ("execution/children.py", "_drop"),
    ("execution/top_socket.py", ""),
    ("sweeps/plan.py", "of"),
    ("papers/catalogue.py", ""),
    ("papers/red_pd/_trace.py", ""),
}


def accesses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each call that reaches the disk without `DISK`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            yield node.lineno, "open"
        if isinstance(called, ast.Attribute):
            owner = ast.unparse(called.value)
            # `str.replace` has two arguments, `Path.replace` has one.
            moved = called.attr == "replace" and len(node.args) == 1 and not node.keywords
            owned = owner.startswith("resources.files(")  # data of the package
            of_path = (
                not owned
                and owner not in ("DISK", "Store", "self._open", *FUNCTIONS)
                and (called.attr in METHODS or moved)
            )
            if of_path or called.attr in FUNCTIONS.get(owner, ()):
                yield node.lineno, f"{owner}.{called.attr}"


def allowed(name: str, tree: ast.Module) -> set[int]:
    """The lines of a file that may reach the disk for other things than results."""
    scopes = {scope for file, scope in OTHERS if file == name}
    if "" in scopes:
        return set(range(1, 100_000))
    definitions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef))
    named = (node for node in definitions if node.name in scopes)
    return {line for node in named for line in range(node.lineno, node.end_lineno + 1)}


def test_results_are_read_and_written_in_one_file_only():
    found = []
    for place in STORES:
        files = [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py"))
        assert files, place
        for file in files:
            name, tree = str(file.relative_to(ROOT)), parsed(file.read_text())
            free = allowed(name, tree)
            found += [f"{name}:{line}: {call}" for line, call in accesses(tree) if line not in free]
    assert not found, "use `DISK` of headgate/files/disk.py"


def test_the_search_finds_every_way_to_the_disk():
    text = "open(a)\nPath(a).write_text(b)\na.replace(b)\na.replace(b, c)\nos.replace(a, b)\nDISK.open(a)\n"
    assert [line for line, _ in accesses(parsed(text))] == [1, 2, 3, 5]
