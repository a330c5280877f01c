"""Identities and names of results, runs and searches.

An identity is the whole SHA-256 of everything that affects the object. A name has its first digits, so that people can
read it and files can be found by it. Two identities can share a name. Code that reuses a stored object therefore
compares the whole identity, which is stored with the object. `tests/storage/test_identities.py` tries this for every
kind of name.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

#: Hexadecimal digits of an identity in a name: 64 bits.
DIGITS = 16


def of_bytes(data: bytes) -> str:
    """The identity of some bytes."""
    return hashlib.sha256(data).hexdigest()


def of_text(text: str) -> str:
    """The identity of a text, such as a discipline with its settings."""
    return of_bytes(text.encode())


def of_values(values: Any) -> str:
    """The identity of lists, dictionaries, numbers and texts."""
    return of_text(json.dumps(values))


def of_scenario(toml: str, version: str, inputs: Mapping[str, str], world: str = "") -> str:
    """The identity of a scenario: its canonical form, Headgate's version, and the SHA-256 of each file that it names.

    `world` is the place of runs on real packets; a simulation has none.
    """
    further = [f"{path} {had}" for path, had in inputs.items()] + ([world] if world else [])
    return of_text("\n".join([toml, version, *further]))


def name_of(identity: str) -> str:
    """The name of an identity. Equal names do not mean equal identities."""
    return identity[:DIGITS]
