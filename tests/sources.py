"""Python sources as syntax trees."""

import ast
import gc


def parsed(text: str) -> ast.Module:
    """A Python file's syntax tree.

    Without a look for garbage in between: CPython 3.11 fails with `AST constructor recursion depth mismatch` if
    a finalizer, or a thread that it lets run, parses too.
    """
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        gc.enable()
