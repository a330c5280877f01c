"""JSON documents with a seal: the SHA-256 of their other content, as the last key.

Reading compares the whole text with the seal, so a changed bit anywhere in the file is found. Documents of earlier
builds have no seal. A changed bit in the key of the seal makes a document look like one of these, but then its content
is intact.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from headgate import guarded
from headgate.errors import ResultError
from headgate.files import forms
from headgate.files.disk import DISK

KEY = "sha256"

#: The escape of half a character beyond the first 65536.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def json_text(value: Any, *, indent: int | None = 1) -> str:
    """A JSON document as text. Without `indent` it is one line, which is written and read several times as quickly."""
    return json.dumps(value, indent=indent, allow_nan=False) + "\n"


def sealed_text(document: dict[str, Any], *, indent: int | None = 1) -> str:
    """A document as text, with its seal."""
    seal = hashlib.sha256(json_text(document, indent=indent).encode()).hexdigest()
    return json_text({**document, KEY: seal}, indent=indent)


def parse(data: bytes, place: object, form: str | None) -> dict[str, Any]:
    """The document in a file's bytes, without its seal; `ResultError` if it is damaged.

    `form` is the name of its JSON Schema (`headgate.files.forms`). A document whose version is to be looked at first
    has None.
    """
    try:
        document = json.loads(data.decode(), parse_constant=_no_number)
        if _SURROGATE.search(data):
            json.dumps(document, ensure_ascii=False).encode()  # half a character cannot be printed
    except (ValueError, RecursionError) as error:
        why = "its lists or objects are nested too deeply" if isinstance(error, RecursionError) else error
        raise ResultError(f"{place} is damaged: {why}") from None
    if not isinstance(document, dict):
        raise ResultError(f"{place} is damaged: expected an object")
    if document.pop(KEY, None) is not None:
        indent = 1 if data.startswith(b"{\n") else None
        if sealed_text(document, indent=indent).encode() != data:
            raise ResultError(f"{place} is damaged: its content does not match the SHA-256 in it")
    if form is not None:
        forms.check(document, form, place)
    return document


def read(file: Path, form: str | None) -> dict[str, Any]:
    """The document in a file, as `parse` reads it."""
    return parse(DISK.read(file, guarded.DOCUMENT), file, form)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
