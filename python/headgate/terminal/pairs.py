"""The pairs of disciplines that the seeds show to differ, below the table of a result."""

from collections.abc import Iterator

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from headgate import style
from headgate.analysis.findings import ComparedFindings, Finding
from headgate.analysis.significance import LEAST_SEEDS

#: With more disciplines, only those of the first rows are listed; the report has every pair.
MOST_ROWS = 4
#: Pairs named in a row.
_MOST_PAIRS = 6


def pairs(compared: ComparedFindings) -> Group | None:
    """For each finding, the disciplines that are shown to differ; None with too few seeds or one discipline."""
    if compared.seeds < LEAST_SEEDS or len(compared.ranked) < 2:
        return None
    tests = len(compared.pairs.all)
    number = f"{tests} pairs" if tests > 1 else "one pair"
    parts = [Text(f"Differences shown by {compared.seeds} seeds (paired t, 5 % over {number}, Holm):", style="italic")]
    for finding in compared.findings:
        lines = list(_lines(compared, finding))
        parts.append(Text(f"  {finding.name}, {finding.unit}{'' if lines else ': none'}"))
        parts += [Padding(Text(line), (0, 0, 0, 4), expand=False) for line in lines]  # type: ignore[misc]
    return Group(*parts, Text())


def _lines(compared: ComparedFindings, finding: Finding) -> Iterator[str]:
    """A line for each discipline that is shown to be better than another; the best first."""
    ranked = compared.pairs.ranked(finding.name)
    rows = [(name, better) for name in ranked if (better := list(_less_than(compared, finding, name)))]
    for name, better in rows[:MOST_ROWS]:
        more = f" and {len(better) - _MOST_PAIRS} more" if len(better) > _MOST_PAIRS else ""
        mean = style.number(compared.pairs.mean(finding.name, name) / finding.per_unit)
        yield f"{name} {mean}: less than {', '.join(better[:_MOST_PAIRS])}{more}"
    if len(rows) > MOST_ROWS:
        yield f"{len(rows) - MOST_ROWS} more disciplines differ from others: the report has every pair"


def _less_than(compared: ComparedFindings, finding: Finding, name: str) -> Iterator[str]:
    """The disciplines with a larger value than `name`, and the differences with their margins of error."""
    for other in compared.pairs.ranked(finding.name):
        if other == name:
            continue
        pair = compared.pairs.pair(finding.name, other, name)
        if pair.shown and pair.test.mean > 0:
            by = style.estimated(pair.test.mean / finding.per_unit, (pair.test.half or 0.0) / finding.per_unit)
            yield f"{other} by {by}"
