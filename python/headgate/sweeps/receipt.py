"""The receipt of finished runs: the hashes of their files, their scenarios and their measures.

A run alone has a receipt, and so have the runs of a bundle together. It is written after the files and has their name.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from headgate import _core, identity
from headgate.errors import ResultError
from headgate.files import sealed

SCHEMA = 2
FORM = f"sweep-receipt-{SCHEMA}"
RECEIPTS = "receipts"

#: Prefix of the names of files that several runs share.
BUNDLE = "bundle-"
#: Key of a run's identity.
HASH = "config_hash"

#: The measures of a run by name; None if the run does not determine one.
Measures = dict[str, float | None]


class StoredRun(NamedTuple):
    """The canonical scenario of a finished run, and its measures."""

    scenario: str
    figures: Measures


class Receipt(NamedTuple):
    """The finished runs by identity, and the SHA-256 of their file in each table; `name` is that of the files."""

    name: str
    runs: dict[str, StoredRun]
    tables: dict[str, str]
    schema: int = SCHEMA

    @classmethod
    def of(cls, runs: dict[str, StoredRun], tables: dict[str, str]) -> Self:
        """The receipt of runs that were executed just now."""
        return cls(name_of(list(runs)), runs, tables)

    def run_named(self, point: str) -> StoredRun:
        """The run with this name; `KeyError` if the receipt is not that of such a run."""
        return {identity.name_of(run): each for run, each in self.runs.items()}[point]

    def to_bytes(self) -> bytes:
        """The content of the receipt's file."""
        head = {"schema": self.schema, "headgate": _core.VERSION}
        if len(self.runs) == 1:
            ((run, alone),) = self.runs.items()
            of_run: dict[str, Any] = {"point": self.name, HASH: run, "scenario": alone.scenario}
            return sealed.sealed_text({**head, **of_run, "tables": self.tables, "figures": alone.figures}).encode()
        points = {identity.name_of(run): {HASH: run, **each._asdict()} for run, each in self.runs.items()}
        return sealed.sealed_text({**head, "points": points, "tables": self.tables}, indent=None).encode()

    @classmethod
    def parse(cls, data: bytes, shown: str) -> Self:
        """The receipt in the file called `shown`; `ResultError` if it is damaged."""
        document = sealed.parse(data, shown, FORM)
        name = _stem(shown)
        points: Mapping[str, Any] = document["points"] if "points" in document else {document["point"]: document}
        # Receipts of earlier builds have only the names of runs.
        runs = {each.get(HASH, run): StoredRun(each["scenario"], each["figures"]) for run, each in points.items()}
        if name != name_of(list(runs)):
            raise ResultError(f"{shown} is damaged: it is the receipt of {name_of(list(runs))}")
        if [*map(identity.name_of, runs)] != list(points):
            raise ResultError(f"{shown} is damaged: a run has not the name that its {HASH} gives it")
        return cls(name, runs, document["tables"], document["schema"])


def name_of(runs: Sequence[str]) -> str:
    """The name of the files of these runs: that of a run alone, or one that stands for all their identities."""
    if len(runs) == 1:
        return identity.name_of(runs[0])
    return BUNDLE + identity.name_of(identity.of_text("\n".join(runs)))


def place_of(name: str) -> str:
    """The place of a receipt in the dataset."""
    return f"{RECEIPTS}/{name}.json"


def table_place(table: str, name: str) -> str:
    """The place of the file of a table in the dataset."""
    return f"{table}/{name}.parquet"


def names_in(places: Sequence[str]) -> list[str]:
    """The names of receipts or files at these places. Unfinished files are left out."""
    return [name for name in map(_stem, places) if not name.startswith(".")]


def _stem(place: str) -> str:
    return place.rpartition("/")[2].rpartition(".")[0]
