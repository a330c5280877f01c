"""The matrix of differences between disciplines, for each finding."""

from collections.abc import Iterator

from headgate import style
from headgate.analysis.findings import ComparedFindings, Finding
from headgate.analysis.significance import LEAST_SEEDS
from headgate.report.sections import PageCell, PageTable


def matrices(compared: ComparedFindings) -> Iterator[PageTable]:
    """For each finding, the difference of each pair of disciplines; nothing with too few seeds or one discipline."""
    if compared.seeds >= LEAST_SEEDS and len(compared.ranked) > 1:
        tests = len(compared.pairs.all)
        for finding in compared.findings:
            yield _matrix(compared, finding, "one pair" if tests == 1 else f"{tests} pairs")


def _matrix(compared: ComparedFindings, finding: Finding, tests: str) -> PageTable:
    ranked = compared.pairs.ranked(finding.name)
    caption = (
        f"{finding.name[0].upper()}{finding.name[1:]}, {finding.unit}: row less column. Paired t over {compared.seeds} "
        f"seeds; p is corrected for {tests} (Holm). Bold: shown to differ."
    )
    rows = [(name, [_cell(compared, finding, name, other) for other in ranked]) for name in ranked]
    return PageTable(caption, ["Discipline", *ranked], rows)


def _cell(compared: ComparedFindings, finding: Finding, name: str, other: str) -> PageCell:
    if name == other:
        return PageCell("")
    pair = compared.pairs.pair(finding.name, name, other)
    if pair.test.half is None:
        return PageCell(style.MISSING)
    shown = style.estimated(pair.test.mean / finding.per_unit, pair.test.half / finding.per_unit)
    p = p_text(pair.p)
    return PageCell(shown.mean, f"{shown.margin}; {p}" if shown.margin else f"0; {p}", pair.shown)


def p_text(p: float) -> str:
    """A p-value as text: `p = 0.012`, `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {style.number(p, 2)}"
