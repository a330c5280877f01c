"""Every function that needs an extra of the package, with a call of it: it works, or says which extra to install.

    python tests/supply/extras.py pandas            # in a fresh environment with headgate-aqm[pandas]
    python tests/supply/extras.py none              # in a fresh environment with headgate-aqm
    python tests/supply/extras.py pandas --hide     # in any environment: hides what pandas alone would not install

A function works if the libraries of its extras are among the requirements of Headgate with the installed extra.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import metadata
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = "headgate-aqm"


class Place:
    """A folder with a scenario, and results of it, for the calls."""

    def __init__(self, folder: Path) -> None:
        self.scenario = folder / "small.toml"
        text = 'name = "small"\nduration = "2s"\nwarmup = "1s"\nseeds = 2\nqdiscs = ["red"]\n'
        text += '[link]\nrate = "2Mbit/s"\ndelay = "5ms"\nlimit = "50p"\n[[tcp]]\nflows = 2\n'
        self.scenario.write_text(text + '[sweep.grid]\n"link.rate" = ["1Mbit/s"]\n')
        self.out = str(folder / "results")

    @cached_property
    def result(self) -> Any:
        import headgate

        return headgate.run(self.scenario)

    @cached_property
    def dataset(self) -> Any:
        return self.sweep(out=self.out)

    def sweep(self, **options: Any) -> Any:
        import headgate

        return headgate.sweep(self.scenario, seeds=1, **options)

    def sweep_on_cluster(self) -> None:
        with scheduler() as address:
            assert self.sweep(cluster=address).points.num_rows == 1

    @property
    def url(self) -> str:
        """The URL of a dataset, if there is a library for URLs."""
        return str(self.sweep(out="memory://sweeps").url) if find_spec("fsspec") else "memory://sweeps"

    def load(self) -> None:
        import headgate

        assert headgate.Sweep.load(self.url).points.num_rows == 1

    def tune(self) -> None:
        import headgate

        headgate.tune(self.scenario, "goodput", params=["maxp"], trials=2, held_out=2, out=self.out, figures=False)

    def explore(self) -> None:
        import headgate

        headgate.explore(self.scenario, {"link.rate": ["1Mbit/s"]}, out=None)

    def command(self, *words: str) -> None:
        from typer.testing import CliRunner

        from headgate.cli import app
        from headgate.errors import UsageError

        done = CliRunner().invoke(app, list(words), prog_name="headgate")
        if done.exit_code == UsageError.exit_code:
            raise UsageError(done.stderr.strip())
        assert done.exit_code == 0, (done.exit_code, done.output, done.exception)

    def tune_by_command(self) -> None:
        words = ["--param", "maxp", "--trials", "2", "--held-out", "2", "--out", self.out, "--json"]
        self.command("tune", str(self.scenario), "--objective", "goodput", *words)


@contextmanager
def scheduler() -> Iterator[str]:
    """The address of a Dask cluster in this process; without Dask, an address where none answers."""
    if find_spec("distributed") is None:
        yield "tcp://127.0.0.1:1"
        return
    from distributed import LocalCluster

    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**options) as cluster:
        yield str(cluster.scheduler_address)


class Row(NamedTuple):
    """A public function or a command, the extras that a call of it needs in the order in which they are missed."""

    function: str
    extras: tuple[str, ...]
    call: Callable[[Place], object]


ROWS = (
    Row("Result.to_pandas", ("pandas",), lambda place: place.result.to_pandas()),
    Row("Result.to_polars", ("polars",), lambda place: place.result.to_polars("links")),
    Row("Result.to_xarray", ("xarray",), lambda place: place.result.to_xarray()),
    Row("Sweep.database", ("query",), lambda place: place.dataset.database()),
    Row("Sweep.load", ("cluster",), lambda place: place.load()),
    Row("Sweep.query", ("query",), lambda place: place.dataset.query("select * from points")),
    Row("explore", ("notebook",), lambda place: place.explore()),
    Row("sweep", ("cluster",), lambda place: place.sweep_on_cluster()),
    Row("sweep", ("cluster",), lambda place: place.sweep(out="memory://sweeps")),
    Row("tune", ("tune",), lambda place: place.tune()),
    Row("headgate query", ("query",), lambda place: place.command("query", place.dataset.url, "select * from points")),
    Row("headgate query", ("cluster", "query"), lambda place: place.command("query", place.url)),
    Row(
        "headgate sweep", ("cluster",), lambda place: place.command("sweep", str(place.scenario), "--out", "memory://x")
    ),
    Row("headgate tune", ("tune",), lambda place: place.tune_by_command()),
)


def required(extra: str) -> set[str]:
    """The distributions that pip installs for the package with one extra; "none" is the package alone."""
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    ahead = [(PACKAGE, ""), (PACKAGE, extra)]
    while ahead:
        if (pair := ahead.pop()) in seen:
            continue
        seen.add(pair)
        found.add(pair[0])
        for each in map(Requirement, metadata.requires(pair[0]) or ()):
            if each.marker is None or each.marker.evaluate({"extra": pair[1]}):
                ahead += [(canonicalize_name(each.name), asked) for asked in ("", *each.extras)]
    return found


def named_by(extra: str) -> set[str]:
    """The distributions that an extra names."""
    asked = map(Requirement, metadata.requires(PACKAGE) or ())
    return {each.name for each in asked if each.marker is not None and each.marker.evaluate({"extra": extra})}


class Hiding(PathFinder):
    """Finds the modules and the distributions of some distributions only."""

    modules: frozenset[str]
    distributions: frozenset[str]

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> Any:
        return None if fullname.partition(".")[0] in cls.modules else super().find_spec(fullname, path, target)

    @classmethod
    def find_distributions(cls, context: Any) -> Any:  # type: ignore[override] # importlib gives a context
        return (
            each for each in super().find_distributions(context) if canonicalize_name(each.name) in cls.distributions
        )


def hide_all_but(distributions: set[str]) -> None:
    """Hides other distributions from import statements, and from `importlib.metadata`."""
    owners = metadata.packages_distributions()
    Hiding.modules = frozenset(
        module for module, of in owners.items() if not distributions & set(map(canonicalize_name, of))
    )
    Hiding.distributions = frozenset(distributions)
    sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding


def wrong(extra: str) -> list[str]:
    """Tries every row with one extra installed. Returns the rows with another outcome than they should have."""
    from headgate.errors import UsageError

    installed, found = required(extra), []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Place(Path(folder))
        for row in ROWS:
            missing = [each for each in row.extras if not named_by(each) <= installed]
            expected = f'pip install "{PACKAGE}[{missing[0]}]"' if missing else ""
            message = ""
            try:
                row.call(place)
            except UsageError as error:
                message = str(error)
            except Exception as error:  # noqa: BLE001 - a row may fail in any way
                message = f"{type(error).__name__}: {error}"
            if bool(expected) != bool(message) or not message.endswith(expected):
                found.append(f"{row.function}: expected {expected or 'a result'}, found {message or 'a result'}")
    return found


def main(extra: str, *options: str) -> None:
    """Prints how many calls had the right outcome, or every wrong one."""
    if options == ("--hide",):
        hide_all_but(required(extra))
    if found := wrong(extra):
        sys.exit("\n".join([f"with the extra {extra}:", *found]))
    print(f"extra {extra}: {len(ROWS)} calls work, or say what to install")


if __name__ == "__main__":
    main(*sys.argv[1:])
