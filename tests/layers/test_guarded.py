"""Files are read in one module, which refuses pipes, devices, files of the kernel and files without end."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import headgate
from tests.sources import parsed

ROOT = Path(headgate.__file__).parent
CRATES = ROOT.parents[1] / "crates"

GUARD = "guarded.py"

#: Functions that read a file by its name, or by a file that is open.
NAMES = {"open"}
METHODS = {"read_text", "read_bytes"}
FUNCTIONS = {
    "os": {"open", "fdopen", "read", "pread", "sendfile"},
    "io": {"open", "FileIO", "open_code"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "copyfileobj", "move"},
    "mmap": {"mmap"},
    "filecmp": {"cmp", "cmpfiles", "dircmp"},
    "fileinput": {"input"},
    "linecache": {"getline", "getlines"},
    "runpy": {"run_path"},
    "json": {"load"},
    "tomllib": {"load"},
    "pickle": {"load"},
    "tarfile": {"open"},
    "zipfile": {"ZipFile"},
    "sqlite3": {"connect"},
    "np": {"load", "loadtxt", "genfromtxt", "fromfile", "memmap"},
    "numpy": {"load", "loadtxt", "genfromtxt", "fromfile", "memmap"},
    "pa": {"memory_map", "OSFile", "input_stream"},
    "pq": {"read_table", "read_metadata", "read_schema", "ParquetFile", "ParquetDataset"},
    "optuna": {"create_study", "load_study"},
    "ssl": {"create_default_context"},
}

#: Methods of a database that open a file by its name.
OF_DATABASES = {"read_parquet", "read_csv", "read_json", "from_parquet"}

#: Places that open files in another way, with the reason.
OTHERS = {
    ("files/disk.py", "sync"): "opens what this process has written, and reads nothing",
    ("files/disk.py", "create"): "makes a new file",
    ("files/folder_lock.py", "_lock"): "opens a folder to lock it, and reads nothing",
    ("terminal/stopping.py", "_discard_lost_output"): "opens /dev/null for writing",
    ("live/fail_open.py", "_wait_and_join"): "reads the end of a pipe of its own",
    ("plot/parallel.py", "mine"): "reads a pipe of its own",
    ("execution/children.py", "send"): "writes a pipe of its own",
    ("execution/children.py", "results"): "reads a pipe of its own",
    ("execution/children.py", "_drop"): "opens /dev/null",
    ("files/tables.py", "parse"): "reads Parquet from memory",
    ("sweeps/query.py", "_rows"): "reads Parquet from memory",
    ("sweeps/query.py", "_parquet"): "gets places that `_checked` has checked, or URLs",
    ("tuning/damage.py", "check_file"): "SQLite opens the file that was checked before",
    ("tuning/study.py", "__init__"): "SQLite opens the file that `check_file` has checked",
    ("tuning/study.py", "new_study"): "is in memory",
    ("tuning/study.py", "_importances_of"): "is in memory",
    ("terminal/console.py", "storage_failure"): "opens /dev/null to write",
    ("first_steps.py", "new"): "makes a new file",
}


def reads(tree: ast.AST, scope: str = "") -> Iterator[tuple[str, int, str]]:
    """Function, line and text of each call that can read a file without the guard."""
    for node in ast.iter_child_nodes(tree):
        inner = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else scope
        if isinstance(node, ast.Call) and (text := _read(node.func)):
            yield scope, node.lineno, text
        yield from reads(node, inner)


def _read(called: ast.expr) -> str:
    """The text of a call that reads a file; empty for other calls."""
    if isinstance(called, ast.Name):
        return called.id if called.id in NAMES else ""
    if not isinstance(called, ast.Attribute):
        return ""
    owner = ast.unparse(called.value)
    if owner.startswith("resources.files(") or owner in ("guarded", "DISK", "webbrowser", "Store", "store"):
        return ""  # data of the package, the guard, and names that open no file
    by_owner = owner in FUNCTIONS
    known = FUNCTIONS[owner] if by_owner else METHODS | OF_DATABASES | NAMES
    return f"{owner}.{called.attr}" if called.attr in known else ""


def found() -> Iterator[tuple[str, str, str]]:
    """File, function and text of each such call in Headgate."""
    for file in sorted(ROOT.rglob("*.py")):
        name = str(file.relative_to(ROOT))
        if name != GUARD:
            calls = reads(parsed(file.read_text()))
            yield from ((name, scope, f"{name}:{line}: {text}") for scope, line, text in calls)


def test_every_file_is_read_through_the_guard():
    assert [text for name, scope, text in found() if (name, scope) not in OTHERS] == []


def test_every_exception_is_still_there():
    assert OTHERS.keys() - {(name, scope) for name, scope, _ in found()} == set()


WAYS = ["open(a)", "Path(a).read_text()", "a.open()", "os.open(a, 0)", "json.load(a)", "b.read_parquet(a)",
        "filecmp.cmp(a, b)", "sqlite3.connect(a)", "pq.ParquetFile(a)", "np.load(a)"]  # fmt: skip


@pytest.mark.parametrize("text", WAYS)
def test_the_search_finds_every_way_to_read(text: str):
    assert len(list(reads(parsed(text)))) == 1
    assert not list(reads(parsed("guarded.read_bytes(a)\nresources.files(a).read_text()\nDISK.open(a)")))


#: Reads in the crates, by file: all of them name a file below /proc or /sys.
OF_KERNEL = {"controllers.rs": 1, "shell.rs": 1, "inspect.rs": 1, "interface.rs": 1}


def test_the_crates_read_only_files_of_the_kernel():
    """Files of users reach the crates as bytes, which Python has read."""
    ways = ("fs::read(", "fs::read_to_string(", "File::open(")
    counts: dict[str, int] = {}
    for file in sorted(CRATES.glob("*/src/**/*.rs")):
        if file.name not in ("tests.rs", "refusals.rs") and "needs" not in file.parts:
            code, _, _ = file.read_text().partition("#[cfg(test)]")
            if count := sum(code.count(way) for way in ways):
                counts[file.name] = count
    assert counts == OF_KERNEL
