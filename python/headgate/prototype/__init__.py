"""Disciplines written in Python, for trying out an idea: slow, but behind the same trait as all others.

>>> class Pair(Discipline):
...     def __init__(self, place):
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

from headgate.prototype.discipline import Context, Discipline, LawBrokenError, Packet, Place
from headgate.prototype.laws import check

__all__ = ["Context", "Discipline", "LawBrokenError", "Packet", "Place", "check"]
