"""JSON documents with a seal: the SHA-256 of their other content, as the last key.

Reading compares the whole text with the seal, so a changed bit anywhere in the file is found. Documents of earlier
builds have no seal. A changed bit in the key of the seal makes a document look like one of these, but then its content
is intact.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from headgate.errors import ResultError
from headgate.files.disk import DISK

KEY = "sha256"


def json_text(value: Any, *, indent: int | None = 1) -> str:
    """A JSON document as text. Without `indent` it is one line, which is written and read several times as quickly."""
    return json.dumps(value, indent=indent, allow_nan=False) + "\n"


def sealed_text(document: dict[str, Any], *, indent: int | None = 1) -> str:
    """A document as text, with its seal."""
    seal = hashlib.sha256(json_text(document, indent=indent).encode()).hexdigest()
    return json_text({**document, KEY: seal}, indent=indent)


def parse(data: bytes, place: object) -> dict[str, Any]:
    """The document in a file's bytes, without its seal; `ResultError` if it is damaged."""
    try:
        document: dict[str, Any] = json.loads(data.decode())
    except ValueError as error:
        raise ResultError(f"{place} is damaged: {error}") from None
    if isinstance(document, dict) and document.pop(KEY, None) is not None:
        indent = 1 if data.startswith(b"{\n") else None
        if sealed_text(document, indent=indent).encode() != data:
            raise ResultError(f"{place} is damaged: its content does not match the SHA-256 in it")
    return document


def read(file: Path) -> dict[str, Any]:
    """The document in a file; `ResultError` if it is damaged."""
    return parse(DISK.read(file), file)
