"""Processes are started in few places, whose children hold no file of ours and do not outlive us."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import headgate
from tests.sources import parsed

PACKAGE = Path(headgate.__file__).parent
CRATES = Path(__file__).parents[2] / "crates"

#: Names that start a process, by their module. `*` stands for every name.
STARTS = {
    "os": r"fork|forkpty|exec\w*|posix_spawnp?|spawn\w*|system|popen|startfile",
    "pty": r"fork|spawn",
    "subprocess": r".*",
    "multiprocessing": r".*",
    "concurrent.futures": r"ProcessPoolExecutor|process",
    "asyncio": r"create_subprocess_\w+|subprocess",
    "webbrowser": r"open\w*|get",
    "distributed": r"LocalCluster|Nanny|SSHCluster",
}

#: Methods that start a process, whatever their object is: those of a link, and of an event loop.
METHODS = {"spawn", "serve", "subprocess_exec", "subprocess_shell", "create_subprocess_exec", "create_subprocess_shell"}

#: Places that may start processes, each with the reason why its children keep nothing of ours.
ALLOWED = {
    ("execution/children.py", "os.fork"): "the place for Python code: no descriptors, dies with its parent",
    ("lab_page/cli.py", "webbrowser.open"): "the user's browser, which outlives us; the library closes descriptors",
    (
        "live/session.py",
        "link.spawn",
    ): "COMMAND, below a keeper that kills it when we die (crates/live/src/io/keeper.rs)",
    ("live/session.py", "link.serve"): "the server, below a keeper too",
    ("live/gateway_cli.py", "exporter.serve"): "no process: it serves metrics on a thread",
    ("live/gateway_cli.py", "top_socket.serve"): "no process: it answers `top` on a thread",
    ("live/cli.py", "top_socket.serve"): "no process: it answers `top` on a thread",
    (
        "execution/runner.py",
        "stack.enter_context(ViewSocket('run', f'{scenario.name}, {run}')).serve",
    ): "no process: it answers `top` on a thread",
}

#: Starts of processes in Rust. `std` opens files so that an executed program does not inherit them.
RUST = re.compile(r"\b(Command::new|libc::v?fork|libc::clone3?|SYS_clone3?|SYS_v?fork|posix_spawnp?|libc::exec\w+)\b")
ALLOWED_IN_RUST = {
    ("live/src/confinement/calls.rs", "SYS_clone"): "no process: the name of a call that the filter permits to threads",
    ("live/src/confinement/calls.rs", "SYS_clone3"): "no process: the name of a call that the filter refuses",
    ("live/src/hosts/shell.rs", "Command::new"): "COMMAND and server, below a keeper",
    ("live/src/io/keeper.rs", "libc::fork"): "the keeper: closes all descriptors, dies with our thread",
    ("live/src/run/kernel/tc.rs", "Command::new"): "tc, which ends by itself within milliseconds",
}

#: What only tests use.
TESTS_IN_RUST = ("needs/", "live/src/refusals")


def starts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of everything that starts a process, or imports something that does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, each.name) for each in node.names if STARTS.get(each.name) == ".*")
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            named = [each.name for each in node.names if re.fullmatch(STARTS.get(node.module, "(?!)"), each.name)]
            yield from ((node.lineno, f"{node.module}.{name}") for name in named)
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if node.attr in METHODS or re.fullmatch(STARTS.get(owner, "(?!)"), node.attr):
                yield node.lineno, f"{owner}.{node.attr}"


def without_tests(text: str) -> str:
    """Rust without comments and unit tests, which stand at the end of a file."""
    return re.sub(r"//[^\n]*", "", text.partition("#[cfg(test)]\nmod tests {")[0])


def test_python_starts_processes_in_the_listed_places_only():
    found: dict[tuple[str, str], str] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        name = str(file.relative_to(PACKAGE))
        found |= {(name, what): f"{name}:{line}" for line, what in starts(parsed(file.read_text()))}
    assert {place: where for place, where in found.items() if place not in ALLOWED} == {}, (
        "start Python code with headgate/execution/children.py, or say in ALLOWED why the process keeps nothing of ours"
    )
    assert set(ALLOWED) == set(found), "a place in ALLOWED is gone"


def test_rust_starts_processes_in_the_listed_places_only():
    found = set()
    for file in sorted(CRATES.glob("*/src/**/*.rs")):
        name = str(file.relative_to(CRATES))
        if file.name != "tests.rs" and not name.startswith(TESTS_IN_RUST):
            found |= {(name, each) for each in RUST.findall(without_tests(file.read_text()))}
    assert found == set(ALLOWED_IN_RUST)


def test_the_search_finds_every_way_to_start_a_process():
    lines = [
        "os.fork()", "os.posix_spawn('a', [], {})", "os.system('a')", "os.execv('a', [])", "import subprocess",
        "subprocess.run(['a'])", "from subprocess import Popen", "from concurrent.futures import ProcessPoolExecutor",
        "import multiprocessing", "asyncio.create_subprocess_exec('a')", "link.spawn(['a'])", "run = os.popen",
        "os.getpid()", "from concurrent.futures import ThreadPoolExecutor",
    ]  # fmt: skip
    assert sorted({line for line, _ in starts(parsed("\n".join(lines)))}) == list(range(1, 13))
    assert RUST.findall(without_tests("Command::new\nunsafe { libc::fork() }\n// libc::fork\nArc::clone(&a)")) == [
        "Command::new",
        "libc::fork",
    ]
