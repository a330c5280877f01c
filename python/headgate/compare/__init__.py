"""Two results of one scenario side by side: simulated and live, or two simulations whose settings differ."""

from __future__ import annotations

from headgate.compare.gaps import Comparison, Gap, Measured, compare

__all__ = ["Comparison", "Gap", "Measured", "compare"]
