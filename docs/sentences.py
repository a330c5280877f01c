"""Counts the words of sentences in pages, doc comments and docstrings, so that they stay short.

`python docs/sentences.py` prints a row for each crate, package and page: sentences, median, 95th percentile, and the
share of sentences of more than 28 words. `python docs/sentences.py PATH...` prints the longest sentences of the files.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
#: The median of a unit's sentences is at most MEDIAN words, their 95th percentile at most LONG.
MEDIAN, LONG = 16, 28

#: Pages of history, which stay as they were written.
_HISTORY = {"CHANGELOG.md"}
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|vs|cf|al|Fig|fig|Sec|sec|No|no|pp|St|approx|resp|Inc)\.$")
_DOC = re.compile(r"^\s*//[/!] ?(.*)$")


class Lengths(NamedTuple):
    """The lengths of sentences, in words."""

    sentences: int
    median: float
    p95: float
    too_long: float


def main(arguments: list[str]) -> None:
    """Prints the table, or the longest sentences of the files named."""
    if arguments:
        found = [sentence for path in arguments for sentence in sentences(ROOT / path)]
        for sentence in sorted(found, key=words, reverse=True)[:40]:
            print(f"{words(sentence):4}  {sentence}")
        return
    print(f"{'':34} {'sentences':>9} {'median':>6} {'p95':>4} {'over ' + str(LONG):>8}")
    for name, lengths in table(ROOT):
        print(f"{name:34} {lengths.sentences:9} {lengths.median:6.0f} {lengths.p95:4.0f} {lengths.too_long:8.1%}")


def table(root: Path) -> Iterator[tuple[str, Lengths]]:
    """Every crate, package and page with the lengths of its sentences."""
    for name, paths in units(root).items():
        counted = [words(sentence) for path in paths for sentence in sentences(path)]
        if len(counted) > 1:
            p95 = quantiles(counted, n=20, method="inclusive")[-1]
            too_long = sum(count > LONG for count in counted) / len(counted)
            yield name, Lengths(len(counted), median(counted), p95, too_long)


def units(root: Path) -> dict[str, list[Path]]:
    """The files of each crate and Python package, and each page."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(root.glob("crates/*/src/**/*.rs")):
        found["/".join(path.relative_to(root).parts[:2])].append(path)
    for path in sorted((root / "python/headgate").rglob("*.py")):
        inside = path.relative_to(root / "python").parts
        found["python/" + "/".join(inside[: min(2, len(inside) - 1)])].append(path)
    for path in [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]:
        if path.name not in _HISTORY:
            found[str(path.relative_to(root))].append(path)
    return dict(found)


def sentences(path: Path) -> list[str]:
    """The sentences of a page, of a Rust file's doc comments, or of a Python file's docstrings."""
    text = path.read_text("utf-8", errors="replace")
    blocks = {".rs": _doc_comments, ".py": _docstrings}.get(path.suffix, lambda text: [text])(text)
    return [sentence for block in blocks for paragraph in _paragraphs(block) for sentence in _split(paragraph)]


def words(sentence: str) -> int:
    """The number of words of a sentence. A code span counts as one."""
    return sum(any(map(str.isalnum, word)) for word in sentence.split())


def parsed(text: str) -> ast.Module:
    """A Python file; empty if it is none, which the linter reports."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _doc_comments(text: str) -> Iterator[str]:
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        if doc := _DOC.match(line):
            block.append(doc[1])
        elif block:
            yield "\n".join(block)
            block = []


def _docstrings(text: str) -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(parsed(text)):
        if isinstance(node, kinds) and (found := ast.get_docstring(node)):
            yield found


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs and list items, without code, tables, headings and markup."""
    text = re.sub(r"<!-- (\S+).*?-->.*?<!-- /\1.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*(```|~~~).*?^\s*\1", "\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<[^>\n]+>", " ", text)
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        stripped = line.strip()
        starts = re.match(r"([-*+]|\d+\.)\s+", stripped)
        if not stripped or starts or stripped.startswith(("#", "|", ">>>", "!!!", "---")):
            if lines:
                yield _plain(" ".join(lines))
            lines = []
        if starts:
            stripped = stripped[starts.end() :]
        if stripped and not stripped.startswith(("#", "|", ">>>", "!!!", "---")):
            lines.append(stripped)


def _plain(text: str) -> str:
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?", r"\1", text)
    text = re.sub(r"`[^`]+`", "CODE", text)
    return text.replace("**", "").replace("*", "").strip()


def _split(text: str) -> Iterable[str]:
    """The sentences of a paragraph. A paragraph without a full stop is one."""
    start = 0
    for stop in re.finditer(r"[.!?:][\"')]*\s+(?=[\"'(]?[A-Z0-9])", text):
        sentence = text[start : stop.end()].strip()
        if sentence.endswith(":") or _ABBREVIATED.search(sentence):
            continue
        yield sentence
        start = stop.end()
    if rest := text[start:].strip():
        yield rest


if __name__ == "__main__":
    main(sys.argv[1:])
