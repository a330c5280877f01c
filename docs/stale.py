"""Names the pages whose numbers are no longer those of this code: `make stale`.

Each part of a page has a short run (`parts.py`), and `digests.json` has its digest when the page was written. A part
whose short run has another digest now is stale, and so is a part without a record.

    python docs/stale.py                          names the stale pages; with --check, exits with 1 if there are any
    python docs/stale.py --record PAGE [PART...]  stores the digests of a page that was just written, with this commit
    python docs/stale.py --lists FOLDER           writes the stale experiments into lists for `make papers`
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import digests
import parts
from digests import Records
from parts import Parts

from headgate.experiment import readings
from headgate.papers import catalogue

#: The stale parts of each page, each with the commit of its numbers; None if it has no record.
Stale = dict[str, dict[str, str | None]]


def main() -> None:
    """Names stale pages, writes lists of their experiments, or stores new digests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", nargs="+", metavar=("PAGE", "PART"))
    parser.add_argument("--lists", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if given.record:
        page, *some = given.record
        store(page, some)
        return
    with tempfile.TemporaryDirectory() as name:
        known = parts.all_parts(Path(name))
        if given.lists:
            known = {page: each for page, each in known.items() if page.startswith(parts.PAPERS)}
        stale = stale_parts(known, digests.load())
    if given.lists:
        write_lists(stale, given.lists)
    print(report(stale, known))
    sys.exit(1 if given.check and stale else 0)


def stale_parts(known: Parts, records: Records) -> Stale:
    """Makes every short run, and compares its digest with the record."""
    stale: Stale = {}
    for page, short_runs in known.items():
        recorded = records.get(page, {})
        for part, digest in short_runs.items():
            old = recorded.get(part)
            if old is None or old.digest != digest():
                stale.setdefault(page, {})[part] = old.commit if old is not None else None
    return stale


def report(stale: Stale, known: Parts) -> str:
    """A line for each stale page, and what to do."""
    total = f"{sum(map(len, known.values()))} parts of {len(known)} pages"
    if not stale:
        return f"The numbers of {total} are those of this code."
    lines = [f"{page}: {named(of_page)}" for page, of_page in stale.items()]
    count = f"{sum(map(len, stale.values()))} of {total} are stale."
    return "\n".join([*lines, f"{count} CONTRIBUTING.md (Numbers on pages) says how each is brought up to date."])


def named(of_page: Mapping[str, str | None]) -> str:
    """The stale parts of a page, by the commit of their numbers."""
    by_commit: dict[str | None, list[str]] = {}
    for part, commit in of_page.items():
        by_commit.setdefault(commit, []).append(part)
    return "; ".join(
        f"{', '.join(names)} ({'no recorded commit' if commit is None else f'of commit {commit}'})"
        for commit, names in by_commit.items()
    )


def store(page: str, some: Sequence[str] = ()) -> None:
    """Makes the short runs of a page that was just written, and stores their digests: of `some` parts, or of all.

    Exits if there is no such page or part.
    """
    with tempfile.TemporaryDirectory() as name:
        known = parts.all_parts(Path(name))
        if page not in known:
            sys.exit(f"{page} has no numbers of simulations. Pages with such numbers: {', '.join(known)}")
        if unknown := [part for part in some if part not in known[page]]:
            sys.exit(f"{page} has no part {unknown[0]}. Its parts: {', '.join(known[page])}")
        digests.record(page, known[page], {part: known[page][part]() for part in some or known[page]})


def write_lists(stale: Stale, folder: Path) -> None:
    """Writes the names for `headgate paper run`, the same with `--with today`, and `headgate paper readings`.

    The readings of a paper are one table, so they are made again for all experiments of a paper with a stale one.
    """
    papers = [paper for paper in catalogue.PAPERS if f"{parts.PAPERS}{paper}.md" in stale]
    own = [f"{paper}/{part}" for paper in papers for part in stale[f"{parts.PAPERS}{paper}.md"]]
    with_readings = [name for name in catalogue.chosen(papers) if readings.open_parameters(catalogue.experiment(name))]
    folder.mkdir(parents=True, exist_ok=True)
    for file, names in {"papers": own, "today": stale.get(parts.TODAY, ()), "readings": with_readings}.items():
        (folder / file).write_text(lines(names))


def lines(names: Iterable[str]) -> str:
    """Names, one a line."""
    return "".join(f"{name}\n" for name in names)


if __name__ == "__main__":
    main()
