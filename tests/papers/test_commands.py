"""The commands on the papers' pages and in findings name experiments, options and keys that exist."""

import re
import shlex
from itertools import islice
from pathlib import Path

import pytest
import typer

from headgate.experiment.running import RunOptions, case_scenarios
from headgate.papers import catalogue, cli

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs/papers").glob("*.md"), *(ROOT / "python/headgate/papers").glob("*/findings.md")])
#: A whole command, in code or in a block of commands; or the settings that a sentence adds to the command before it.
COMMAND = re.compile(r"headgate (paper [^`#\n|]*(?:\n[^`#\n|]*`)?)|`((?:--quick |--seeds \d+ )*--set [^`]*)`")


def commands_of(page: Path) -> list[list[str]]:
    """The words after `headgate paper`. Settings alone belong to the experiment that the command before them names."""
    commands: list[list[str]] = []
    for whole, settings in COMMAND.findall(page.read_text()):
        words = shlex.split(whole.replace("`", ""))[1:] if whole else ["run", commands[-1][1], *shlex.split(settings)]
        # A sentence about `headgate paper run` names no experiment. `NAME` and `FILE` stand for the reader's choice.
        if len(words) > 1 and not {"NAME", "NAME...", "FILE", "LIST"} & set(words):
            commands.append(words)
    return commands


def check(words: list[str]) -> None:
    """Parses a command and makes scenarios that it would run. Raises an error for an unknown name, option or key."""
    command = typer.main.get_command(cli.app).commands[words[0]]  # type: ignore[attr-defined]
    given = command.make_context(words[0], words[1:]).params
    names = catalogue.chosen([given["name"]] if "name" in given else given["names"] or ["all"])
    if words[0] == "readings":
        catalogue.with_readings(names)
    options = RunOptions(
        quick=bool(given.get("quick")),
        seeds=given.get("seeds"),
        further=catalogue.further(given.get("further")),
        settings=tuple(given.get("settings") or ()),
    )
    for name in names if options.settings or options.further else ():
        # Of one case: first with our values, then with the changed disciplines.
        assert list(islice(case_scenarios(catalogue.experiment(name), options), 2)), name


#: Each command once.
EVERY = {shlex.join(words): words for page in PAGES for words in commands_of(page)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_are_found(page: Path):
    assert commands_of(page)


@pytest.mark.parametrize("words", EVERY.values(), ids=EVERY)
def test_a_command_on_a_page_names_known_experiments_options_and_keys(words: list[str]):
    check(words)


def test_settings_alone_belong_to_the_experiment_of_the_command_before_them(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("First (`headgate paper run faba/fig5 --set\nbuffer=66`), then (`--seeds 4 --set window=20`).\n")
    first, second = commands_of(page)
    assert first == ["run", "faba/fig5", "--set", "buffer=66"]
    assert second == ["run", "faba/fig5", "--seeds", "4", "--set", "window=20"]


@pytest.mark.parametrize(
    "command",
    ["run faba/fig55", "run faba/fig5 --sett window=20", "run faba/fig5 --set windw=20", "readings red-pd/fig3"],
)
def test_a_command_with_an_unknown_name_option_or_key_is_found(command: str):
    with pytest.raises(Exception, match=r"fig55|--sett|windw|no open parameter"):
        check(command.split())
