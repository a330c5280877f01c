"""FABA: fair adaptive bandwidth allocation."""

CITATION = (
    "Kamra, Saran, Sen and Shorey, Fair adaptive bandwidth allocation: a rate control based active queue management "
    "discipline, Computer Networks 44, 2004"
)
ABOUT = (
    "FABA keeps a token bucket for each flow; the buckets' heights follow the number of flows. It shares a "
    "link among responsive and unresponsive flows at constant cost per packet."
)
