"""What can go wrong besides a bad scenario, and the exit code of each on the command line."""

from collections.abc import Iterable
from pathlib import Path

from headgate import _core


class HeadgateError(Exception):
    """An error with a message meant for people; `exit_code` is what the command line ends with."""

    exit_code = 1


class UsageError(HeadgateError):
    """A request that makes no sense as it was written."""

    exit_code = 2


class RunFailedError(HeadgateError):
    """At least one point (a discipline with a seed) failed; the finished ones are kept."""


class ResultError(HeadgateError):
    """A result folder that cannot be written, or that is no result."""

    exit_code = 3


class ClusterError(HeadgateError):
    """A cluster that cannot be reached, cannot run our points, or is lost; finished points are kept."""

    exit_code = 4


class InterruptedRunError(HeadgateError):
    """The run was stopped before its end; `finished` of `total` points are kept in `folder`."""

    exit_code = 130

    def __init__(self, finished: int, total: int, folder: Path | str | None) -> None:
        self.finished = finished
        self.total = total
        self.folder = folder
        kept = "nothing was written" if folder is None else f"the same run resumes from {folder}"
        super().__init__(f"stopped: {finished} of {total} points are finished; {kept}")


def meant(word: str, known: Iterable[str]) -> str:
    """Ends an error about an unknown `word`: `; did you mean 'red'?` if one of `known` is near, else a full stop."""
    nearest = _core.nearest(word, list(known))
    return f"; did you mean {nearest!r}?" if nearest is not None else "."
