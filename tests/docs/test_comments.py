"""At most a third of a Rust file's lines are comments: names and types say the rest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHARE = 1 / 3
#: Shorter files are left out: a declaration with its required doc comments has more.
LEAST_LINES = 50

_KEYS = "the doc comments are the user's documentation of each key"
_PARAMETERS = "the doc comments are the user's documentation of each parameter"
#: Files that may have more comments, each with the reason.
EXCEPTIONS = {
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


def test_at_most_a_third_of_a_file_is_comments() -> None:
    above = {name for name, share in files() if share > SHARE}
    assert above == set(EXCEPTIONS), "cut the comments, or list the file with its reason; remove exceptions not needed"


@pytest.mark.parametrize(
    ("text", "share"), [("//! One.\n\nfn f() {}\n", 1 / 2), ("/// A.\n// B.\nlet a = 1; // C.\nf();\n", 1 / 2)]
)
def test_a_comment_line_is_a_line_that_begins_with_slashes(text: str, share: float) -> None:
    assert comment_share(text) == share


def files() -> Iterator[tuple[str, float]]:
    """Each Rust file that is long enough, by its path in `crates`, with the share of comments."""
    for path in sorted(ROOT.glob("crates/*/**/*.rs")):
        text = path.read_text()
        if len(_lines(text)) >= LEAST_LINES:
            yield path.relative_to(ROOT / "crates").as_posix(), comment_share(text)


def comment_share(text: str) -> float:
    """The share of comments in the lines that are not blank."""
    lines = _lines(text)
    return sum(line.startswith("//") for line in lines) / len(lines)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
