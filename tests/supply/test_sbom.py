"""The bill of materials names the packages of a wheel completely (docs/sbom.py writes it)."""

import json
import os
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    return dict(runpy.run_path(str(ROOT / "docs/sbom.py"))["bill"]())


def names(bill: dict[str, Any], kind: str) -> set[str]:
    return {one["name"] for one in bill["components"] if one["purl"].startswith(f"pkg:{kind}/")}


def test_every_component_has_version_purl_and_license(bill: dict[str, Any]):
    for one in bill["components"]:
        assert one["purl"] in {f"pkg:{kind}/{one['name']}@{one['version']}" for kind in ("cargo", "pypi")}
        [stated] = one["licenses"]
        assert stated.get("expression") or stated["license"]["name"], one["purl"]
    purls = [one["purl"] for one in bill["components"]]
    assert len(set(purls)) == len(purls)


def test_every_component_from_elsewhere_has_hashes(bill: dict[str, Any]):
    without = {one["name"] for one in bill["components"] if "hashes" not in one}
    assert without == {name for name in names(bill, "cargo") if name == "aqm" or name.startswith("headgate-")}


def test_rust_packages_are_those_of_cargo_tree(bill: dict[str, Any]):
    command = ["cargo", "tree", "--locked", "--offline", "-p", "headgate-py", "-e", "normal", "--prefix", "none"]
    command += ["--target", "x86_64-unknown-linux-gnu", "--no-dedupe", "--format", "{p}"]
    tree = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = {"@".join(line.split()[:2]).replace("@v", "@") for line in tree.splitlines()}
    purls = {one["purl"].removeprefix("pkg:cargo/") for one in bill["components"] if "pkg:cargo/" in one["purl"]}
    assert purls == found


def test_python_packages_include_the_requirements_but_no_development_tools(bill: dict[str, Any]):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = names(bill, "pypi")
    assert {line.partition(">=")[0] for line in project["dependencies"]} < python
    assert "markupsafe" in python  # of Jinja2
    assert not python & {"pytest", "mypy", "ruff", "maturin", "dask"}


def test_every_component_is_needed_by_the_wheel(bill: dict[str, Any]):
    needs = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    reached: set[str] = set()
    ahead = [bill["metadata"]["component"]["bom-ref"]]
    while ahead:
        if (purl := ahead.pop()) not in reached:
            reached.add(purl)
            ahead += needs[purl]
    assert reached - {bill["metadata"]["component"]["bom-ref"]} == {one["bom-ref"] for one in bill["components"]}


def test_two_processes_write_the_same_bytes(bill: dict[str, Any], tmp_path: Path):
    for seed in ("1", "2"):
        path = tmp_path / seed / "headgate.cdx.json"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "docs/sbom.py", str(path)], cwd=ROOT, env=environment, check=True)
        assert json.loads(path.read_text()) == bill
    assert (tmp_path / "1/headgate.cdx.json").read_bytes() == (tmp_path / "2/headgate.cdx.json").read_bytes()
