"""How sure the finding of a result is, in sentences for readers who know no statistics."""

from headgate import style
from headgate.analysis.findings import ComparedFindings, Finding
from headgate.analysis.significance import LEAST_SEEDS
from headgate.report.differences import p_text


def certainty(compared: ComparedFindings) -> str:
    """The number of runs, the largest difference with its interval, and how many pairs are shown to differ."""
    disciplines = "each discipline" if len(compared.ranked) > 1 else "the discipline"
    if compared.seeds < 2:
        return (
            f"{disciplines[0].upper()}{disciplines[1:]} ran once. Other random numbers (seeds) give other results, and "
            "one seed cannot show how far they spread. More seeds would: --seeds 10."
        )
    runs = f"{disciplines[0].upper()}{disciplines[1:]} ran {compared.seeds} times, each time with another seed."
    if len(compared.ranked) < 2:
        return f"{runs} Numbers are means with a margin of error."
    if compared.seeds < LEAST_SEEDS:
        return f"{runs} At least {LEAST_SEEDS} are needed to show a difference: --seeds 10."
    finding = compared.shown
    return f"{runs} {_none(compared) if finding is None else _largest(compared, finding)}"


def _none(compared: ComparedFindings) -> str:
    tests = len(compared.pairs.all)
    shown = sum(pair.shown for pair in compared.pairs.all)
    if compared.noticeable:
        return f"Of {tests} comparisons, {shown} are shown to differ, but none of the first discipline with another."
    if shown:
        return f"Of {tests} comparisons, {shown} are shown to differ, but by too little to matter."
    return f"None of {_comparisons(tests)} is shown to differ."


def _comparisons(tests: int) -> str:
    return f"{tests} comparisons" if tests > 1 else "the comparisons"


def _largest(compared: ComparedFindings, finding: Finding) -> str:
    """The first discipline against the one that is furthest behind for sure."""
    first = compared.leaders(finding)[0].label
    others = [label for label in compared.pairs.ranked(finding.name) if label != first]
    pair = max((compared.pairs.pair(finding.name, label, first) for label in others), key=lambda each: each.sure)
    by = style.estimated(pair.test.mean / finding.per_unit, (pair.test.half or 0.0) / finding.per_unit)
    pairs = compared.pairs.of(finding.name)
    shown = sum(each.shown for each in pairs)
    return (
        f"With {pair.first}, {finding.name} is {by} {finding.unit} above that with {pair.second} ({p_text(pair.p)}). "
        f"{shown} of {len(pairs)} pairs of disciplines are shown to differ in it."
    )
