"""The imports between the files of a Rust crate, read from `use` lines and paths as text.

A face (`pub use child::Name` in `mod.rs` or `lib.rs`) only hands names on. A name that is taken from a face counts as
taken from the file that defines it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

#: A file's module within its crate: `("parts", "fifo")` for src/parts/fifo.rs, `()` for lib.rs.
Module = tuple[str, ...]

USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.M)
PATH = re.compile(r"(?<![\w$:])(?:crate|super)(?:::\w+)+")
TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod tests \{.*", re.M | re.S)
TEST_ITEM = re.compile(r"^#\[cfg\(test\)\]\n.*;$", re.M)
COMMENT = re.compile(r"//[^\n]*")


class Crate:
    """The files of one crate's `src`, by module."""

    def __init__(self, folder: Path) -> None:
        self.files = {module_of(path.relative_to(folder)): path for path in sorted(folder.rglob("*.rs"))}
        self._texts = {module: without_tests(path.read_text("utf-8")) for module, path in self.files.items()}
        self._faces = {module: dict(self._handed_on(module)) for module in self.files}

    def imports(self) -> dict[Module, set[Module]]:
        """Each file's module with the modules whose names it takes."""
        return {module: set(self._taken(module)) - {module} for module in self.files}

    def _taken(self, module: Module) -> Iterator[Module]:
        text = self._texts[module]
        for public, tree in USE.findall(text):
            for path in expanded(tree):
                if not (public and self._is_face(module)):
                    yield from self._definers(self._absolute(module, path))
        for path in PATH.findall(USE.sub("", text)):
            yield from self._definers(self._absolute(module, path.split("::")))

    def _is_face(self, module: Module) -> bool:
        return self.files[module].name in ("lib.rs", "mod.rs") or any(
            other[:-1] == module for other in self.files if other
        )

    def _handed_on(self, module: Module) -> Iterator[tuple[str, list[str]]]:
        for public, tree in USE.findall(self._texts[module]):
            if public:
                for path in expanded(tree):
                    absolute = self._absolute(module, path)
                    if absolute is not None:
                        yield path[-1], absolute

    def _absolute(self, module: Module, path: list[str]) -> list[str] | None:
        """The path from the crate's root; None if it leaves the crate."""
        head, *rest = path
        if head == "crate":
            return rest
        if head == "self":
            return [*module, *rest]
        if head == "super":
            ups = next(place for place, word in enumerate([*path, ""]) if word != "super")
            return [*module[: len(module) - ups], *path[ups:]]
        return [*module, *path] if (*module, head) in self.files else None

    def _definers(self, path: list[str] | None, depth: int = 8) -> Iterator[Module]:
        """The modules that define the last name of a path; none for the crate's root, which defines nothing itself."""
        if path is None or depth == 0:
            return
        known = max(length for length in range(len(path) + 1) if tuple(path[:length]) in self.files)
        module, rest = tuple(path[:known]), path[known:]
        face = self._faces[module]
        if rest and rest[0] in face:
            yield from self._definers([*face[rest[0]], *rest[1:]], depth - 1)
        elif rest == ["*"]:
            yield module
            for target in face.values():
                yield from self._definers(target, depth - 1)
        elif module:
            yield module


def module_of(path: Path) -> Module:
    """The module that a file below `src` holds."""
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def without_tests(text: str) -> str:
    """A file's text without its tests and comments."""
    return COMMENT.sub("", TEST_ITEM.sub("", TESTS.sub("", text)))


def expanded(tree: str) -> Iterator[list[str]]:
    """The single paths of a `use` tree: `a::{b, c::d as e}` is `a::b` and `a::c::d`."""
    head, brace, inner = tree.strip().partition("{")
    prefix = [part for part in head.strip().split("::") if part]
    if not brace:
        path = re.split(r"\s+as\s+", head.strip())[0]
        yield [part.strip() for part in path.split("::") if part.strip()]
        return
    for part in split_top(inner.rsplit("}", 1)[0]):
        for path in expanded(part):
            yield prefix if path == ["self"] else [*prefix, *path]


def split_top(text: str) -> Iterator[str]:
    """The parts between commas outside braces."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if text[start:].strip():
        yield text[start:]
