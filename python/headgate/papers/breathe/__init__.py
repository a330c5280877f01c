"""BREATHe: a simple mechanism for throttling high-bandwidth flows."""

CITATION = (
    "Chang and Lin, A simple mechanism for throttling high-bandwidth flows, Research Letters in Communications, 2008, "
    "article 704878"
)
ABOUT = (
    "A small set of heavy hitters tells which flows were served most; under congestion their packets are refused until "
    "the others have caught up, which protects a thousand TCP flows from thirty that do not slow down."
)
