"""The verdicts under each reading, as a terminal and the pages show them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from headgate.analysis.judge import Verdict
from headgate.analysis.significance import LEAST_SEEDS
from headgate.counting import counted
from headgate.experiment import show
from headgate.experiment.readings import Reading, named
from headgate.terminal import layout

#: With more claims than this, the terminal counts verdicts and names the claims whose verdict changes.
MAX_WORDED = 6

#: The name of our values in a document.
OURS = str(Reading())


class OtherVerdict(NamedTuple):
    """The verdict on a claim under one reading, and the numbers that decided it."""

    reading: str
    verdict: str
    numbers: str


class ChangedClaim(NamedTuple):
    """A claim whose verdict changes: its number on the page, its experiment, our verdict, and the other verdicts."""

    number: int
    experiment: str
    claim: Mapping[str, Any]
    ours: OtherVerdict
    others: list[OtherVerdict]


class ReadingRow(NamedTuple):
    """One value of one parameter, in all experiments that declare it alike.

    `ours` says whether it is our value, for the `reason`. `verdicts` has the number of claims by verdict, `changed` the
    numbers of the claims whose verdict is not that with our values.
    """

    parameter: str
    value: str
    ours: bool
    reason: str
    experiments: list[str]
    verdicts: Mapping[str, int]
    changed: list[int]


def table(document: dict[str, Any]) -> Table:
    """The verdicts of one experiment: a row for each value of each parameter.

    A few claims have a column each. Of many the verdicts are counted, and the claims named whose verdict changes.
    """
    claims, ours = document["claims"], document["verdicts"][OURS]
    many = len(claims) > MAX_WORDED
    heads = ["hold", "differ", "inconclusive", "changed claims"] if many else _numbered(claims)
    rows = []
    for parameter in document["parameters"]:
        for value in (parameter["value"], *parameter["others"]):
            chosen = value == parameter["value"]
            verdicts = ours if chosen else document["verdicts"][f"{parameter['name']} = {value}"]
            cells = _counts(verdicts, ours) if many else [_word(each["verdict"]) for each in verdicts]
            rows.append(layout.Variation(parameter["name"], value, chosen, cells))
    changing = {place for verdicts in document["verdicts"].values() for place in _changing(verdicts, ours)}
    caption = [
        f"{place + 1}: {claim['text']}" + (f" (ours: {ours[place]['verdict']})" if many else "")
        for place, claim in enumerate(claims)
        if not many or place in changing
    ]
    title = f"{document['experiment']}: verdicts under each reading"
    return layout.variations(title, heads, rows, chosen="ours", caption="\n".join(caption))


def _numbered(claims: Sequence[object]) -> list[str]:
    return [f"claim {number}" for number in range(1, len(claims) + 1)]


def _word(verdict: str) -> Text:
    return Text(verdict, style=show.STYLES[Verdict(verdict)])


def _counts(verdicts: Sequence[dict[str, Any]], ours: Sequence[dict[str, Any]]) -> list[Text]:
    counts = Counter(each["verdict"] for each in verdicts)
    changing = [f"{place + 1} {verdicts[place]['verdict']}" for place in _changing(verdicts, ours)]
    return [*(Text(str(counts[verdict.value])) for verdict in Verdict), Text("\n".join(changing))]


def _changing(verdicts: Sequence[dict[str, Any]], ours: Sequence[dict[str, Any]]) -> list[int]:
    """The places of the claims whose verdict is not that with our values."""
    return [place for place, each in enumerate(verdicts) if each["verdict"] != ours[place]["verdict"]]


def form(document: dict[str, Any]) -> str:
    """The form of the runs: `shortened runs, 5 seeds`, and whether these are too few."""
    seeds = counted(document["seeds"], "seed")
    verdicts = {each["verdict"] for under in document["verdicts"].values() for each in under}
    few = document["seeds"] < LEAST_SEEDS and verdicts <= {Verdict.INCONCLUSIVE.value}
    return (
        f"{'shortened' if document['quick'] else 'whole'} runs, {seeds}{', too few to decide a claim' if few else ''}"
    )


def forms(documents: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """The forms of the runs, with the experiments of each."""
    found: dict[str, list[str]] = {}
    for document in documents:
        found.setdefault(form(document), []).append(document["experiment"])
    return found


def sentence(documents: Sequence[dict[str, Any]]) -> str:
    """The number of claims whose verdict depends on a reading."""
    claims = sum(len(document["claims"]) for document in documents)
    tried = sum(len(named(document)) - 1 for document in documents)
    readings = counted(tried, "reading")
    experiments = f" of {len(documents)} experiments" if len(documents) > 1 else ""
    return (
        f"The verdict changes under a reading for {len(changed_claims(documents))} of {counted(claims, 'claim')} "
        f"({readings}{experiments})."
    )


def changed_claims(documents: Sequence[dict[str, Any]]) -> list[ChangedClaim]:
    """The claims whose verdict changes under a reading, numbered from 1."""
    found: list[ChangedClaim] = []
    for document in documents:
        for place, claim in enumerate(document["claims"]):
            ours = _verdict(document, OURS, place)
            others = [_verdict(document, reading, place) for reading in named(document)[1:]]
            if changed := [each for each in others if each.verdict != ours.verdict]:
                found.append(ChangedClaim(len(found) + 1, document["experiment"], claim, ours, changed))
    return found


def reading_rows(documents: Sequence[dict[str, Any]]) -> list[ReadingRow]:
    """The readings of a paper: for each parameter our value, then the others."""
    changed = changed_claims(documents)
    return [
        _row(parameter, value, alike, changed)
        for parameter, alike in _parameters(documents)
        for value in (parameter["value"], *parameter["others"])
    ]


def _row(
    parameter: dict[str, Any], value: str, documents: Sequence[dict[str, Any]], changed: Sequence[ChangedClaim]
) -> ReadingRow:
    ours = value == parameter["value"]
    reading = OURS if ours else f"{parameter['name']} = {value}"
    experiments = [document["experiment"] for document in documents]
    return ReadingRow(
        parameter["name"],
        value,
        ours,
        parameter["reason"],
        experiments,
        Counter(claim["verdict"] for document in documents for claim in document["verdicts"][reading]),
        [
            each.number
            for each in changed
            if each.experiment in experiments and any(other.reading == reading for other in each.others)
        ],
    )


def _parameters(documents: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each open parameter, with the experiments that declare it with the same values and the same reason.

    Parameters of one name follow each other.
    """
    parameters: list[dict[str, Any]] = []
    for document in documents:
        parameters += [each for each in document["parameters"] if each not in parameters]
    names = [parameter["name"] for parameter in parameters]
    for parameter in sorted(parameters, key=lambda each: names.index(each["name"])):
        yield parameter, [document for document in documents if parameter in document["parameters"]]


def _verdict(document: dict[str, Any], reading: str, place: int) -> OtherVerdict:
    judged = document["verdicts"][reading][place]
    return OtherVerdict(reading, judged["verdict"], judged["numbers"])
