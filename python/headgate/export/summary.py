"""The result table for a paper: LaTeX with booktabs, and the same numbers as CSV with their intervals."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from headgate import identity, style
from headgate.analysis.pairs import STARRED
from headgate.analysis.repeats import too_few
from headgate.files import tables
from headgate.results import Result
from headgate.scenario import RunWorld
from headgate.terminal.columns import DisciplineRow, ResultColumn, TableStars, columns, rows

TEX, CSV = "summary.tex", "summary.csv"

#: Letters with a meaning in LaTeX, and their text.
_SPECIAL = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"\N{EN DASH}": "--", "\N{NARROW NO-BREAK SPACE}": r"\,"}
)


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """The table of the result in the folder `path`, as LaTeX and as CSV."""
    result = Result.load(path)
    yield TEX, latex(result).encode()
    yield CSV, tables.csv(table(result))


def latex(result: Result) -> str:
    r"""The table that `headgate run` prints, with every column, for `\input`. The preamble needs `booktabs`.

    Bold values are those with a star in the terminal.
    """
    listed, measured = _columns(result)
    looks = style.looks([row.entry["qdisc"] for row in measured])
    (stars,) = TableStars.of(result, listed, [measured])
    names = [escaped(looks[row.entry["qdisc"]].label) for row in measured]
    body = [
        [
            name,
            *(
                _cell(column, row, (number, row.entry["qdisc"]) in stars.starred)
                for number, column in enumerate(listed)
            ),
        ]
        for name, row in zip(names, measured, strict=True)
    ]
    # A title of several lines is a row for each line, so that columns stay narrow.
    heads = [column.title.split("\n") for column in listed]
    depth = max(map(len, heads))
    titles = [[""] * (depth - len(lines)) + lines for lines in heads]
    head = [["discipline" if line == depth - 1 else "", *(escaped(lines[line]) for lines in titles)]
            for line in range(depth)]  # fmt: skip
    return "\n".join([
        f"% {_caption(result)}",
        f"\\begin{{tabular}}{{l{'r' * len(listed)}}}",
        r"\toprule",
        *map(_row, head),
        r"\midrule",
        *map(_row, body),
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ])  # fmt: skip


def table(result: Result) -> pa.Table:
    """A row for each discipline and column: mean, and the ends of its 95 % interval over the seeds."""
    listed, measured = _columns(result)
    return pa.Table.from_pylist(
        [
            {
                "qdisc": row.entry["qdisc"],
                "measure": " ".join(column.title.split()),
                **{name: None if end is None else end * column.scale for name, end in _ends(column, row)},
                "seeds": len(result.scenario.seeds),
            }
            for row in measured
            for column in listed
        ],
        pa.schema(
            [("qdisc", pa.string()), ("measure", pa.string())]
            + [(name, pa.float64()) for name in ("mean", "low", "high")]
            + [("seeds", pa.int64())]
        ),
    )


def escaped(text: str) -> str:
    """Text whose letters LaTeX prints as they are."""
    return text.translate(_SPECIAL)


def _columns(result: Result) -> tuple[list[ResultColumn], list[DisciplineRow]]:
    measured = rows(result)
    return columns(result.scenario, measured), measured


def _ends(column: ResultColumn, row: DisciplineRow) -> Iterator[tuple[str, float | None]]:
    """Mean and interval."""
    estimate = column.estimate(row)
    yield "mean", estimate["mean"]
    yield "low", estimate["low"]
    yield "high", estimate["high"]


def _cell(column: ResultColumn, row: DisciplineRow, best: bool) -> str:
    shown = column.show(column.estimate(row))
    mean, margin = escaped(shown.mean), shown.margin.replace("<", r"{<}")
    bold = rf"\mathbf{{{mean}}}" if best else mean
    return f"${bold} \\pm {margin}$" if margin else "--" if shown.mean == style.MISSING else f"${bold}$"


def _row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _caption(result: Result) -> str:
    """What the numbers are, as a comment: the scenario, the seeds and the folder's hash."""
    scenario = result.scenario
    seeds = len(scenario.seeds)
    bold = too_few(result) or f"bold: {STARRED}"
    spread = "one seed" if seeds == 1 else f"mean of {seeds} seeds, margin of error (95 %), {bold}"
    world = "" if scenario.world == RunWorld.SIM else f" on real packets ({scenario.world})"
    return f"{scenario.name}{world}, {spread}; configuration {identity.name_of(result.manifest['config_hash'])}"
