"""The scenario of which a folder holds results.

The name of a folder abbreviates the identity of its scenario, and folders are renamed, copied and synced. So nothing in
a folder is reused before the identities stored in it were compared with those of the scenario that is to be run.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headgate import guarded, identity
from headgate._core import ScenarioError
from headgate.errors import HeadgateError, ResultError
from headgate.files import forms, names, receipts, sealed
from headgate.files.disk import DISK
from headgate.files.receipts import RunIdentity
from headgate.scenario import RunWorld, Scenario
from headgate.scenario.inputs import files_in

#: Advice at the end of messages about a folder of another scenario.
ADVICE = "Rename that folder, or choose another one with --out. Commands with --force replace its content."


def check(path: Path, scenario: Scenario, *, certified: str | None, scenario_file: str) -> None:
    """Raises `ResultError` if the folder `path` holds results of another scenario.

    `certified` is the `config_hash` of its manifest, None without an intact one. Then the receipts of finished runs
    tell the scenario, and without any the text in `scenario_file`. Damaged receipts tell nothing: their runs are
    executed again.
    """
    if certified not in (None, scenario.config_hash):
        raise _other(path, scenario, f"its manifest has config_hash {certified}")
    found = receipts.identities(path)
    ours = _identities(scenario) if found else {}
    for name, stored in found.items():
        if stored is None or ours.get(name) != stored:
            raise _other(path, scenario, f"{receipts.RUNS}/{name} is a run of that one")
    if certified is None and not found and _is_other_text(path / scenario_file, scenario):
        raise _other(path, scenario, f"it is in {scenario_file}")


def check_document(file: Path, form: str, asked: Mapping[str, Any]) -> None:
    """Raises `ResultError` if the document `file`, of this form, answers to other values than `asked`.

    A damaged document tells nothing, nor does a key that earlier versions did not have.
    """
    try:
        stored = sealed.read(file, None)
        if stored.get("schema") == forms.version(form):
            forms.check(stored, form, file)
    except (OSError, ResultError):
        return
    for key, value in asked.items():
        if stored.get(key, value) != value:
            raise ResultError(f"{file} holds other results: its {key} is {stored[key]}, not {value}. {ADVICE}")


def check_name(path: Path, config_hash: str) -> None:
    """Raises `ResultError` if the name of a folder ends like that of another identity.

    Names that users give do not end so, nor do names of earlier versions, which have 8 digits.
    """
    claimed = re.search(rf"-([0-9a-f]{{{identity.DIGITS}}})$", path.resolve().name)
    if claimed and claimed[1] != identity.name_of(config_hash):
        raise ResultError(
            f"{path} is named after another configuration: it holds {identity.name_of(config_hash)}. "
            "It was renamed, or files were copied between folders."
        )


def own_name(path: Path, scenario: Scenario, config_hash: str) -> str:
    """The name that a renamed result folder had; empty if it has its own name, with 8 digits in earlier versions."""
    own = names.name_for(scenario, config_hash)
    name = path.resolve().name
    earlier = own.removesuffix(identity.name_of(config_hash)) + config_hash[: names.EARLIER_DIGITS]
    return "" if name in (own, earlier) else own


def check_unfinished(path: Path, scenario_file: str) -> None:
    """Compares the receipts of an unfinished result, its scenario and its name; `ResultError` if they differ.

    Receipts of earlier versions have no identities, so only the name is compared.
    """
    try:
        read = Scenario.load(path / scenario_file)
    except (ScenarioError, HeadgateError, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise ResultError(f"{path / scenario_file} cannot be read: {why}") from None
    found = {name: each for name, each in receipts.identities(path).items() if each is not None}
    # The text does not tell whether the runs are simulated.
    worlds = [Scenario(read.core, world=world) for world in RunWorld]
    possible = [each for each in worlds if found.items() <= _identities(each).items()]
    if not possible:
        raise ResultError(f"{path} has runs of another scenario than {scenario_file}, or of another version.")
    errors = []
    for each in possible:
        try:
            return check_name(path, each.config_hash)
        except ResultError as error:
            errors.append(error)
    raise errors[0]


def _identities(scenario: Scenario) -> dict[str, RunIdentity]:
    return {names.slug(run): RunIdentity.of(scenario, run) for run in scenario.runs}


def _is_other_text(file: Path, scenario: Scenario) -> bool:
    """Whether a file holds the whole text of another scenario. A torn or damaged text is not in canonical form."""
    try:
        text = DISK.read(file, guarded.SCENARIO).decode()
        return text != scenario.to_toml() and Scenario.parse(text, files=files_in(file.parent)).to_toml() == text
    except (ScenarioError, HeadgateError, OSError, ValueError):
        return False


def _other(path: Path, scenario: Scenario, why: str) -> ResultError:
    wanted = names.name_for(scenario, scenario.config_hash)
    return ResultError(f"{path} holds results of another scenario than {wanted}: {why}. {ADVICE}")
