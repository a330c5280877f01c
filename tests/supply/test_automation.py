"""Workflows, Dockerfile and devcontainer: what they call exists in the Makefile, and actions have exact versions."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
OTHERS = [ROOT / "Dockerfile", ROOT / ".devcontainer/devcontainer.json", ROOT / ".ci/run"]

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z0-9./-]+):", MAKEFILE, re.MULTILINE))


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


@pytest.fixture(params=WORKFLOWS, ids=lambda file: file.name)
def workflow(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(yaml.safe_load(request.param.read_text()))


@pytest.mark.parametrize("file", [*WORKFLOWS, *OTHERS], ids=lambda file: file.name)
def test_every_make_target_exists(file: Path):
    lines = [line for line in file.read_text().splitlines() if not line.lstrip().startswith("#")]
    # In the Dockerfile, make is also one of several packages.
    called = re.findall(r"\bmake (?!python3)([a-z][a-z0-9./-]*)", "\n".join(lines))
    assert called
    assert set(called) <= TARGETS


def test_there_are_workflows():
    assert [file.stem for file in WORKFLOWS] == ["ci", "docs", "release"]


def test_every_action_has_an_exact_version(workflow: dict[str, Any]):
    for step in steps(workflow):
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", step["uses"])


def test_every_step_does_one_thing(workflow: dict[str, Any]):
    assert all(("uses" in step) != ("run" in step) for step in steps(workflow))


def test_no_job_may_write_to_the_repository(workflow: dict[str, Any]):
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job.get("permissions", {}).get("contents", "read") == "read"


def test_jobs_need_jobs_that_exist(workflow: dict[str, Any]):
    for job in workflow["jobs"].values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(workflow["jobs"])


def test_the_container_has_the_compiler_of_the_project_and_an_ordinary_user():
    dockerfile = (ROOT / "Dockerfile").read_text()
    channel = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert f"FROM rust:{channel.rpartition('.')[0]}-" in dockerfile
    assert re.findall(r"^USER (\w+)$", dockerfile, re.MULTILINE) == ["headgate"]


def test_the_devcontainer_stops_at_a_stage_of_the_dockerfile():
    settings = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert f" AS {settings['build']['target']}\n" in (ROOT / "Dockerfile").read_text()
