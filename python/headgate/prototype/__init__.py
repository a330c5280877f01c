"""Disciplines written in Python, for prototypes: slow, but with the same interface as all others.

>>> class Pair(Discipline):
...     def __init__(self, setup):
...         self.waiting = []
...     def enqueue(self, packet, cx):
...         if len(self.waiting) == 2:
...             cx.drop(packet, "overflow")
...         else:
...             self.waiting.append(packet)
...     def dequeue(self, cx):
...         return self.waiting.pop(0) if self.waiting else None
>>> headgate.run(scenario, qdiscs=[Pair, "red"])
"""

import warnings

from headgate.prototype.discipline import Context, Discipline, LawBrokenError, LinkInfo, Packet
from headgate.prototype.laws import check

__all__ = ["Context", "Discipline", "LawBrokenError", "LinkInfo", "Packet", "check"]


def __getattr__(name: str) -> type[LinkInfo]:
    if name == "Place":
        warnings.warn("headgate.prototype.Place is now LinkInfo", DeprecationWarning, stacklevel=2)
        return LinkInfo
    raise AttributeError(f"module 'headgate.prototype' has no attribute {name!r}")
