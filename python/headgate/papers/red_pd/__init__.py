"""RED-PD: RED with preferential dropping."""

CITATION = (
    "Mahajan, Floyd and Wetherall, Controlling high-bandwidth flows at the congested router, "
    "Proceedings of IEEE ICNP, 2001"
)
ABOUT = (
    "Flows that appear in RED's drops again and again send fast. A filter before the queue holds these few near the "
    "rate of a TCP with a given round-trip time; all others keep no state and meet fewer drops."
)
