"""Errors besides a bad scenario, with the exit code of each on the command line."""

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path


class HeadgateError(Exception):
    """An error with a message for people; the command line exits with `exit_code`."""

    exit_code = 1


class UsageError(HeadgateError):
    """An invalid request: an option, an argument or a value that cannot be used."""

    exit_code = 2


class RunFailedError(HeadgateError):
    """At least one run failed; finished runs are kept."""


class ResultError(HeadgateError):
    """A folder that is not a result, is damaged, or cannot be written."""

    exit_code = 3


class ClusterError(HeadgateError):
    """A cluster that cannot be reached or used, or is lost; finished runs are kept."""

    exit_code = 4


class InterruptedRunError(HeadgateError):
    """Stopped before the end; `finished` of `total` runs are kept in `folder`."""

    exit_code = 130

    def __init__(self, finished: int, total: int, folder: Path | str | None) -> None:
        self.finished = finished
        self.total = total
        self.folder = folder
        resume = "Nothing was written." if folder is None else f"Repeat the command to resume from {folder}."
        kept = f"{finished} of {total} runs are finished" if total > 1 else "the run is not finished"
        super().__init__(f"stopped: {kept}. {resume}")


def require_linux() -> None:
    """Raises `UsageError` on other systems, where the compiled module has no live parts."""
    if sys.platform != "linux":
        raise UsageError("real packets need Linux")


def warn_renamed(message: str) -> None:
    """Gives a `FutureWarning` that an old name was used; `message` has the new one."""
    warnings.warn(message, FutureWarning, stacklevel=3)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown `word`: `; did you mean 'red'?` if one of `known` is similar, else `.`."""
    from headgate import _core  # not above: help texts are printed without the compiled module

    nearest = _core.nearest(word, list(known))
    return f"; did you mean {nearest!r}?" if nearest is not None else "."
