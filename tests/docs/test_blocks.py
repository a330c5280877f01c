"""Every block of code in the documents runs: Python unchanged, commands and scenarios shortened."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import headgate
from headgate.live import gateway_settings
from tests import needs

ROOT = Path(__file__).parents[2]

#: The required keys of a scenario, to complete a block that shows only a part.
REST = {
    "name": 'name = "part"\n',
    "duration": 'duration = "30s"\n',
    "qdiscs": 'qdiscs = ["droptail"]\n',
    "link": '\n[link]\nrate = "10Mbit/s"\ndelay = "10ms"\nlimit = "100p"\n',
}

#: Replaces `headgate` by a function that shortens the runs of documents. Unless they ask for figures, they draw one:
#: drawing all of them again for each block would take longer than the runs.
SHORTENED = """\
headgate() {
  if [ "$1" = demo ]; then set -- run protect; fi
  if [ "$1" = run ]; then shift; set -- run --figures overview "$@"; fi
  if [ "$1" = tune ]; then set -- "$@" --trials 2 --held-out 2 --seeds 1; fi
  if [ "$1" = sensitivity ]; then set -- "$@" --seeds 1; fi
  if [ "$1" = run ] || [ "$1" = sweep ]; then set -- "$@" --set duration=4s --set warmup=1s --set 'seeds=[1]'; fi
  if [ "$1" = compare ] && [ -f "$2" ]; then
    set -- "$@" --set duration=2s --set warmup=1s --set 'seeds=[1]' --set 'qdiscs=["faba"]'
  fi
  "$PYTHON" -m headgate "$@"
}
set -euo pipefail
"""


#: Commands that need root: they run on real packets.
ON_REAL_PACKETS = ("headgate link", "run --live", "headgate compare scenarios")


class Block(NamedTuple):
    """A block of code: where it begins, its language and text; what file a tutorial has its reader save it as."""

    file: str
    line: int
    language: str
    saved: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def blocks() -> Iterator[Block]:
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for file in documents:
        text = file.read_text("utf-8")
        for match in re.finditer(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', text, re.MULTILINE | re.DOTALL):
            yield Block(str(file.relative_to(ROOT)), text.count("\n", 0, match.start()) + 1, *match.groups())


def alone(language: str) -> list[Block]:
    """The blocks that stand by themselves."""
    return [each for each in blocks() if each.language == language and not in_order(each.file)]


def of(language: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", alone(language), ids=str)


def commands_of(block: Block) -> list[str]:
    """The lines of a block in sh that a test runs. Those of make and pip set up Headgate, and CI runs them."""
    return [line for line in block.text.splitlines() if not line.startswith(("make ", "pip install "))]


def in_order(file: str) -> bool:
    """Whether the blocks of a page build on each other."""
    return file.startswith("docs/tutorial/")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped scenarios and nothing else."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_block_is_in_a_known_language():
    assert {block.language for block in blocks()} <= {"python", "sh", "toml", "json", "text"}


@of("python")
def test_python(block: Block, place: Path):
    done = subprocess.run([sys.executable, "-c", block.text], cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("block", [each for each in alone("sh") if commands_of(each)], ids=str)
def test_commands(block: Block, place: Path):
    commands(block, place)


@pytest.mark.parametrize("file", sorted({each.file for each in blocks() if in_order(each.file)}))
def test_tutorial(file: str, place: Path):
    for block in blocks():
        if block.file != file or block.language == "text":
            continue
        if block.saved is not None:
            (place / block.saved).write_text(shortened(block.text))
        elif block.language == "python":
            test_python(block, place)
        elif "headgate" in block.text:
            commands(block, place)


def shortened(scenario: str) -> str:
    """A scenario of a tutorial, as short as commands make one; two seeds, for Python may show intervals."""
    for key, value in {"duration": '"4s"', "warmup": '"1s"', "seeds": "2"}.items():
        scenario = re.sub(rf"^{key} = .*$", f"{key} = {value}", scenario, count=1, flags=re.MULTILINE)
    return scenario


def commands(block: Block, place: Path) -> None:
    lines = commands_of(block)
    needs.without(
        *(program for program in ("tshark", "jq", "iperf3", "curl") if any(program in line for line in lines))
    )
    if any(command in line for line in lines for command in ON_REAL_PACKETS):
        needs.without("root", "tun")
    script = SHORTENED + "\n".join(lines).replace("…", "*")
    environment = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run(
        ["bash", "-c", script], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@of("toml")
def test_scenarios(block: Block):
    keys = tomllib.loads(block.text)
    if "in" in keys:
        assert gateway_settings.settings(keys).interfaces
        return
    head = "".join(text for name, text in REST.items() if name not in keys and name != "link")
    tail = REST["link"] if "link" not in keys else ""
    tail += "\n[[tcp]]\n" if not {"tcp", "udp"} & set(keys) else ""
    assert headgate.Scenario.parse(f"{head}\n{block.text}\n{tail}").runs


@of("json")
def test_json(block: Block):
    import json

    assert json.loads(block.text)
