"""The file `digests.json`: the digest of each short run when its page was written, and the commit whose code ran then.

A page has *parts*: experiments on the page of a paper, scenarios on other pages. The marker `commit` of a page names
the commit of each part. A part without a record is stale, because nobody knows which code its numbers are of.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pages import filled

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "digests.json"
MARKER = "commit"
#: Files that decide the numbers of a simulation.
CODE = ("Cargo.lock", "crates", "peers", "python", "scenarios")


class Record(NamedTuple):
    """The digest of a short run, and the commit whose code made it, with its date.

    A commit with a plus, such as `a28fd109+`, stands for that commit and changes that had no commit yet.
    """

    digest: str
    commit: str
    date: str


#: The record of each part of each page.
Records = dict[str, dict[str, Record]]


def load() -> Records:
    """All records."""
    return {
        page: {part: Record(**record) for part, record in parts.items()}
        for page, parts in json.loads(FILE.read_text()).items()
    }


def save(records: Records) -> None:
    """Writes all records, one a line, so that two branches can each add theirs."""
    pages = []
    for page in sorted(filter(records.get, records)):
        lines = [f"  {json.dumps(part)}: {json.dumps(record._asdict())}" for part, record in records[page].items()]
        pages.append(f" {json.dumps(page)}: {{\n" + ",\n".join(lines) + "\n }")
    FILE.write_text("{\n" + ",\n".join(pages) + "\n}\n")


def record(page: str, parts: Iterable[str], made: Mapping[str, str]) -> None:
    """Stores new digests of some parts of a page, and names this commit on the page. `parts` are all of its parts."""
    commit, date = commit_of_code()
    records = load()
    old = records.get(page, {})
    new = {part: Record(digest, commit, date) for part, digest in made.items()}
    records[page] = {part: each for part in parts if (each := new.get(part, old.get(part)))}
    save(records)
    sign(page, parts, records)


def sign(page: str, parts: Iterable[str], records: Records) -> None:
    """Writes the commits of a page into its marker."""
    file = ROOT / page
    file.write_text(filled(file.read_text(), MARKER, f"{line(parts, records.get(page, {}))}\n"))


def line(parts: Iterable[str], records: Mapping[str, Record]) -> str:
    """The sentences that name the commit of each part, the newest first."""
    known = list(parts)
    by_commit: dict[str, list[str]] = {}
    for part in sorted(known, key=lambda part: records[part].date if part in records else "", reverse=True):
        by_commit.setdefault(words(records.get(part)), []).append(part)
    if len(by_commit) == 1:
        return f"Numbers of {next(iter(by_commit))}."
    listed = {commit: ", ".join(part for part in known if part in some) for commit, some in by_commit.items()}
    return "\n".join(f"Numbers of {commit}: {names}." for commit, names in listed.items())


def words(record: Record | None) -> str:
    """The commit of a record, in words; None for a part without a record."""
    return "a commit that was not recorded" if record is None else f"commit {record.commit} ({record.date})"


def commit_of_code() -> tuple[str, str]:
    """The commit of the code, and its date. The commit has a plus if the code has changes that no commit has."""
    commit, date = _git("show", "--no-patch", "--abbrev=8", "--format=%h %cs", "HEAD").split()
    return commit + ("+" if _git("status", "--porcelain", "--", *CODE) else ""), date


def _git(*words: str) -> str:
    done = subprocess.run(  # noqa: S603 - words of this file
        ["git", *words],  # noqa: S607 - git is where the user has it
        cwd=ROOT,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout.strip()
