"""Causes of gaps: figures that differ by more than 5 % and lie outside the range of the peer's seeds."""

from __future__ import annotations

UNKNOWN = "Not known. The discipline is the same code in both, so hosts, links or the numbers of flows differ."
REPEATS = (
    "The link is as full in both, so ns-3's NewReno repeats data that had arrived: goodputs with headers add up to {} "
    "of 10 Mbit/s there, and to {} here."
)
CHANCE = "Chance: the margins of error overlap."

#: Causes by case and figure.
CAUSES: dict[tuple[str, str], str] = {
    ("droptail-onoff", "drop rate"): f"{CHANCE} With seeds 6 to 15 it is 7.22 % in Headgate and 7.41 % in ns-2.",
    ("codel-udp", "drop rate"): "Chance: with seeds 1 to 15 it is 0.893 ± 0.016 % and 0.903 ± 0.022 % in ns-3.",
    ("in-ns3-blue", "mean queue"): UNKNOWN,
    ("in-ns3-sfb", "goodput of tcp"): REPEATS.format("8.8", "10.0"),
    ("in-ns3-sfb", "goodput of udp"): UNKNOWN,
    ("in-ns3-sfb", "drop rate"): UNKNOWN,
    ("in-ns3-sfed", "goodput of tcp"): REPEATS.format("9.1", "10.0"),
    ("in-ns3-breathe", "drop rate"): UNKNOWN,
}


def cause(case: str, name: str) -> str:
    """The cause of a gap.

    Raises `KeyError` if the gap has no cause yet: compare both traces first.
    """
    return CAUSES[case, name]
