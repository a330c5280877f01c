"""Which functions import an optional library, themselves or through the functions they name.

Sources are read, not run. A name in a function is followed to its definition: through imports, through modules, to
methods of the same class, and from a class to its `__init__`. Calls on objects are not followed, because their class is
unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.sources import parsed

FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef


class Definition(NamedTuple):
    """A function, with its module and the class around it (empty without)."""

    module: str
    owner: str
    node: FunctionDef


class Package:
    """The functions of a Python package, by dotted name, and the optional modules that each of them imports."""

    def __init__(self, folder: Path, optional: Mapping[str, str]) -> None:
        self._optional = optional
        self._definitions: dict[str, Definition] = {}
        #: What each name at the top of a module or class stands for, by dotted name.
        self._names: dict[str, str] = {}
        self._modules: set[str] = set()
        #: Modules that import an optional library when they are imported themselves.
        self.eager: set[str] = set()
        for file in sorted(folder.rglob("*.py")):
            parts = [folder.name, *file.relative_to(folder).with_suffix("").parts]
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self._modules.add(module)
            self._read(module, "", parsed(file.read_text("utf-8")).body)

    def functions(self, module: str) -> list[str]:
        """The names of the functions in a module that are for others."""
        found = [name for name, each in self._definitions.items() if (each.module, each.owner) == (module, "")]
        return [name for name in found if not name.rpartition(".")[2].startswith("_")]

    def _read(self, module: str, owner: str, body: list[ast.stmt]) -> None:
        place = f"{module}.{owner}" if owner else module
        for node in body:
            if isinstance(node, FunctionDef):
                self._definitions[f"{place}.{node.name}"] = Definition(module, owner, node)
            elif isinstance(node, ast.ClassDef):
                self._read(module, node.name, node.body)
            elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            for name, target in imports([node] if isinstance(node, ast.Import | ast.ImportFrom) else inner(node)):
                self._names[f"{place}.{name}"] = target
                if target.split(".")[0] in self._optional:
                    self.eager.add(module)

    def libraries(self, name: str) -> set[str]:
        """The extras that a function needs: of every optional module imported by it or by what it names."""
        found: set[str] = set()
        seen: set[str] = set()
        ahead = [self._definition(name)]
        while ahead:
            if (one := ahead.pop()) not in seen and one in self._definitions:
                seen.add(one)
                node = self._definitions[one].node
                targets = [*(target for _, target in imports(ast.walk(node))), *required(node)]
                found |= {self._optional[top] for target in targets if (top := target.split(".")[0]) in self._optional}
                ahead += self._named_in(self._definitions[one])
        return found

    def _named_in(self, function: Definition) -> Iterator[str]:
        """The definitions that a function names."""
        local = dict(imports(ast.walk(function.node)))
        for node in ast.walk(function.node):
            if isinstance(node, ast.Name | ast.Attribute) and (words := dotted(node)):
                first, *rest = words
                start = f"{function.module}.{first}"
                if first in ("self", "cls") and function.owner:
                    start = f"{function.module}.{function.owner}"
                yield self._definition(".".join([local.get(first, start), *rest]))

    def _definition(self, name: str) -> str:
        """The dotted name of a definition: imports are followed, and a class stands for its `__init__`."""
        resolved = ""
        for word in name.split("."):
            resolved = f"{resolved}.{word}" if resolved else word
            for _ in range(10):  # a name is seldom imported more than twice in turn
                if resolved in self._modules or resolved not in self._names:
                    break
                resolved = self._names[resolved]
        return resolved if resolved in self._definitions else f"{resolved}.__init__"


def inner(node: ast.stmt) -> list[ast.AST]:
    """The statements that run with this one when a module is imported: those of `try` and `if`, not of functions."""
    blocks = ast.walk(node) if isinstance(node, ast.Try | ast.If | ast.With) else ()
    return [each for each in blocks if isinstance(each, ast.Import | ast.ImportFrom)]


def required(node: ast.AST) -> list[str]:
    """The modules that a function requires by name: `require("pandas", ...)`, `import_module("pandas")`."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) and each.args]
    named = [each for each in calls if dotted(each.func)[-1:] in (["require"], ["import_module"])]
    return [str(each.args[0].value) for each in named if isinstance(each.args[0], ast.Constant)]


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Each name that import statements bind, and the dotted name it stands for."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def dotted(node: ast.expr) -> list[str]:
    """The words of `a.b.c`; empty for anything else."""
    if isinstance(node, ast.Name):
        return [node.id]
    before = dotted(node.value) if isinstance(node, ast.Attribute) else []
    return [*before, node.attr] if before and isinstance(node, ast.Attribute) else []
