"""FABA: fair adaptive bandwidth allocation."""

CITATION = (
    "Kamra, Saran, Sen and Shorey, Fair adaptive bandwidth allocation: a rate control based active queue management "
    "discipline, Computer Networks 44, 2004"
)
ABOUT = (
    "A token bucket for each flow, whose heights follow the number of flows, shares a link among responsive and "
    "unresponsive flows at constant cost a packet."
)
