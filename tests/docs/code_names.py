"""Code names in the backquotes of a page, and whether the tree has them.

A span of code is cut into pieces, and each piece is looked for:

- A path, or the end of one: `crates/link`, `sender/recovery.rs`. Capitals stand for any name: `disciplines/NAME.rs`.
  A file name without a folder may also be one that the program writes: `report.html`.
- A word: the product defines a type, and any source has another word. Comments and docstrings do not count. Short
  names of variables (one letter, or two small ones) are left out.
- Words joined by `::` or `.`: for each neighboring pair, a file that is the first or defines it has the second, or some
  code has the two joined so.
- `make TARGET`, `headgate COMMAND` and options.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

#: The page that `make lab` builds.
_LAB_PAGE = Path("python/headgate/lab_page/index.html")
#: Folders of build products and results: at the top, and anywhere.
_NOT_AT_TOP = {".venv", "build", "results", "site", "dist"}
_NOT_SOURCE = {".git", "target", "node_modules", "__pycache__"}
#: Folders whose types belong to tests and measurements.
_TESTING = {"tests", "benches"}
_SLASHED = {".rs", ".ts", ".js", ".c", ".h", ".cc", ".go"}
_SOURCE = _SLASHED | {".py", ".pyi", ".toml", ".css", ".html", ".json", ".yml", ".in"}
_EXTENSIONS = "rs|py|md|toml|json|parquet|js|ts|html|h|yml|txt|svg|db|bib"

_FENCE = re.compile(r"^[ \t]*(```|~~~)(\w*)\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_PATH = re.compile(rf"(?<![\w<$/.-])(?:\.?[\w*-]+/[\w./*-]*|[\w*-]+\.(?:{_EXTENSIONS})\b)")
_NAME = re.compile(r"(?<![\w$-])[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_TARGETS = re.compile(r"\bmake((?: [a-z][a-z-]*)+)")
_COMMAND = re.compile(r"\bheadgate ([a-z]+)")
#: Definitions of types: by a keyword, or by `Name = ...`, as reasons of disciplines and members of enums.
_TYPE = re.compile(
    r"\b(?:struct|enum|trait|type|class|interface) ([A-Z]\w*)|^\s*([A-Z]\w*)(?:: [^=\n]+)? = ", re.MULTILINE
)


def spans(text: str) -> Iterator[tuple[int, str]]:
    """The line and the code of each pair of backquotes, and of each command in blocks of `sh`."""
    for block in _FENCE.finditer(text):
        for number, command in enumerate(block[3].splitlines() if block[2] == "sh" else (), 1):
            yield text.count("\n", 0, block.start()) + 1 + number, command.partition(" #")[0].strip()
    prose = _FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for span in _SPAN.finditer(prose):
        yield prose.count("\n", 0, span.start()) + 1, span[1].replace("\n", " ")


class Tree:
    """The files of the repository and the words of their code. The code of `besides` does not count."""

    def __init__(self, root: Path, besides: Path) -> None:
        files = sorted(set(_files(root)) - {besides.relative_to(root), _LAB_PAGE})
        self._paths = {folder.as_posix() for file in files for folder in (file, *file.parents)}
        texts = {file: _code(file, root) for file in files if file.suffix in _SOURCE or _is_script(file)}
        self._text = "\n".join(texts.values())
        helps = [_code(file, root) for file in files if file.match("tests/cli/golden/*.txt")]
        self._options = set(_OPTION.findall("\n".join([self._text, *helps])))
        self._targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text("utf-8"), re.MULTILINE))
        self._words_by_file = {file: set(re.findall(r"\w+", text)) | _modules(file) for file, text in texts.items()}
        self._words = {word for words in self._words_by_file.values() for word in words}
        self._types_by_file = {file: _types(text) for file, text in texts.items() if not _TESTING & set(file.parts)}
        self._types = {word for types in self._types_by_file.values() for word in types}

    def missing(self, span: str) -> Iterator[str]:
        """The pieces of a span of code that are not in the tree."""
        for targets in _TARGETS.findall(span):
            yield from (f"make {target}" for target in targets.split() if target not in self._targets)
        for command in _COMMAND.findall(span):
            if f"tests/cli/golden/{command}.txt" not in self._paths:
                yield f"headgate {command}"
        yield from (option for option in _OPTION.findall(span) if option not in self._options)
        yield from (path for path in _PATH.findall(span) if not self.has_path(path))
        for name in _NAME.findall(_OPTION.sub(" ", _PATH.sub(" ", span))):
            yield from self._missing_words(name)

    def has_path(self, path: str) -> bool:
        """Whether a file or folder of the repository has this path, or its path ends so."""
        wanted = re.sub(r"\\\*|[A-Z]{3,}", "[^/]*", re.escape(path.rstrip("/")))
        if any(re.search(rf"(?:^|/){wanted}$", each) for each in self._paths):
            return True
        return "/" not in path and not path.endswith((".rs", ".py")) and path in self._text

    def _missing_words(self, name: str) -> Iterator[str]:
        words = re.split(r"::|\.", name)
        unknown = [word for word in words if len(word) > (1 if word[0].isupper() else 2) and not self._has_word(word)]
        yield from unknown
        if not unknown:
            yield from (name for pair in pairwise(words) if not self._has_pair(*pair))

    def _has_word(self, word: str) -> bool:
        if word.startswith("_"):
            return any(each.endswith(word) for each in self._words)
        is_type = word[0].isupper() and not word.isupper()
        return word in (self._types if is_type else self._words)

    def _has_pair(self, first: str, second: str) -> bool:
        if f"{first}::{second}" in self._text or f"{first}.{second}" in self._text:
            return True
        homes = (file for file, types in self._types_by_file.items() if first in types | _modules(file))
        return any(second in self._words_by_file[file] for file in homes)


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        out = _NOT_SOURCE | _NOT_AT_TOP if Path(folder) == root else _NOT_SOURCE
        folders[:] = [name for name in folders if name not in out]
        yield from (Path(folder, name).relative_to(root) for name in names)


def _is_script(file: Path) -> bool:
    return file.name in ("Makefile", "Dockerfile") or file.parent.name == ".ci"


def _modules(file: Path) -> set[str]:
    """The folders and the stem of a file, which are its modules."""
    return {*file.parts[:-1], file.stem}


def _types(text: str) -> set[str]:
    """The types that a source defines."""
    return {word for words in _TYPE.findall(text) for word in words if word}


def _code(file: Path, root: Path) -> str:
    """The text of a source without comments and docstrings."""
    text = (root / file).read_text("utf-8", errors="replace")
    if file.suffix in _SLASHED:
        return re.sub(r"//.*|/\*[\s\S]*?\*/", "", text)
    if file.suffix in (".py", ".pyi"):
        return re.sub(r'^\s*r?"""[\s\S]*?"""|#.*', "", text, flags=re.MULTILINE)
    return text
