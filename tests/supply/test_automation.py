"""Workflows, Dockerfile and devcontainer: what they call exists in the Makefile, and actions have exact versions."""

import json
import os
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


#: The lab's target, and its page.
WEB = "wasm32-unknown-unknown"
PAGE = "python/headgate/lab_page/index.html"


def workflows() -> dict[str, Any]:
    return {file.stem: yaml.safe_load(file.read_text()) for file in WORKFLOWS}


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


def commands(job: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Each command of a job with the number of its step; a step of a matrix has every command of the matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    listed = [*matrix.get("command", []), *(row["command"] for row in matrix.get("include", []) if "command" in row)]
    for number, step in enumerate(job["steps"]):
        for command in listed if step.get("run") == "${{ matrix.command }}" else [step.get("run", "")]:
            yield number, command


def test_a_job_that_needs_the_lab_has_its_tools_first_and_does_not_do_without(workflow: dict[str, Any]):
    for job in workflow["jobs"].values():
        needing = [
            number for number, command in commands(job) if re.search(r"\bmake .*\b(lab|test|wheels?)\b", command)
        ]
        node = [number for number, step in enumerate(job["steps"]) if "actions/setup-node@" in step.get("uses", "")]
        rust = [number for number, command in commands(job) if f"rustup target add {WEB}" in command]
        assert bool(needing) == bool(node) == bool(rust)
        assert not needing or max(*node, *rust) < min(needing)
        assert "LAB" not in yaml.safe_dump(job)


def test_the_site_is_compared_with_the_built_lab_before_it_is_published():
    lines = [command for _, command in commands(workflows()["docs"]["jobs"]["build"]) if command]
    built, compared = lines.index("make lab site"), lines.index(f"cmp site/lab/index.html {PAGE}")
    assert built < compared


def test_the_published_wheel_is_tried_with_the_lab_and_with_every_extra():
    lines = [command for _, command in commands(workflows()["release"]["jobs"]["linux"]) if command]
    tried = [lines.index(f".ci/{script} dist/*x86_64.whl build/pins.txt") for script in ("try-wheel", "try-extras")]
    assert lines.index("make wheels") < min(tried)
    # `make wheel` tries the others: Makefile.
    assert [line for line in MAKEFILE.splitlines() if ".ci/try-wheel dist/*.whl" in line]


def test_scripts_that_workflows_and_the_makefile_call_can_be_run():
    called = set(re.findall(r"\.ci/[\w-]+(?:\.py)?", "".join([MAKEFILE, *(file.read_text() for file in WORKFLOWS)])))
    assert len(called) >= 4
    for script in called:
        assert os.access(ROOT / script, os.X_OK), script


def test_the_container_has_the_compiler_of_the_project_and_an_ordinary_user():
    dockerfile = (ROOT / "Dockerfile").read_text()
    channel = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert f"FROM rust:{channel.rpartition('.')[0]}-" in dockerfile
    assert f"rustup target add {WEB}" in dockerfile
    assert re.findall(r"^USER (\w+)$", dockerfile, re.MULTILINE) == ["headgate"]


def test_the_devcontainer_stops_at_a_stage_of_the_dockerfile():
    settings = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert f" AS {settings['build']['target']}\n" in (ROOT / "Dockerfile").read_text()
