"""The verdict on a result in one or two sentences, for the terminal, the page and the overview.

It states the finding that is largest against its interval: how disciplines divide the link, or how long they delay a
group of flows. A discipline is named best only if the seeds show it (`analysis.pairs`).
"""

from collections.abc import Sequence

from headgate import style
from headgate.analysis import findings
from headgate.analysis.disciplines_named import ends, parted, some, undecided
from headgate.analysis.division import Division
from headgate.analysis.division_sentences import divided, division_of_each
from headgate.analysis.findings import ComparedFindings, Finding, compared, more_seeds
from headgate.analysis.links import first
from headgate.analysis.significance import LEAST_SEEDS
from headgate.files.result_tables import ResultTables


def verdict(result: ResultTables) -> str:
    """The verdict on a result, without the final full stop."""
    return of(result, findings.of(result))


def of(result: ResultTables, comparison: ComparedFindings) -> str:
    """The verdict on a result whose disciplines are compared."""
    return stated(comparison, first(result))


def sentence(ranked: list[Division], rate_bps: float, link: str = "") -> str:
    """The verdict on `ranked`, the fairest first. With several links, `link` names the one with `rate_bps`."""
    return stated(compared(ranked, rate_bps), link)


def stated(comparison: ComparedFindings, link: str) -> str:
    """The verdict on compared disciplines."""
    if not any(division.goodput_bps for finding in comparison.divided for division in finding.ranked):
        return "No data reached a receiver after the warm-up"
    if len(comparison.ranked) == 1:
        return _described(comparison, link)
    if comparison.seeds < LEAST_SEEDS:
        few = "One seed shows" if comparison.seeds == 1 else f"{comparison.seeds} seeds show"
        return f"{_described(comparison, link)}. {few} no difference: at least {LEAST_SEEDS} are needed"
    finding = comparison.shown
    if finding is None:
        return _none_shown(comparison, link)
    if finding.delay_of is not None:
        return _shorter(comparison, finding, finding.queue or link)
    alike = [each for each in comparison.divided if each.ranked[0].direction == finding.ranked[0].direction]
    several = len(alike) > 1
    return ". ".join(f"{_of_what(each, by_unit=several)}{divided(comparison, each, link)}" for each in alike)


def _of_what(finding: Finding, *, by_unit: bool) -> str:
    """Begins a statement on one direction of several, or by one unit of several: `Reverse, by host: `."""
    one = finding.ranked[0]
    words = ", ".join(filter(None, (one.direction, f"by {one.unit}" if by_unit else "")))
    return f"{words[0].upper()}{words[1:]}: " if words else ""


def _none_shown(comparison: ComparedFindings, link: str) -> str:
    """That no noticeable difference is shown, the numbers, and the seeds that would show one."""
    described = _described(comparison, link)
    described = described[0].lower() + described[1:] if described.startswith(("The ", "On ")) else described
    if comparison.noticeable:
        return f"No best discipline shown with {comparison.seeds} seeds: {described}"
    if any(pair.shown for pair in comparison.pairs.all):
        return f"The disciplines do not differ noticeably: {described}"
    return f"No difference shown with {comparison.seeds} seeds: {described}{more_seeds(comparison)}"


def _described(comparison: ComparedFindings, link: str) -> str:
    """The numbers of the disciplines without an order."""
    delay = next((each for each in comparison.findings if each.delay_of is not None and comparison.by(each)), None)
    if len(comparison.ranked) > 1 and delay is not None and not comparison.ranked[0].has_classes:
        return _delays_of_each(comparison, delay, delay.queue or link)
    several = len({finding.ranked[0].unit for finding in comparison.divided}) > 1
    return ". ".join(
        f"{_of_what(each, by_unit=several)}{division_of_each(each.ranked, link)}" for each in comparison.divided
    )


def _delays_of_each(comparison: ComparedFindings, finding: Finding, link: str) -> str:
    each = _ms_with(comparison, finding, ends(comparison.by(finding)))
    return f"{_queued(finding, link)} at most {', '.join(each)}"


def _shorter(comparison: ComparedFindings, finding: Finding, link: str) -> str:
    """The delay of a group that needs a short one, or of all packets."""
    best, rest = parted(comparison, finding)
    whom = f"“{finding.delay_of}”" if finding.delay_of else "packets"
    than = "least" if len(best) == 1 else f"less than {some(rest)}"
    named = [best[0], *rest[:1], *([rest[-1]] if len(rest) > 1 else [])]
    amounts = ", ".join(_ms_with(comparison, finding, named))
    lead = f"{best[0].label} delays {whom} {than}"
    return f"{lead}: {_queued(finding, link, of=False)} at most {amounts}{undecided(comparison, best)}"


def _queued(finding: Finding, link: str, *, of: bool = True) -> str:
    at = f" at {link}" if link else ""
    whose = f" of “{finding.delay_of}”" if finding.delay_of and of else ""
    return f"95 % of {'its ' if finding.delay_of and not of else ''}packets{whose} have a queueing delay{at} of"


def _ms_with(comparison: ComparedFindings, finding: Finding, named: Sequence[Division]) -> list[str]:
    """The means of a delay with the disciplines' names: `1.6 ms with FQ-CoDel`, `230 with DropTail`."""
    means = [style.number(comparison.pairs.mean(finding.name, each.label)) for each in named]
    texts = [f"{mean} with {each.label}" for mean, each in zip(means, named, strict=True)]
    return [texts[0].replace(" with", " ms with", 1), *texts[1:]]
