"""The kernel's counterparts of disciplines: qdiscs of Linux."""

from headgate.errors import UsageError
from headgate.qdiscs import tc
from headgate.qdiscs.spec import QdiscSpec
from headgate.qdiscs.tc import TcCommand
from headgate.scenario import Scenario

#: The nearest discipline with a counterpart, for each discipline without one.
NEAREST = {
    "afd": "choke",
    "avq": "red",
    "blue": "sfb",
    "breathe": "hhf",
    "cobalt": "codel",
    "csfq": "fq_codel",
    "drr": "sfq",
    "faba": "sfb",
    "feng_red": "ared",
    "fq": "sfq",
    "fq_cobalt": "cake",
    "fred": "red",
    "pi": "pie",
    "prio": "droptail",
    "red_pd": "choke",
    "red_penalty": "choke",
    "rem": "pie",
    "sac": "choke",
    "sfed": "sfb",
    "sfq_red": "sfq",
    "sfred": "sfb",
    "sred": "choke",
    "step": "codel",
    "wred": "red",
}

#: Why a discipline that Linux knows by name has no counterpart, for a sentence about it.
_WHY = {
    "cobalt": "Linux has it only as a part of sch_cake",
    "drr": "sch_drr has no classes until filters are set up",
    "fq": "sch_fq tells flows apart by their sockets, and all packets here come from one",
    "fq_cobalt": "Linux has it only as a part of sch_cake",
    "prio": "sch_prio has no classifier until filters are set up",
    "sfq_red": "tc is not told the options of sch_sfq for it",
}


def counterpart(qdisc: str, scenario: Scenario) -> TcCommand:
    """The qdisc of Linux for a discipline at the bottleneck of `scenario`; `UsageError` if there is none."""
    spec = QdiscSpec.of(qdisc)
    command = tc.command(spec, scenario)
    if command is None:
        raise UsageError(missing(qdisc, spec.discipline.name, "cannot run in the kernel"))
    return command


def missing(qdisc: str, name: str, what: str, why: str = "") -> str:
    """The sentence that a discipline has no counterpart: `what` follows its text, `why` is a reason other than ours."""
    why = why or _WHY.get(name, f"Linux has no {name}")
    return f"{qdisc} {what}: {why}. The nearest that can is {NEAREST[name]}"
