"""BREATHe: a simple mechanism for throttling high-bandwidth flows."""

CITATION = (
    "Chang and Lin, A simple mechanism for throttling high-bandwidth flows, Research Letters in Communications, 2008, "
    "article 704878"
)
ABOUT = (
    "BREATHe keeps a small set of heavy hitters, the flows served most. Under congestion it drops their "
    "packets until the other flows have caught up. That protects a thousand TCP flows from thirty unresponsive "
    "ones."
)
