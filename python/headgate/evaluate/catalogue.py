"""The sections by number."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.errors import UsageError
from headgate.evaluate.section import Section
from headgate.evaluate.sections import bursts, packet_sizes, round_trips, series, stability, traffic, transports

SECTIONS: tuple[Section, ...] = (
    packet_sizes.SECTION,
    transports.SECTION,
    round_trips.SECTION,
    bursts.SECTION,
    stability.SECTION,
    traffic.SECTION,
    series.SECTION,
)


def chosen(numbers: Iterable[int]) -> tuple[Section, ...]:
    """The sections of these numbers, in the RFC's order; all if there are none."""
    wanted = set(numbers)
    known = {section.number for section in SECTIONS}
    if wanted - known:
        raise UsageError(
            f"there is no test in section {min(wanted - known)} of RFC 7928; the sections with tests are "
            f"{min(known)} to {max(known)}"
        )
    return tuple(section for section in SECTIONS if not wanted or section.number in wanted)
