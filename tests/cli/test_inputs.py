"""Files that a scenario names: only regular ones of bounded size, and no message repeats their contents."""

import os
from pathlib import Path

import pytest

from headgate import guarded
from tests.conftest import Command

SCENARIO = """
name = "named"
duration = "1s"
qdiscs = ["droptail"]
[link]
trace = "{path}"
delay = "1ms"
limit = "9p"
[link.reverse]
rate = "1Mbit/s"
[[tcp]]
"""


def message(command: Command, path: Path) -> str:
    """The first line of the error of a scenario that names `path`. Nothing is read without end, so it returns."""
    Path("named.toml").write_text(SCENARIO.format(path=path))
    done = command("run", "named.toml")
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr.splitlines()[0]


def test_devices_pipes_and_folders_are_refused(command: Command, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path, why in [
        (Path("/dev/zero"), "it is a device; expected a trace or a capture"),
        (tmp_path / "pipe", "it is a named pipe; expected a trace or a capture"),
        (tmp_path / "folder", "it is a folder; expected a trace or a capture"),
        (tmp_path / "gone", "No such file or directory"),
    ]:
        assert message(command, path) == f'error: `link.trace`: cannot read "{path}": {why}'


def test_a_message_repeats_nothing_from_the_file(command: Command, tmp_path: Path):
    (tmp_path / "secret").write_text("12\nroot:$6$secret:19000\n")
    most = "expected a whole number of milliseconds, at most 86400000"
    assert message(command, tmp_path / "secret") == f"error: `link.trace`: secret: line 2, column 1: {most}"


def test_a_file_may_have_the_largest_size_and_no_byte_more(tmp_path: Path):
    file = tmp_path / "trace"
    file.write_bytes(bytes(3 << 20))
    assert guarded.read_bytes(file, guarded.FileKind("a file", 3 << 20)) == bytes(3 << 20)
    with pytest.raises(OSError, match="it has 3 MiB; a file has at most 2 MiB"):
        guarded.read_bytes(file, guarded.FileKind("a file", 2 << 20))
