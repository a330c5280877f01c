"""RED-PD: RED with preferential dropping."""

CITATION = (
    "Mahajan, Floyd and Wetherall, Controlling high-bandwidth flows at the congested router, "
    "Proceedings of IEEE ICNP, 2001"
)
ABOUT = (
    "Flows that appear often in RED's drop history send fast. A filter before the queue holds these few near "
    "the rate of a TCP flow with a given round-trip time. The other flows need no state and have fewer drops."
)
