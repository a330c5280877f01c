"""What messages quote of the input: at most 80 characters, and no control character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

#: Most characters of one quotation or word.
LONGEST = 80

#: Most characters of a path and of a name in it: people need the whole path to find the file.
LONGEST_PATH, LONGEST_NAME = 1024, 255

#: A quotation, or a long word outside of quotations. An apostrophe within a word is no quote.
_PARTS = re.compile(
    r"""(?P<open>["`])(?P<text>(?:\\.|(?!(?P=open))[^\\])*)(?P=open)"""
    r"""|(?<!\w)'(?P<single>(?:\\.|[^'\\])*)'(?!\w)"""
    r"""|[^\s"`']{81,}""",
    re.DOTALL,
)


def printable(message: str, given: object = ()) -> str:
    """The message with long quotations and words cut, and control characters escaped; lines stay.

    `given` holds arguments of the command, which are cut wherever they occur, also outside of quotes.
    """
    for text in _texts(given):
        message = message.replace(text, _shown(text)) if len(text) > LONGEST else message
    return escaped(_PARTS.sub(_part, message))


def escaped(message: str) -> str:
    """The message with control characters escaped, except line ends."""
    return "".join(_escape(letter) for letter in message)


def cut(text: str) -> str:
    """The beginning of a text that is too long to be quoted."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _part(match: re.Match[str]) -> str:
    quote = match["open"] or ("'" if match["single"] is not None else "")
    if quote:
        return f"{quote}{cut(match['text'] if match['open'] else match['single'])}{quote}"
    return _shown(match[0])


def _shown(text: str) -> str:
    """A text outside of quotations: a path that can exist is kept."""
    is_path = "/" in text and len(text) <= LONGEST_PATH
    return text if is_path and max(map(len, text.split("/"))) <= LONGEST_NAME else cut(text)


def _escape(letter: str) -> str:
    # The categories of control, format, surrogate and unassigned characters begin with C.
    plain = letter == "\n" or not unicodedata.category(letter).startswith("C")
    return letter if plain else letter.encode("unicode_escape").decode()


def _texts(given: object) -> Iterator[str]:
    """The texts in arguments, lists and mappings of them."""
    if isinstance(given, str | PurePath):
        yield str(given)
    elif isinstance(given, Mapping):
        yield from _texts(given.values())
    elif isinstance(given, Iterable):
        for each in given:
            yield from _texts(each)
