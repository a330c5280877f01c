"""The help texts."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import headgate
from headgate.cli import app
from headgate.terminal.arguments import Argument
from tests.conftest import Command

GOLDEN = Path(__file__).parent / "golden"


def commands(group: Any = None, words: str = "") -> Iterator[str]:
    """Every command as one types it, and every group of commands, from the application itself."""
    group = group or typer.main.get_command(app)
    yield words
    for name, command in group.commands.items():
        full = f"{words} {name}".strip()
        yield from commands(command, full) if hasattr(command, "commands") else [full]


COMMANDS = sorted(commands())


@pytest.mark.parametrize("words", COMMANDS)
def test_help_is_as_it_was(command: Command, words: str):
    """`BLESS=1 pytest tests/cli/test_help.py` accepts the current texts."""
    done = command(*words.split(), "--help")
    assert done.returncode == 0
    golden = GOLDEN / f"{words.replace(' ', '-') or 'headgate'}.txt"
    if os.environ.get("BLESS"):
        golden.write_text(done.stdout)
    assert done.stdout == golden.read_text()


def test_version(command: Command):
    assert command("--version").stdout == f"headgate {headgate.__version__}\n"


def test_list_has_a_line_for_every_discipline(command: Command):
    lines = [line.split()[0] for line in command("list").stdout.splitlines() if line.startswith(" ") and line.split()]
    assert {discipline.name for discipline in headgate.disciplines()} <= set(lines)


def everything() -> list[Any]:
    return [*headgate.disciplines(), *headgate.controllers(), *headgate.sources()]


@pytest.mark.parametrize(
    ("what", "known"),
    [
        ("disciplines", headgate._core.disciplines()),
        ("controllers", headgate.controllers()),
        ("sources", headgate.sources()),
    ],
    ids=["disciplines", "controllers", "sources"],
)
def test_list_of_one_kind_has_a_line_for_each_and_no_other(command: Command, what: str, known: list[Any]):
    lines = [line.split()[0] for line in command("list", what).stdout.splitlines() if line.split()]
    names = {each.name for each in known}
    assert names <= set(lines)
    every = {each.name for each in everything()}
    assert not (every - names) & set(lines)
    assert names <= {line.split()[0] for line in command("list").stdout.splitlines() if line.split()}


def test_no_two_things_share_a_name():
    names = [each.name for each in everything()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("controller", headgate.controllers(), ids=lambda controller: controller.name)
def test_show_explains_a_controller_with_the_defaults_beside_it(command: Command, controller: headgate.Controller):
    shown = command("show", controller.name).stdout
    assert f"{controller.name}: {controller.summary}\n" in shown
    assert controller.citation in shown
    assert f'{controller.key} = "{controller.name}" in [[{controller.section}]]' in shown
    # Further lines of a meaning begin below it.
    rows = {words[0]: words[1] for line in shown.splitlines() if len(words := line.split()) > 2 and line[:2].strip()}
    written = f"""
        name = "x"\nduration = "1s"\nqdiscs = ["droptail"]
        link = {{ rate = "1Mbit/s", delay = "1ms", limit = "9p" }}\n[[{controller.section}]]
        {controller.key} = "{controller.name}"
    """
    (group,) = tomllib.loads(headgate.Scenario.parse(written).to_toml())[controller.section]
    for option in controller.parameters:
        value = group[option.name]
        assert rows[option.name] == (value if isinstance(value, str) else str(value).lower())


@pytest.mark.parametrize("source", headgate.sources(), ids=lambda source: source.name)
def test_show_explains_a_source_with_its_parameters_and_presets(command: Command, source: headgate.Source):
    shown = command("show", source.name).stdout
    assert f"{source.name}: {source.summary}\n" in shown
    assert source.citation.replace("`", "") in " ".join(shown.split())
    first = [line.split()[0] for line in shown.splitlines() if line.split()]
    assert {parameter.name for parameter in source.parameters} <= set(first)
    assert {preset.name for preset in source.presets} <= set(first)


def test_list_groups_the_disciplines_and_marks_their_abilities(command: Command):
    lines = command("list").stdout.splitlines()
    groups = {"paper": {"blue", "sfb", "faba"}, "comparison": {"red", "fred", "choke"}, "modern": {"prio", "tbf"}}
    first = [line.split()[0] if line.split() else "" for line in lines]
    ends = [first.index(group) for group in groups] + [len(lines)]
    assert ends == sorted(ends)
    for (group, members), start, end in zip(groups.items(), ends, ends[1:], strict=False):
        assert members <= set(first[start:end]), group
    (head,) = (line for line in lines if "protects" in line and "idea" in line)
    marked = {name for name, line in zip(first, lines, strict=True) if line[head.index("protects") :].startswith("yes")}
    assert marked == {discipline.name for discipline in headgate.disciplines() if discipline.protects}


def test_show_sets_presets_side_by_side(command: Command):
    lines = [line.split() for line in command("show", "blue").stdout.splitlines()]
    assert ["parameter", "paper", "B1", "B2", "B3", "B4", "testbed"] in lines
    assert ["freeze_time", "100ms", "10ms", "100ms", "10ms", "100ms", "50ms"] in lines


@pytest.mark.parametrize("name", [discipline.name for discipline in headgate.disciplines()])
def test_show_explains_every_parameter_and_preset(command: Command, name: str):
    done = command("show", name)
    discipline = headgate.discipline(name)
    assert done.returncode == 0
    assert discipline.summary in " ".join(done.stdout.split())
    first = [line.split()[0] for line in done.stdout.splitlines() if line.split()]
    for parameter in discipline.parameters:
        assert parameter.name in first
    for preset in discipline.presets:
        assert preset.name in first


def test_the_list_of_commands_has_the_first_sentence_of_each_help():
    group: Any = typer.main.get_command(app)
    for name, entry in group.entries.items():
        assert (group.commands[name].help or "").partition("\n")[0] == entry.sentence, name


def test_every_argument_and_option_is_converted_without_pydantic():
    def parameters(command: Any) -> Iterator[Any]:
        yield from command.get_params(typer.Context(command, help_option_names=["-h", "--help"]))
        for inner in getattr(command, "commands", {}).values():
            yield from parameters(inner)

    every = list(parameters(typer.main.get_command(app)))
    assert len(every) > 100
    assert [each.name for each in every if not isinstance(each.get_runtime_param(), Argument)] == []
