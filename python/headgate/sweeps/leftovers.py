"""Files of a dataset that would hold a run a second time, once the missing runs are written.

A run can move from one file to another: into a bundle, or to the bundle of another plan. Its old file is left over if
it is damaged, lacks a table or is to be replaced, or if a killed command wrote no receipt for it.
"""

from collections.abc import Iterator, Sequence

from headgate import identity
from headgate.errors import ResultError
from headgate.files import tables
from headgate.sweeps import receipt
from headgate.sweeps.bundle import Bundle
from headgate.sweeps.folder import Folder
from headgate.sweeps.receipt import BUNDLE, RECEIPTS, Receipt

#: Number of receipts that are read together.
_RECEIPTS_PER_READ = 64


def find(folder: Folder, missing: Sequence[Bundle]) -> list[str]:
    """The places of the left-over files, receipts first."""
    written = {bundle.name for bundle in missing}
    repeated = {run.name for bundle in missing for run in bundle.runs}
    kept = set(receipt.names_in(folder.names(RECEIPTS)))
    bundles = sorted(name for name in kept - written if name.startswith(BUNDLE))
    replaced = {*(kept & repeated) - written, *_with_any(folder, bundles, repeated)}
    places = [receipt.place_of(name) for name in sorted(replaced)]
    for table in (*tables.NAMES, *tables.STREAMED):
        names = {*receipt.names_in(folder.names(table))} - written
        left = {name for name in names - kept if name.startswith(BUNDLE) or name in repeated}
        places += [receipt.table_place(table, name) for name in sorted(left | (names & replaced))]
    return places


def _with_any(folder: Folder, bundles: Sequence[str], runs: set[str]) -> Iterator[str]:
    """The bundles that have any run with these names, or a damaged receipt."""
    for first in range(0, len(bundles), _RECEIPTS_PER_READ):
        some = bundles[first : first + _RECEIPTS_PER_READ]
        contents = folder.read([receipt.place_of(name) for name in some])
        for name in some:
            place = receipt.place_of(name)
            try:
                has_any = not runs.isdisjoint(
                    map(identity.name_of, Receipt.parse(contents.get(place, b""), place).runs)
                )
            except ResultError:
                has_any = True
            if has_any:
                yield name
