"""Reports on the prose of the tree: phrases to avoid, long sentences and ideas, many comments, type names used twice.

`make lint` prints the report last. It fails nothing, because whether a sentence is clear is for a person to decide.
`python docs/sentences.py PATH...` prints the longest sentences of files.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import phrases
import sentences

ROOT = Path(__file__).parents[1]
#: The rows that are printed; further ones are counted.
MOST_ROWS = 40

#: A Rust file of at least LEAST_LINES has at most this share of comments. A short one with doc comments has more.
COMMENTS, LEAST_LINES = 1 / 3, 50
_KEYS = "the doc comments are the user's documentation of each key"
_PARAMETERS = "the doc comments are the user's documentation of each parameter"
#: Files in `crates` that may have more comments, each with the reason.
COMMENTED = {
    "capi/src/types.rs": "the doc comments become those of the C header",
    "core/src/disciplines/red_pd/settings.rs": _PARAMETERS,
    "core/src/disciplines/sfb/settings.rs": _PARAMETERS,
    "live/src/lib.rs": "it teaches the crate, and its code is a list of modules",
    "measure/src/sender_state.rs": "the doc comments are the user's documentation of each column",
    "scenario/src/model.rs": "every field of the public model has its doc comment",
    "scenario/src/schema/file.rs": _KEYS,
    "scenario/src/schema/group.rs": _KEYS,
    "scenario/src/schema/tcp.rs": _KEYS,
}

#: A discipline's row in the index: its name and its idea, which has at most MOST_IDEA_WORDS.
_IDEA = re.compile(r"^\| \[`(\w+)`\]\([^)]*\) \| ([^|]*) \|", re.MULTILINE)
MOST_IDEA_WORDS = 20

_TYPE = re.compile(r"^(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|union|type) ([A-Z]\w*)", re.MULTILINE)
#: One type in Rust, in the Python module that wraps it, or in the Python API.
MIRRORS = """
Backlog Controller Discipline Gateway GatewaySettings Group Link LinkInfo LinkLog Outcome Packet Parameter Port Scenario
"""


class Finding(NamedTuple):
    """A row of the report."""

    where: str
    what: str
    count: str


def main() -> None:
    """Prints the report."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    found = findings(ROOT)
    rows = [("prose: where", "what", "how many"), *found[:MOST_ROWS]]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for where, what, count in rows if found else ():
        print(f"{where:{widths[0]}}  {what:{widths[1]}}  {count}")
    more = f", {len(found) - MOST_ROWS} not shown" if len(found) > MOST_ROWS else ""
    print(f"prose: {len(found)} to look at{more} (CONTRIBUTING.md, How we write; fails nothing)")


def findings(root: Path) -> list[Finding]:
    """The findings of all checks. A check that cannot read the tree is a finding too."""
    checks: list[Callable[[Path], Iterator[Finding]]] = [_phrases, _sentences, _ideas, _comments, _names]
    found: list[Finding] = []
    for check in checks:
        try:
            found += check(root)
        except Exception as error:  # noqa: BLE001 - whatever lies in the tree, the report ends
            found.append(Finding(check.__name__.strip("_"), f"not checked: {type(error).__name__}: {error}", ""))
    return found


def _phrases(root: Path) -> Iterator[Finding]:
    for file, phrase, count in phrases.used(root):
        yield Finding(file, f'the phrase "{phrase}"', str(count))


def _sentences(root: Path) -> Iterator[Finding]:
    for unit, lengths in sentences.table(root):
        if lengths.median > sentences.MEDIAN:
            yield Finding(unit, "words a sentence, median", f"{lengths.median:.0f} (at most {sentences.MEDIAN})")
        if lengths.p95 > sentences.LONG:
            yield Finding(unit, "words a sentence, 95th percentile", f"{lengths.p95:.0f} (at most {sentences.LONG})")


def _ideas(root: Path) -> Iterator[Finding]:
    """Ideas of disciplines that are too long for a row of `headgate list`."""
    index = root / "docs/disciplines/README.md"
    for name, idea in _IDEA.findall(index.read_text("utf-8", errors="replace") if index.is_file() else ""):
        if (words := len(idea.split())) > MOST_IDEA_WORDS:
            yield Finding(name, "words of its idea", f"{words} (at most {MOST_IDEA_WORDS})")


def _comments(root: Path) -> Iterator[Finding]:
    for path in sorted(root.glob("crates/*/**/*.rs")):
        lines = [line for line in path.read_text("utf-8", errors="replace").splitlines() if line.strip()]
        share = sum(line.lstrip().startswith("//") for line in lines) / max(1, len(lines))
        if len(lines) < LEAST_LINES or path.relative_to(root / "crates").as_posix() in COMMENTED:
            continue
        if share > COMMENTS:
            yield Finding(path.relative_to(root).as_posix(), "share of comments", f"{share:.0%} (at most a third)")


def _names(root: Path) -> Iterator[Finding]:
    """Type names that are defined twice, without types of tests and those that Python mirrors."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(root.glob("crates/*/src/**/*.rs")):
        for name in _TYPE.findall(path.read_text("utf-8", errors="replace")):
            files[name].append(path.relative_to(root).as_posix())
    for path in sorted(root.glob("python/headgate/**/*.py")):
        for node in ast.walk(sentences.parsed(path.read_text("utf-8", errors="replace"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(path.relative_to(root).as_posix())
    for name, defined in sorted(files.items()):
        if len(defined) > 1 and name not in MIRRORS.split():
            yield Finding(name, f"a type of {', '.join(defined)}", str(len(defined)))


if __name__ == "__main__":
    main()
