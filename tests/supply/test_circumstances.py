"""`.ci/circumstance` makes the circumstances that it names."""

import subprocess
from pathlib import Path

import pytest

from tests import needs

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / ".ci/circumstance")

#: A command for each circumstance, and what it prints there.
EVIDENCE = {
    "user": ('id -u; [ -O . ] && echo own; cargo --version | cut -d " " -f 1', "65534\nown\ncargo\n"),
    "umask": ("umask", "0077\n"),
    "locale": ("locale charmap; date +%z", "ANSI_X3.4-1968\n+1400\n"),
    "read-only-parent": ("touch ../beside 2> /dev/null || touch inside && echo inside", "inside\n"),
    "no-home": ('echo "${HOME-none}"', "none\n"),
    "space": ("basename \"$(dirname \"$PWD\")\"", "with a space\n"),
    "one-core": ("nproc", "1\n"),
}  # fmt: skip


def names() -> list[str]:
    return subprocess.run([SCRIPT, "list"], capture_output=True, text=True, check=True).stdout.split()


def test_every_circumstance_has_its_evidence():
    assert names() == list(EVIDENCE)


@pytest.mark.parametrize("name", EVIDENCE)
def test_a_command_meets_the_circumstance_and_its_status_is_returned(name: str):
    needs.without("linux", *(["root"] if name in ("user", "read-only-parent") else []))
    command, printed = EVIDENCE[name]
    words = [SCRIPT, name, "bash", "-c", f'{command}; echo "$HEADGATE_CIRCUMSTANCE"; exit 3']
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (f"{printed}{name}\n", 3), done.stderr


def test_an_unknown_circumstance_is_refused_with_the_known_ones():
    done = subprocess.run([SCRIPT, "moon", "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"moon is no circumstance: {' '.join(names())}\n"
