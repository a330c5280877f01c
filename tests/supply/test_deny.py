"""The Rust packages obey deny.toml in licenses and sources, also where cargo-deny is not installed."""

import json
import re
import subprocess
import tomllib
from collections.abc import Set
from pathlib import Path
from typing import Any

import pytest

from tests import needs

ROOT = Path(__file__).parents[2]
RULES = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]
ALLOWED = set(RULES["allow"])
EXCEPTIONS = {rule["crate"]: set(rule["allow"]) for rule in RULES["exceptions"]}
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def satisfied(expression: str, allowed: Set[str]) -> bool:
    """Whether licenses of a list satisfy an SPDX expression; `/` is an old spelling of `OR`."""
    expression = expression.replace("/", " OR ").strip()
    while group := re.search(r"\(([^()]*)\)", expression):
        word = "yes" if satisfied(group[1], allowed) else "no"
        expression = expression[: group.start()] + word + expression[group.end() :]
    known = {*allowed, "yes"}
    sides = [side.split(" AND ") for side in expression.split(" OR ")]
    return any(all(" ".join(name.split()) in known for name in side) for side in sides)


#: Further licenses of the tool that writes the lab's bindings. No program of ours contains it.
OF_THE_TOOL = {"Zlib"}


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    return of_workspace(".")


def of_workspace(folder: str) -> list[dict[str, Any]]:
    """The packages in the lock of a workspace."""
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--all-features"]
    output = subprocess.run(command, cwd=ROOT / folder, capture_output=True, text=True, check=True).stdout
    return list(json.loads(output)["packages"])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("Unlicense/MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND Zlib", True),
        ("MIT OR GPL-3.0-only AND Zlib", True),
        ("Zlib WITH exception", False),
    ],
)
def test_an_expression_is_satisfied_by_one_of_its_alternatives(expression: str, expected: bool):
    assert satisfied(expression, {"MIT", "Zlib"}) is expected


def test_every_package_has_an_allowed_license(packages: list[dict[str, Any]]):
    for package in packages:
        allowed = ALLOWED | EXCEPTIONS.get(package["name"], set())
        assert satisfied(package["license"], allowed), f"{package['name']}: {package['license']}"


@needs.marks("lab")
def test_every_package_of_the_labs_tool_has_an_allowed_license_too():
    packages = of_workspace("lab/bindgen")
    assert len(packages) > 10
    for package in packages:
        assert satisfied(package["license"], ALLOWED | OF_THE_TOOL), f"{package['name']}: {package['license']}"
    assert not all(satisfied(package["license"], ALLOWED) for package in packages)


def test_every_rule_on_licenses_is_needed(packages: list[dict[str, Any]]):
    licenses = {package["name"]: package["license"] for package in packages}
    for name in ALLOWED:
        assert not all(
            satisfied(license_, (ALLOWED - {name}) | EXCEPTIONS.get(package, set()))
            for package, license_ in licenses.items()
        ), name
    for package in EXCEPTIONS:
        assert not satisfied(licenses[package], ALLOWED), package


def test_every_package_is_ours_or_of_the_registry_at_a_stated_version(packages: list[dict[str, Any]]):
    for package in packages:
        inside = Path(package["manifest_path"]).is_relative_to(ROOT)
        assert package["source"] == (None if inside else REGISTRY), package["name"]
        if inside:
            # Without a version, cargo leaves a crate of the workspace out of a package that needs it for tests alone.
            helpers = [each["name"] for each in package["dependencies"] if each["kind"] == "dev" and "path" in each]
            wild = [
                each["name"] for each in package["dependencies"] if each["req"] == "*" and each["name"] not in helpers
            ]
            assert not wild, package["name"]


def test_cargo_deny_finds_nothing_but_versions_that_exist_twice():
    needs.without("cargo-deny")
    # The known vulnerabilities change from day to day and need the network: `make audit` checks them.
    command = ["cargo", "deny", "--locked", "--offline", "--format", "json", "check", "bans", "licenses", "sources"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    messages = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    found = [each["fields"]["code"] for each in messages if each["type"] == "diagnostic"]
    assert (done.returncode, {*found} - {"duplicate"}) == (0, set()), done.stderr[:2000]
    assert any(each["type"] == "summary" for each in messages), done.stderr[:2000]
