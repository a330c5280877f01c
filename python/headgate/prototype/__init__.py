"""Disciplines written in Python, for trying out an idea: slow, but behind the same trait as all others.

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

from headgate.prototype.discipline import Context, Discipline, LawBrokenError, Packet, QueueSetup
from headgate.prototype.laws import check

__all__ = ["Context", "Discipline", "LawBrokenError", "Packet", "QueueSetup", "check"]


def __getattr__(name: str) -> type[QueueSetup]:
    if name == "Place":
        warnings.warn("headgate.prototype.Place is now QueueSetup", DeprecationWarning, stacklevel=2)
        return QueueSetup
    raise AttributeError(f"module 'headgate.prototype' has no attribute {name!r}")
