"""requirements*.txt lock the Python packages of pyproject.toml, with hashes (`make lock` writes them)."""

import re
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def entries(lock: str) -> list[list[str]]:
    """The entries of a lock, each a list of its lines: the requirement first, then its hashes."""
    found = re.findall(r"^[^\s#].*(?:\n +.*)*", (ROOT / lock).read_text(), re.MULTILINE)
    return [[line.removesuffix(" \\").strip() for line in entry.splitlines()] for entry in found]


ENTRIES = entries("requirements.txt")
#: The locks of the dependency groups.
GROUPS = {name: entries(f"requirements-{name}.txt") for name in PROJECT["dependency-groups"]}


def test_every_line_is_one_exact_version_with_hashes():
    assert len(ENTRIES) > 100
    for requirement, *hashes in [*ENTRIES, *(entry for lock in GROUPS.values() for entry in lock)]:
        assert re.fullmatch(r"[a-z0-9.-]+==[0-9][0-9A-Za-z.+]*( ; .*)?", requirement)
        assert hashes, requirement
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in hashes), requirement


def test_the_lock_satisfies_every_requirement_of_the_project():
    project = PROJECT["project"]
    asked = [*project["dependencies"], *PROJECT["build-system"]["requires"]]
    asked += [line for extra in project["optional-dependencies"].values() for line in extra]
    requirements = [each for each in map(Requirement, asked) if each.name != project["name"]]  # an extra of extras
    check(requirements, ENTRIES)
    for name, group in PROJECT["dependency-groups"].items():
        check(map(Requirement, group), GROUPS[name])


def check(requirements: Iterable[Requirement], lock: list[list[str]]):
    locked = {Requirement(entry[0]).name: Requirement(entry[0]).specifier for entry in lock}
    for requirement in requirements:
        [exact] = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(exact.version), requirement


def test_no_line_names_a_registry():
    for lock in ROOT.glob("requirements*.txt"):
        assert "://" not in lock.read_text()


def test_the_pins_are_the_lock_without_its_hashes(tmp_path: Path):
    for name in ("Makefile", "requirements.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run(["make", "--quiet", "build/pins.txt"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "build/pins.txt").read_text().splitlines() == [entry[0] for entry in ENTRIES]
