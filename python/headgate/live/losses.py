"""Packets that were dropped for another reason than the discipline's, named as they happen."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from headgate.counting import agreeing, counted
from headgate.live.directions import DIRECTIONS

#: Seconds between two warnings for the same reason.
PAUSE_S = 10.0

#: What to do about frames that are longer than the MTU.
TOO_LONG = (
    " (longer than the MTU, and no super-packet of TCP or UDP: switch offloads off at the sender, ethtool -K DEV tso"
    " off gso off, or at the receiving interface, ethtool -K DEV gro off)"
)

#: Drops outside the discipline, by the counters of a direction.
LOSSES = {
    "no_slot": "{packets} {were} dropped: the link's packet memory was full",
    "kernel_dropped": "the kernel dropped {frames} in front of the link: its receive buffer was full",
    "refused": "{packets} {were} refused by the receiving host",
}


class OutsideLoss(NamedTuple):
    """Packets dropped for one reason: its name, their number, and a sentence with places for the number."""

    reason: str
    packets: int
    sentence: str

    def in_words(self, since: int = 0) -> str:
        """The sentence on all these packets, or on those after the first `since`."""
        return sentence(self.sentence, self.packets - since)


def sentence(template: str, count: int) -> str:
    """The sentence on this number of packets, frames or super-packets."""
    nouns = {"packets": "packet", "frames": "frame", "super_packets": "super-packet"}
    words = {name: counted(count, noun) for name, noun in nouns.items()}
    return template.format(**words, were=agreeing(count, "was", "were"))


def losses(direction_view: Mapping[str, Any]) -> Iterator[OutsideLoss]:
    """The drops of a direction that are not the discipline's."""
    yield from (
        OutsideLoss(name, direction_view[name], template) for name, template in LOSSES.items() if direction_view[name]
    )
    for name, count in direction_view["discarded"]:
        advice = TOO_LONG if name == "oversize" else ""
        yield OutsideLoss(name, count, f"{{frames}} {{were}} dropped: {name}{advice}")


class LossWatch:
    """Reports losses while a link runs: the first of each reason at once, more of it every `PAUSE_S` seconds."""

    def __init__(self, report: Callable[[str], object]) -> None:
        self._report = report
        #: Time of the last warning and the number of packets then, by direction and reason.
        self._last: dict[tuple[str, str], tuple[float, int]] = {}

    def __call__(self, view: Mapping[str, Any]) -> None:
        """Compares `view` with the losses reported before."""
        for direction in DIRECTIONS:
            for loss in losses(view[direction]):
                at, before = self._last.get((direction, loss.reason), (-PAUSE_S, 0))
                if loss.packets > before and view["at_s"] - at >= PAUSE_S:
                    self._last[direction, loss.reason] = (view["at_s"], loss.packets)
                    self._report(f"warning: {direction}: {loss.in_words(before)}")
