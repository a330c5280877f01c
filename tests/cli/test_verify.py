"""`headgate verify`: names changed and missing files."""

import copy
import json
import shutil
from pathlib import Path

import pytest

import headgate
from headgate.evaluate.record import DOCUMENT, TABLE, table_of
from headgate.files import store, tables
from headgate.verify import verify
from tests.conftest import Command
from tests.schema.test_forms import VALID


@pytest.fixture
def copied(in_folder: headgate.Result, tmp_path: Path) -> Path:
    """A finished result that a test may damage."""
    return Path(shutil.copytree(in_folder.path, tmp_path / "result"))


def test_verify_confirms_an_unchanged_result(command: Command, copied: Path):
    done = command("verify", copied)
    own = store.folder_name(headgate.load(copied).scenario)
    words = f"{copied}: all files match their hashes; the folder was called {own}\n"
    assert (done.returncode, done.stdout) == (0, words)
    done = command("verify", copied.rename(copied.with_name(own)))
    assert (done.returncode, done.stdout) == (0, f"{copied.with_name(own)}: all files match their hashes\n")


@pytest.mark.parametrize("name", ["flows.parquet", store.SCENARIO])
def test_verify_names_the_file_with_a_flipped_bit(command: Command, copied: Path, name: str):
    data = bytearray((copied / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copied / name).write_bytes(data)
    done = command("verify", copied)
    assert done.returncode == 3
    assert f"changed or missing: {name}." in done.stderr


def test_a_missing_table_is_named(command: Command, copied: Path):
    (copied / "links.parquet").unlink()
    assert "changed or missing: links.parquet." in command("verify", copied).stderr


def test_a_folder_without_a_manifest_is_no_result(command: Command, tmp_path: Path):
    done = command("verify", tmp_path)
    assert done.returncode == 3
    assert "is not a result" in done.stderr


def test_a_manifest_without_its_hashes_is_damaged(command: Command, copied: Path):
    manifest = json.loads((copied / store.MANIFEST).read_text())
    (copied / store.MANIFEST).write_text(json.dumps({**manifest, "tables": None}))
    done = command("verify", copied)
    assert done.returncode == 3
    assert f"{store.MANIFEST} is damaged" in done.stderr


def test_the_table_of_an_evaluation_is_compared_with_its_document(tmp_path: Path):
    document = VALID["evaluate-2"]
    other = copy.deepcopy(document)
    other["sections"][0]["tests"][0]["values"][0]["per_seed"] = [0.25]
    (tmp_path / DOCUMENT).write_text(store.sealed_text(document))
    tables.write(tmp_path / TABLE, table_of(document))
    assert [each.damage for each in verify(tmp_path)] == ["", ""]
    tables.write(tmp_path / TABLE, table_of(other))
    (_, damaged) = verify(tmp_path)
    assert damaged.damage.startswith(f"{tmp_path / TABLE} is damaged: its numbers are not those of {DOCUMENT}.")
