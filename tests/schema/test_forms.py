"""Documents that Headgate reads back have a form. A message about another form names the file and the place."""

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

import headgate
from headgate import ResultError, identity
from headgate.evaluate import record as evaluations
from headgate.evaluate.coexistence.grid import MEASURES
from headgate.files import forms, sealed, store, tables
from headgate.sweeps import api, dataset
from headgate.verify import DOCUMENTS
from tests.conftest import SMALL, Command

FORMS = sorted(file.stem for file in forms.FOLDER.glob("*.json"))

HASH = "0" * 64

#: A run on real packets, as `live` of a manifest has it.
LIVE_RUN = {
    "qdisc": "droptail",
    "seed": 1,
    "realtime": True,
    "cpu_s": 0.5,
    "cpu": 0.1,
    "stalls": 0,
    "stalled_ms": 0.0,
    **{f"{kind}_ms_{part}": 0.1 for kind in ("late", "send_late") for part in ("p50", "p99", "max")},
    "oversize": 0,
    "conserves": True,
    "marks": {"link": 1, "receivers": 1},
    "host_losses": {"device": 0, "no_slot": 0, "unreadable": 0, "refused": 0},
    **{host: {"sent": 9, "send_drops": 0, "received": 9, "receive_drops": 0} for host in ("near", "far")},
    "kernel_qdisc": {"tc": "qdisc add", "statistics": {}, "drops": 0, "strays": 0},
}
VERDICT = {"verdict": "holds", "numbers": "1 of 1"}
CLAIM = {"text": "It holds.", "place": "table 1", "basis": "ours", "disciplines": ["FABA"]}
QUANTITY = {"mean": 0.5, "half": None, "per_seed": [0.5]}
CASE = {"load": 1.5, "kind": "web"}

EVALUATED = {
    "name": "fair",
    "place": "5.1",
    "title": "Fair",
    "about": "",
    "weight": "must",
    "reported": {"jain": "fairness"},
    "graphs": [{"name": "a", "title": "A"}],
    "cases": ["one"],
    "ecn": False,
    "duration_s": 9,
    "warmup_s": 1.5,
    "grades": [],
    "values": [{"case": "one", "ecn": False, "qdisc": "red", "measure": "jain", **QUANTITY}],
}

#: A valid document of each form that only Headgate reads, and of evaluations.
VALID: dict[str, dict[str, Any]] = {
    "manifest-2": {
        "schema": 2, "headgate": "0.2.0", "name": "small", "config_hash": HASH, "scenario": "name = 'small'\n",
        "inputs": {"inputs/trace": HASH}, "tables": {"flows.parquet": HASH, "events/red-1.parquet": HASH},
        "runs": [{"qdisc": "droptail", "seed": 1, "state": "done"}],
        "world": "live", "live": {"kernel": "6.1", "controllers": ["cubic"], "notes": ["a"], "runs": [LIVE_RUN]},
    },
    "timing-1": {"runs": [{"qdisc": "red", "seed": 1, "cpu_s": 0.5, "wall_s": 1}]},
    "run-timing-1": {"cpu_s": 0.5, "wall_s": 1},
    "live-1": {"notes": ["a"], "cpu_s": 0.5},
    "receipt-1": {"run": {"config_hash": HASH, "qdisc": "red", "seed": 1}, "files": {"flows.parquet": HASH}},
    "sweep-2": {
        "schema": 2, "headgate": "0.2.0", "name": "swept", "config_hash": HASH, "scenario": "text\n",
        "set": ["seeds=1"], "qdiscs": ["red"], "seeds": [1], "keys": {"link.rate": {"unit": "bit/s", "values": 2}},
        "tables": ["flows"], "points": 4, "points_sha256": HASH,
    },
    "sweep-receipt-2": {
        "schema": 2, "headgate": "0.2.0", "point": "0" * 16, "config_hash": HASH, "scenario": "text\n",
        "tables": {"flows": HASH}, "figures": {"jain": 0.5, "utilization": None},
    },
    "experiment-3": {
        "schema": 3, "headgate": "0.2.0", "experiment": "faba/fig7", "title": "Tokens", "place": "figure 7",
        "about": "Text.\nMore.", "quick": True, "seeds": 1, "with": ["codel"], "set": ["a=1"],
        "trace": f"a.pcap:{HASH}", "cpu_s": 0.5, "wall_s": 1.5, "claims": [{**CLAIM, **VERDICT, "finding": "So."}],
        "published": [{"place": "table 1", "measure": "jain", "unit": "", "label": "FABA", "case": CASE,
                       "published": 0.5, "relative": None, **QUANTITY}],
        "headline": {"what": "goodput", "values": {"FABA": QUANTITY}},
        "choices": [{"name": "buffer", "value": "780", "reason": "stated"}],
        "values": [{"measure": "jain", "label": "FABA", "case": CASE, **QUANTITY}],
    },
    "readings-1": {
        "schema": 1, "headgate": "0.2.0", "experiment": "faba/fig7", "title": "Tokens", "quick": True,
        "with": ["codel"], "set": ["a=1"], "trace": f"a.pcap:{HASH}", "seeds": 2, "claims": [CLAIM],
        "verdicts": {"ours": [VERDICT]},
        "parameters": [{"name": "buffer", "value": "780", "reason": "stated", "others": ["400"]}],
    },
    "evaluate-2": {
        "schema": 2, "headgate": "0.2.0", "guidelines": "RFC 7928", "quick": True, "seeds": 2, "cpu_s": 0.5,
        "wall_s": 0.5, "disciplines": [{"spec": "red", "label": "RED", "ecn": False}],
        "sections": [{"number": 5, "title": "Fair", "about": "", "choices": [], "headlines": [], "tests": [EVALUATED]}],
    },
    "coexistence-1": {
        "schema": 1, "headgate": "0.2.0", "quick": True, "seeds": 1, "rates_bps": [4e6], "rtts_ms": [5.0],
        "buffer_bdp": None, "classic_ecn": False, "fallback": True, "profile": "rfc",
        "disciplines": [{"spec": "red", "label": "RED"}],
        "pair": "Prague beside CUBIC", "duration_s": 30, "warmup_s": 10, "cpu_s": 0.5, "wall_s": 0.5,
        "cells": [{"qdisc": "red", "rate_bps": 4e6, "rtt_ms": 5.0, "limit_packets": 84, "ratio": 0.5,
                   "values": dict.fromkeys(MEASURES, QUANTITY)}],
    },
}  # fmt: skip

#: A bundle's receipt is the other form of a receipt.
BUNDLE = {
    "schema": 2,
    "headgate": "0.2.0",
    "tables": {"flows": HASH},
    "points": {
        "0" * 16: {"config_hash": HASH, "scenario": "text\n", "figures": {"jain": 0.5}},
        "1" * 16: {"scenario": "", "figures": {}},
    },
}

#: Keys that documents of earlier versions do not have, by form.
ADDED = {"receipt-1": ["run"], "sweep-2": ["config_hash"], "sweep-receipt-2": ["config_hash"],
         "experiment-3": ["set", "trace"], "readings-1": ["with", "set", "trace"]}  # fmt: skip

EXAMPLES = [*VALID.items(), ("sweep-receipt-2", BUNDLE)]


def validator(form: str) -> jsonschema.Draft202012Validator:
    """The reference's validator of a form."""
    schemas = [forms.schema(each) for each in FORMS]
    registry = Registry().with_resources(
        (each["$id"], Resource.from_contents(each)) for each in schemas if "$id" in each
    )
    return jsonschema.Draft202012Validator(forms.schema(form), registry=registry)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in a document, the document itself first."""
    yield place
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in steps:
        yield from places(each, (*place, step))


#: Values of every type, and of no use.
OTHERS: tuple[Any, ...] = (None, True, 7, -1, 0.5, "text", "", "\x1b[2J", "../x", [], [None], {}, {"x": None}, 10**30)


def mutations(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The document with one key or entry removed, replaced by a value of another type, or doubled; at every place."""
    for place in places(document):
        for other in OTHERS:
            if not place:
                yield f"all: {other!r}", other
                continue
            changed = copy.deepcopy(document)
            parent = changed
            for step in place[:-1]:
                parent = parent[step]
            if type(parent[place[-1]]) is type(other) and parent[place[-1]] == other:
                continue
            parent[place[-1]] = other
            yield f"{place}: {other!r}", changed
        if place:
            changed = copy.deepcopy(document)
            parent = changed
            for step in place[:-1]:
                parent = parent[step]
            del parent[place[-1]]
            yield f"{place}: removed", changed
            if isinstance(parent, dict):
                parent["surplus\x07"] = 1
                yield f"{place}: renamed", changed


@pytest.mark.parametrize("form", dict.fromkeys([*DOCUMENTS.values(), *VALID, "run-2"]))
def test_a_form_has_only_keywords_that_are_checked(form: str):
    jsonschema.Draft202012Validator.check_schema(forms.schema(form))

    def search(schema: dict[str, Any]) -> None:
        assert set(schema) <= forms.CHECKED | forms.REMARKS
        for keyword in ("properties", "$defs"):
            for each in schema.get(keyword, {}).values():
                search(each)
        for keyword in ("items", "additionalProperties", "propertyNames", "not"):
            if isinstance(schema.get(keyword), dict):
                search(schema[keyword])
        for each in schema.get("oneOf", ()):
            search(each)

    search(forms.schema(form))


@pytest.mark.parametrize(("form", "document"), EXAMPLES, ids=[form for form, _ in EXAMPLES])
def test_the_checker_agrees_with_the_package_about_every_change(form: str, document: dict[str, Any]):
    forms.check(document, form, "file")
    reference, count = validator(form), 0
    for what, changed in mutations(document):
        found = list(forms.violations(changed, form))
        assert (found == []) == reference.is_valid(changed), (what, found)
        count += bool(found)
    assert count > 10 * len(document)


@pytest.mark.parametrize("form", ADDED)
def test_documents_of_earlier_versions_are_read(form: str):
    forms.check({key: value for key, value in VALID[form].items() if key not in ADDED[form]}, form, "file")


@pytest.mark.parametrize("form", [*dict.fromkeys(DOCUMENTS.values()), *VALID])
def test_a_violation_has_its_place_in_words(form: str):
    with pytest.raises(ResultError, match=r"^somewhere/x\.json is damaged: (expected an object, found null)$"):
        forms.check(None, form, "somewhere/x.json")


def test_messages_name_place_and_form():
    manifest = copy.deepcopy(VALID["manifest-2"])
    manifest["runs"][0]["seed"] = "one"
    with pytest.raises(ResultError, match=r'`runs\[0\].seed`: expected a whole number, found "one"'):
        forms.check(manifest, "manifest-2", "file")
    manifest["runs"] = None
    with pytest.raises(ResultError, match="file is damaged: `runs`: expected a list, found null"):
        forms.check(manifest, "manifest-2", "file")


NO_DOCUMENTS = ['{"a": ' * 100_000, '{"a": NaN}', '{"a": "\\ud800"}', "[1]", "7", '"x"', "", "\ufeff{}",
                '{"sha256": "x", "a": "\\udc00"}', '{"a": 1' + "0" * 5000 + "}"]  # fmt: skip


@pytest.mark.parametrize("text", NO_DOCUMENTS, ids=range(len(NO_DOCUMENTS)))
def test_any_text_is_a_document_or_damaged(text: str):
    with pytest.raises(ResultError, match=r"^file is damaged: "):
        sealed.parse(text.encode(), "file", None)


#: Commands that read the manifest of a result.
OF_RESULTS = ["report R", "verify R", "compare R R --no-page", "why R --flow 0 --no-picture", "rerun R --out again",
              "export R --format csv --out out", "export R --format latex --out out", "query R select~1"]  # fmt: skip


@pytest.fixture
def result(in_folder: headgate.Result, tmp_path: Path) -> Path:
    """A result without its tables, which no command reaches once the manifest is refused."""
    folder = tmp_path / in_folder.path.name
    folder.mkdir()
    for name in (store.MANIFEST, store.TIMING, store.SCENARIO):
        (folder / name).write_bytes((in_folder.path / name).read_bytes())
    return folder


def sealed_again(document: Any) -> str:
    """The text of a changed document, with the seal that a malicious writer would give it."""
    return sealed.sealed_text(document) if isinstance(document, dict) else json.dumps(document)


def rehashed(manifest: Any) -> Any:
    """A changed manifest with the `config_hash` of its present parts, if they have one."""
    try:
        world = manifest.get("world", "")
        found = identity.of_scenario(manifest["scenario"], manifest["headgate"], manifest["inputs"], world)
        if "config_hash" in manifest and manifest["config_hash"] not in OTHERS:
            manifest = {**manifest, "config_hash": found}
    except (AttributeError, KeyError, TypeError):
        pass
    return manifest


@pytest.mark.parametrize("words", OF_RESULTS)
def test_no_changed_manifest_gives_a_traceback(
    words: str, in_folder: headgate.Result, tmp_path: Path, command: Command
):
    pytest.importorskip("duckdb")
    manifest = json.loads((in_folder.path / store.MANIFEST).read_text())
    manifest.pop(sealed.KEY)
    folder = tmp_path / "result"
    # Tables are never read: a change that is no damage stops at their hashes.
    folder.mkdir()
    for file in in_folder.path.glob("*"):
        if file.is_file():
            (folder / file.name).write_bytes(b"" if file.suffix == ".parquet" else file.read_bytes())
    for what, changed in mutations(manifest):
        (folder / store.MANIFEST).write_text(sealed_again(rehashed(changed)))
        try:
            done = command(*(str(folder) if word == "R" else word.replace("~", " ") for word in words.split()))
        except Exception as error:
            raise AssertionError(what) from error
        shutil.rmtree("again", ignore_errors=True)
        if next(forms.violations(changed, store.FORM), None):
            assert done.returncode == 3, (what, done)
            assert store.MANIFEST in done.stderr, (what, done)
        else:  # a valid manifest, of other tables or of another version
            assert done.returncode in (0, 1, 2, 3), (what, done)


def test_no_changed_document_of_a_result_gives_a_traceback(result: Path, command: Command):
    timing = json.loads((result / store.TIMING).read_text())
    timing.pop(sealed.KEY)
    for what, changed in mutations(timing):
        (result / store.TIMING).write_text(sealed_again(changed))
        try:
            done = command("verify", result)
        except Exception as error:
            raise AssertionError(what) from error
        assert done.returncode == 3, (what, done)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of two runs."""
    scenario = headgate.Scenario.parse(SMALL, set=["duration=1s", "warmup=0s", "qdiscs=['droptail']"], seeds=1)
    made = headgate.sweep(scenario, grid={"link.limit": ["9p", "20p"]}, tables=["flows"],
                          out=tmp_path_factory.mktemp("sweeps"))  # fmt: skip
    return Path(made.url)


@pytest.mark.parametrize("name", [dataset.MANIFEST, "receipts"])
@pytest.mark.parametrize("words", ["verify S", "query S select~*~from~points", "export S --format csv --out out"])
def test_no_changed_document_of_a_sweep_gives_a_traceback(name: str, words: str, swept: Path, command: Command):
    pytest.importorskip("duckdb")
    file = swept / name if name == dataset.MANIFEST else next((swept / name).iterdir())
    text = file.read_text()
    document = json.loads(text)
    document.pop(sealed.KEY)
    try:
        for what, changed in mutations(document):
            file.write_text(sealed_again(changed))
            try:
                done = command(*(str(swept) if word == "S" else word.replace("~", " ") for word in words.split()))
            except Exception as error:
                raise AssertionError(what) from error
            assert done.returncode in (0, 2, 3), (what, done)
            form = "sweep-2" if name == dataset.MANIFEST else "sweep-receipt-2"
            named = file.name if next(forms.violations(changed, form), None) else swept.name
            assert done.returncode == 0 or named in done.stderr, (what, done)
            shutil.rmtree("out", ignore_errors=True)
    finally:
        file.write_text(text)
    assert api.database(str(swept)).sql("select * from points").fetchall()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_changed_document_of_an_experiment_gives_a_traceback(name: str, tmp_path: Path, command: Command):
    form = DOCUMENTS[name]
    document = VALID.get(form, {"schema": forms.version(form)})
    tables.write(tmp_path / evaluations.TABLE, evaluations.table_of(VALID["evaluate-2"]))
    for what, changed in mutations(document):
        (tmp_path / name).write_text(sealed_again(changed))
        done = command("verify", tmp_path)
        assert done.returncode in (0, 3), what
        if next(forms.violations(changed, form), None) and done.returncode != 0:
            assert name in done.stderr, what
